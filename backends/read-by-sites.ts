/** What the course of a gather hangs on. */
import { isRead } from "../ir/access.js";
import { inputsOf, type Operand, type TileFunc } from "../ir/func.js";
import { taskOfTile } from "../ir/task/index.js";

/** The inputs that index values are read from; the data may be one of them. */
export function readBySites(tile: TileFunc): readonly Operand[] {
  const sites = taskOfTile(tile).gather?.stmt.map.sites ?? [];
  const tables = new Set(sites.flatMap(({ value }) => (isRead(value) ? [value.table] : [])));
  return inputsOf(tile).filter((_, table) => tables.has(table));
}

/** The inputs that hold indices: those of that role, and data that index values are read from. */
export function indexInputs(tile: TileFunc): readonly Operand[] {
  const read = readBySites(tile);
  return inputsOf(tile).filter((operand) => operand.role === "indices" || read.includes(operand));
}
