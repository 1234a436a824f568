/**
 * Counts of a kernel, which need no device: the text of one workgroup, or of some that stand for all of a
 * scatter's, is run lane by lane, and the accesses that lanes of a subgroup make together are laid over
 * sectors of memory. Index values are in range and at random; segments have the same length.
 */
import { gatheredTable, isScatter, type AccessMap } from "../../../ir/access.js";
import { inputsOf, outputBytes, outputPlace, isInPlace, type TileFunc } from "../../../ir/func.js";
import { taskOfTile } from "../../../ir/task/index.js";
import { at, elementCount, isIndexDType, meanBytes, strides, type DType } from "../../../ir/types.js";
import { hasScatter } from "../../../ir/tile.js";
import { tellingPoints } from "../../check-points.js";
import { indexSteps, type IndexStep } from "../../index-walk.js";
import { coordinates } from "../../memory.js";
import { scatterMapOf } from "../../scatter-map.js";
import type { KernelStep, WgslKernel } from "../kernel.js";
import { LaneRunner, type LaneAccess, type LaneCounts } from "./lane.js";
import { parseKernel, type BufferSyntax } from "./syntax.js";

/** Number of lanes that execute together (one subgroup), as the statistics of kernels assume. */
export const subgroupLanes = 32;

/** Size in bytes of a sector, the smallest unit that global memory transfers. */
export const sectorBytes = 32;

/** Lanes that are run at most. */
const maxLanes = 256;

/** Statistics of a kernel's loads from, or stores to, one buffer. */
export interface BufferStats {
  readonly name: string;
  /** `atomic`: an access that reads and writes a word in one step. */
  readonly kind: LaneAccess["kind"];
  /** Mean number of bytes per access. */
  readonly bytesPerAccess: number;
  /** Accesses per byte of output. */
  readonly perOutputByte: number;
  /**
   * Sectors that hold the bytes which lanes access together, over the sectors that these bytes would fill: at
   * most 1.
   */
  readonly sectorEfficiency: number;
}

/**
 * Statistics of a kernel, from interpreting the WGSL text of one workgroup, or of a few for each dispatch of
 * a scatter. A count is divided by the bytes of output that are written.
 */
export interface KernelStats extends DispatchStats {
  /** Dispatches of a scatter that run before its points are written, in order. Absent for a gather. */
  readonly before?: readonly (DispatchStats & { readonly entryPoint: string })[];
}

/**
 * Statistics of one dispatch, from one workgroup. For a scatter: of all workgroups, from one of each kind.
 * Its counts are divided by the bytes that points write, so that the counts of all dispatches can be added.
 */
export interface DispatchStats {
  /** Lanes along x and y of a workgroup. */
  readonly workgroupSize: readonly [number, number];
  /** Bytes of the output that the workgroup writes. For a scatter: the bytes that all points write. */
  readonly outputBytes: number;
  /** Loads, then stores; those of workgroup memory under the name of its array. */
  readonly buffers: readonly BufferStats[];
  /** Operations on 32 bits. */
  readonly instructions: number;
  readonly divisionsInLoops: number;
  readonly int128InLoops: number;
  /** Loads of gathered data that a lane can have under way at once, by the form of its loops. */
  readonly loadsInFlight: number;
  /** Lanes that write, over all lanes of their subgroups. */
  readonly activeLanes: number;
  /** Bytes of workgroup memory, which WGSL sets to zero first. */
  readonly workgroupBytes: number;
  /** Bytes of workgroup memory that are set to zero. */
  readonly zeroFilledBytes: number;
}

/**
 * Returns the statistics of a kernel, by interpreting its WGSL text lane by lane. Undefined if the kernel
 * dispatches no workgroups, as for an output without elements.
 */
export function kernelStats(func: TileFunc, kernel: WgslKernel): KernelStats | undefined {
  const { dispatch, workgroupSize, workgroupBytes, bindings } = kernel;
  if (dispatch.includes(0)) return undefined;
  const syntax = parseKernel(kernel.code);
  const runner = new LaneRunner(syntax);
  const word = inputWords(func, kernel);
  const nameOf = (operand: number): string => at(bindings, operand).name;
  const map = mapIn(func);
  const isWrite = map !== undefined && isScatter(map);
  const data = isWrite ? map.reads.map(({ table }) => table) : [gatheredTable];
  const members = syntax.buffers.find(({ type }) => type.members !== undefined)?.type.members ?? [];
  const values = bindings.find(({ role }) => role === "sizes")?.values ?? [];
  const [x, y] = workgroupSize;
  const output = nameOf(isInPlace(func) ? gatheredTable : outputPlace(func));
  const size = x * y;
  const traced = ({ entryPoint, dispatch }: KernelStep, lanes: readonly SampledLane[]): Trace => {
    const trace = new Trace({ data: new Set(data.map(nameOf)), output });
    for (const { number, count } of lanes) {
      const [workgroup, index] = [Math.floor(number / size), number % size];
      const counts = runner.run(
        entryPoint,
        {
          workgroup: [workgroup % dispatch[0], Math.floor(workgroup / dispatch[0]), 0],
          workgroups: dispatch,
          lane: [index % x, Math.floor(index / x), 0],
          index,
        },
        {
          word,
          member: (name) => values[members.indexOf(name)] ?? 0,
          access: (access) => {
            trace.add(number, { ...access, weight: access.weight * count });
          },
        },
      );
      trace.count(counts, count);
    }
    return trace;
  };
  const { before = [], laneBounds } = kernel;
  const samples = [...before, kernel].map((_, step) => sampledLanes(laneBounds?.[step] ?? [size], size));
  const written = isWrite ? elementCount(map.domain) * outputBytes(func) : 0;
  const statsOf = (trace: Trace): DispatchStats => trace.stats(workgroupSize, workgroupBytes, written);
  const writing = at(samples, before.length);
  const hasOwners = bindings.some(({ role }) => role === "owner");
  const owned = isWrite && hasOwners ? ownedPoints(map, writing, laneBounds?.at(-1)?.at(-1) ?? 1) : [];
  const steps = before.map((step, k) => {
    const stats = statsOf(traced(step, at(samples, k)));
    // Of the points that are written, all have to be owned.
    traced(step, owned);
    return { entryPoint: step.entryPoint, ...stats };
  });
  const stats = statsOf(traced(kernel, writing));
  return isWrite ? { ...stats, before: steps } : stats;
}

/** Lane of a dispatch that is run, and the number of lanes that it stands for, itself included. */
interface SampledLane {
  /** Number of the lane in the dispatch, from 0. */
  readonly number: number;
  readonly count: number;
}

/**
 * Returns the lanes to run of a dispatch: those of one workgroup for each run of workgroups that do the same,
 * and of each workgroup whose lanes do not. `bounds`: numbers of lanes at which the work of a lane changes,
 * ascending. `size`: lanes of a workgroup.
 */
function sampledLanes(bounds: readonly number[], size: number): SampledLane[] {
  const workgroups: { readonly workgroup: number; readonly count: number }[] = [];
  let next = 0;
  for (const bound of bounds) {
    const full = Math.floor(bound / size);
    if (full > next) workgroups.push({ workgroup: next, count: full - next });
    if (full >= next && bound % size !== 0) workgroups.push({ workgroup: full, count: 1 });
    next = Math.max(next, Math.ceil(bound / size));
  }
  return workgroups.flatMap(({ workgroup, count }) =>
    Array.from({ length: Math.min(size, maxLanes) }, (_, k) => ({ number: workgroup * size + k, count })),
  );
}

/**
 * Returns the lanes that settle the owners of the points that some lanes write. `lanes`: number of lanes that
 * write all points, each of them one point or a group of neighbours.
 */
function ownedPoints(map: AccessMap, writing: readonly SampledLane[], lanes: number): SampledLane[] {
  const telling = tellingPoints(map);
  const by = strides(telling);
  const points = elementCount(map.domain) / lanes;
  const owned = writing
    .filter(({ number }) => number < lanes)
    .map(({ number }) =>
      coordinates(number * points, map.domain).reduce(
        (sum, coord, d) => sum + (at(telling, d) === 1 ? 0 : coord * at(by, d)),
        0,
      ),
    );
  return [...new Set(owned)].map((number) => ({ number, count: 1 }));
}

/** Returns the map of a program's gather or scatter; undefined where it has neither. */
function mapIn(func: TileFunc): AccessMap | undefined {
  return hasScatter(func.body) ? scatterMapOf(func) : taskOfTile(func).gather?.stmt.map;
}

/** Accesses of the lanes of a subgroup at one execution of an instruction. */
interface Together {
  readonly buffer: string;
  readonly kind: LaneAccess["kind"];
  readonly isGlobal: boolean;
  readonly weight: number;
  readonly words: Set<number>;
  lanes: number;
  bytes: number;
}

class Trace {
  private readonly together = new Map<string, Together>();
  private readonly batches = new Map<string, number>();
  private readonly counts: LaneCounts = { instructions: 0, divisionsInLoops: 0, int128InLoops: 0 };

  /** By the names of their buffers. */
  constructor(private readonly of: { readonly data: ReadonlySet<string>; readonly output: string }) {}

  /** Adds the counts of a lane, `times` times. */
  count(counts: LaneCounts, times: number): void {
    this.counts.instructions += counts.instructions * times;
    this.counts.divisionsInLoops += counts.divisionsInLoops * times;
    this.counts.int128InLoops += counts.int128InLoops * times;
  }

  add(lane: number, { kind, buffer, word, words, key, batch, weight }: LaneAccess): void {
    if (weight === 0) return;
    const subgroup = Math.floor(lane / subgroupLanes);
    const id = `${subgroup}${key}`;
    let entry = this.together.get(id);
    if (entry === undefined) {
      entry = {
        buffer: buffer.name,
        kind,
        isGlobal: buffer.space === "storage",
        weight,
        words: new Set(),
        lanes: 0,
        bytes: 0,
      };
      this.together.set(id, entry);
    }
    for (let k = 0; k < words; k++) entry.words.add(word + k);
    entry.lanes++;
    entry.bytes += 4 * words;
    if (kind === "load" && entry.isGlobal && this.of.data.has(buffer.name)) {
      const group = `${lane} ${batch}`;
      this.batches.set(group, (this.batches.get(group) ?? 0) + 1);
    }
  }

  /** `written`: bytes that a scatter's points write, in the place of those that are stored; 0 for none. */
  stats(workgroupSize: readonly [number, number], workgroupBytes: number, written: number): DispatchStats {
    const all = [...this.together.values()];
    const changes = all.filter(({ kind, isGlobal }) => kind !== "load" && isGlobal);
    const ofOutput = changes.filter(({ buffer }) => buffer === this.of.output);
    const stores = [ofOutput, changes, all].find((list) => list.length > 0) ?? [];
    const stored = ofOutput.reduce((sum, { bytes, weight }) => sum + bytes * weight, 0);
    const outputBytes = written === 0 ? stored : written;
    const slots = stores.reduce((sum, { weight }) => sum + weight * subgroupLanes, 0);
    const perByte = (count: number): number => count / outputBytes;
    return {
      workgroupSize,
      outputBytes,
      buffers: buffersOf(all, outputBytes),
      instructions: perByte(this.counts.instructions),
      divisionsInLoops: perByte(this.counts.divisionsInLoops),
      int128InLoops: perByte(this.counts.int128InLoops),
      loadsInFlight: Math.max(0, ...this.batches.values()),
      activeLanes: stores.reduce((sum, { lanes, weight }) => sum + lanes * weight, 0) / slots,
      workgroupBytes,
      zeroFilledBytes: perByte(workgroupBytes),
    };
  }
}

/**
 * Returns one entry of statistics for each buffer and kind of access (load, store or atomic), in the order of
 * first access. `outputBytes`: bytes of output that the workgroup writes.
 */
function buffersOf(all: readonly Together[], outputBytes: number): BufferStats[] {
  const groups = new Map<string, Together[]>();
  for (const entry of all) {
    const name = `${entry.kind} ${entry.buffer}`;
    groups.set(name, [...(groups.get(name) ?? []), entry]);
  }
  return [...groups.values()].map((entries): BufferStats => {
    const { buffer, kind } = at(entries, 0);
    const sum = (of: (entry: Together) => number): number =>
      entries.reduce((total, entry) => total + of(entry) * entry.weight, 0);
    const accesses = sum(({ lanes }) => lanes);
    return {
      name: buffer,
      kind,
      bytesPerAccess: sum(({ bytes }) => bytes) / accesses,
      perOutputByte: accesses / outputBytes,
      sectorEfficiency: sum(sectorsNeeded) / sum(({ words }) => sectorsOf(words)),
    };
  });
}

const wordsPerSector = sectorBytes / 4;

const sectorsNeeded = ({ words }: Together): number => Math.ceil(words.size / wordsPerSector);

const sectorsOf = (words: ReadonlySet<number>): number =>
  new Set([...words].map((word) => Math.floor(word / wordsPerSector))).size;

/**
 * Returns a function that generates the 32-bit word at index `word` of an input buffer. Index values are in
 * range and float data are finite.
 */
function inputWords(
  func: TileFunc,
  { bindings }: WgslKernel,
): (buffer: BufferSyntax, word: number) => number {
  const map = mapIn(func);
  const steps =
    map === undefined
      ? []
      : indexSteps(
          map,
          map.indices.map(() => ({ at: 0, terms: [] })),
          func.operands,
        );
  const inputs = inputsOf(func);
  const tables = inputs.map(({ type }, table) => {
    const rules = steps.filter((step) => step.table === table);
    return rules.length === 0 || !isIndexDType(type.dtype)
      ? dataWord(type.dtype)
      : indexWord(type.dtype, indexValue(rules, steps, elementCount(type.shape)));
  });
  const operands = new Map(bindings.map(({ name }, k) => [name, k]));
  const status = bindings.find(({ role }) => role === "status")?.name;
  const owner = bindings.find(({ role }) => role === "owner")?.name;
  // What is staged in workgroup memory are the data.
  return ({ name }, word) =>
    name === status
      ? 0xffffffff
      : name === owner
        ? 0
        : (tables[operands.get(name) ?? gatheredTable] ?? (() => 0))(word);
}

/**
 * Returns a function that generates the value at a position of an index tensor of `count` elements. Bounds of
 * segments give segments of equal length; other values are random and in range.
 */
function indexValue(
  rules: readonly IndexStep[],
  steps: readonly IndexStep[],
  count: number,
): (position: number) => number {
  const extents = rules.flatMap(({ rule }) => (rule === undefined ? [] : [rule.extent]));
  const bound = steps.find(
    ({ index, ends }) =>
      ends !== undefined && rules.some((rule) => rule.index === index || rule.index === ends.from),
  );
  if (bound?.ends === undefined) {
    const extent = Math.max(1, Math.min(...extents, 2 ** 31));
    return (position) => hash(position) % extent;
  }
  // A bound may name the end, one beyond the last element.
  const end = Math.max(1, ...extents) - 1;
  const length = Math.max(1, Math.min(bound.ends.max, Math.floor(end / count)));
  return (position) => Math.min(end, position * length);
}

/**
 * Returns a function from a word index to the generated 32-bit word of a tensor of index values. `dtype`:
 * element type of the tensor. `value`: returns the index value at an element position.
 */
function indexWord(dtype: DType, value: (position: number) => number): (word: number) => number {
  const bytes = meanBytes(dtype);
  if (bytes === 8) return (word) => (word % 2 === 0 ? value(word / 2) : 0);
  if (bytes === 4) return value;
  const perWord = 4 / bytes;
  return (word) =>
    Array.from(
      { length: perWord },
      (_, k) => (value(word * perWord + k) % 2 ** (8 * bytes - 1)) << (8 * bytes * k),
    ).reduce((bits, value) => bits | value) >>> 0;
}

/** Returns words of any bits; those of floats are numbers from 1 to 2. */
function dataWord(dtype: DType): (word: number) => number {
  if (dtype === "f32") return (word) => (0x3f800000 | (hash(word) >>> 9)) >>> 0;
  if (dtype === "f16") return (word) => (0x3c003c00 | (hash(word) & 0x03ff03ff)) >>> 0;
  return (word) => (hash(word) & 0x7f7f7f7f) >>> 0;
}

/** Scatters numbers over 32 bits: the finalizer of MurmurHash3. */
function hash(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
