/** Maps beyond the three operators' kind, for a backend that takes no others. */
import { isPlain } from "../ir/access.js";
import type { Code } from "../ir/codes.js";
import { error, type Diagnostic } from "../ir/diagnostic.js";
import type { TileFunc } from "../ir/func.js";
import { printStmtHead } from "../ir/text/print.js";
import { findGather } from "../ir/tile.js";

/** Refuses a map that is not plain, and other inputs than data and indices where `inputs` is 2. */
export function beyondPlain(func: TileFunc, who: string, code: Code, inputs?: 2): Diagnostic[] {
  const stmt = findGather(func.body);
  if (stmt === undefined) return [];
  const other = inputs !== undefined && func.operands.length - 1 !== inputs;
  if (isPlain(stmt.map) && !other) return [];
  const what = other
    ? `${func.operands.length - 1} inputs`
    : "an index value that is more than one read at output dims";
  return [
    error(code, `${who} takes data and one tensor of indices, read at output dims; this map has ${what}`, {
      span: stmt.span,
      notes: [printStmtHead(stmt)],
      hint: "run it on reference, or on sim with the checked executor",
    }),
  ];
}
