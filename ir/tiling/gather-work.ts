/** Work of a gather on its pipe, counted: classes are chosen by it, and the clock prices it. */
import {
  followedBy,
  gatheredTable,
  inputTile,
  isMove,
  isInReduction,
  isRead,
  rowDim,
  rowElements,
  walked,
  type AccessMap,
  type Read,
} from "../access.js";
import { beyondBurst } from "../clock/price.js";
import { scalarCycles, vectorCycles } from "../clock/terms.js";
import { noWork, repeatedWork, sumOfWork, type Work } from "../clock/work.js";
import { targetFacts, type Target } from "../target.js";
import {
  alignUp,
  assertNever,
  at,
  contiguousRun,
  elementCount,
  invariant,
  meanBytes,
  strides,
  type Shape,
  type TensorType,
} from "../types.js";
import type { Reduction } from "../values/expression.js";
import type { VectorStep } from "../values/vector-steps.js";
import type { FlatProgram, FlatStep, FlatChunk } from "./flat-program.js";
import type { PlacedTensor, Instructions } from "./gather-lowering.js";
import { elementsTogether, liesInTile, programOfRows, readForm, readsOfSteps } from "./value-rows.js";

/**
 * Returns the cycles from the start of a core until the scalar unit and the vector unit are ready for the
 * first gather. `once`: work that a core does before the first gather.
 */
export function readyCycles(
  once: Instructions["once"],
  target: Target,
): { readonly scalar: number; readonly vector: number } {
  const work = { ...noWork, ...once };
  const scalar = Math.ceil(scalarCycles(work, target));
  const filled = Math.ceil(vectorCycles(work, target));
  // V takes over what the scalar unit wrote.
  return { scalar, vector: scalar + filled + (scalar > 0 ? Math.ceil(target.syncCycles) : 0) };
}

/** Properties of a gather that determine the work, in addition to the extents of the region. */
export interface GatherSetting {
  readonly map: AccessMap;
  /** Inputs, in the order of the access map. */
  readonly inputs: readonly PlacedTensor[];
  readonly output: PlacedTensor;
  readonly lowering: Instructions;
}

/**
 * Returns the size of one global memory transaction in bytes. The size is a UB block on targets with a DMA
 * engine, and a cache line on other targets.
 */
export const transactionBytes = (target: Target): number =>
  targetFacts[target.kind].dmaEngine ? target.blockBytes : target.burstBytes;

/**
 * Returns the extents of a region, innermost first, after merging adjacent dims that are contiguous in both
 * the tensor and the tile. Dims of extent 1 are skipped. The first extent is the length of a contiguous run,
 * at least 1. `inTensor`, `inTile`: strides in elements.
 */
export function folded(sizes: Shape, inTensor: Shape, inTile: Shape): number[] {
  const dims = [{ extent: 1, tensor: 1, tile: 1 }];
  for (let k = sizes.length - 1; k >= 0; k--) {
    const [extent, tensor, tile] = [at(sizes, k), at(inTensor, k), at(inTile, k)];
    if (extent === 1) continue;
    const inner = at(dims, dims.length - 1);
    if (tensor === inner.tensor * inner.extent && tile === inner.tile * inner.extent) inner.extent *= extent;
    else dims.push({ extent, tensor, tile });
  }
  return dims.map((dim) => dim.extent);
}

/** Bytes of a line, as SIMT threads read global memory. */
const lineOfThreads = 128;

/** Elements of a warp of SIMT threads. */
const warp = 32;

/**
 * Returns the work of a gather of a region: counts of instructions, bytes and waits. `sizes`: extents of the
 * region, in elements.
 */
export function gatherWork(setting: GatherSetting, sizes: Shape, target: Target): Work {
  if (elementCount(sizes) === 0) return noWork;
  const { map, lowering } = setting;
  const { vectorUnit } = targetFacts[target.kind];
  if (!isMove(map) && vectorUnit) return valueWork(setting, sizes, target);
  const copying = moveWork(setting, sizes, target);
  if (isMove(map) || lowering.class === "direct") return copying;
  return repeatedWork(copying, map.reduced?.max ?? 1);
}

/**
 * Returns the work of a gather with arithmetic: counts of instructions, bytes and waits. `sizes`: extents of
 * the region, in elements. `least`: true for a lower bound over all ways to split the region into tiles.
 */
export function valueWork(setting: GatherSetting, sizes: Shape, target: Target, least = false): Work {
  const { map, inputs } = setting;
  const columns = elementsTogether(map, sizes);
  const rows = elementCount(sizes) / columns;
  const reductionLength = map.reduced?.max ?? 0;
  const types = inputs.map(({ type }) => type.dtype);
  const { element, reduction } = programOfRows(map, types);
  const repeats = repeatsOf(columns, target);
  const ofSteps = (steps: readonly VectorStep[]): Work => ({
    ...noWork,
    steps: steps.length,
    stepRepeats: steps.reduce((sum, step) => sum + (isOnTwo(step) ? 2 : 1), 0) * repeats,
  });
  const ofTiles = (tiles: readonly number[]): Work => ({
    ...noWork,
    steps: tiles.length,
    stepRepeats: tiles.reduce((sum, tile) => sum + tile, 0) * repeats,
  });
  const ofReads = (steps: readonly VectorStep[]): Work =>
    sumOfWork(
      readsOfSteps(steps).map((read) => readWork(setting, at(map.reads, read), columns, target, least)),
    );
  const ofIndices = (reduced: boolean): Work => {
    const indices = map.indices.filter((_, s) => isInReduction(map, s) !== reduced);
    return {
      ...noWork,
      ...lookups({ ...setting, map: { ...map, indices } }, 1, target),
      scalars: indices.length,
    };
  };
  const once = sumOfWork([
    ofIndices(true),
    ofReads(element),
    ofSteps(element),
    // Terms begin at a row of zeros.
    ...(reduction === undefined ? [] : [ofTiles([1]), ofTiles(reductionWork[reduction.how].last)]),
  ]);
  const each =
    reduction === undefined
      ? noWork
      : sumOfWork([
          ofIndices(false),
          ofReads(reduction.steps),
          ofSteps(reduction.steps),
          ofTiles(reductionWork[reduction.how].perElement),
        ]);
  return sumOfWork([
    repeatedWork(sumOfWork([once, repeatedWork(each, reductionLength)]), rows),
    { ...noWork, waits: waitsOfValue },
  ]);
}

/** The pipe of the program to the others that a value takes, and back. */
const waitsOfValue = 4;

const isOnTwo = (step: VectorStep): boolean => step.op !== "TEXPANDS" && !("kind" in step.of);

/**
 * Returns the work to bring the elements of one read, for one row, to the unified buffer (UB): counts of
 * instructions, bytes and waits. `columns`: elements of the row. `least`: true for a lower bound.
 */
function readWork(
  { map, inputs }: GatherSetting,
  read: Read,
  columns: number,
  target: Target,
  least: boolean,
): Work {
  const table = at(inputs, read.table);
  const size = meanBytes(table.type.dtype);
  const inUb = table.inTile !== undefined;
  if (inUb && liesInTile(map, read)) return noWork;
  const form = readForm(map, read);
  const single = (count: number): Work => ({
    ...noWork,
    scalars: count,
    ...(inUb
      ? {}
      : { gmScalars: count, bytes: count * size, touched: count * touchedBy(size, table, target) }),
  });
  const spread = (pieces: number, words: number): Work => ({
    ...single(pieces),
    steps: pieces,
    stepRepeats: pieces * Math.ceil((words * size) / target.vectorBytes),
  });
  switch (form.kind) {
    case "row":
      if (inUb) return { ...single(columns), scalars: 2 * columns, waits: 2 };
      return {
        ...noWork,
        instructions: 1,
        bursts: 1,
        padded: alignUp(columns * size, target.blockBytes),
        bytes: columns * size,
        touched: touchedBy(columns * size, table, target),
        // V waits for each row, and the next row for V.
        waits: 2,
        loadWaits: 1,
      };
    case "still":
      return spread(1, columns);
    case "pieces":
      // Each over the row up to its end.
      return spread(Math.ceil(columns / form.by), least ? 0 : columns / 2);
    case "elements":
      return { ...single(columns), scalars: 2 * columns, waits: 2 };
    default:
      return assertNever(form);
  }
}

const none = { perElement: [], last: [] };

/**
 * Tiles that each instruction of a reduction reads beside its operation, for each term and behind the last.
 * An exact sum scales and converts a term to 64 bits, adds two words with the carry between them (a sum, a
 * compare, two sums), and adds what is NaN or infinite by itself (a compare, a selection, a sum); last it
 * converts the words, scales them and selects.
 */
const reductionWork: Readonly<
  Record<Reduction, { readonly perElement: readonly number[]; readonly last: readonly number[] }>
> = {
  fold: none,
  max: none,
  min: none,
  mean: { perElement: [], last: [1] },
  exact: { perElement: [1, 1, 2, 2, 2, 2, 1, 2, 2], last: [2, 1, 2] },
};

/**
 * Returns the work of a gather that copies elements unchanged: counts of instructions, bytes and waits.
 * `sizes`: extents of the region, in elements.
 */
function moveWork(setting: GatherSetting, sizes: Shape, target: Target): Work {
  const { map, inputs, lowering } = setting;
  const data = at(inputs, gatheredTable);
  const size = meanBytes(data.type.dtype);
  const elements = elementCount(sizes);
  const { steps, waits } = lowering;
  const components = map.indices.length;
  switch (lowering.class) {
    case "flat":
      invariant(lowering.flat !== undefined, "a flat gather has a program");
      return { ...noWork, ...flatWork(lowering.flat, sizes, target), waits };
    case "row-copy": {
      const { picks, burst, rows, outer } = picked(setting, sizes);
      const copies = picks * rows * outer;
      const copied = copies * alignUp(burst * size, target.blockBytes);
      return {
        ...noWork,
        ...lookups(setting, picks, target),
        copies,
        copied,
        scalars: picks * components,
        waits,
      };
    }
    case "mgather":
    case "row-fetch": {
      const { picks, burst, rows, outer } = picked(setting, sizes);
      const lookupWork = lookups(setting, picks, target);
      const bursts = picks * outer * rows;
      const touched = bursts * touchedBy(burst * size, data, target);
      // MGATHER of the 950 is a function of threads (pto-isa include/pto/npu/a5/MGather.hpp).
      const byThreads = lowering.class === "mgather" && target.isa === "a5";
      return {
        ...noWork,
        steps: steps.scalar + steps.tile,
        stepRepeats: (steps.scalar + 2 * steps.tile) * repeatsOf(picks, target),
        ...(byThreads
          ? {
              // Threads read an index and an element, and write it: indices and output lie together.
              calls: 1,
              lineAccesses: (2 * elements) / warp,
              warpAccesses: elements / warp,
              warpLines: touched / lineOfThreads,
            }
          : {
              instructions: picks * outer * Math.ceil(rows / target.dmaRows),
              bursts,
              padded: bursts * alignUp(burst * size, target.blockBytes),
              rowIndices: picks * components,
            }),
        bytes: elements * size + lookupWork.bytes,
        touched: touched + lookupWork.touched,
        gmScalars: lookupWork.gmScalars,
        waits,
        // Who reads the indices waits for their load, on the pipe of the rows.
        loadWaits: inputs.some(({ inTile }, table) => table !== gatheredTable && inTile !== undefined)
          ? 1
          : 0,
      };
    }
    case "scalar": {
      // 8 and 16 bytes move as words of 4: each is read and written.
      const scalars = elements * (components + 2 * Math.max(1, size / 4));
      const lookupWork = lookups(setting, elements, target);
      if (data.inTile !== undefined) return { ...noWork, ...lookupWork, scalars, waits };
      return {
        ...noWork,
        bytes: elements * size + lookupWork.bytes,
        touched: elements * touchedBy(size, data, target) + lookupWork.touched,
        scalars,
        gmScalars: elements + lookupWork.gmScalars,
        waits,
      };
    }
    case "direct":
      return direct(setting, sizes, target);
  }
}

/**
 * Returns the vector work of a `flat` gather over all chunks of a tile: counts of instructions, repeats and
 * gathered elements. A chunk that the tile fills only in part counts as a whole chunk.
 */
function flatWork(program: FlatProgram, sizes: Shape, target: Target): VectorWork {
  const { dim, extent, full, tail, widened } = program;
  const outer = elementCount(sizes.slice(0, dim));
  const size = at(sizes, dim);
  const max = Math.floor(extent / full.entries);
  const chunks = Math.min(Math.ceil(size / full.entries), max);
  const short = tail === undefined || size <= max * full.entries ? undefined : tail;
  const work = [
    chunkWork(program, full, outer * chunks, target),
    ...(short === undefined ? [] : [chunkWork(program, short, outer, target)]),
  ];
  const sum = (count: keyof VectorWork): number => work.reduce((all, one) => all + one[count], 0);
  return {
    rows: sum("rows"),
    repeats: sum("repeats"),
    gathered: sum("gathered"),
    // The data tile, as 2-byte words.
    steps: sum("steps") + (widened === undefined ? 0 : 1),
    stepRepeats: sum("stepRepeats") + (widened === undefined ? 0 : repeatsOf(widened.words / 2, target)),
  };
}

type VectorWork = Pick<Work, "rows" | "repeats" | "gathered" | "steps" | "stepRepeats">;

/**
 * Returns the vector work of `times` chunks of a `flat` gather, including the final gather and the conversion
 * of widened words.
 */
function chunkWork(
  { wordBytes, widened }: FlatProgram,
  chunk: FlatChunk,
  times: number,
  target: Target,
): VectorWork {
  const { rows, repeats, gathered, steps, stepRepeats } = workOfSteps(chunk.steps, target);
  const bytes = chunk.length * (widened === undefined ? wordBytes : 2);
  return {
    rows: times * (rows + 1),
    repeats: times * (repeats + Math.ceil(bytes / target.vectorBytes) - 1),
    gathered: times * (gathered + beyondFirst(chunk.length, target)),
    steps: times * (steps + (widened === undefined ? 0 : 1)),
    // Addresses become byte offsets; the first repeat of that is in the row's cycles.
    stepRepeats:
      times *
      (stepRepeats +
        repeatsOf(chunk.length, target) -
        1 +
        (widened === undefined ? 0 : repeatsOf(chunk.length / 2, target))),
  };
}

/** Returns the number of elements of a gather's row after its first repeat of 32-bit elements. */
const beyondFirst = (elements: number, target: Target): number =>
  Math.max(0, elements - target.vectorBytes / 4);

/** Repeats of the vector unit over so many 32-bit words. */
const repeatsOf = (words: number, target: Target): number => Math.ceil((4 * words) / target.vectorBytes);

/** Returns the work of steps of a `flat` gather: counts of vector instructions, gathers and repeats. */
export function workOfSteps(list: readonly FlatStep[], target: Target): VectorWork {
  let [rows, repeats, gathered, steps, stepRepeats] = [0, 0, 0, 0, 0];
  for (const step of list) {
    switch (step.op) {
      case "TADDS":
      case "TMULS":
      case "TMAXS":
      case "TMINS":
      case "TSHRS":
      case "TEXPANDS":
        steps++;
        stepRepeats += repeatsOf(step.length, target);
        break;
      case "TADD":
      case "TSUB":
      case "TMUL":
      case "TMAX":
      case "TAND":
      case "TOR":
        steps++;
        stepRepeats += 2 * repeatsOf(step.length, target);
        break;
      case "TGATHER":
        rows++;
        repeats += repeatsOf(step.length, target) - 1;
        gathered += beyondFirst(step.length, target);
        stepRepeats += repeatsOf(step.length, target) - 1;
        break;
      case "TCVT":
        steps++;
        stepRepeats += step.rows * repeatsOf(2 * step.columns, target);
        break;
      case "widen":
        steps += 2;
        stepRepeats += repeatsOf(step.length, target) * (step.bytes === 2 ? 2 : 1);
        if (step.bytes === 1) stepRepeats += repeatsOf(step.length / 2, target);
        break;
      case "see": {
        const columns = step.dims.at(-1);
        const inTile = step.dims.at(-2) ?? { extent: 1, each: 1 };
        const tiles = step.dims.slice(0, -2).reduce((count, { extent, each }) => count * extent * each, 1);
        steps += tiles;
        stepRepeats +=
          2 *
          tiles *
          inTile.extent *
          inTile.each *
          repeatsOf((columns?.extent ?? 1) * (columns?.each ?? 1), target);
        break;
      }
      default:
        assertNever(step);
    }
  }
  return { rows, repeats, gathered, steps, stepRepeats };
}

/**
 * Returns the work of the scalar unit to read `times` index values of each index operand in global memory:
 * reads and bytes.
 */
function lookups({ map, inputs }: GatherSetting, times: number, target: Target) {
  const sizes = map.indices.flatMap(({ value }) => {
    if (!isRead(value) || value.table === gatheredTable) return [];
    const { type, inTile } = at(inputs, value.table);
    return inTile === undefined ? [meanBytes(type.dtype)] : [];
  });
  return {
    gmScalars: times * sizes.length,
    touched: times * sizes.reduce((sum, bytes) => sum + alignUp(bytes, target.blockBytes), 0),
    bytes: times * sizes.reduce((sum, bytes) => sum + bytes, 0),
  };
}

/**
 * Returns the bytes that global memory transfers for a burst of `bytes` bytes, in whole sectors or lines. The
 * bursts are rows of a tensor.
 */
export function touchedBy(bytes: number, { type }: PlacedTensor, target: Target): number {
  const pitch = (type.shape.at(-1) ?? 1) * meanBytes(type.dtype);
  return bytes + beyondBurst(bytes, pitch, target);
}

/**
 * Returns the number of index lookups of a gather (result field `picks`) and, in three fields, the region
 * that one lookup selects. `burst`: elements of a contiguous range. `rows`: number of such ranges along the
 * next dim. `outer`: product of all other extents.
 */
function picked({ map, inputs, output }: GatherSetting, sizes: Shape) {
  const first = rowDim(map);
  const inner = sizes.slice(first);
  const within = ({ type, inTile = strides(type.shape) }: PlacedTensor): Shape =>
    inTile.slice(inTile.length - inner.length);
  const [burst = 1, rows = 1, ...outer] = folded(inner, within(at(inputs, gatheredTable)), within(output));
  return { picks: elementCount(sizes.slice(0, first)), burst, rows, outer: elementCount(outer) };
}

/**
 * Cost of a read that leaves only the first level of caches, as a fraction of one that leaves the second
 * level.
 */
const nearby = 1 / 12;

/**
 * Returns the work of a gather of lowering class `direct` (for GPU lanes or a CPU core): counts of
 * instructions and bytes.
 */
function direct({ map, inputs, output }: GatherSetting, sizes: Shape, target: Target): Work {
  const data = at(inputs, gatheredTable);
  const { dtype, shape } = data.type;
  const size = meanBytes(dtype);
  const space = walked(map, sizes);
  const elements = elementCount(space);
  const inRow = rowElements(map, sizes, shape);
  const row = inRow * size;
  const rows = elements / inRow;
  const pieces = inRow === 1 ? elements : rows * Math.ceil(row / target.vectorBytes);
  let [instructions, bytes, padded] = [0, 0, 0];
  const add = (slice: { readonly bytes: number; readonly padded: number; readonly runs: number }): void => {
    instructions += slice.runs;
    bytes += slice.bytes;
    padded += slice.padded;
  };
  for (let table = gatheredTable + 1; table < inputs.length; table++) {
    const { type, inTile } = at(inputs, table);
    if (inTile === undefined) add(inPlace(inputTile(map, table, space, type.shape), type, target));
  }
  if (output.inTile === undefined) add(inPlace(sizes, output.type, target));
  const slab = inPlace(inputTile(map, gatheredTable, space, shape), data.type, target).padded;
  const near = rows * Math.min(1, slab / target.firstLevelBytes);
  let far = 0;
  if (data.inTile === undefined) {
    const line = transactionBytes(target);
    const fetched = rows * alignUp(row, line);
    const kept = Math.min(1, target.secondLevelBytes / Math.max(1, slab));
    const once = Math.min(fetched, slab * sharedFraction(map, sizes, output.type.shape));
    const lines = Math.ceil((kept * once + (1 - kept) * fetched) / line);
    // What a cache holds passes it again, as far as the traffic counts it.
    add({
      bytes: elements * size,
      padded: Math.max(elements * size, lines * line),
      runs: row < line ? 0 : rows,
    });
    far = row < line ? lines : 0;
  }
  return {
    ...noWork,
    rows: elements / (sizes[sizes.length - 1] ?? 1),
    repeats: Math.ceil(pieces / target.lanes),
    instructions,
    bytes,
    padded,
    touched: padded,
    scalars: far + near * nearby,
  };
}

/**
 * Returns the product of the ratios region extent / output extent over the output dims that do not occur in
 * the coordinates of the data. The result is at most 1, and 1 if there is no such dim. `sizes`, `output`:
 * extents of the region and of the output.
 */
function sharedFraction(map: AccessMap, sizes: Shape, output: Shape): number {
  const dims = followedBy(map, gatheredTable);
  let fraction = 1;
  for (let d = 0; d < sizes.length; d++)
    if (!dims.has(d)) fraction = (fraction * at(sizes, d)) / at(output, d);
  return fraction;
}

/**
 * Returns three counts for access to a region of a tensor in global memory: bytes of the region (`bytes`),
 * bytes of the whole transactions (`padded`), and number of contiguous ranges (`runs`). Parameter `sizes`:
 * extents of the region, in elements.
 */
function inPlace(sizes: Shape, { dtype, shape }: TensorType, target: Target) {
  const elements = elementCount(sizes);
  if (elements === 0) return { bytes: 0, padded: 0, runs: 0 };
  const run = contiguousRun(sizes, shape);
  const runs = elements / run;
  const size = meanBytes(dtype);
  return { bytes: elements * size, padded: runs * alignUp(run * size, transactionBytes(target)), runs };
}
