/** The report of a run from what it counted: the same for every executor. */
import { elementsRead, gatheredTable, inputTile, walked } from "../../ir/access.js";
import { cyclesOf, occupancyOf } from "../../ir/clock/index.js";
import { defined } from "../../ir/defined.js";
import { inputsOf, keyOf, outputOf, type Operand, type TileFunc } from "../../ir/func.js";
import { isParam } from "../../ir/regions.js";
import type { Target } from "../../ir/target.js";
import { dataResidency } from "../../ir/tiling/residency.js";
import { compulsoryElements } from "../../ir/tiling/scatter-traffic.js";
import { computationIn } from "../../ir/tile.js";
import { at, bytesFor, elementCount, invariant } from "../../ir/types.js";
import { inputTensor, type HostInputs } from "../memory.js";
import { indexInputs } from "../index-inputs.js";
import type { SimReport } from "../report.js";
import { Counter } from "./counter.js";
import { indexLocality } from "./locality.js";

/** Counters of the traffic of each operand, by the operand's key. */
export type Counters = ReadonlyMap<string, Counter>;

/**
 * Counts of one execution: traffic of each operand, tasks, gathers, syncs, and peak use of the unified buffer
 * (UB). {@link summarize} converts the counts to a report.
 */
export interface Counts {
  readonly counters: Counters;
  readonly tasks: number;
  readonly gathers: number;
  readonly syncs: number;
  /** Highest UB byte used. */
  readonly ubPeak: number;
}

/** Returns a new traffic counter for each operand, by the operand's key. */
export const newCounters = ({ operands }: TileFunc, target: Target): Counters =>
  new Map(operands.map((operand) => [keyOf(operand), new Counter(target.burstBytes)]));

/** Returns the traffic counter of an operand. Throws an InternalError if the operand has no counter. */
export function counterOf(counters: Counters, operand: Operand): Counter {
  const counter = counters.get(keyOf(operand));
  invariant(counter !== undefined, `${keyOf(operand)} is no operand`);
  return counter;
}

/**
 * Returns the report of an execution: traffic and statement counts, cycles by the cost model, and locality of
 * the index values. `locality` is absent if the program has no index tensor.
 */
export function summarize(
  func: TileFunc,
  target: Target,
  inputs: HostInputs,
  counts: Counts,
  run: Pick<SimReport, "executor" | "copiedBytes">,
): SimReport {
  const { counters, tasks, gathers, syncs, ubPeak } = counts;
  const compulsory = compulsoryBytes(func);
  const reports = func.operands.map(
    (operand, k) => [keyOf(operand), counterOf(counters, operand).report(at(compulsory, k))] as const,
  );
  const bytesRead = inputsOf(func).reduce((sum, input) => sum + counterOf(counters, input).bytes, 0);
  const bytesWritten = counterOf(counters, outputOf(func)).bytes;
  const least = compulsory.reduce((sum, bytes) => sum + bytes, 0);
  const timing = { ...cyclesOf(func, target), occupancy: occupancyOf(func, target) };
  const indices = indexInputs(func).find(({ role }) => role === "indices");
  return {
    target: target.name,
    ...run,
    operands: Object.fromEntries(reports),
    bytesRead,
    bytesWritten,
    compulsoryBytes: least,
    reloadFactor: least === 0 ? 1 : (bytesRead + bytesWritten) / least,
    ubPeak,
    ubBudget: func.schedule.ubBytes ?? target.ubBytes,
    tasks,
    cores: Math.min(func.schedule.cores ?? target.cores, Math.max(1, tasks)),
    timing,
    ...defined({ locality: indices && indexLocality(inputTensor(inputs, indices)) }),
    gathers,
    syncs,
  };
}

/** Returns the bytes that every schedule has to move, by operand. An accessed element counts once. */
function compulsoryBytes(func: TileFunc): readonly number[] {
  const { shape, dtype } = outputOf(func).type;
  const written = bytesFor(elementCount(shape), dtype);
  const stmt = computationIn(func.body);
  if (stmt?.op === "scatter")
    return compulsoryElements({ map: stmt.map, operands: func.operands }).map((elements, k) =>
      bytesFor(elements, at(func.operands, k).type.dtype),
    );
  if (written === 0 || stmt === undefined) return [...inputsOf(func).map(() => 0), written];
  const { map } = stmt;
  const space = walked(map, shape, stmt.chunk?.of);
  const { residency } = func.schedule;
  const stated = residency === undefined || residency === "auto" ? "ub" : dataResidency(func, { residency });
  const inputs = inputsOf(func).map(({ type }, table) => {
    const reached = bytesFor(elementCount(inputTile(map, table, space, type.shape)), type.dtype);
    // Rows straight from global memory need no more of the data than the output, or its terms, take.
    if (table === gatheredTable)
      return stated === "gm" ? Math.min(reached, bytesFor(elementCount(space), type.dtype)) : reached;
    const inGm = isParam(func, at(stmt.from, table).buffer);
    return inGm ? bytesFor(elementsRead(map, table, space, type.shape), type.dtype) : reached;
  });
  return [...inputs, written];
}
