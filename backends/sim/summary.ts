/** The report of a run from what it counted: the same for every executor. */
import { cyclesOf, walkOf } from "../../ir/clock/index.js";
import type { Operand } from "../../ir/footprint.js";
import type { TileFunc } from "../../ir/func.js";
import type { Target } from "../../ir/target.js";
import { findGather } from "../../ir/tile.js";
import { at, byteCount, dtypeBytes, elementCount } from "../../ir/types.js";
import type { HostInputs } from "../memory.js";
import { Counter } from "./counter.js";
import { indexLocality } from "./locality.js";
import type { SimReport } from "./report.js";

export interface Counts {
  readonly counters: Readonly<Record<Operand, Counter>>;
  readonly tasks: number;
  readonly gathers: number;
  readonly syncs: number;
  /** Highest UB byte used. */
  readonly ubPeak: number;
}

export const newCounters = (target: Target): Readonly<Record<Operand, Counter>> => ({
  data: new Counter(target.burstBytes),
  indices: new Counter(target.burstBytes),
  output: new Counter(target.burstBytes),
});

export function summarize(
  func: TileFunc,
  target: Target,
  inputs: HostInputs,
  counts: Counts,
  run: Pick<SimReport, "executor" | "copiedBytes">,
): SimReport {
  const { counters, tasks, gathers, syncs, ubPeak } = counts;
  const compulsory = compulsoryBytes(func);
  const operands = {
    data: counters.data.report(compulsory.data),
    indices: counters.indices.report(compulsory.indices),
    output: counters.output.report(compulsory.output),
  };
  const bytesRead = operands.data.bytes + operands.indices.bytes;
  const bytesWritten = operands.output.bytes;
  const least = compulsory.data + compulsory.indices + compulsory.output;
  const timing = { ...cyclesOf(func, target), occupancy: walkOf(func, target).occupancy };
  return {
    target: target.name,
    ...run,
    operands,
    bytesRead,
    bytesWritten,
    compulsoryBytes: least,
    reloadFactor: least === 0 ? 1 : (bytesRead + bytesWritten) / least,
    ubPeak,
    ubBudget: func.schedule.ubBytes ?? target.ubBytes,
    tasks,
    cores: Math.min(func.schedule.cores ?? target.cores, Math.max(1, tasks)),
    timing,
    locality: indexLocality(inputs.indices),
    gathers,
    syncs,
  };
}

/** Bytes that any schedule moves: each element it touches once. */
function compulsoryBytes(func: TileFunc): Readonly<Record<Operand, number>> {
  const { data, indices, output, schedule } = func;
  const written = byteCount(output.type);
  const map = findGather(func.body)?.map;
  if (written === 0 || map === undefined) return { data: 0, indices: 0, output: written };
  const reached = map.results.map((access, k) =>
    access.kind === "direct" ? at(output.type.shape, access.dim) : at(data.type.shape, k),
  );
  // Rows straight from global memory need no more of the data than the output takes.
  const most = schedule.residency === "gm" ? written : Infinity;
  return {
    data: Math.min(elementCount(reached) * dtypeBytes[data.type.dtype], most),
    indices: byteCount(indices.type),
    output: written,
  };
}
