/**
 * Order in which a CPU takes the points of a scatter: row-major, by rows if the elements after an index value
 * are contiguous.
 */
import { isMove, isRead, type AccessMap } from "../../ir/access.js";
import { addressOf, stepsOf } from "../../ir/addressing.js";
import { defined } from "../../ir/defined.js";
import { CompileError, error } from "../../ir/diagnostic.js";
import { inputsOf, outputBytes, outputOf, isInPlace, type TileFunc } from "../../ir/func.js";
import { rangesOf } from "../../ir/intervals/intervals.js";
import type { Ranges } from "../../ir/intervals/range.js";
import { constant, dimsOf, type Linear } from "../../ir/linear.js";
import { mayReject } from "../../ir/policy.js";
import { statementsOf } from "../../ir/task/index.js";
import { firstTable, type ScatterStmt } from "../../ir/tile.js";
import { sizeRanges } from "../../ir/symbols/symbols.js";
import { at, bytesOf, isPacked, type DType } from "../../ir/types.js";
import { typeOf, valuePlan, type ValuePlan } from "../../ir/values/index.js";
import { indexSteps, type IndexStep } from "../index-walk.js";
import { maxSizesOf } from "../plan/gather.js";
import { combinedValue } from "../plan/combined-value.js";
import { commonRun, type Run } from "../plan/runs.js";
import { stagesOf, type Stage } from "../plan/stages.js";
import { scatterMapOf } from "../scatter-map.js";
import { unrolledValues, type UnrolledValues } from "./unrolled-values.js";
import type { Memory, PlacedRegion } from "./memory-addresses.js";
import type { Region } from "../../ir/tile.js";

/**
 * Element in a memory. `form`: the element's address, in elements, as a linear expression in tile
 * coordinates, index values and loop variables.
 */
export interface PlacedElement {
  readonly memory: Memory;
  readonly form: Linear;
  readonly dtype: DType;
}

/**
 * Plan of the WebAssembly code of a scatter statement: index lookups, addresses, computed values and checks.
 */
export interface CpuScatter {
  readonly stmt: ScatterStmt;
  /** Map over whole tensors. */
  readonly map: AccessMap;
  readonly ranges: Ranges;
  readonly indexSteps: readonly IndexStep[];
  /** Memory of the values of each index operand; undefined for a sum. */
  readonly tables: readonly (Memory | undefined)[];
  readonly stages: readonly Stage[];
  readonly written: PlacedElement;
  /** Elements that a point's value is made from; where points combine, the written one comes last. */
  readonly reads: readonly PlacedElement[];
  /** Plan by which an element is computed; absent if it moves as it is. */
  readonly values?: ValuePlan;
  /** Present if elements along the innermost dim are computed in vectors. */
  readonly unrolled?: UnrolledValues;
  /** Bytes of an element of the output. */
  readonly elementBytes: number;
  /** Points that are copied at once: those along dims from `outer` on. */
  readonly run: Run;
  /** True if what is read and written moves along the innermost dim by steps alone. */
  readonly isLine: boolean;
  /** True if a policy rejects an index value. */
  readonly reports: boolean;
  /** True if all points are looked at before one is written. */
  readonly isChecked: boolean;
}

/**
 * Returns the plan of the WebAssembly code of a program's scatter. Throws a CompileError (TC505) if no code
 * can be emitted for the scatter ({@link hasScatterCode}).
 */
export function planCpuScatter(func: TileFunc, place: (region: Region) => PlacedRegion): CpuScatter {
  const map = scatterMapOf(func);
  const located = statementsOf(func).flatMap(({ stmt, loops }) =>
    stmt.op === "scatter" ? [{ stmt, loops }] : [],
  );
  const { stmt, loops } = at(located, 0);
  const inputs = inputsOf(func);
  const first = firstTable(stmt, inputs.length);
  const elementAt = (table: number, coords: readonly Linear[]): PlacedElement => {
    const region = table === inputs.length ? stmt.to : at(stmt.from, table - first);
    const placed = place(region);
    return {
      memory: placed.memory,
      form: addressOf(coords, placed),
      dtype: at(func.operands, table).type.dtype,
    };
  };
  const indices = stmt.map.indices.map(({ value }) =>
    isRead(value) ? elementAt(value.table, value.at) : undefined,
  );
  const forms = stmt.map.indices.map(({ value }, k) => indices[k]?.form ?? (value as Linear));
  const steps = indexSteps(stmt.map, forms, func.operands);
  refuseWithoutCode(func, stmt.map, steps);
  const written = elementAt(inputs.length, stmt.map.write.at);
  const values = valuesOf(func, stmt.map);
  const reads = stmt.map.reads.map(({ table, at: coords }) => elementAt(table, coords));
  if (map.write.combine !== "set") reads.push(written);
  const rank = map.domain.length;
  const stages = stagesOf(
    forms,
    written.form,
    reads.map(({ form }) => form),
  );
  const last = at(stages, stages.length - 1).dim;
  const elementBytes = outputBytes(func);
  const along = [written, ...reads].map(({ form }) => stepsOf(form, rank).map((step) => step * elementBytes));
  const alone = { outer: rank, bytes: elementBytes };
  const unrolled = unrolledValues(
    { sizes: stmt.sizes, loops, values, indices: forms, reads: reads.map(({ form }) => form) },
    reads.map(({ dtype }) => dtype),
    { by: at(along, 0), elementBytes },
  );
  return {
    stmt,
    map,
    ranges: rangesOf(
      stmt.map,
      inputs.map(({ type }) => type),
      maxSizesOf(stmt.sizes, loops),
      { loops, symbols: sizeRanges(func.symbolic?.symbols ?? []) },
    ),
    indexSteps: steps,
    tables: indices.map((element) => element?.memory),
    stages,
    written,
    reads,
    ...defined({ values, unrolled }),
    elementBytes,
    run: values === undefined ? commonRun(stmt.sizes, along, elementBytes, last + 1) : alone,
    isLine: rank > 0 && last < rank - 1,
    reports: mayReject(stmt.map),
    isChecked: (isInPlace(func) && mayReject(map)) || map.write.duplicates === "error",
  };
}

/**
 * Returns the part of a scatter for which there is no WebAssembly code: a value that may lack an element, or
 * reduction elements with index values of their own. Undefined if there is code for the scatter.
 */
function withoutCode(map: AccessMap, steps: readonly IndexStep[]): string | undefined {
  const lacks = steps.some(({ isOfValue, rule }) => isOfValue === true && rule?.mayBeNone === true);
  if (lacks) return "a value that may lack an element";
  const inReduction = map.reduced?.segment !== undefined || steps.some(({ inReduction }) => inReduction);
  return inReduction ? "reduction elements with index values of their own" : undefined;
}

/**
 * True if WebAssembly code can be emitted for a scatter. False if the reduction elements are a segment, or if
 * an out-of-range policy may leave a written value without an input element.
 */
export const hasScatterCode = (map: AccessMap, { operands }: Pick<TileFunc, "operands">): boolean =>
  withoutCode(
    map,
    indexSteps(
      map,
      map.indices.map(() => constant(0)),
      operands,
    ),
  ) === undefined;

/**
 * Throws a CompileError (TC505) if no WebAssembly code can be emitted for the scatter `map` ({@link
 * hasScatterCode}). `steps`: steps that look up the scatter's index values.
 */
function refuseWithoutCode({ name, span }: TileFunc, map: AccessMap, steps: readonly IndexStep[]): void {
  const what = withoutCode(map, steps);
  if (what === undefined) return;
  const message = `@${name} scatters ${what}, and there is no code of WebAssembly for it`;
  const hint = 'simulate it with { executor: "fast" }, which takes its points one by one';
  throw new CompileError([error("TC505", message, { span, hint })]);
}

/**
 * Returns the steps that compute the new value of each element that a scatter writes; undefined if the
 * scatter only copies elements. Throws a CompileError (TC104) for an element type that cannot be combined.
 */
function valuesOf(func: TileFunc, map: AccessMap): ValuePlan | undefined {
  const { combine } = map.write;
  if (combine === "set" && isMove(map)) return undefined;
  const types = map.reads.map(({ table }) => at(func.operands, table).type.dtype);
  if (combine === "set") return valuePlan(map.value, types);
  const { dtype } = outputOf(func).type;
  const from = typeOf(map.value, types);
  const step = combinedValue(combine, dtype, { kind: "read", read: types.length }, map.value, from);
  return valuePlan(step, [...types, dtype]);
}

/**
 * Returns the step of an address from one element to the next in WebAssembly code, in bytes. The step is 1
 * for packed elements (several in a byte), whose addresses count elements.
 */
export const unitBytes = ({ dtype }: PlacedElement): number => (isPacked(dtype) ? 1 : bytesOf(dtype));

/**
 * True if the address of an element depends on the reduction dim. `rank`: index of the reduction dim, after
 * all dims of the domain.
 */
export const isReduced = ({ form }: PlacedElement, rank: number): boolean => dimsOf(form).includes(rank);
