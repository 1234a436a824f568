/**
 * Inputs copied by the row: where indices name few rows of a large table that is read in place, those rows are all that a
 * run reads of it.
 */
import { gatheredTable, isPlain, plainSites } from "../../ir/access.js";
import { inputOf, type TileFunc } from "../../ir/func.js";
import { constant, equalLinear, soleAtom } from "../../ir/linear.js";
import { indexRule, resolveIndex, type IndexRule } from "../../ir/policy.js";
import { isParam } from "../../ir/regions.js";
import type { GatherStmt } from "../../ir/tile.js";
import { at, byteCount, elementCount } from "../../ir/types.js";
import { indexReader, tensorOf, type HostInputs } from "../memory.js";

/** The rows of the data's outermost dim that the values of one index input name. */
export interface NamedRows {
  readonly kind: "rows";
  readonly table: number;
  readonly rule: IndexRule;
  readonly rowBytes: number;
}

/** A table is copied whole unless the rows named, each as often as it is, are fewer bytes by this factor. */
export const fewerBy = 2;

/** Undefined where the data are loaded in slabs, or no site alone picks along their outermost dim, or the rows are many. */
export function namedRows(func: TileFunc, { map, from }: GatherStmt): NamedRows | undefined {
  if (!isPlain(map)) return undefined;
  const region = at(from, gatheredTable);
  const [first] = map.results;
  const [offset] = region.offsets;
  const picks = first === undefined ? undefined : soleAtom(first);
  if (picks?.kind !== "site" || offset === undefined || !isParam(func, region.buffer)) return undefined;
  if (!equalLinear(offset, constant(0))) return undefined;
  const site = at(plainSites(map), picks.site);
  const table = inputOf(func, site.value.table).type;
  const data = inputOf(func, gatheredTable).type;
  const rowBytes = byteCount(data) / at(data.shape, 0);
  if (elementCount(table.shape) * rowBytes * fewerBy > byteCount(data)) return undefined;
  return { kind: "rows", table: site.value.table, rule: indexRule(site, table.dtype), rowBytes };
}

/** Copies the rows that are named to their places, one a step; yields the bytes of each. */
export function* copyNamedRows(
  func: TileFunc,
  { table, rule, rowBytes }: NamedRows,
  from: HostInputs,
  to: HostInputs,
): Generator<number, void> {
  const [source, target] = [from, to].map((inputs) => tensorOf(inputs, inputOf(func, gatheredTable)).bytes);
  const { type, bytes } = tensorOf(to, inputOf(func, table));
  const read = indexReader(bytes, type.dtype);
  for (let position = 0; position < elementCount(type.shape); position++) {
    const row = resolveIndex(rule, read(position), () => read.exact(position));
    if (row < 0) continue;
    const start = row * rowBytes;
    target?.set(source?.subarray(start, start + rowBytes) ?? [], start);
    yield rowBytes;
  }
}
