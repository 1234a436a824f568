/**
 * Where the operands of a gather live under a schedule: which choices there are, and which one a schedule states.
 *
 * The data is in UB or in global memory. Index tables are where the target has them: in UB on an Ascend core, in global memory
 * on machines that gather in place. A table that index values look up, such as a table of pages, may stay in global memory on
 * an Ascend core too: its scalar unit reads single elements there.
 */
import { gatheredTable, isScatter, readsOf } from "../access.js";
import { entryOf } from "../entry-of.js";
import { inputOf, inputsOf, keyOf, type AccessFunc, type Operand } from "../func.js";
import { indicesOf } from "../linear.js";
import type { Residencies, Residency } from "../schedule.js";
import { targetFacts, type Target } from "../target.js";
import { byteCount } from "../types.js";

/** Where a target has what no schedule places. */
const home = ({ kind }: Target): Residency => (targetFacts[kind].gathersInPlace ? "gm" : "ub");

/** Where an operand is when the gather reads or writes it. */
export function residencyOf(operand: Operand, residency: Residencies, target: Target): Residency {
  const named = typeof residency === "string" ? undefined : entryOf(residency, keyOf(operand));
  if (operand.role === "data") return named ?? (typeof residency === "string" ? residency : "ub");
  return named ?? home(target);
}

/** Where the data is: what decides between a full load and rows. */
export const dataResidency = (
  gather: Pick<AccessFunc, "operands">,
  { residency }: { readonly residency: Residencies },
): Residency =>
  typeof residency === "string"
    ? residency
    : (entryOf(residency, keyOf(inputOf(gather, gatheredTable))) ?? "ub");

/** Whether index values name the places at which a table is read. */
export const isLookup = ({ map }: Pick<AccessFunc, "map">, table: number): boolean =>
  readsOf(map, table).some((coords) => coords.some((coord) => indicesOf(coord).length > 0));

/**
 * True if the operator's framework keeps its inputs in global memory, so that its rule of the buffer counts the result alone:
 * PyPTO's index_select and gather_in_ub. Sources, in hicann/pypto at 883e7df (2026-08-22): framework/src/interface/operation/opcode.cpp,
 * memory types of GATHER and GATHER_IN_UB; docs/zh/api/operation/pypto-index_select.md, rule 5.
 */
export const countsResultAlone = ({ framework, sharedDims, map }: AccessFunc): boolean =>
  framework !== undefined && sharedDims.length === 0 && !isScatter(map);

/** True if an Ascend core reads the inputs of such an operator in global memory. */
export const readsInGm = (gather: AccessFunc, target: Target): boolean =>
  countsResultAlone(gather) && targetFacts[target.kind].vectorUnit;

/** Index tables that a schedule may leave in global memory, or load to UB, by choice: the largest first. */
export function movableTables(gather: AccessFunc, target: Target): readonly Operand[] {
  if (targetFacts[target.kind].gathersInPlace) return [];
  const every = readsInGm(gather, target);
  return inputsOf(gather)
    .filter((_, table) => table !== gatheredTable && (every || isLookup(gather, table)))
    .sort((a, b) => byteCount(b.type) - byteCount(a.type));
}

/** The shortest way to say where the data and the tables are. */
export function placed(gather: AccessFunc, target: Target, of: (operand: Operand) => Residency): Residencies {
  const [data, ...tables] = inputsOf(gather);
  const elsewhere = tables.filter((table) => of(table) !== home(target));
  const ofData = data === undefined ? "ub" : of(data);
  if (data === undefined || elsewhere.length === 0) return ofData;
  return Object.fromEntries([data, ...elsewhere].map((operand) => [keyOf(operand), of(operand)]));
}

/** A stated residency in its shortest form. */
export const shortest = (gather: AccessFunc, target: Target, residency: Residencies): Residencies =>
  placed(gather, target, (operand) => residencyOf(operand, residency, target));

/**
 * The residencies to choose among where a schedule leaves that open: full load first, then rows where the target has them; each
 * with its tables where the target has them, then with the largest ones in global memory, one more each time.
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
