/**
 * A table of ranges of sizes, each with a schedule, as a search over a family of sizes records it: what
 * `bind` takes its kernels from.
 */
import { printFunc, type AccessFunc, type ResolvedSchedule, type Target } from "../../ir/index.js";

/**
 * Range of sizes of one symbol (dynamic size), in elements with both ends included, and the schedule for
 * these sizes.
 */
export interface Piece {
  readonly from: number;
  readonly to: number;
  readonly schedule: ResolvedSchedule;
}

/**
 * Table of schedules by size of one symbol (dynamic size), for one program; a search records it. The ranges
 * cover 1 to the largest size in ascending order. Size 0 uses the schedule of the first range.
 */
export interface TableRecord {
  readonly record: "table";
  /** Hash of what was searched. */
  readonly task: string;
  /** The gather with its symbol open, and the target's name: whose table it is. */
  readonly gather: string;
  readonly target: string;
  readonly symbol: string;
  readonly pieces: readonly Piece[];
  /** Version of the clock that chose. */
  readonly clock: number;
}

/**
 * Returns the key under which search records hold the table of a program: program text and target name.
 * Programs that differ only in their name have the same key.
 */
export const tableKey = (gather: AccessFunc, target: Target): Pick<TableRecord, "gather" | "target"> => ({
  gather: printFunc({ ...gather, name: "main", target: target.name }),
  target: target.name,
});

/**
 * Returns the last table in `records` for a program and target; undefined if there is none. The table has one
 * schedule for each range of the program's dynamic size.
 */
export function pieceTable(
  records: readonly { readonly record: string }[],
  gather: AccessFunc,
  target: Target,
): TableRecord | undefined {
  const tables = records.filter((record): record is TableRecord => record.record === "table");
  if (tables.length === 0) return undefined;
  const key = tableKey(gather, target);
  return tables.filter((table) => table.gather === key.gather && table.target === key.target).at(-1);
}

/**
 * Returns the entry of a table whose range contains `size`; the first entry for size 0. Undefined if `size`
 * is beyond the last range or undefined.
 */
export const pieceAt = (pieces: readonly Piece[], size: number | undefined): Piece | undefined =>
  pieces.find(({ to }) => size !== undefined && size <= to);
