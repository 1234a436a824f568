/**
 * The static cost model: cycles of one core from the closed-form traffic, and the bandwidth all cores share.
 *
 * It ranks schedules; it is not a prediction of a device. The formula is documented in docs/cost-model.md.
 */
import { dataTile, rowElements } from "../../ir/access.js";
import { clipTile, type Gather } from "../../ir/footprint.js";
import type { ResolvedSchedule } from "../../ir/schedule.js";
import type { Target } from "../../ir/target.js";
import { alignUp, byteCount, dtypeBytes, elementCount } from "../../ir/types.js";
import { readLines, readsAcrossRows, writtenLines } from "./lines.js";
import { traffic, type OperandTraffic, type Traffic } from "./traffic.js";

export interface Cost {
  /** Estimated cycles until the last core is done. */
  readonly cycles: number;
  readonly traffic: Traffic;
}

export function cost(gather: Gather, schedule: ResolvedSchedule, target: Target): Cost {
  const moved = traffic(gather, schedule, target);
  if (moved.tasks === 0) return { cycles: 0, traffic: moved };
  if (target.kind === "webgpu")
    return { cycles: workgroupCycles(gather, schedule, target, moved), traffic: moved };
  if (target.kind === "cpu") return { cycles: cpuCycles(gather, schedule, target, moved), traffic: moved };
  const part = (name: OperandTraffic["operand"]): number => {
    const operand = moved.operands.find((o) => o.operand === name);
    return operand === undefined ? 0 : transferCycles(operand, name === "output", target);
  };
  const mte2 = part("data") + part("indices");
  const mte3 = part("output");
  const gathers = gatherCycles(gather, schedule, target, moved);
  const sync = moved.tiles * 3 * target.syncCycles;
  const all = schedule.buffers === 2 ? Math.max(mte2, gathers, mte3) + sync : mte2 + gathers + mte3 + sync;
  const busy = Math.min(schedule.cores, moved.tasks);
  const rounds = Math.ceil(moved.tasks / busy);
  return {
    cycles: Math.max((all / moved.tasks) * rounds, moved.bytes / target.gmBytesPerCycle),
    traffic: moved,
  };
}

/**
 * Bytes in whole cache lines. A workgroup that stages clears its memory and waits at a barrier before the first gather;
 * too few workgroups leave the device idle.
 */
function workgroupCycles(gather: Gather, schedule: ResolvedSchedule, target: Target, moved: Traffic): number {
  const rounds = Math.ceil(moved.tasks / Math.min(schedule.cores, moved.tasks));
  const staged = schedule.residency === "ub";
  const read = staged ? loadedLines(moved, target) : readLines(gather, schedule, target);
  const lines = read + writtenLines(gather, schedule, target) + byteCount(gather.indices);
  const idle = Math.max(1, schedule.cores / moved.tasks);
  return (staged ? rounds * target.mte2StartupCycles : 0) + (lines * idle) / target.gmBytesPerCycle;
}

/**
 * Bytes in whole cache lines, and what random reads wait for: a slab that fits the first-level cache answers at once;
 * the tensor in place misses, the more so where neighbours of the output read different rows of it.
 */
function cpuCycles(gather: Gather, schedule: ResolvedSchedule, target: Target, moved: Traffic): number {
  const { map, data, output } = gather;
  const size = dtypeBytes[data.dtype];
  const tile = clipTile(schedule.tile, schedule.view, output.shape);
  const row = rowElements(map, tile, data.shape);
  const rows = elementCount(output.shape) / row;
  const written = writtenLines(gather, schedule, target);
  if (schedule.residency === "ub") {
    const slab = elementCount(dataTile(map, tile, data.shape)) * size;
    const misses = (rows * Math.min(1, slab / firstLevelBytes)) / 4;
    const starts = moved.tasks * target.mte2StartupCycles + loadedRows(moved) * target.rowCycles;
    const lines = loadedLines(moved, target) + written;
    return lines / target.gmBytesPerCycle + starts + misses * target.scalarCycles;
  }
  const lines = readLines(gather, schedule, target) + written;
  const misses = row * size >= target.burstBytes ? 0 : rows * (readsAcrossRows(gather) ? 1 : 0.5);
  return lines / target.gmBytesPerCycle + misses * target.scalarCycles;
}

function loadedRows({ operands }: Traffic): number {
  const data = operands.find((o) => o.operand === "data");
  return data === undefined || data.burst === 0 ? 0 : data.bytes / data.burst;
}

function loadedLines(moved: Traffic, target: Target): number {
  const burst = moved.operands.find((o) => o.operand === "data")?.burst ?? 0;
  return loadedRows(moved) * alignUp(burst, target.burstBytes);
}

/** A slab of this size shares a first-level cache with the indices and the output that pass through it. */
const firstLevelBytes = 32768;

function transferCycles(operand: OperandTraffic, out: boolean, target: Target): number {
  const startup = out ? target.mte3StartupCycles : target.mte2StartupCycles;
  const rate = out ? target.mte3BytesPerCycle : target.mte2BytesPerCycle;
  const rows = operand.burst === 0 ? 0 : operand.bytes / operand.burst;
  const wasted = rows * Math.max(0, target.burstBytes - operand.burst);
  return (
    operand.transfers * startup +
    Math.max(0, rows - operand.transfers) * target.rowCycles +
    (operand.bytes + wasted / 8) / rate
  );
}

function gatherCycles(gather: Gather, schedule: ResolvedSchedule, target: Target, moved: Traffic): number {
  const elements = elementCount(gather.output.shape);
  const tile = clipTile(schedule.tile, schedule.view, gather.output.shape);
  if (schedule.residency === "gm") {
    return (elements / rowElements(gather.map, tile, gather.data.shape)) * target.scalarCycles;
  }
  if (dtypeBytes[gather.indices.dtype] === 8) return elements * target.scalarCycles;
  const row = Math.max(1, tile[tile.length - 1] ?? 1);
  const rows = elements / row;
  const repeats = Math.ceil((row * dtypeBytes[gather.data.dtype]) / target.vectorBytes);
  return rows * (target.gatherHeadCycles + repeats * target.gatherRepeatCycles) + moved.tiles;
}
