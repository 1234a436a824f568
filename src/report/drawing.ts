/** Libraries that draw charts: optional peer dependencies, loaded with the pages that may need them. */
import type * as PlotModule from "@observablehq/plot";
import type { parseHTML as Parse } from "linkedom/worker";
import { CompileError } from "../../ir/index.js";
import { isAbsent, missingPeer } from "../api/missing-peer.js";

interface Drawing {
  readonly Plot: typeof PlotModule;
  readonly parseHTML: typeof Parse;
}

/**
 * Resolves to the optional libraries Observable Plot and linkedom; undefined if the libraries are not
 * installed.
 */
async function load(): Promise<Drawing | undefined> {
  try {
    const [Plot, { parseHTML }] = await Promise.all([
      import("@observablehq/plot"),
      import("linkedom/worker"),
    ]);
    return { Plot, parseHTML };
  } catch (thrown) {
    if (isAbsent(thrown, "charts")) return undefined;
    throw thrown;
  }
}

const loaded = await load();

/**
 * Returns the libraries that draw charts: Observable Plot and linkedom's HTML parser. Throws a CompileError
 * (TC703) if the libraries are not installed.
 */
export function drawing(): Drawing {
  if (loaded === undefined) throw new CompileError([missingPeer("charts")]);
  return loaded;
}
