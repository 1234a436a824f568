/**
 * Residencies of a gather's operands under a schedule: the available choices, and the choice that a schedule
 * states.
 *
 * The data is in UB or in global memory. Index tables are where the target has them: in UB on an Ascend core,
 * in global memory on machines that gather in place. A table that index values look up, such as a table of
 * pages, may stay in global memory on an Ascend core too. The core's scalar unit reads single elements there.
 */
import { gatheredTable, isScatter, readsOf } from "../access.js";
import { entryOf } from "../entry-of.js";
import { inputOf, inputsOf, keyOf, type AccessFunc, type Operand } from "../func.js";
import { indicesOf } from "../linear.js";
import type { Residencies, Residency } from "../schedule.js";
import { targetFacts, type Target } from "../target.js";
import { byteCount } from "../types.js";

/** Returns the target's default residency of operands that no schedule places. */
const home = ({ kind }: Target): Residency => (targetFacts[kind].gathersInPlace ? "gm" : "ub");

/**
 * Returns the residency (memory) of an operand. A `residency` of one word applies to the data. Without an
 * entry in `residency`, data is in the unified buffer, and any other operand is in the target's default
 * memory.
 */
export function residencyOf(operand: Operand, residency: Residencies, target: Target): Residency {
  const named = typeof residency === "string" ? undefined : entryOf(residency, keyOf(operand));
  if (operand.role === "data") return named ?? (typeof residency === "string" ? residency : "ub");
  return named ?? home(target);
}

/**
 * Returns the residency (memory) of the data: `ub` for tiles in the unified buffer, `gm` for rows in global
 * memory.
 */
export const dataResidency = (
  gather: Pick<AccessFunc, "operands">,
  { residency }: { readonly residency: Residencies },
): Residency =>
  typeof residency === "string"
    ? residency
    : (entryOf(residency, keyOf(inputOf(gather, gatheredTable))) ?? "ub");

/**
 * True if the coordinates at which an access map reads an input depend on index values. `table`: index of the
 * input, from 0.
 */
export const isLookup = ({ map }: Pick<AccessFunc, "map">, table: number): boolean =>
  readsOf(map, table).some((coords) => coords.some((coord) => indicesOf(coord).length > 0));

/**
 * True if an operator's framework leaves the inputs in global memory, as for PyPTO's index_select and
 * gather_in_ub. Sources, in hicann/pypto at 883e7df (2026-08-22):
 * framework/src/interface/operation/opcode.cpp, memory types of GATHER and GATHER_IN_UB;
 * docs/zh/api/operation/pypto-index_select.md, rule 5.
 */
export const countsResultAlone = ({ framework, sharedDims, map }: AccessFunc): boolean =>
  framework !== undefined && sharedDims.length === 0 && !isScatter(map);

/**
 * True if the target is an Ascend core that reads the operator's inputs in global memory, as required by the
 * operator's framework.
 */
export const readsInGm = (gather: AccessFunc, target: Target): boolean =>
  countsResultAlone(gather) && targetFacts[target.kind].vectorUnit;

/**
 * Returns the index tensors that a schedule may leave in global memory or load to the unified buffer (UB),
 * largest first. The list is empty on targets that read operands in place.
 */
export function movableTables(gather: AccessFunc, target: Target): readonly Operand[] {
  if (targetFacts[target.kind].gathersInPlace) return [];
  const every = readsInGm(gather, target);
  return inputsOf(gather)
    .filter((_, table) => table !== gatheredTable && (every || isLookup(gather, table)))
    .sort((a, b) => byteCount(b.type) - byteCount(a.type));
}

/**
 * Returns a residency (memory of each operand) in the shortest form: one word, for the data, if all index
 * tensors are in the target's default memory. `of`: returns the memory of an operand.
 */
export function placed(gather: AccessFunc, target: Target, of: (operand: Operand) => Residency): Residencies {
  const [data, ...tables] = inputsOf(gather);
  const elsewhere = tables.filter((table) => of(table) !== home(target));
  const ofData = data === undefined ? "ub" : of(data);
  if (data === undefined || elsewhere.length === 0) return ofData;
  return Object.fromEntries([data, ...elsewhere].map((operand) => [keyOf(operand), of(operand)]));
}

/**
 * Returns `residency` (memory of each operand) in the shortest form: one word, for the data, if all index
 * tensors are in the target's default memory.
 */
export const shortest = (gather: AccessFunc, target: Target, residency: Residencies): Residencies =>
  placed(gather, target, (operand) => residencyOf(operand, residency, target));

/**
 * Returns the residencies (memories of the operands) to try for a schedule without a residency, best first.
 * `data`: memories to try for the data, best first.
 */
export function residencyChoices(
  gather: AccessFunc,
  target: Target,
  data: readonly [Residency, ...Residency[]],
): readonly [Residencies, ...Residencies[]] {
  const tables = movableTables(gather, target);
  const of = (residency: Residency, inGm: number): Residencies =>
    placed(gather, target, (operand) => {
      if (operand.role === "data") return residency;
      return tables.indexOf(operand) >= 0 && tables.indexOf(operand) < inGm ? "gm" : home(target);
    });
  const [first, ...others] = data;
  const rest = [first, ...others].flatMap((residency) =>
    Array.from({ length: tables.length + 1 }, (_, inGm) => [residency, inGm] as const),
  );
  return [of(first, 0), ...rest.slice(1).map(([residency, inGm]) => of(residency, inGm))];
}
