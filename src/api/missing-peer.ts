/** Packages that only some uses need: optional peers, which a project installs for these. */
import { CompileError, error, type Diagnostic } from "../../ir/index.js";

/** The packages behind each use, in the order of the install line. */
const peers = {
  charts: ["@observablehq/plot", "linkedom"],
  "the language server": ["vscode-languageserver", "vscode-languageserver-textdocument"],
  "JUnit reports": ["xmlbuilder2"],
  "WebGPU in Node": ["webgpu"],
  "WebGPU without a GPU": ["@sparticuz/chromium"],
} as const;
/** What optional peers are for. */
export type PeerUse = keyof typeof peers;

/** Returns TC703 for the first of these uses, with the line that installs the packages of all of them. */
export function missingPeer(...uses: readonly [PeerUse, ...PeerUse[]]): Diagnostic {
  const [use] = uses;
  const names = peers[use];
  return error(
    "TC703",
    `${use} need${/[a-z]s$/.test(use) ? "" : "s"} ${names.join(" and ")}, which ${names.length === 1 ? "is" : "are"} not installed`,
    { hint: `npm install ${uses.flatMap((one) => peers[one]).join(" ")}` },
  );
}

/** A module that needs optional peers. Throws a CompileError (TC703) where these are not installed. */
export async function withPeer<T>(use: PeerUse, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (thrown) {
    if (isAbsent(thrown, use)) throw new CompileError([missingPeer(use)]);
    throw thrown;
  }
}

/** True if a package of that use was not found. Source: Node, Errors, ERR_MODULE_NOT_FOUND. */
export const isAbsent = (thrown: unknown, use: PeerUse): boolean =>
  thrown instanceof Error &&
  "code" in thrown &&
  thrown.code === "ERR_MODULE_NOT_FOUND" &&
  peers[use].some((name) => thrown.message.includes(`'${name}'`) || thrown.message.includes(`/${name}/`));
