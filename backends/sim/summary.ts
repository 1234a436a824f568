/** The report of a run from what it counted: the same for every executor. */
import { elementsRead, gatheredTable, inputTile } from "../../ir/access.js";
import { cyclesOf, occupancyOf } from "../../ir/clock/index.js";
import { inputsOf, outputOf, roles, type Role, type TileFunc } from "../../ir/func.js";
import { isParam } from "../../ir/regions.js";
import type { Target } from "../../ir/target.js";
import { dataResidency } from "../../ir/tiling/residency.js";
import { findGather } from "../../ir/tile.js";
import { at, dtypeBytes, elementCount } from "../../ir/types.js";
import { tensorOf, type HostInputs } from "../memory.js";
import type { SimReport } from "../report.js";
import { Counter } from "./counter.js";
import { indexLocality } from "./locality.js";

/** What the operands of each role move. */
export type Counters = Readonly<Record<Role, Counter>>;

export interface Counts {
  readonly counters: Counters;
  readonly tasks: number;
  readonly gathers: number;
  readonly syncs: number;
  /** Highest UB byte used. */
  readonly ubPeak: number;
}

export const newCounters = (target: Target): Counters => ({
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
  const least = roles.reduce((sum, role) => sum + compulsory[role], 0);
  const timing = { ...cyclesOf(func, target), occupancy: occupancyOf(func, target) };
  const indices = inputsOf(func).find(({ role }) => role === "indices");
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
    ...(indices === undefined ? {} : { locality: indexLocality(tensorOf(inputs, indices)) }),
    gathers,
    syncs,
  };
}

/** Bytes that any schedule moves: each element it touches once. */
function compulsoryBytes(func: TileFunc): Readonly<Record<Role, number>> {
  const { shape, dtype } = outputOf(func).type;
  const written = elementCount(shape) * dtypeBytes[dtype];
  const stmt = findGather(func.body);
  const found = { data: 0, indices: 0, output: written };
  if (written === 0 || stmt === undefined) return found;
  const { map } = stmt;
  const { residency } = func.schedule;
  const stated = residency === undefined || residency === "auto" ? "ub" : dataResidency(func, { residency });
  inputsOf(func).forEach(({ role, type }, table) => {
    const reached = elementCount(inputTile(map, table, shape, type.shape)) * dtypeBytes[type.dtype];
    const inGm = isParam(func, at(stmt.from, table).buffer);
    // Rows straight from global memory need no more of the data than the output takes.
    if (table === gatheredTable) found[role] += stated === "gm" ? Math.min(reached, written) : reached;
    else found[role] += inGm ? elementsRead(map, table, shape, type.shape) * dtypeBytes[type.dtype] : reached;
  });
  return found;
}
