/**
 * One table of work: instructions and bytes by pipe and operand. What a core does, in stretches that end at a wait, and what all
 * cores read and write in global memory. Counts may be fractions, as means over cores are.
 */

/** The pipes of a core, and its SIMT threads. */
export const workPipes = ["MTE2", "V", "MTE3", "S", "SIMT"] as const;
/** A pipe of a core, or its SIMT threads. */
export type WorkPipe = (typeof workPipes)[number];

/** DMA instructions of like bursts: loads of MTE2, stores of MTE3. */
export interface TransferRun {
  readonly kind: "transfer";
  readonly pipe: "MTE2" | "MTE3";
  readonly instructions: number;
  /** Of one instruction: runs of memory that lie together. */
  readonly bursts: number;
  readonly bytesPerBurst: number;
}

/** Vector instructions of like repeats. */
export interface VectorRun {
  readonly kind: "vector";
  readonly pipe: "V";
  readonly instructions: number;
  /** Of one instruction. */
  readonly repeats: number;
  /** True if both sources lie in one bank group. */
  readonly bankConflict: boolean;
}

/** Accesses of the scalar unit to UB. */
export interface ScalarRun {
  readonly kind: "scalar";
  readonly pipe: "S";
  readonly accesses: number;
}

/** Elements that warps of 32 threads handle. */
export interface SimtRun {
  readonly kind: "simt";
  readonly pipe: "SIMT";
  readonly elements: number;
  /** For each access of a warp: lines of 128 B that it touches. */
  readonly linesPerWarpAccess: readonly number[];
}

/** Calls of SIMT functions from a SIMD kernel. */
export interface CallRun {
  readonly kind: "call";
  readonly pipe: "SIMT";
  readonly calls: number;
}

/** Like instructions of one pipe. */
export type WorkRun = TransferRun | VectorRun | ScalarRun | SimtRun | CallRun;

/** Runs that overlap, pipe by pipe. */
export interface Stretch {
  readonly runs: readonly WorkRun[];
  /** True if the core waits for all of them before it goes on. */
  readonly waits: boolean;
}

/** Reads of one operand by all cores. */
export interface OperandReads {
  /** Distinct bytes. */
  readonly bytes: number;
  /** How often they are read, one whole pass after the other. */
  readonly times: number;
}

/** Global memory, of all cores together. */
export interface MemoryWork {
  readonly operands: readonly OperandReads[];
  readonly written: number;
  /** True if reads do not go through L2. */
  readonly readsBypassL2: boolean;
  /** Of bursts whose starts the pitch of their rows leaves unaligned: that pitch, and the bytes of a burst. */
  readonly unaligned?: { readonly pitchBytes: number; readonly bytesPerBurst: number };
}

/** A kernel: every core repeats its stretches. */
export interface KernelWork {
  readonly cores: number;
  readonly repeat: number;
  readonly stretches: readonly Stretch[];
  readonly memory?: MemoryWork;
  /** Blocks that are launched; absent where the launch is no part of the time. */
  readonly blocks?: number;
  /** True if the first instruction fetches of a core are part of the time. */
  readonly cold: boolean;
}
