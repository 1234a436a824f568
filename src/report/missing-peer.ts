/** Packages that only some uses need: optional peers, which a project installs for these. */
import { CompileError, error } from "../../ir/index.js";

/** The packages behind each use, in the order of the install line. */
const peers = {
  charts: ["@observablehq/plot", "linkedom"],
  "the language server": ["vscode-languageserver", "vscode-languageserver-textdocument"],
  "JUnit reports": ["xmlbuilder2"],
} as const;
/** What optional peers are for. */
export type PeerUse = keyof typeof peers;

/** TC703, with the line that installs what a use needs. */
export const missingPeer = (use: PeerUse): CompileError =>
  new CompileError([
    error(
      "TC703",
      `${use} need${use.endsWith("s") ? "" : "s"} ${peers[use].join(" and ")}, which ${peers[use].length === 1 ? "is" : "are"} not installed`,
      {
        hint: `npm install ${peers[use].join(" ")}`,
      },
    ),
  ]);

/** A module that needs optional peers. Throws a CompileError (TC703) where these are not installed. */
export async function withPeer<T>(use: PeerUse, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (thrown) {
    if (isAbsent(thrown, use)) throw missingPeer(use);
    throw thrown;
  }
}

/** Whether a package of that use was not found. Source: Node, Errors, ERR_MODULE_NOT_FOUND. */
export const isAbsent = (thrown: unknown, use: PeerUse): boolean =>
  thrown instanceof Error &&
  "code" in thrown &&
  thrown.code === "ERR_MODULE_NOT_FOUND" &&
  peers[use].some((name) => thrown.message.includes(`'${name}'`) || thrown.message.includes(`/${name}/`));
