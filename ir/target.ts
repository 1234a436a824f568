/**
 * A target is a plain value: what one core offers and what its operations cost. Every figure carries its
 * source.
 *
 * Compilation is judged under a target; a WebGPU device is another target than the Ascend core a program
 * names.
 */
import { boardOf950, boardOfA2, noBoard, type BoardFigures } from "./board-figures.js";
import { sourcesOf, valuesOf, type FigureKind, type FigureSource } from "./figure.js";
import { anyGpu, noGpu, type GpuFigures } from "./gpu-figures.js";
import { maxElements } from "./types.js";
import { defaultLimits, requestedLimits, type WgslLimits } from "./wgsl-limits.js";

/** Names of the PTO-ISA header sets for Ascend cores: `a2a3` for A2 and A3, `a5` for the 950. */
export const isas = ["a2a3", "a5"] as const;
/** PTO-ISA header set with which the kernels of an Ascend core are compiled. */
export type Isa = (typeof isas)[number];

/** Kind of machine for which a target compiles. */
export type TargetKind = "ascend" | "webgpu" | "cpu";

/**
 * Hardware resource for which rows of a tile in the unified buffer (UB) compete. `nothing`: rows do not
 * compete. `banks`: memory banks of 32-bit words. `cache-sets`: cache sets; lines whose addresses differ by a
 * large power of two share a set.
 */
export type SharedByRows = "nothing" | "banks" | "cache-sets";

/** Capabilities of a kind of machine. */
export interface TargetFacts {
  /**
   * True if a gather reads and writes global memory in place. Only the data of a full load is copied to UB.
   */
  readonly gathersInPlace: boolean;
  /** True if each task has a unified buffer of its own, whose contents do not outlive the task. */
  readonly privateUb: boolean;
  /** True if tile programs can run as WebGPU kernels without changes. */
  readonly runsOnWebgpu: boolean;
  /** True if tile programs can run as PTO-ISA kernels without changes. */
  readonly runsPto: boolean;
  /** Pipes run side by side, so that a second copy of a buffer hides a load. */
  readonly doubleBuffers: boolean;
  /** A vector unit gathers by 32-bit indices; 64-bit ones go to the scalar unit. */
  readonly vectorUnit: boolean;
  /** A DMA engine moves global memory: instructions of rows of one length, each row in whole blocks of UB. */
  readonly dmaEngine: boolean;
  /**
   * Hardware resource that the rows of one column of a UB tile must not share, where indices lead from row to
   * row.
   */
  readonly sharedByRows: SharedByRows;
  /** Its figures are fitted on measured times: the clock tells differences below 1 % that are not there. */
  readonly fittedClock: boolean;
}

/** Table of the capabilities of each kind of machine. */
export const targetFacts: Readonly<Record<TargetKind, TargetFacts>> = {
  ascend: {
    gathersInPlace: false,
    privateUb: false,
    runsOnWebgpu: false,
    runsPto: true,
    doubleBuffers: true,
    vectorUnit: true,
    dmaEngine: true,
    sharedByRows: "nothing",
    fittedClock: false,
  },
  webgpu: {
    gathersInPlace: true,
    privateUb: true,
    runsOnWebgpu: true,
    runsPto: false,
    doubleBuffers: false,
    vectorUnit: false,
    dmaEngine: false,
    sharedByRows: "banks",
    fittedClock: false,
  },
  cpu: {
    gathersInPlace: true,
    privateUb: true,
    runsOnWebgpu: false,
    runsPto: false,
    doubleBuffers: false,
    vectorUnit: false,
    dmaEngine: false,
    sharedByRows: "cache-sets",
    fittedClock: true,
  },
};

/** Names of the kinds of machines for which targets compile. */
export const targetKinds = Object.keys(targetFacts) as readonly TargetKind[];

/** Hardware parameters of a target. Names contain the unit: bytes, cycles, elements or a count. */
export interface TargetFigures extends BoardFigures, GpuFigures {
  /** Capacity of the unified buffer of one core; of a workgroup's memory on WebGPU. */
  readonly ubBytes: number;
  /**
   * Size in bytes of the part of the buffer that no library overwrites, from the start of the buffer. Equal
   * to `ubBytes` if no part is reserved.
   */
  readonly ubSafeBytes: number;
  /**
   * Size in bytes of a UB block: rows in UB are padded to whole blocks, and UB addresses are multiples of a
   * block.
   */
  readonly blockBytes: number;
  /** Cores that run tasks independently. */
  readonly cores: number;
  /** A transfer row below this many bytes wastes bandwidth. */
  readonly burstBytes: number;
  readonly clockMhz: number;
  /** Rows that one DMA instruction moves at most. */
  readonly dmaRows: number;
  /**
   * V: one row of a vector gather, of one repeat of `vectorBytes`; each further repeat takes
   * `gatherRepeatCycles`. Elsewhere a repeat is `lanes` elements one by one, or `lanes` pieces of
   * `vectorBytes` of the rows that indices name.
   */
  readonly gatherRowCycles: number;
  readonly gatherRepeatCycles: number;
  readonly vectorBytes: number;
  /** V: one copy within the unified buffer besides its bytes, and its bytes per cycle. */
  readonly copyStartupCycles: number;
  readonly copyBytesPerCycle: number;
  /** Off Ascend: random reads of a slab of so many bytes stay in the first level of caches. */
  readonly firstLevelBytes: number;
  /** Off Ascend: a slab of so many bytes is fetched once, however often it is read. */
  readonly secondLevelBytes: number;
  /** One wait on another pipe. */
  readonly syncCycles: number;
  /** Starting a task, one after the other for all cores. */
  readonly taskCycles: number;
  /** One launch of a kernel behind another, besides its tasks: no part of a kernel's own cycles. */
  readonly launchCycles: number;
  /**
   * Tasks of a core that hide each other's waits. A chosen tile leaves every core so many, while there is
   * work for all lanes.
   */
  readonly tasksPerCore: number;
  /**
   * Upper limit on a task's elements. It is needed where the UB budget does not apply: for tasks that work in
   * place in global memory, and for tasks shared by lanes, where a longer task only makes each lane slower.
   */
  readonly directElements: number;
  /** WebGPU: lanes of a workgroup at most. */
  readonly lanes: number;
  /** WebGPU: bytes that neighbouring lanes read side by side when they copy rows. */
  readonly laneBytes: number;
}

/**
 * Target of a compilation: a machine with capabilities, hardware parameters, and the sources of the
 * parameters.
 */
export interface Target extends TargetFigures {
  readonly name: string;
  readonly kind: TargetKind;
  readonly title: string;
  /** True if a vector gather in UB needs scratch of two aligned index rows (PyPTO's hidden tmp). */
  readonly gatherScratch: boolean;
  /** True if the loads, gathers and stores of a core run concurrently. */
  readonly overlaps: boolean;
  /** PTO-ISA headers with which the kernels of an Ascend core are compiled. Absent: `a2a3`. */
  readonly isa?: Isa;
  /** Element sizes in bytes that a vector gather in UB takes. */
  readonly vectorGatherBytes: readonly number[];
  readonly defaultResidency: "ub" | "gm" | "auto";
  /**
   * `rows`: only gathers of whole rows read global memory (PyPTO index_select, PTO MGATHER); `any`: every gather.
   */
  readonly gmGather: "rows" | "any";
  /** Limits of a WebGPU device, such as the buffers that it may bind. Absent: `requestedLimits`. */
  readonly limits?: WgslLimits;
  readonly sources: Readonly<Record<keyof TargetFigures, FigureSource>>;
}

/** Class of a WebGPU device. `software`: an adapter that executes the lanes of a workgroup one by one. */
export type DeviceClass = "gpu" | "software";

/**
 * True if each lane of a workgroup reads memory on its own, as on software adapters. `laneBytes`: bytes that
 * neighbouring lanes read together; at most 16 if each lane reads on its own.
 */
export const readsAlone = (laneBytes: number): boolean => laneBytes <= 16;

/** Returns the class of the WebGPU devices for which a target compiles. */
export const deviceClassOf = ({ laneBytes }: Target): DeviceClass =>
  readsAlone(laneBytes) ? "software" : "gpu";

/**
 * Returns a WebGPU target with the limits of a device. The unified buffer's capacity is the device's
 * workgroup memory.
 */
export function withLimits(target: Target, limits: WgslLimits): Target {
  const bytes = limits.maxComputeWorkgroupStorageSize;
  const storage: FigureSource = {
    source: "GPUSupportedLimits.maxComputeWorkgroupStorageSize",
    kind: "vendor text",
  };
  return {
    ...target,
    ubBytes: bytes,
    ubSafeBytes: bytes,
    limits,
    sources: { ...target.sources, ubBytes: storage, ubSafeBytes: storage },
  };
}

/**
 * Returns the limits of the WebGPU devices for which a target compiles; by default {@link requestedLimits}.
 */
export const deviceLimits = ({ limits = requestedLimits }: Pick<Target, "limits">): WgslLimits => limits;

const from = (kind: FigureKind, source: string): FigureSource => ({ kind, source });

const assumed = (why: string): FigureSource => from("assumption", why);

const a2Ini = from("vendor text", "hicann/pypto simulation_platform/platform_config/A2A3.ini");
const ini950 = from("vendor text", "hicann/pypto simulation_platform/platform_config/950PR_957x.ini");
const soc = from(
  "vendor text",
  "hw-native-sys/pypto src/backend/common/soc.cpp: UB less the library's 8 KiB",
);
const rowHint = from(
  "vendor text",
  "hw-native-sys/pypto docs/en/dev/passes/92-diagnostics.md: row granularity",
);
const gather910 = from(
  "model of others",
  "hw-native-sys/pto-isa costmodel/a2a3 cce_costmodel_vector_compute.hpp 187: head 24, 2 per repeat (910B3, f32; the 2 is unverified)",
);
const ptoCost = "hw-native-sys/pto-isa at f35e7f60";
const gatherRow = from(
  "model of others",
  `${ptoCost} cce_costmodel_vector_compute.hpp: 46.6 a row on a 910B3 (f32: multiply, barrier, vgather), rounded up`,
);
const copies = from(
  "simulator",
  `${ptoCost} tests/costmodel/st/testcase/tmov: sixteen profiled copies, exactly`,
);
const cycles = from("simulator", "hicann/pypto framework/src/interface/operation/cycles.cpp and cycles.h");
const repeat = from("vendor text", "hiascend.com cceapi_0057: one vector repeat is 256 B");

/** Target for the Atlas A2 series (Ascend 910B). Every hardware parameter has a source. */
export const ascendA2: Target = {
  name: "ascend-a2",
  kind: "ascend",
  isa: "a2a3",
  title: "Ascend 910B (A2): 192 KiB unified buffer, 48 vector cores",
  gatherScratch: true,
  overlaps: true,
  vectorGatherBytes: [2, 4],
  defaultResidency: "ub",
  gmGather: "rows",
  ubBytes: 196608,
  ubSafeBytes: 188416,
  blockBytes: 32,
  cores: 48,
  burstBytes: 512,
  clockMhz: 1850,
  dmaRows: 4095,
  gatherRowCycles: 47,
  copyStartupCycles: 5,
  copyBytesPerCycle: 32,
  gatherRepeatCycles: 2,
  vectorBytes: 256,
  firstLevelBytes: 196608,
  secondLevelBytes: 196608,
  syncCycles: 18,
  taskCycles: 0,
  launchCycles: 9250,
  tasksPerCore: 1,
  directElements: maxElements,
  lanes: 1,
  laneBytes: 512,
  ...valuesOf(boardOfA2),
  ...valuesOf(noGpu),
  sources: {
    ...sourcesOf(boardOfA2),
    ...sourcesOf(noGpu),
    ubBytes: a2Ini,
    ubSafeBytes: soc,
    blockBytes: a2Ini,
    cores: a2Ini,
    burstBytes: rowHint,
    clockMhz: a2Ini,
    dmaRows: from(
      "vendor text",
      "hw-native-sys/pto-isa include/pto: TLOAD takes fewer than 4096 rows on A2 and A3",
    ),
    gatherRowCycles: gatherRow,
    copyStartupCycles: copies,
    copyBytesPerCycle: copies,
    gatherRepeatCycles: gather910,
    vectorBytes: repeat,
    firstLevelBytes: assumed("no cache in front of the unified buffer: all of it answers at once"),
    secondLevelBytes: assumed("as firstLevelBytes"),
    syncCycles: cycles,
    taskCycles: assumed("a loop of the core's own program: no source gives it a cost"),
    launchCycles: assumed("five microseconds a kernel"),
    tasksPerCore: assumed("a vector core runs one task at a time"),
    directElements: assumed("no limit: indices and output always pass through the unified buffer"),
    lanes: assumed("a vector core runs one task at a time"),
    laneBytes: rowHint,
  },
};

/** Target for the Atlas A3 series (Ascend 910C). Every hardware parameter has a source. */
export const ascendA3: Target = {
  ...ascendA2,
  name: "ascend-a3",
  title: "Ascend 910C (A3): the same vector core as A2",
};

const onA2 = assumed("as ascend-a2: no figure of the 950's own is published");
const asA2 = {
  dmaRows: onA2,
  gatherRowCycles: onA2,
  gatherRepeatCycles: onA2,
  copyStartupCycles: onA2,
  copyBytesPerCycle: onA2,
} satisfies Partial<Target["sources"]>;

/** Target for the Ascend 950. Every hardware parameter has a source. */
export const ascend950: Target = {
  ...ascendA2,
  name: "ascend-950",
  isa: "a5",
  title: "Ascend 950PR: 248 KiB unified buffer, 64 vector cores",
  gatherScratch: true,
  // By 32-bit indices its header gathers every second element of 1 byte (pto-isa
  // include/pto/npu/a5/TGather.hpp:103).
  vectorGatherBytes: [2, 4, 8],
  ubBytes: 253952,
  firstLevelBytes: 253952,
  secondLevelBytes: 253952,
  ubSafeBytes: 245760,
  cores: 64,
  burstBytes: 128,
  clockMhz: 1650,
  ...valuesOf(boardOf950),
  sources: {
    ...ascendA2.sources,
    ...sourcesOf(boardOf950),
    ubBytes: ini950,
    blockBytes: ini950,
    cores: from(
      "board",
      "mirror-cann/asc-devkit@82b89a15: kernels of 64 blocks run at once; 950PR_957x.ini says 56",
    ),
    clockMhz: ini950,
    ...asA2,
  },
};

const gpuweb = from("vendor text", "gpuweb/gpuweb: default limits");
const notModelled = assumed("relative weights for choosing a tile; WebGPU time is measured, never estimated");

/** Target for WebGPU devices. The unified buffer is workgroup memory of 16 KiB, which every device has. */
export const webgpu: Target = {
  name: "webgpu",
  kind: "webgpu",
  title: "WebGPU with the default limits: 16 KiB of workgroup memory",
  gatherScratch: false,
  overlaps: true,
  vectorGatherBytes: [],
  defaultResidency: "auto",
  gmGather: "any",
  ubBytes: defaultLimits.maxComputeWorkgroupStorageSize,
  ubSafeBytes: defaultLimits.maxComputeWorkgroupStorageSize,
  blockBytes: 4,
  cores: 128,
  burstBytes: 64,
  clockMhz: 1000,
  ...valuesOf(noBoard),
  ...valuesOf(anyGpu),
  gmReadBytesPerCycle: 2048,
  gmMixedBytesPerCycle: 2048,
  loadIssueCycles: 0,
  loadBytesPerCycle: 16,
  storeIssueCycles: 0,
  storeBytesPerCycle: 16,
  dmaRows: maxElements,
  gatherRowCycles: 0,
  stepCycles: 0,
  stepRepeatCycles: 0,
  copyStartupCycles: 0,
  copyBytesPerCycle: 16,
  gatherRepeatCycles: 64,
  vectorBytes: 16,
  scalarCycles: 0,
  firstLevelBytes: 16384,
  secondLevelBytes: 4194304,
  syncCycles: 2048,
  taskCycles: 2,
  launchCycles: 2000,
  tasksPerCore: 4,
  directElements: 2048,
  lanes: 128,
  laneBytes: 512,
  sources: {
    ...sourcesOf(noBoard),
    ...sourcesOf(anyGpu),
    ubBytes: gpuweb,
    ubSafeBytes: gpuweb,
    blockBytes: from("vendor text", "WGSL: the smallest storage access is one 32-bit word"),
    cores: { ...assumed("as many as the largest GPUs have; smaller ones run more rounds"), range: [4, 144] },
    burstBytes: { ...assumed("one cache line"), range: [32, 128] },
    clockMhz: notModelled,
    gmReadBytesPerCycle: notModelled,
    gmMixedBytesPerCycle: notModelled,
    loadIssueCycles: assumed("lanes hide what the first bytes of a run wait for"),
    loadBytesPerCycle: notModelled,
    storeIssueCycles: assumed("as a load"),
    storeBytesPerCycle: notModelled,
    dmaRows: assumed("lanes copy rows side by side"),
    gatherRowCycles: assumed("lanes gather side by side"),
    stepCycles: notModelled,
    stepRepeatCycles: notModelled,
    copyStartupCycles: notModelled,
    copyBytesPerCycle: notModelled,
    gatherRepeatCycles: assumed("addresses of one element for each lane; lanes without one wait"),
    vectorBytes: from("vendor text", "WGSL: vec4<u32>, the widest load"),
    scalarCycles: assumed("lanes hide what a random read waits for; only bytes count"),
    firstLevelBytes: assumed("no cache in front of workgroup memory"),
    secondLevelBytes: {
      ...assumed("the cache that all cores of a middling GPU share"),
      range: [1048576, 100663296],
    },
    syncCycles: { ...assumed("a barrier, at which all lanes wait for the last load"), range: [200, 4096] },
    taskCycles: assumed("a workgroup's launch"),
    launchCycles: assumed("two microseconds a dispatch"),
    tasksPerCore: { ...assumed("workgroups in flight that hide what each waits for"), range: [2, 16] },
    directElements: { ...assumed("a few elements for each lane of a workgroup"), range: [1024, 8192] },
    lanes: assumed("enough for any GPU to keep several workgroups in flight"),
    laneBytes: assumed("16 B for each of 32 lanes that read together: whole cache lines on every GPU"),
  },
};

const sweep = from("board", "npm run bench:sweep: twenty gathers on one Xeon of 48 KiB and 2 MiB of caches");
const unused = assumed("no part of a gather in place");

/** Target for the CPU on which the fast executor runs. */
export const cpu: Target = {
  ...webgpu,
  name: "cpu",
  kind: "cpu",
  title: "A CPU core for the fast executor: tiles of 512 KiB stay in its second-level cache",
  overlaps: false,
  ubBytes: 524288,
  ubSafeBytes: 524288,
  cores: 8,
  gmReadBytesPerCycle: 160,
  gmMixedBytesPerCycle: 160,
  loadIssueCycles: 12,
  loadBytesPerCycle: 20,
  storeIssueCycles: 12,
  storeBytesPerCycle: 20,
  dmaRows: 1,
  gatherRowCycles: 2,
  gatherRepeatCycles: 1.1,
  scalarCycles: 4,
  firstLevelBytes: 49152,
  secondLevelBytes: 1048576,
  syncCycles: 0,
  taskCycles: 1.25,
  launchCycles: 1000,
  tasksPerCore: 1,
  directElements: 16384,
  lanes: 1,
  ...valuesOf(noGpu),
  sources: {
    ...webgpu.sources,
    ...sourcesOf(noGpu),
    ubBytes: assumed("half of the 1 MiB of second-level cache that server cores have"),
    ubSafeBytes: assumed("half of the 1 MiB of second-level cache that server cores have"),
    cores: assumed("tasks for as many threads"),
    clockMhz: assumed("a cycle is a nanosecond"),
    gmReadBytesPerCycle: assumed("threads scale until memory is shared by more than eight of them"),
    gmMixedBytesPerCycle: assumed("threads scale until memory is shared by more than eight of them"),
    loadIssueCycles: sweep,
    loadBytesPerCycle: sweep,
    storeIssueCycles: sweep,
    storeBytesPerCycle: sweep,
    dmaRows: assumed("each row is a run of memory"),
    gatherRowCycles: sweep,
    gatherRepeatCycles: sweep,
    vectorBytes: from("vendor text", "WebAssembly: v128"),
    stepCycles: unused,
    stepRepeatCycles: unused,
    copyStartupCycles: unused,
    copyBytesPerCycle: unused,
    scalarCycles: sweep,
    firstLevelBytes: sweep,
    secondLevelBytes: sweep,
    syncCycles: assumed("a thread waits for nothing but its own statements"),
    taskCycles: sweep,
    launchCycles: assumed("a microsecond a call"),
    tasksPerCore: assumed("a thread runs one task at a time"),
    directElements: assumed("tasks long beside the cost of starting one, short beside a run"),
    lanes: assumed("a thread runs one task at a time"),
  },
};

/** Built-in targets, keyed by name in code. */
export const targets = { ascendA2, ascendA3, ascend950, webgpu, cpu } as const;
for (const target of Object.values(targets)) {
  Object.freeze(target);
  Object.freeze(target.sources);
}
/** Target of a program that does not name one. */
export const defaultTarget = ascendA2;

/** Names of the built-in targets. */
export const targetNames: readonly string[] = Object.values(targets).map((target) => target.name);

/** Returns the built-in target with the given name; undefined if there is none. */
export const findTarget = (name: string): Target | undefined =>
  Object.values(targets).find((target) => target.name === name);
