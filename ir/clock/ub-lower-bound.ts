/**
 * The least cycles of a gather whose operands pass through UB: a machine whose pipes run side by side, each
 * in order.
 */
import { elementsRead, gatheredTable, inputTile, isMove, rowDim, readsOf, walked } from "../access.js";
import { ofEach, outputOf } from "../func.js";
import { gatherPipe, hasWideIndices } from "../regions.js";
import { movableTables, type Tiling } from "../tiling/index.js";
import { flatPrograms } from "../tiling/flat.js";
import type { PlacedTensor, Instructions } from "../tiling/gather-lowering.js";
import { gatherWork, valueWork, type GatherSetting } from "../tiling/gather-work.js";
import { cyclesOfWork } from "./price.js";
import { noWork, repeatedWork, type Work } from "./work.js";
import { computedByRow } from "../tiling/value-rows.js";
import type { Target } from "../target.js";
import { at, byteCount, bytesFor, bytesOf, elementCount, isPacked, strides, type DType } from "../types.js";
import { extent, type LowerBoundLimit, type LowerBound } from "./lower-bound-limit.js";
import { latencyOf } from "./terms.js";
import { readTogether } from "./read-together.js";
import { memoryCycles } from "./statement.js";

/**
 * Returns the lower bound on the cycles of a gather through the unified buffer (UB). The bound applies to all
 * schedules with the cores and data residency of `tiling`. `target`: source of the hardware parameters.
 */
export function leastThroughUb(tiling: Tiling, target = tiling.target): LowerBound {
  const { gather, schedule, extents, residency } = tiling;
  const { operands } = gather;
  const written = byteCount(outputOf(gather).type);
  if (written === 0) return { cycles: 0, limit: "global memory" };
  const cores = Math.min(schedule.cores, elementCount(extents));
  const share = extent / cores;
  const inGm = residency === "gm";
  const read = leastReads(tiling, target);
  const transferred = operands.map(({ role }, table) => {
    if (role === "output") return written * share;
    return (read.find((one) => one.table === table)?.bytes ?? 0) * share;
  });
  const loads = read.filter(({ loaded }) => loaded);
  const hits = largestHitRate(read, tiling, target);
  const cyclesOf = (work: Partial<Work>, pipe: "MTE2" | "V" | "MTE3" | "S"): number =>
    cyclesOfWork({ ...noWork, ...work }, pipe, target, cores, hits);
  const wait = Math.ceil(target.syncCycles);
  const loadWait = wait + Math.floor(latencyOf("MTE2", target));
  const blocks = (instructions: number): Partial<Work> => ({
    instructions,
    bursts: instructions,
    padded: instructions * target.blockBytes,
  });
  const lastStore = cyclesOf(blocks(1), "MTE3");
  const stores = cyclesOf(
    { instructions: Math.ceil((written * share) / schedule.ubBytes), padded: written * share },
    "MTE3",
  );
  const gathers = leastGathers(tiling, target).map(({ work, by }) => ({ work: work(share), by }));
  const loaded = {
    instructions: loads.length,
    padded: sumOfBytes(loads) * share,
  };
  const limits: (readonly [LowerBoundLimit, number])[] = [
    ["global memory", memoryCycles(transferred, operands, target, cores, 1)],
  ];
  if (inGm) {
    // A gather from global memory runs on the pipe of the loads.
    const fetches = Math.min(
      ...gathers.map(({ work }) =>
        cyclesOf(
          {
            ...work,
            instructions: work.instructions + loaded.instructions,
            bursts: 0,
            padded: work.padded + loaded.padded,
          },
          "MTE2",
        ),
      ),
    );
    // Rows that threads fetch are no loads.
    const first = cyclesOf(blocks(loads.length + (target.isa === "a5" ? 0 : 1)), "MTE2");
    limits.push(["dma", Math.max(fetches + loadWait + lastStore, first + loadWait + stores)]);
  } else {
    const first = cyclesOf(blocks(loads.length), "MTE2");
    const latency = loadWait + wait;
    const around = first + latency + lastStore;
    limits.push(["dma", Math.max(cyclesOf(loaded, "MTE2") + latency + lastStore, first + latency + stores)]);
    const pipe = gatherPipe(gather, true);
    const timed = gathers.map(({ work, by }) => [by, cyclesOf(work, pipe) + around] as const);
    limits.push(timed.reduce((fewest, other) => (other[1] < fewest[1] ? other : fewest)));
  }
  const [limit, cycles] = limits.reduce((max, other) => (other[1] > max[1] ? other : max));
  return { cycles: cycles + Math.ceil(target.taskCycles), limit };
}

/** Least bytes that all cores together read from an input. */
interface LeastRead {
  readonly table: number;
  readonly bytes: number;
  /** True if the bytes are loaded to the unified buffer (UB); false if they are fetched one by one. */
  readonly loaded: boolean;
}

/**
 * Returns the least bytes that a gather reads from each input, for all tiles; inputs without bytes are left
 * out.
 */
function leastReads({ gather, extents, residency }: Tiling, target: Target): readonly LeastRead[] {
  const { map, operands } = gather;
  const space = walked(map, extents);
  const movable = movableTables(gather, target);
  return operands.flatMap((operand, table): readonly LeastRead[] => {
    const { role, type } = operand;
    if (role === "output" || byteCount(type) === 0 || readsOf(map, table).length === 0) return [];
    const staged = bytesFor(readTogether(map, table, extents, type.shape), type.dtype);
    if (table === gatheredTable)
      return residency === "gm"
        ? [{ table, bytes: bytesFor(elementCount(space), type.dtype), loaded: false }]
        : [{ table, bytes: staged, loaded: true }];
    if (!movable.includes(operand)) return [{ table, bytes: staged, loaded: true }];
    const named = bytesFor(elementsRead(map, table, space, type.shape), type.dtype);
    return [{ table, bytes: Math.min(staged, named), loaded: false }];
  });
}

/**
 * Returns the largest fraction of the read bytes that a schedule may find in L2: the bytes of inputs that
 * fit.
 */
function largestHitRate(read: readonly LeastRead[], { gather }: Tiling, target: Target): number {
  const inL2 = read.filter(({ table }) => byteCount(at(gather.operands, table).type) <= target.l2Bytes);
  // Padding makes the part of the data larger, never that of the others.
  if (inL2.some(({ table }) => table === gatheredTable)) return 1;
  return sumOfBytes(inL2) / Math.max(1, sumOfBytes(read));
}

const sumOfBytes = (reads: readonly { readonly bytes: number }[]): number =>
  reads.reduce((sum, { bytes }) => sum + bytes, 0);

interface LeastGather {
  /** Returns the work of a core that does the given share of all gathers. */
  readonly work: (share: number) => Work;
  /** Unit that does the work. */
  readonly by: "vector" | "scalar";
}

/** Returns a core that gathers runs the instructions on a whole tile once at least. */
const shared =
  (all: Work) =>
  (share: number): Work => ({
    ...repeatedWork(all, share),
    steps: all.steps,
  });

/** Returns lower bounds on the total work of a program's gather, one for each class of instructions. */
function leastGathers({ gather, extents, residency }: Tiling, target: Target): readonly LeastGather[] {
  const { map, operands } = gather;
  const space = walked(map, extents);
  const inGm = residency === "gm";
  const tensors = operands.map(({ role, type }, table): PlacedTensor => {
    if (role === "output") return { type, inTile: strides(type.shape) };
    if (table === gatheredTable && inGm) return { type };
    return { type, inTile: strides(inputTile(map, table, space, type.shape)) };
  });
  const { inputs, output } = ofEach(gather, tensors);
  const settingOf = (kind: Instructions["class"]): GatherSetting => {
    const lowering: Instructions = {
      class: kind,
      adds: [],
      steps: { scalar: 0, tile: 0 },
      once: { scalars: 0, steps: 0, stepRepeats: 0 },
      waits: 0,
    };
    return { map, inputs, output, lowering };
  };
  const workOf = (kind: Instructions["class"]): Work => gatherWork(settingOf(kind), extents, target);
  if (!isMove(map)) {
    // Whatever the tile, each row of it and each of its terms takes all its instructions.
    const all = valueWork(settingOf("scalar"), extents, target, true);
    const shareOf = (share: number): Work => ({ ...shared(all)(share), steps: all.steps * share });
    return [{ work: shareOf, by: computedByRow(map) ? "vector" : "scalar" }];
  }
  const lowerings: LeastGather[] = [{ work: shared(workOf("scalar")), by: "scalar" }];
  const first = rowDim(map);
  const rows = first < map.domain.length;
  const wide = hasWideIndices(gather);
  if (inGm) {
    if (!rows) return lowerings;
    // Rows that are fetched are bursts of one DMA instruction each.
    const fetched = workOf("row-fetch");
    const picks = elementCount(extents.slice(0, first));
    const instructions = Math.min(fetched.instructions, picks);
    lowerings.push({ work: shared({ ...fetched, instructions }), by: "vector" });
    if (target.isa === "a5") lowerings.push({ work: shared(workOf("mgather")), by: "vector" });
    return lowerings;
  }
  if (rows) lowerings.push({ work: shared(workOf("row-copy")), by: wide ? "scalar" : "vector" });
  const data = at(operands, gatheredTable).type;
  const facts = { map, inputs, output, tile: extents, ragged: new Set<number>(), freshIndices: true };
  if (typeof flatPrograms({ ...facts, spareBytes: Infinity }, target) !== "string")
    lowerings.push({
      work: flatWork(elementCount(extents), data.dtype, target),
      by: wide ? "scalar" : "vector",
    });
  return lowerings;
}

/**
 * Returns a function that computes a lower bound on the work of flat gathers on one core. `elements`: number
 * of elements that all cores together gather. `share`: fraction (0 to 1) of `elements` that the core gathers.
 */
function flatWork(elements: number, dtype: DType, target: Target): (share: number) => Work {
  const size = isPacked(dtype) ? 1 : bytesOf(dtype);
  const words = elements * Math.max(1, size / 4);
  const beyondFirst = (bytes: number): number => Math.max(0, bytes / target.vectorBytes - 1);
  const first = target.vectorBytes / 4;
  const apart = target.gatherRowCycles < first / target.gatherElementsPerCycle + target.stepRepeatCycles;
  return (share) => ({
    ...noWork,
    rows: 1,
    gathered: apart ? 0 : Math.max(0, words * share - first),
    stepRepeats: apart ? 0 : beyondFirst(4 * words * share),
  });
}
