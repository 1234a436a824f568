/** Inputs that decide where a gather reads, and which elements it reports as bad. */
import { isRead, type AccessMap } from "../ir/access.js";
import { inputsOf, type Operand, type TileFunc } from "../ir/func.js";
import { computationIn } from "../ir/tile.js";
import { isIndexDType } from "../ir/types.js";

/**
 * Returns the inputs of a tile program from which index values are read. The result may include the data
 * (gathered input).
 */
export const indexSources = (tile: TileFunc): readonly Operand[] => taken(tile, (map) => sourceTables(map));

/**
 * Returns the inputs of a tile program that contain indices. An unread input counts if the role is `indices`
 * and the element type is an index type.
 */
export const indexInputs = (tile: TileFunc): readonly Operand[] =>
  taken(tile, (map) => indexTables(map, tile));

/**
 * Returns the numbers (from 0) of the inputs that hold index values. An input that nothing reads counts if
 * its role is `indices` and its element type is an index type.
 */
export function indexTables(
  map: Pick<AccessMap, "indices" | "reads">,
  func: { readonly operands: readonly Operand[] },
): ReadonlySet<number> {
  const values = new Set(map.reads.map(({ table }) => table));
  const unread = inputsOf(func).flatMap(({ role, type }, table) =>
    role === "indices" && !values.has(table) && isIndexDType(type.dtype) ? [table] : [],
  );
  return new Set([...sourceTables(map), ...unread]);
}

const sourceTables = ({ indices }: Pick<AccessMap, "indices">): ReadonlySet<number> =>
  new Set(indices.flatMap(({ value }) => (isRead(value) ? [value.table] : [])));

/**
 * Returns the map of the gather or scatter of a tile program, in coordinates of its tile; undefined if it has
 * neither.
 */
export const statementMap = (tile: TileFunc): AccessMap | undefined => computationIn(tile.body)?.map;

/**
 * Returns the inputs of a tile program that `tables` selects. `tables`: returns the indices of the selected
 * inputs for the program's access map (an empty map without gather or scatter).
 */
function taken(
  tile: TileFunc,
  tables: (map: Pick<AccessMap, "indices" | "reads">) => ReadonlySet<number>,
): readonly Operand[] {
  const numbers = tables(statementMap(tile) ?? { indices: [], reads: [] });
  return inputsOf(tile).filter((_, table) => numbers.has(table));
}
