/** What draws charts: optional peers, which are loaded with the pages that may need them. */
import type * as PlotModule from "@observablehq/plot";
import type { parseHTML as Parse } from "linkedom/worker";
import { CompileError } from "../../ir/index.js";
import { isAbsent, missingPeer } from "../api/missing-peer.js";

interface Drawing {
  readonly Plot: typeof PlotModule;
  readonly parseHTML: typeof Parse;
}

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

/** Observable Plot and a document to draw in. Throws a CompileError (TC703) where they are not installed. */
export function drawing(): Drawing {
  if (loaded === undefined) throw new CompileError([missingPeer("charts")]);
  return loaded;
}
