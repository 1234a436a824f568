/** A table of ranges of sizes, each with a schedule, as a search over a family of sizes records it: what `bind` takes its kernels from. */
import { printFunc, type AccessFunc, type ResolvedSchedule, type Target } from "../../ir/index.js";

/** Sizes from one to another, both included, in elements of one symbol, and the schedule that they share. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  readonly schedule: ResolvedSchedule;
}

/** The table of a program. Its pieces cover 1 to the most, in ascending order; 0 takes the first. */
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

/** By what a table is found: two programs of one text under other names are one. */
export const tableKey = (gather: AccessFunc, target: Target): Pick<TableRecord, "gather" | "target"> => ({
  gather: printFunc({ ...gather, name: "main", target: target.name }),
  target: target.name,
});

/** The latest table of a program among records. */
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

/** The piece that a size lies in; the first for 0. Undefined beyond the most. */
export const pieceAt = (pieces: readonly Piece[], size: number | undefined): Piece | undefined =>
  pieces.find(({ to }) => size !== undefined && size <= to);
