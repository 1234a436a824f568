/**
 * A target is a plain value: what one core offers and what its operations cost. Every figure carries its
 * source.
 *
 * Compilation is judged under a target; a WebGPU device is another target than the Ascend core a program
 * names.
 */
import { boardOf950, boardOfA2, noBoard, type BoardFigures } from "./board-figures.js";
import { defined } from "./defined.js";
import { sourcesOf, valuesOf, type Figure, type FigureKind, type FigureSource } from "./figure.js";
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

const assumed = (why: string, range?: readonly [number, number]): FigureSource => ({
  ...from("assumption", why),
  ...defined({ range }),
});

const figure = (value: number, source: FigureSource): Figure => ({ value, ...source });

/** Table of the hardware parameters of a target. */
type TargetTable = Readonly<Record<keyof TargetFigures, Figure>>;

/** Returns the hardware parameters of a target, and their sources. */
const fromTable = (table: TargetTable): Pick<Target, keyof TargetFigures | "sources"> => ({
  ...valuesOf(table),
  sources: sourcesOf(table),
});

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

const figuresOfA2: TargetTable = {
  ...boardOfA2,
  ...noGpu,
  ubBytes: figure(196608, a2Ini),
  ubSafeBytes: figure(188416, soc),
  blockBytes: figure(32, a2Ini),
  cores: figure(48, a2Ini),
  burstBytes: figure(512, rowHint),
  clockMhz: figure(1850, a2Ini),
  dmaRows: figure(
    4095,
    from("vendor text", "hw-native-sys/pto-isa include/pto: TLOAD takes fewer than 4096 rows on A2 and A3"),
  ),
  gatherRowCycles: figure(47, gatherRow),
  copyStartupCycles: figure(5, copies),
  copyBytesPerCycle: figure(32, copies),
  gatherRepeatCycles: figure(2, gather910),
  vectorBytes: figure(256, repeat),
  firstLevelBytes: figure(
    196608,
    assumed("no cache in front of the unified buffer: all of it answers at once"),
  ),
  secondLevelBytes: figure(196608, assumed("as firstLevelBytes")),
  syncCycles: figure(18, cycles),
  taskCycles: figure(0, assumed("a loop of the core's own program: no source gives it a cost")),
  launchCycles: figure(9250, assumed("five microseconds a kernel")),
  tasksPerCore: figure(1, assumed("a vector core runs one task at a time")),
  directElements: figure(
    maxElements,
    assumed("no limit: indices and output always pass through the unified buffer"),
  ),
  lanes: figure(1, assumed("a vector core runs one task at a time")),
  laneBytes: figure(512, rowHint),
};

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
  ...fromTable(figuresOfA2),
};

/** Target for the Atlas A3 series (Ascend 910C). Every hardware parameter has a source. */
export const ascendA3: Target = {
  ...ascendA2,
  name: "ascend-a3",
  title: "Ascend 910C (A3): the same vector core as A2",
};

const onA2 = assumed("as ascend-a2: no figure of the 950's own is published");
const figuresOf950: TargetTable = {
  ...figuresOfA2,
  ...boardOf950,
  ubBytes: figure(253952, ini950),
  firstLevelBytes: { ...figuresOfA2.firstLevelBytes, value: 253952 },
  secondLevelBytes: { ...figuresOfA2.secondLevelBytes, value: 253952 },
  ubSafeBytes: { ...figuresOfA2.ubSafeBytes, value: 245760 },
  cores: figure(
    64,
    from(
      "board",
      "mirror-cann/asc-devkit@82b89a15: kernels of 64 blocks run at once; 950PR_957x.ini says 56",
    ),
  ),
  burstBytes: { ...figuresOfA2.burstBytes, value: 128 },
  clockMhz: figure(1650, ini950),
  blockBytes: figure(32, ini950),
  dmaRows: { ...figuresOfA2.dmaRows, ...onA2 },
  gatherRowCycles: { ...figuresOfA2.gatherRowCycles, ...onA2 },
  gatherRepeatCycles: { ...figuresOfA2.gatherRepeatCycles, ...onA2 },
  copyStartupCycles: { ...figuresOfA2.copyStartupCycles, ...onA2 },
  copyBytesPerCycle: { ...figuresOfA2.copyBytesPerCycle, ...onA2 },
};

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
  ...fromTable(figuresOf950),
};

const gpuweb = from("vendor text", "gpuweb/gpuweb: default limits");
const notModelled = assumed("relative weights for choosing a tile; WebGPU time is measured, never estimated");

const figuresOfWebgpu: TargetTable = {
  ...noBoard,
  ...anyGpu,
  ubBytes: figure(defaultLimits.maxComputeWorkgroupStorageSize, gpuweb),
  ubSafeBytes: figure(defaultLimits.maxComputeWorkgroupStorageSize, gpuweb),
  blockBytes: figure(4, from("vendor text", "WGSL: the smallest storage access is one 32-bit word")),
  cores: figure(128, assumed("as many as the largest GPUs have; smaller ones run more rounds", [4, 144])),
  burstBytes: figure(64, assumed("one cache line", [32, 128])),
  clockMhz: figure(1000, notModelled),
  gmReadBytesPerCycle: figure(2048, notModelled),
  gmMixedBytesPerCycle: figure(2048, notModelled),
  loadIssueCycles: figure(0, assumed("lanes hide what the first bytes of a run wait for")),
  loadBytesPerCycle: figure(16, notModelled),
  storeIssueCycles: figure(0, assumed("as a load")),
  storeBytesPerCycle: figure(16, notModelled),
  dmaRows: figure(maxElements, assumed("lanes copy rows side by side")),
  gatherRowCycles: figure(0, assumed("lanes gather side by side")),
  stepCycles: figure(0, notModelled),
  stepRepeatCycles: figure(0, notModelled),
  copyStartupCycles: figure(0, notModelled),
  copyBytesPerCycle: figure(16, notModelled),
  gatherRepeatCycles: figure(64, assumed("addresses of one element for each lane; lanes without one wait")),
  vectorBytes: figure(16, from("vendor text", "WGSL: vec4<u32>, the widest load")),
  scalarCycles: figure(0, assumed("lanes hide what a random read waits for; only bytes count")),
  firstLevelBytes: figure(16384, assumed("no cache in front of workgroup memory")),
  secondLevelBytes: figure(
    4194304,
    assumed("the cache that all cores of a middling GPU share", [1048576, 100663296]),
  ),
  syncCycles: figure(2048, assumed("a barrier, at which all lanes wait for the last load", [200, 4096])),
  taskCycles: figure(2, assumed("a workgroup's launch")),
  launchCycles: figure(2000, assumed("two microseconds a dispatch")),
  tasksPerCore: figure(4, assumed("workgroups in flight that hide what each waits for", [2, 16])),
  directElements: figure(2048, assumed("a few elements for each lane of a workgroup", [1024, 8192])),
  lanes: figure(128, assumed("enough for any GPU to keep several workgroups in flight")),
  laneBytes: figure(
    512,
    assumed("16 B for each of 32 lanes that read together: whole cache lines on every GPU"),
  ),
};

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
  ...fromTable(figuresOfWebgpu),
};

const sweep = from("board", "npm run bench:sweep: twenty gathers on one Xeon of 48 KiB and 2 MiB of caches");
const unused = assumed("no part of a gather in place");

const figuresOfCpu: TargetTable = {
  ...figuresOfWebgpu,
  ...noGpu,
  ubBytes: figure(524288, assumed("half of the 1 MiB of second-level cache that server cores have")),
  ubSafeBytes: figure(524288, assumed("half of the 1 MiB of second-level cache that server cores have")),
  cores: figure(8, assumed("tasks for as many threads")),
  gmReadBytesPerCycle: figure(
    160,
    assumed("threads scale until memory is shared by more than eight of them"),
  ),
  gmMixedBytesPerCycle: figure(
    160,
    assumed("threads scale until memory is shared by more than eight of them"),
  ),
  loadIssueCycles: figure(12, sweep),
  loadBytesPerCycle: figure(20, sweep),
  storeIssueCycles: figure(12, sweep),
  storeBytesPerCycle: figure(20, sweep),
  dmaRows: figure(1, assumed("each row is a run of memory")),
  gatherRowCycles: figure(2, sweep),
  gatherRepeatCycles: figure(1.1, sweep),
  scalarCycles: figure(4, sweep),
  firstLevelBytes: figure(49152, sweep),
  secondLevelBytes: figure(1048576, sweep),
  syncCycles: figure(0, assumed("a thread waits for nothing but its own statements")),
  taskCycles: figure(1.25, sweep),
  launchCycles: figure(1000, assumed("a microsecond a call")),
  tasksPerCore: figure(1, assumed("a thread runs one task at a time")),
  directElements: figure(16384, assumed("tasks long beside the cost of starting one, short beside a run")),
  lanes: figure(1, assumed("a thread runs one task at a time")),
  clockMhz: figure(1000, assumed("a cycle is a nanosecond")),
  vectorBytes: figure(16, from("vendor text", "WebAssembly: v128")),
  stepCycles: figure(0, unused),
  stepRepeatCycles: figure(0, unused),
  copyStartupCycles: figure(0, unused),
  copyBytesPerCycle: figure(16, unused),
};

/** Target for the CPU on which the fast executor runs. */
export const cpu: Target = {
  ...webgpu,
  name: "cpu",
  kind: "cpu",
  title: "A CPU core for the fast executor: tiles of 512 KiB stay in its second-level cache",
  overlaps: false,
  ...fromTable(figuresOfCpu),
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
