/** tilec lsp: the language server of `.tir` files, for editors. */
import type { Command } from "commander";

export function lspCommand(program: Command): void {
  program.command("lsp").action(async () => {
    // The protocol's packages load for this command alone.
    const { serveStdio } = await import("../lsp/server.js");
    serveStdio();
  });
}
