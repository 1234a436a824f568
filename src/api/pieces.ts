/**
 * A table of ranges of sizes, each with a schedule, as a search over a family of sizes records it: what
 * `bind` takes its kernels from.
 */
import { printFunc, type AccessFunc, type ResolvedSchedule, type Target } from "../../ir/index.js";

/**
 * Range of sizes of one symbol (dynamic size) and the schedule for the range. `from`, `to`: first and last
 * size in elements.
 */
export interface Piece {
  readonly from: number;
  readonly to: number;
  readonly schedule: ResolvedSchedule;
}

/**
 * Record of a search over the sizes of one symbol: a schedule for each range of sizes. The ranges ascend from
 * 1 to the symbol's largest size.
 */
export interface TableRecord {
  readonly record: "table";
  /** Hash that identifies the search. */
  readonly task: string;
  /** Text of the program with its symbol unbound. With `target`, it is the key of this record. */
  readonly gather: string;
  readonly target: string;
  readonly symbol: string;
  readonly pieces: readonly Piece[];
  /** Version of the clock that chose. */
  readonly clock: number;
}

/**
 * Returns the key under which search records store the schedules of a program: program text and target name.
 * The program's name is not part of the key.
 */
export const tableKey = (gather: AccessFunc, target: Target): Pick<TableRecord, "gather" | "target"> => ({
  gather: printFunc({ ...gather, name: "main", target: target.name }),
  target: target.name,
});

/** Returns the last {@link TableRecord} in `records` for a program and target; undefined if there is none. */
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
 * Returns the range of sizes that contains `size`, with its schedule. Size 0 belongs to the first range.
 * Undefined if `size` is undefined or above the last range.
 */
export const pieceAt = (pieces: readonly Piece[], size: number | undefined): Piece | undefined =>
  pieces.find(({ to }) => size !== undefined && size <= to);
