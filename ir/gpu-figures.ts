/**
 * Figures of a GPU that decide whether staging pays. No device fixes them: each has the range of the devices
 * that it stands for.
 */
import type { Figure } from "./figure.js";
import { maxElements } from "./types.js";

/**
 * Hardware parameters of a GPU that determine whether staging data in workgroup memory saves time. Names
 * contain the unit; rates are per cycle.
 */
export interface GpuFigures {
  /** WebGPU: bytes of workgroup memory for each lane of a core, if all lanes are in flight. */
  readonly laneStorageBytes: number;
  /** WebGPU: share of a core's lanes, 0 to 1, that must be in flight to hide the memory latency. */
  readonly hidingShare: number;
  /** WebGPU: bytes of workgroup memory per cycle that a core sets to zero before a kernel begins. */
  readonly clearBytesPerCycle: number;
}

/** Table of these figures. */
type GpuTable = Readonly<Record<keyof GpuFigures, Figure>>;

/** Hardware parameters assumed for a GPU that has only the limits every WebGPU device has. */
export const anyGpu: GpuTable = {
  laneStorageBytes: {
    value: 32,
    kind: "assumption",
    source:
      "AMD RDNA 2: 64 KiB for 2048 lanes; Apple M1 and Adreno have less, NVIDIA Hopper has 228 KiB for 2048",
    range: [20, 114],
  },
  hidingShare: {
    value: 0.5,
    kind: "assumption",
    source: "half of the waves of a discrete GPU with four loads in flight each; a mobile GPU needs fewer",
    range: [0.25, 1],
  },
  clearBytesPerCycle: {
    value: 128,
    kind: "assumption",
    source: "32 banks of 4 B, as discrete GPUs and Apple's have",
    range: [64, 256],
  },
};

/** Placeholder GPU parameters of a target without workgroup memory. No computation reads the values. */
export const noGpu: GpuTable = {
  laneStorageBytes: {
    value: maxElements,
    kind: "assumption",
    source: "no memory that lanes share: not read",
  },
  hidingShare: { value: 1, kind: "assumption", source: "no lanes: not read" },
  clearBytesPerCycle: { value: maxElements, kind: "assumption", source: "nothing is set to zero: not read" },
};

/** Names of the hardware parameters of a GPU ({@link GpuFigures}). */
export const gpuFigureNames = Object.keys(anyGpu) as readonly (keyof GpuFigures)[];
