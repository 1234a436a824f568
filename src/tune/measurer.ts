/** Interface between a search by milliseconds and the machine that runs the candidates. */
import type { HostInputs } from "../../backends/index.js";
import type { TileFunc } from "../../ir/index.js";
import type { Kernel } from "../api/compile.js";
import type { MeasureOptions, Measurement } from "./search-ms.js";

/**
 * Inputs with which every candidate of a measured search runs, and the output that each candidate must
 * compute.
 */
export interface MeasuredTask {
  /** The default's kernel: its operands are every candidate's. */
  readonly kernel: Kernel;
  readonly inputs: HostInputs;
  /** The operator's output for these inputs, byte for byte. */
  readonly expected: Uint8Array;
}

/** Object that verifies the outputs of candidates and measures the run times on one device. */
export interface Measurer {
  /** Device that runs the candidates. Times are comparable on one device only. */
  readonly device: string;
  /**
   * Verifies one run and times others. Resolves with `timeout` where it ends a candidate that takes too long,
   * and where it cannot end one, afterwards.
   */
  measure(tile: TileFunc, options: MeasureOptions): Promise<Measurement>;
  /** Ends what it started. */
  close(): void | Promise<void>;
}

/** Function that creates a {@link Measurer} for the inputs and the expected output of one search. */
export type OpenMeasurer = (task: MeasuredTask) => Measurer | Promise<Measurer>;
