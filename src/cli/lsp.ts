/** tilec lsp: the language server of `.tir` files, for editors. */
import type { Command } from "commander";
import { openProject } from "../config/open-project.js";
import type { ConfigFlags } from "./options.js";
import { withPeer } from "../api/missing-peer.js";

/** Adds the command `tilec lsp` to the command line. */
export function lspCommand(program: Command): void {
  program.command("lsp").action(async (_: unknown, command: Command) => {
    const { config } = command.optsWithGlobals<ConfigFlags>();
    // A file that is named is read whatever the editor says; any other where it trusts the workspace.
    const project = config === undefined ? undefined : await openProject(config);
    // The protocol's packages load for this command alone.
    const { serveStdio } = await withPeer("the language server", () => import("../lsp/server.js"));
    serveStdio(project);
  });
}
