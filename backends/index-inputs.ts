/** Inputs that decide where a gather reads, and which elements it reports as bad. */
import { isRead } from "../ir/access.js";
import { inputsOf, type Operand, type TileFunc } from "../ir/func.js";
import { taskOfTile } from "../ir/task/index.js";
import { isIndexDType } from "../ir/types.js";

/** The inputs that index values are read from; the data may be one of them. */
export function indexSources(tile: TileFunc): readonly Operand[] {
  const sites = taskOfTile(tile).gather?.stmt.map.sites ?? [];
  const tables = new Set(sites.flatMap(({ value }) => (isRead(value) ? [value.table] : [])));
  return inputsOf(tile).filter((_, table) => tables.has(table));
}

/** The inputs that hold indices: those that index values are read from, and others that no value is made from. */
export function indexInputs(tile: TileFunc): readonly Operand[] {
  const read = indexSources(tile);
  const values = new Set((taskOfTile(tile).gather?.stmt.map.reads ?? []).map(({ table }) => table));
  return inputsOf(tile).filter(
    (operand, table) =>
      read.includes(operand) ||
      (operand.role === "indices" && !values.has(table) && isIndexDType(operand.type.dtype)),
  );
}
