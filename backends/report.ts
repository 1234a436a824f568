/** Report of a simulated run: what it moved and used. All counts are exact, and equal for equal inputs. */
import type { ClockResult, Occupancy } from "../ir/clock/index.js";

/** Traffic of one operand in a simulated run, in bytes and counts. */
export interface OperandReport {
  /** Bytes read from, or written to, global memory. */
  readonly bytes: number;
  /** Bytes of the elements that any schedule must move once. */
  readonly compulsory: number;
  /** Number of executions of load, store or gather statements that moved the bytes. */
  readonly transfers: number;
  /** Number of bursts (contiguous ranges of bytes), and the bytes of the shortest and of the longest. */
  readonly bursts: number;
  readonly shortestBurst: number;
  readonly longestBurst: number;
  /**
   * Histogram of burst sizes. `count`: number of bursts of more than half of `upTo` bytes and of at most
   * `upTo` bytes.
   */
  readonly burstSizes: readonly { readonly upTo: number; readonly count: number }[];
  /**
   * Bytes over what the bursts take when none is shorter than the target's `burstBytes`; 1 wastes nothing.
   */
  readonly burstEfficiency: number;
}

/**
 * Locality of an index tensor: statistics of the difference between successive index values, which show how
 * well a cache works.
 */
export interface IndexLocality {
  readonly count: number;
  /** Fraction of values that equal the previous value; `consecutive`: that exceed it by 1. */
  readonly repeated: number;
  readonly consecutive: number;
  /** Mean distance between neighbours, in elements of the gather dim. */
  readonly meanDistance: number;
}

/**
 * Names of the executors that simulate a tile program. `checked` detects invalid operations of the program;
 * `fast` runs the program as WebAssembly.
 */
export const executors = ["checked", "fast"] as const;
/** Executor that simulates a tile program: one of {@link executors}. */
export type Executor = (typeof executors)[number];

/** Report of a simulated run: traffic in bytes, and estimated time in cycles of the target. */
export interface SimReport {
  readonly target: string;
  readonly executor: Executor;
  /** Bytes of inputs that lay outside the fast executor's memory and were copied into it. */
  readonly copiedBytes: number;
  /** Traffic of each operand, by key: `data`, `indices` and `output`, or the names of several inputs. */
  readonly operands: Readonly<Record<string, OperandReport>>;
  /** Bytes moved from global memory to cores; `bytesWritten`: from cores to global memory. */
  readonly bytesRead: number;
  readonly bytesWritten: number;
  readonly compulsoryBytes: number;
  /** Bytes moved over compulsory bytes; 1 is the least. */
  readonly reloadFactor: number;
  /** Highest UB byte used, in bytes. */
  readonly ubPeak: number;
  readonly ubBudget: number;
  readonly tasks: number;
  readonly cores: number;
  /** Estimated cycles, by pipe, with the bottleneck; the model is docs/cost-model.md. */
  readonly timing: ClockResult & { readonly occupancy: readonly Occupancy[] };
  /** Locality of the first tensor of indices; absent if there is none. */
  readonly locality?: IndexLocality;
  readonly gathers: number;
  readonly syncs: number;
}
