/**
 * A target is a plain value: what one core offers and what its operations cost. Every figure carries its source.
 *
 * Compilation is judged under a target; a WebGPU device is another target than the Ascend core a program names.
 */
import { maxElements } from "./types.js";

export type TargetKind = "ascend" | "webgpu" | "cpu";

/** What a kind of machine does, whatever its figures. */
export interface TargetFacts {
  /** A gather reads and writes global memory in place, and stages only the data of a full load. */
  readonly gathersInPlace: boolean;
  /** Each task has a unified buffer of its own, and nothing in it outlives the task. */
  readonly privateUb: boolean;
  /** Its tile programs are WebGPU kernels as they are. */
  readonly runsOnWebgpu: boolean;
  /** Pipes run side by side, so that a second copy of a buffer hides a load. */
  readonly doubleBuffers: boolean;
  /** A vector unit gathers by 32-bit indices; 64-bit ones go to the scalar unit. */
  readonly vectorUnit: boolean;
}

export const targetFacts: Readonly<Record<TargetKind, TargetFacts>> = {
  ascend: {
    gathersInPlace: false,
    privateUb: false,
    runsOnWebgpu: false,
    doubleBuffers: true,
    vectorUnit: true,
  },
  webgpu: {
    gathersInPlace: true,
    privateUb: true,
    runsOnWebgpu: true,
    doubleBuffers: false,
    vectorUnit: false,
  },
  cpu: {
    gathersInPlace: true,
    privateUb: true,
    runsOnWebgpu: false,
    doubleBuffers: false,
    vectorUnit: false,
  },
};

export const targetKinds = Object.keys(targetFacts) as readonly TargetKind[];

/** How well a figure is known. */
export type SourceKind =
  "platform-file" | "manual" | "measured by others" | "model fit" | "specification" | "device" | "assumption";

export interface FigureSource {
  readonly source: string;
  readonly kind: SourceKind;
}

/** The numbers of a target. Bytes, cycles, elements or counts, as each name says. */
export interface TargetFigures {
  /** Capacity of the unified buffer of one core; of a workgroup's memory on WebGPU. */
  readonly ubBytes: number;
  /** Above this many bytes a library may overwrite the buffer; equal to `ubBytes` where nothing is reserved. */
  readonly ubSafeBytes: number;
  /** Rows in UB are padded to this, and UB addresses are multiples of it. */
  readonly blockBytes: number;
  /** Cores that run tasks independently. */
  readonly cores: number;
  /** A transfer row below this many bytes wastes bandwidth. */
  readonly burstBytes: number;
  readonly clockMhz: number;
  /** Global memory bytes per cycle, shared by all cores. */
  readonly gmBytesPerCycle: number;
  /** MTE2: global memory to UB, per core. */
  readonly mte2StartupCycles: number;
  readonly mte2BytesPerCycle: number;
  /** MTE3: UB to global memory, per core. */
  readonly mte3StartupCycles: number;
  readonly mte3BytesPerCycle: number;
  /** Cycles each further row of a strided transfer adds. */
  readonly rowCycles: number;
  /** V: a vector gather costs head cycles per row, then cycles per repeat of `vectorBytes`. */
  readonly gatherHeadCycles: number;
  readonly gatherRepeatCycles: number;
  readonly vectorBytes: number;
  /** S: one element, or one row address, handled by the scalar unit. */
  readonly scalarCycles: number;
  /** One wait on another pipe. */
  readonly syncCycles: number;
  /** Elements that a task takes at most when it reads and writes global memory in place; no budget stops it there. */
  readonly directElements: number;
  /** WebGPU: lanes of a workgroup at most. */
  readonly lanes: number;
  /** WebGPU: bytes that neighbouring lanes read side by side when they copy rows. */
  readonly laneBytes: number;
}

export interface Target extends TargetFigures {
  readonly name: string;
  readonly kind: TargetKind;
  readonly title: string;
  /** Whether a vector gather in UB needs scratch of two aligned index rows (PyPTO's hidden tmp). */
  readonly gatherScratch: boolean;
  readonly defaultResidency: "ub" | "gm" | "auto";
  /** `rows`: only gathers of whole rows read global memory (PyPTO index_select, PTO MGATHER); `any`: every gather. */
  readonly gmGather: "rows" | "any";
  readonly sources: Readonly<Record<keyof TargetFigures, FigureSource>>;
}

const from = (kind: SourceKind, source: string): FigureSource => ({ kind, source });

const a2Ini = from("platform-file", "hicann/pypto simulation_platform/platform_config/A2A3.ini");
const ini950 = from("platform-file", "hicann/pypto simulation_platform/platform_config/950PR_957x.ini");
const soc = from("manual", "hw-native-sys/pypto src/backend/common/soc.cpp: UB less the library's 8 KiB");
const rowHint = from("manual", "hw-native-sys/pypto docs/en/dev/passes/92-diagnostics.md: row granularity");
const gather910 = from(
  "measured by others",
  "hw-native-sys/pto-isa costmodel/a2a3 cce_costmodel_vector_compute.hpp 187: head 24, 2 per repeat (910B3, f32)",
);
const cycles = from("model fit", "hicann/pypto framework/src/interface/operation/cycles.cpp and cycles.h");
const copyLine = from(
  "model fit",
  "hicann/pypto cost_model/simulation/arch PostSimulator: intercept of the copy line in us, at the target's clock",
);
const repeat = from("manual", "hiascend.com cceapi_0057: one vector repeat is 256 B");
const assumed = (why: string): FigureSource => from("assumption", why);

export const ascendA2: Target = {
  name: "ascend-a2",
  kind: "ascend",
  title: "Ascend 910B (A2): 192 KiB unified buffer, 48 vector cores",
  gatherScratch: true,
  defaultResidency: "ub",
  gmGather: "rows",
  ubBytes: 196608,
  ubSafeBytes: 188416,
  blockBytes: 32,
  cores: 48,
  burstBytes: 512,
  clockMhz: 1850,
  gmBytesPerCycle: 864,
  mte2StartupCycles: 64,
  mte2BytesPerCycle: 32,
  mte3StartupCycles: 64,
  mte3BytesPerCycle: 64,
  rowCycles: 2,
  gatherHeadCycles: 24,
  gatherRepeatCycles: 2,
  vectorBytes: 256,
  scalarCycles: 10,
  syncCycles: 18,
  directElements: maxElements,
  lanes: 1,
  laneBytes: 512,
  sources: {
    ubBytes: a2Ini,
    ubSafeBytes: soc,
    blockBytes: a2Ini,
    cores: a2Ini,
    burstBytes: rowHint,
    clockMhz: a2Ini,
    gmBytesPerCycle: assumed("1.6 TB/s of device memory at the core clock"),
    mte2StartupCycles: assumed("one start-up of a transfer; the copy line's intercept covers a whole task"),
    mte2BytesPerCycle: a2Ini,
    mte3StartupCycles: assumed("as MTE2"),
    mte3BytesPerCycle: a2Ini,
    rowCycles: assumed("one descriptor step for each further row of a strided transfer"),
    gatherHeadCycles: gather910,
    gatherRepeatCycles: gather910,
    vectorBytes: repeat,
    scalarCycles: cycles,
    syncCycles: cycles,
    directElements: assumed("no limit: indices and output always pass through the unified buffer"),
    lanes: assumed("a vector core runs one task at a time"),
    laneBytes: rowHint,
  },
};

export const ascendA3: Target = {
  ...ascendA2,
  name: "ascend-a3",
  title: "Ascend 910C (A3): the same vector core as A2",
};

export const ascend950: Target = {
  ...ascendA2,
  name: "ascend-950",
  title: "Ascend 950PR: 248 KiB unified buffer, 56 vector cores",
  gatherScratch: true,
  ubBytes: 253952,
  ubSafeBytes: 245760,
  cores: 56,
  burstBytes: 128,
  clockMhz: 1650,
  gmBytesPerCycle: 896,
  mte2BytesPerCycle: 16,
  mte3BytesPerCycle: 40,
  sources: {
    ...ascendA2.sources,
    ubBytes: ini950,
    blockBytes: ini950,
    cores: ini950,
    clockMhz: ini950,
    gmBytesPerCycle: assumed("16 B per cycle for each of the 56 vector cores"),
    mte2BytesPerCycle: ini950,
    mte3BytesPerCycle: ini950,
    mte2StartupCycles: copyLine,
    mte3StartupCycles: copyLine,
  },
};

const gpuweb = from("specification", "gpuweb/gpuweb: default limits");
const notModelled = assumed("relative weights for choosing a tile; WebGPU time is measured, never estimated");

export const webgpu: Target = {
  name: "webgpu",
  kind: "webgpu",
  title: "WebGPU with the default limits: 16 KiB of workgroup memory",
  gatherScratch: false,
  defaultResidency: "auto",
  gmGather: "any",
  ubBytes: 16384,
  ubSafeBytes: 16384,
  blockBytes: 4,
  cores: 16,
  burstBytes: 64,
  clockMhz: 1000,
  gmBytesPerCycle: 256,
  mte2StartupCycles: 2048,
  mte2BytesPerCycle: 16,
  mte3StartupCycles: 64,
  mte3BytesPerCycle: 16,
  rowCycles: 1,
  gatherHeadCycles: 4,
  gatherRepeatCycles: 4,
  vectorBytes: 256,
  scalarCycles: 4,
  syncCycles: 32,
  directElements: 2048,
  lanes: 128,
  laneBytes: 64,
  sources: {
    ubBytes: gpuweb,
    ubSafeBytes: gpuweb,
    blockBytes: from("specification", "WGSL: the smallest storage access is one 32-bit word"),
    cores: notModelled,
    burstBytes: assumed("one cache line"),
    clockMhz: notModelled,
    gmBytesPerCycle: notModelled,
    mte2StartupCycles: notModelled,
    mte2BytesPerCycle: notModelled,
    mte3StartupCycles: notModelled,
    mte3BytesPerCycle: notModelled,
    rowCycles: notModelled,
    gatherHeadCycles: notModelled,
    gatherRepeatCycles: notModelled,
    vectorBytes: notModelled,
    scalarCycles: notModelled,
    syncCycles: notModelled,
    directElements: assumed("a few elements for each lane of a workgroup"),
    lanes: assumed("enough for any GPU to keep several workgroups in flight"),
    laneBytes: assumed("a cache line, whole sectors of it on every GPU"),
  },
};

const cpuModel = assumed("relative weights for choosing a tile; CPU time is measured, never estimated");

export const cpu: Target = {
  ...webgpu,
  name: "cpu",
  kind: "cpu",
  title: "A CPU core for the fast executor: tiles of 512 KiB stay in its second-level cache",
  ubBytes: 524288,
  ubSafeBytes: 524288,
  cores: 8,
  gmBytesPerCycle: 8,
  mte2StartupCycles: 40,
  mte2BytesPerCycle: 8,
  mte3StartupCycles: 0,
  mte3BytesPerCycle: 8,
  rowCycles: 16,
  directElements: 16384,
  sources: {
    ...(Object.fromEntries(Object.keys(webgpu.sources).map((key) => [key, cpuModel])) as Target["sources"]),
    ubBytes: assumed("half of the 1 MiB of second-level cache that server cores have"),
    burstBytes: assumed("one cache line"),
    directElements: assumed("tasks long beside the cost of starting one, short beside a run"),
  },
};

export const targets = { ascendA2, ascendA3, ascend950, webgpu, cpu } as const;
export const defaultTarget = ascendA2;

export const targetNames: readonly string[] = Object.values(targets).map((target) => target.name);

export const findTarget = (name: string): Target | undefined =>
  Object.values(targets).find((target) => target.name === name);
