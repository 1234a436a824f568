/**
 * The static cost model: cycles of one core from the closed-form traffic, and the bandwidth all cores share.
 *
 * It ranks schedules; it is not a prediction of a device. The formula is documented in docs/cost-model.md.
 */
import { gatheredTable, rowElements } from "../../ir/access.js";
import { inputOf, inputsOf } from "../../ir/func.js";
import { type OperandTraffic, type Tiling, type Traffic } from "../../ir/tiling/index.js";
import type { Target } from "../../ir/target.js";
import { alignUp, assertNever, at, byteCount, dtypeBytes, elementCount } from "../../ir/types.js";
import { readLines, readsAcrossRows, writtenLines } from "./lines.js";

/** Estimated cycles until the last core is done. */
export function cyclesOf(tiling: Tiling): number {
  if (tiling.traffic.tasks === 0) return 0;
  switch (tiling.target.kind) {
    case "ascend":
      return pipeCycles(tiling);
    case "webgpu":
      return workgroupCycles(tiling);
    case "cpu":
      return cpuCycles(tiling);
    default:
      return assertNever(tiling.target.kind);
  }
}

function pipeCycles(tiling: Tiling): number {
  const { traffic: moved, schedule, target } = tiling;
  const part = (out: boolean): number =>
    moved.operands
      .filter(({ operand }) => (operand === "output") === out)
      .reduce((sum, operand) => sum + transferCycles(operand, out, target), 0);
  const [mte2, mte3] = [part(false), part(true)];
  const gathers = gatherCycles(tiling);
  const sync = moved.tiles * 3 * target.syncCycles;
  const all = schedule.buffers === 2 ? Math.max(mte2, gathers, mte3) + sync : mte2 + gathers + mte3 + sync;
  const busy = Math.min(schedule.cores, moved.tasks);
  const rounds = Math.ceil(moved.tasks / busy);
  return Math.max((all / moved.tasks) * rounds, moved.bytes / target.gmBytesPerCycle);
}

/**
 * Bytes in whole cache lines. A workgroup that stages clears its memory and waits at a barrier before the first gather;
 * too few workgroups leave the device idle.
 */
function workgroupCycles(tiling: Tiling): number {
  const { traffic: moved, schedule, target, gather } = tiling;
  const rounds = Math.ceil(moved.tasks / Math.min(schedule.cores, moved.tasks));
  const staged = schedule.residency === "ub";
  const read = staged ? loadedLines(moved, target) : readLines(tiling);
  const indices = inputsOf(gather)
    .slice(1)
    .reduce((sum, { type }) => sum + byteCount(type), 0);
  const lines = read + writtenLines(tiling) + indices;
  const idle = Math.max(1, schedule.cores / moved.tasks);
  return (staged ? rounds * target.mte2StartupCycles : 0) + (lines * idle) / target.gmBytesPerCycle;
}

/**
 * Bytes in whole cache lines, and what random reads wait for: a slab that fits the first-level cache answers at once;
 * the tensor in place misses, the more so where neighbours of the output read different rows of it.
 */
function cpuCycles(tiling: Tiling): number {
  const { traffic: moved, schedule, target, gather, tile, extents, operands } = tiling;
  const { dtype, shape } = inputOf(gather, gatheredTable).type;
  const size = dtypeBytes[dtype];
  const row = rowElements(gather.map, tile, shape);
  const rows = elementCount(extents) / row;
  const written = writtenLines(tiling);
  if (schedule.residency === "ub") {
    const slab = elementCount(at(operands, gatheredTable).tile) * size;
    const misses = (rows * Math.min(1, slab / firstLevelBytes)) / 4;
    const starts = moved.tasks * target.mte2StartupCycles + loadedRows(moved) * target.rowCycles;
    const lines = loadedLines(moved, target) + written;
    return lines / target.gmBytesPerCycle + starts + misses * target.scalarCycles;
  }
  const lines = readLines(tiling) + written;
  const misses = row * size >= target.burstBytes ? 0 : rows * (readsAcrossRows(tiling) ? 1 : 0.5);
  return lines / target.gmBytesPerCycle + misses * target.scalarCycles;
}

function loadedRows({ operands }: Traffic): number {
  const data = at(operands, gatheredTable);
  return data.burst === 0 ? 0 : data.bytes / data.burst;
}

const loadedLines = (moved: Traffic, target: Target): number =>
  loadedRows(moved) * alignUp(at(moved.operands, gatheredTable).burst, target.burstBytes);

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

function gatherCycles({ gather, schedule, target, tile, extents, traffic }: Tiling): number {
  const { dtype, shape } = inputOf(gather, gatheredTable).type;
  const elements = elementCount(extents);
  if (schedule.residency === "gm") {
    return (elements / rowElements(gather.map, tile, shape)) * target.scalarCycles;
  }
  const wide = inputsOf(gather).some(({ role, type }) => role === "indices" && dtypeBytes[type.dtype] === 8);
  if (wide) return elements * target.scalarCycles;
  const row = Math.max(1, tile[tile.length - 1] ?? 1);
  const repeats = Math.ceil((row * dtypeBytes[dtype]) / target.vectorBytes);
  return (elements / row) * (target.gatherHeadCycles + repeats * target.gatherRepeatCycles) + traffic.tiles;
}
