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
  /** Kernel of the default schedule. The kernels of all candidates have the same operands. */
  readonly kernel: Kernel;
  readonly inputs: HostInputs;
  /** Output that each candidate must compute from `inputs`, as bytes. */
  readonly expected: Uint8Array;
}

/** Object that verifies the outputs of candidates and measures the run times on one device. */
export interface Measurer {
  /** Device that runs the candidates. Times are comparable on one device only. */
  readonly device: string;
  /**
   * Verifies the output of one run and measures further runs. Resolves to the status `timeout` if the
   * candidate takes too long: at once if the run can be stopped, else after the run.
   */
  measure(tile: TileFunc, options: MeasureOptions): Promise<Measurement>;
  /** Ends what it started. */
  close(): void | Promise<void>;
}

/** Function that creates a {@link Measurer} for the inputs and the expected output of one search. */
export type OpenMeasurer = (task: MeasuredTask) => Measurer | Promise<Measurer>;
