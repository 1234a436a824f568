/** A text with open sizes: bound, and verified for every size that its symbols may take. */
import type { Diagnostic } from "../diagnostic.js";
import { verifyStructure } from "../verify/structure.js";
import { parseModule, symbolsOf, type Binding, type ParseResult } from "./parse.js";

/** Beyond so many symbols the corners are too many to look at. */
const mostSymbols = 8;

/**
 * `parseModule`, and what the rules of maps say at sizes that are not bound. Coordinates, extents and their images grow with a
 * symbol, linearly but for div and mod, so what holds where each symbol is 1 or its most holds between. That a bare read may
 * name anything (V4) is asked of the bound sizes alone: a window may be longer than the least of them.
 */
export function parseBound(text: string, file: string, bind: Binding = {}): ParseResult {
  const bound = parseModule(text, file, bind);
  const symbols = symbolsOf(text, file);
  if (bound.diagnostics.length > 0 || symbols.length === 0) return bound;
  const corners = symbols
    .slice(0, mostSymbols)
    .reduce<Binding[]>(
      (found, { name, most }) => found.flatMap((one) => [1, most].map((size) => ({ ...one, [name]: size }))),
      [bind],
    );
  for (const corner of corners) {
    const broken = parseModule(text, file, corner).module.funcs.flatMap(verifyStructure);
    const open = broken.filter(({ data }) => data?.["rule"] !== "V4");
    if (open.length > 0) return { module: { funcs: [] }, diagnostics: open.map((d) => at(d, corner)) };
  }
  return bound;
}

const at = (diagnostic: Diagnostic, sizes: Binding): Diagnostic => ({
  ...diagnostic,
  message: `${diagnostic.message}, at ${Object.entries(sizes)
    .map(([name, size]) => `${name} = ${size}`)
    .join(", ")}`,
});
