/**
 * One table of work: instructions and bytes by pipe and operand. What a statement of a tile asks of its pipe,
 * what a core does in stretches that end at a wait, and what all cores read and write in global memory.
 * Counts may be fractions, as means over cores are.
 */

/**
 * Names of the hardware pipes (instruction queues) of an Ascend core, and `SIMT` for the core's SIMT threads.
 */
export const workPipes = ["MTE2", "V", "MTE3", "S", "SIMT"] as const;
/** Name of a hardware pipe (instruction queue) of an Ascend core, or `SIMT` for the core's SIMT threads. */
export type WorkPipe = (typeof workPipes)[number];

/** Amount of work: counts of instructions, memory accesses, rows, bytes and waits. */
export interface Work {
  /** Number of DMA instructions, and the total number of bursts of these instructions. */
  readonly instructions: number;
  readonly bursts: number;
  /**
   * Bytes transferred between global memory and the core, in whole blocks; in whole cache lines on targets
   * other than Ascend.
   */
  readonly padded: number;
  /** Bytes of the elements alone. */
  readonly bytes: number;
  /**
   * Bytes that global memory moves for them: of a DMA engine in whole sectors, or lines; elsewhere as
   * `padded`.
   */
  readonly touched: number;
  /** Bytes of a load into memory that lanes share, which is set to zero before. */
  readonly cleared: number;
  /** Rows of vector gathers, and their repeats beyond the first of each row, with the elements of those. */
  readonly rows: number;
  readonly repeats: number;
  readonly gathered: number;
  /** Vector instructions on index values, and the repeats of all tiles they read. */
  readonly steps: number;
  readonly stepRepeats: number;
  /** Repeats of vector instructions whose sources meet in a bank group. */
  readonly conflictRepeats: number;
  /** Copies within UB, and their bytes in whole blocks. */
  readonly copies: number;
  readonly copied: number;
  /** Accesses of the scalar unit: to UB, and to global memory. */
  readonly scalars: number;
  readonly gmScalars: number;
  /** Index values that name rows of loads. */
  readonly rowIndices: number;
  /** SIMT functions that are called. */
  readonly calls: number;
  /**
   * Accesses of warps of 32 threads: to one line of 128 B each, and to scattered elements with all the lines
   * that these touch.
   */
  readonly lineAccesses: number;
  readonly warpAccesses: number;
  readonly warpLines: number;
  /** Waits between pipes within the statement; those of them for loads, which take their latency. */
  readonly waits: number;
  readonly loadWaits: number;
}

/** Empty amount of work: every count is 0. */
export const noWork: Work = {
  instructions: 0,
  bursts: 0,
  padded: 0,
  bytes: 0,
  touched: 0,
  cleared: 0,
  rows: 0,
  repeats: 0,
  gathered: 0,
  steps: 0,
  stepRepeats: 0,
  conflictRepeats: 0,
  copies: 0,
  copied: 0,
  scalars: 0,
  gmScalars: 0,
  rowIndices: 0,
  calls: 0,
  lineAccesses: 0,
  warpAccesses: 0,
  warpLines: 0,
  waits: 0,
  loadWaits: 0,
};

const counts = Object.keys(noWork) as readonly (keyof Work)[];

/** Returns the work with every count multiplied by `times`, which may be a fraction. */
export const repeatedWork = (work: Work, times: number): Work =>
  times === 1 ? work : combined((count) => times * work[count]);

/** Returns the sum of amounts of work, count by count. Every count is 0 for an empty list. */
export const sumOfWork = (pieces: readonly Work[]): Work =>
  combined((count) => pieces.reduce((sum, piece) => sum + piece[count], 0));

function combined(valueOf: (count: keyof Work) => number): Work {
  const work: { -readonly [K in keyof Work]: number } = { ...noWork };
  for (const count of counts) work[count] = valueOf(count);
  return work;
}

/** Work on one hardware pipe (instruction queue), or on a core's SIMT threads. */
export interface PipeWork {
  readonly pipe: WorkPipe;
  readonly work: Work;
}

/** Part of a kernel in which several hardware pipes (instruction queues) of a core work at the same time. */
export interface Stretch {
  readonly runs: readonly PipeWork[];
  /** True if the core waits for all `runs` before it begins the next stretch. */
  readonly waits: boolean;
}

/**
 * Reads of one operand by all cores together: the number of distinct bytes, and the number of passes over the
 * bytes.
 */
export interface OperandReads {
  /** Distinct bytes. */
  readonly bytes: number;
  /** Number of complete passes over the bytes, one after another. */
  readonly times: number;
}

/** Traffic of all cores together with global memory: the reads of each operand, and the bytes written. */
export interface MemoryWork {
  readonly operands: readonly OperandReads[];
  readonly written: number;
  /** True if reads do not go through L2. */
  readonly readsBypassL2: boolean;
  /**
   * Bursts whose starts are not all aligned: bytes from the start of a row to the start of the next row, and
   * bytes of a burst.
   */
  readonly unaligned?: { readonly pitchBytes: number; readonly bytesPerBurst: number };
}

/** Work of a kernel. Each of `cores` cores executes the `stretches` in order, `repeat` times. */
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
