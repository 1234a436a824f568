/**
 * Figures of an Ascend core that published measurements of boards fix, as far as they do. `tilec validate
 * --fit` fits them.
 */
import { defined } from "./defined.js";
import type { Figure } from "./figure.js";

/**
 * Hardware parameters of an Ascend core that are fitted to measurements of boards. Names contain the unit;
 * rates are per cycle.
 */
export interface BoardFigures {
  /** MTE2: cycles from one load to the next, with no wait in between. */
  readonly loadIssueCycles: number;
  /**
   * Cycles from a load until a statement that waits for the load continues; the time of the transfer is not
   * included.
   */
  readonly loadLatencyCycles: number;
  /** Bytes per cycle that one core loads from global memory. */
  readonly loadBytesPerCycle: number;
  /** Bytes per cycle that one core loads from L2. */
  readonly l2LoadBytesPerCycle: number;
  /** MTE3: the same of stores. */
  readonly storeIssueCycles: number;
  readonly storeLatencyCycles: number;
  readonly storeBytesPerCycle: number;
  /** A burst of a DMA instruction that has several. */
  readonly burstCycles: number;
  /** All cores, where reads alone reach memory. */
  readonly gmReadBytesPerCycle: number;
  /** All cores, where writes do as well. */
  readonly gmMixedBytesPerCycle: number;
  /** Capacity of the cache that all cores share, and what they read of it together. */
  readonly l2Bytes: number;
  readonly l2BytesPerCycle: number;
  /**
   * L2 fetches whole sectors. A burst whose start is not aligned counts whole lines of `unalignedLineBytes`.
   */
  readonly sectorBytes: number;
  readonly unalignedLineBytes: number;
  /** Loads of one slab by all cores in the same order take so many times as long as in orders apart. */
  readonly sameSlabFactor: number;
  /**
   * V: an instruction, and each of its repeats; how many times as long a repeat takes whose sources meet in a
   * bank group.
   */
  readonly stepCycles: number;
  readonly stepRepeatCycles: number;
  readonly bankConflictFactor: number;
  /** V: elements of 2 or 4 bytes that a gather in UB takes. */
  readonly gatherElementsPerCycle: number;
  /** S: an access of UB, and of global memory. */
  readonly scalarCycles: number;
  readonly gmAccessCycles: number;
  /** S: an index value in UB that names a row of a load, beyond the issue of that load. */
  readonly rowIndexCycles: number;
  /** A kernel's launch, and each of its blocks. */
  readonly launchMicroseconds: number;
  readonly blockMicroseconds: number;
  /** The first instruction fetches of a core. */
  readonly coldCycles: number;
  /**
   * SIMT: an access of a warp of 32 threads, each line of 128 B that it touches, and the call of a function.
   */
  readonly simtWarpCycles: number;
  readonly simtLineCycles: number;
  readonly callCycles: number;
}

/** Hardware parameters of a board, with the value and source of each parameter. */
export type BoardTable = Readonly<Record<keyof BoardFigures, Figure>>;

const asc = "mirror-cann/asc-devkit@82b89a15:examples";
const practices = `${asc}/01_simd_cpp_api/05_best_practices`;
const copies = `${practices}/04_memory_access/data_copy/README.md`;
const adds = `${practices}/00_vector_compute/add_high_performance/README.md`;
const banks = `${practices}/04_memory_access/bank_conflict_ub/README.md`;
const layouts = `${practices}/04_memory_access/bank_conflict_nd2nz/README.md`;
const cacheModes = `${asc}/02_simd_c_api/02_features/03_c_api/01_data_movement/00_set_l2_cache_mode/README.md`;
const grids = `${asc}/03_simt_api/03_best_practices/01_execution_conf_optimizations/grid_dim_config/README.md`;
const hybridGrids = `${asc}/05_simd_simt_hybrid/02_best_practices/simd_simt_grid_dim_config/README.md`;
const simtMemory = `${asc}/03_simt_api/03_best_practices/00_memory_optimizations`;
const hashes = `${asc}/05_simd_simt_hybrid/02_best_practices/simd_simt_hash_table_mte_queue/README.md`;
const guide = "mirror-cann/asc-devkit@82b89a15:docs/zh/guide";

const board = (
  value: number,
  range: readonly [number, number],
  source: string,
  rows: readonly string[],
): Figure => ({ value, kind: "board", source, range, rows });

const assumed = (value: number, range: readonly [number, number] | undefined, source: string): Figure => ({
  value,
  kind: "assumption",
  source,
  ...defined({ range }),
});

const stated = (value: number, source: string): Figure => ({ value, kind: "vendor text", source });

/**
 * Hardware parameters of an Ascend 910B, fitted to measurements. `tilec validate --fit` prints the fitted
 * values and ranges.
 */
export const boardOfA2: BoardTable = {
  loadIssueCycles: board(20.6, [19.9, 21.4], copies, ["a2-dc-1"]),
  loadLatencyCycles: {
    value: 264,
    kind: "model of others",
    source: "hw-native-sys/pto-isa@f35e7f60:tests/costmodel/st/testcase/tload; boards allow 150 to 420",
    range: [150, 420],
  },
  loadBytesPerCycle: board(39.5, [36.9, 42], `${adds}; with loadLatencyCycles as it stands`, [
    "a2-add-0:mte2",
    "a2-add-1",
  ]),
  l2LoadBytesPerCycle: assumed(70, [62, 128], `at least l2BytesPerCycle over 48 cores; ${copies}`),
  storeIssueCycles: assumed(20.6, [0, 39], "as a load"),
  storeLatencyCycles: assumed(
    370,
    [0, 485],
    "at most what a2-add-1 leaves for it; a2a3-row-serial, a comment of one digit, asks for 485",
  ),
  storeBytesPerCycle: assumed(26, [26, 29], `stores of 8 and 32 KiB, no start visible; ${adds}`),
  burstCycles: assumed(6, [0, 8.3], `bursts of 128 B take 8.3 at most; ${copies}`),
  gmReadBytesPerCycle: board(770, [714, 834], copies, [
    "a2-dc-2",
    "a2-dc-3",
    "a2-dc-5",
    "a2-l1-2",
    "a2-l1-3",
    "a2-l1-4",
  ]),
  gmMixedBytesPerCycle: board(686, [634, 729], `${adds}; ${layouts}`, [
    "a2-add-3",
    "a2-add-4",
    "a2-add-5",
    "a2-nd2nz-1",
  ]),
  l2Bytes: stated(201326592, `${guide}: 192 MiB`),
  l2BytesPerCycle: board(3440, [3220, 3640], copies, ["a2-dc-6"]),
  sectorBytes: stated(128, `${guide}: cache lines of 128 B`),
  unalignedLineBytes: stated(512, `${guide}: 512 B; rows a2-l1-2 beside a2-l1-3`),
  sameSlabFactor: assumed(
    1,
    [1, 1.54],
    `1.54 is a2-dc-7 beside a2-dc-8, L2 bypassed; nobody measured it with L2; ${copies}`,
  ),
  stepCycles: board(24.8, [21.9, 28.4], `${banks}; ${adds}; ${layouts}`, [
    "a2-bank-1",
    "a2-bank-2",
    "a2-bank-4",
    "a2-bank-6",
    "a2-bank-8",
    "a2-add-2:V",
    "a2-add-4:V",
  ]),
  stepRepeatCycles: board(0.99, [0.956, 1.03], layouts, ["a2-nd2nz-1:V"]),
  bankConflictFactor: assumed(2, [1, 2], `a2-bank-2 beside a2-bank-1; ${banks}`),
  gatherElementsPerCycle: stated(5, `${guide}: Gather of 16 and 32 bits, theoretical; no board tests it`),
  scalarCycles: board(11.3, [10.9, 11.8], adds, ["a2-add-0:S"]),
  gmAccessCycles: assumed(200, [192, 209], "1,638 reads of a core in 190.6 us of a framework's kernel"),
  rowIndexCycles: assumed(
    11.3,
    [0, 11.8],
    "scalarCycles, or nothing where it hides behind the issue: no board tells",
  ),
  launchMicroseconds: assumed(0.5, [0.46, 5], "0.46 us of one kernel on one core"),
  blockMicroseconds: assumed(0, [0, 0.26], "not identifiable from what is published"),
  coldCycles: assumed(0, [0, 3200], "not identifiable from what is published"),
  simtWarpCycles: assumed(0, undefined, "no SIMT threads"),
  simtLineCycles: assumed(0, undefined, "no SIMT threads"),
  callCycles: assumed(0, undefined, "no SIMT threads"),
};

/** Hardware parameters of an Ascend 950. */
export const boardOf950: BoardTable = {
  loadIssueCycles: board(39.6, [37.4, 43], `${copies}; ${hashes}`, [
    "950-dc-1",
    "950-hash-mte-32",
    "950-hash-mte-64",
  ]),
  loadLatencyCycles: { ...boardOfA2.loadLatencyCycles, range: [200, 420] },
  loadBytesPerCycle: board(30.5, [29.3, 31.7], `${adds}; with loadLatencyCycles as it stands`, ["950-add-1"]),
  l2LoadBytesPerCycle: board(84.9, [81.7, 88.3], copies, ["950-l1-5"]),
  storeIssueCycles: assumed(39, [0, 42], `as a load; ${hashes} agrees`),
  storeLatencyCycles: assumed(0, [0, 680], `${hashes} shows none; 950-add-1 leaves room for 680`),
  storeBytesPerCycle: assumed(68, [54, 80], `one kernel of mixed traffic; ${cacheModes}`),
  burstCycles: assumed(6, [0, 8.4], `bursts of 128 B take 8.4 at most, L2 bypassed; ${copies}`),
  gmReadBytesPerCycle: board(980, [858, 1100], `${copies}; ${cacheModes}`, [
    "950-dc-2",
    "950-dc-3",
    "950-dc-5",
    "950-l2mode-1",
    "950-l1-2",
    "950-l1-3",
  ]),
  gmMixedBytesPerCycle: board(888, [836, 939], `${adds}; ${cacheModes}; ${layouts}`, [
    "950-add-3",
    "950-add-4",
    "950-l2mode-3",
    "950-nd2nz-1",
    "950-floormod-3",
  ]),
  l2Bytes: stated(134217728, `${guide}: 128 MiB`),
  l2BytesPerCycle: board(3320, [3110, 3530], `${copies}; ${cacheModes}`, ["950-dc-6", "950-l2mode-2"]),
  sectorBytes: stated(128, `${guide}: cache lines of 128 B`),
  unalignedLineBytes: stated(128, `${guide}: cache lines of 128 B; rows 950-l1-2 beside 950-l1-3`),
  sameSlabFactor: assumed(1, [1, 2], `950-dc-7 beside 950-dc-8, L2 bypassed; 1.98 to L1; ${copies}`),
  stepCycles: board(31.6, [27.7, 35.8], adds, ["950-add-1:V", "950-add-2:V"]),
  stepRepeatCycles: board(2.05, [1.96, 2.15], adds, ["950-add-3:V"]),
  bankConflictFactor: assumed(1, undefined, "an Add's two loads and its store are in stepRepeatCycles"),
  gatherElementsPerCycle: assumed(5, [1, 32], "as ascend-a2: no UB gather of a 950 has a usable time"),
  scalarCycles: board(10, [9.66, 10.4], adds, ["950-add-0"]),
  gmAccessCycles: assumed(200, [100, 400], "as ascend-a2"),
  rowIndexCycles: assumed(
    0,
    [0, 4],
    `it hides behind the issue: rows are met within a tenth without it; ${hashes}`,
  ),
  launchMicroseconds: board(1.17, [1.03, 1.25], `${grids}; ${hybridGrids}`, [
    "950-empty-simt-1",
    "950-empty-simt-32",
  ]),
  blockMicroseconds: board(0.015, [0.0143, 0.0164], `${grids}; ${hybridGrids}`, [
    "950-empty-simt-64",
    "950-empty-simt-1024",
  ]),
  coldCycles: board(2740, [1120, 3610], grids, [
    "950-sg-small-8",
    "950-sg-small-16",
    "950-sg-small-32",
    "950-sg-small-64",
    "950-sg-ub-v1",
    "950-tr-simt-0",
    "950-tr-mte-4",
    "950-clock-simt",
  ]),
  simtWarpCycles: board(5.76, [5.29, 7.1], simtMemory, [
    "950-aligned-Align4",
    "950-aligned-Align8",
    "950-short-half",
  ]),
  simtLineCycles: board(2.42, [2.25, 2.94], `${grids}; ${hybridGrids}`, [
    "950-sg-large-64",
    "950-hg-large-32",
    "950-sg-small-4",
  ]),
  callCycles: board(233, [0.986, 479], hybridGrids, [
    "950-empty-vf1-1",
    "950-empty-vf1-32",
    "950-empty-vf1-64",
    "950-empty-vf1-128",
    "950-empty-vf1-1024",
  ]),
};

/**
 * Placeholder hardware parameters of a machine without a DMA engine: 0 for cycles and microseconds, 1 for
 * other units.
 */
export const noBoard = Object.fromEntries(
  Object.keys(boardOfA2).map((name): [string, Figure] => [
    name,
    // Rates and factors divide.
    { value: /Cycles$|seconds$/.test(name) ? 0 : 1, kind: "assumption", source: "no DMA engine: not read" },
  ]),
) as unknown as BoardTable;
