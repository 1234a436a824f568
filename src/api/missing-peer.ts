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
/** Name of a feature that needs npm packages which tilec does not install (optional peer dependencies). */
export type PeerUse = keyof typeof peers;

/**
 * Returns an error (TC703) that the packages of the first given feature are not installed. The hint is the
 * command that installs the packages of all given features.
 */
export function missingPeer(...uses: readonly [PeerUse, ...PeerUse[]]): Diagnostic {
  const [use] = uses;
  const names = peers[use];
  return error(
    "TC703",
    `${use} need${/[a-z]s$/.test(use) ? "" : "s"} ${names.join(" and ")}, which ${names.length === 1 ? "is" : "are"} not installed`,
    { hint: `npm install ${uses.flatMap((one) => peers[one]).join(" ")}` },
  );
}

/**
 * Loads a module with `load` and resolves to the module. Rejects with a CompileError (TC703) if a package
 * that the feature `use` needs is not installed.
 */
export async function withPeer<T>(use: PeerUse, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (thrown) {
    if (isAbsent(thrown, use)) throw new CompileError([missingPeer(use)]);
    throw thrown;
  }
}

/** True if an import failed because a package that the feature `use` needs is not installed. */
export const isAbsent = (thrown: unknown, use: PeerUse): boolean =>
  thrown instanceof Error &&
  "code" in thrown &&
  thrown.code === "ERR_MODULE_NOT_FOUND" &&
  peers[use].some((name) => thrown.message.includes(`'${name}'`) || thrown.message.includes(`/${name}/`));
