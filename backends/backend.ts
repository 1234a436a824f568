/** Interface of all backends: a kernel is prepared once and run many times. */
import type { Resolved } from "../ir/ops/op-def.js";
import type { AccessFunc, TileFunc } from "../ir/func.js";
import type { Target } from "../ir/target.js";
import type { LongRunOptions } from "./long-run.js";
import type { HostInputs } from "./memory.js";
import type { SimReport } from "./report.js";

/** Compiled kernel for a backend: the tile program, the target, and the source program. */
export interface BackendKernel {
  readonly tile: TileFunc;
  readonly target: Target;
  /** The program's operator without its dialect; absent if the program has none. */
  readonly resolved?: Resolved;
  /**
   * The access program that the kernel was compiled from, where it had no operator: what its output is by
   * definition.
   */
  readonly definition?: AccessFunc;
  /**
   * The kernel for another target, compiled again from its source. Throws a CompileError (TC502) when it
   * cannot be.
   */
  readonly forTarget?: (target: Target) => BackendKernel;
}

/**
 * Result of one execution of a kernel: the output's bytes, and a report of moved bytes if requested and
 * supported.
 */
export interface BackendRun {
  /** The output's elements, row-major, in memory that no later execution changes. */
  readonly output: Uint8Array;
  /**
   * Report of what the run moved, if it was requested and the backend counts. It is derived at the first
   * read, which must come before the kernel runs again.
   */
  readonly report?: SimReport;
}

/**
 * Options of one execution of a kernel on a backend: abort signal, progress callback, and a switch for the
 * report.
 */
export interface BackendRunOptions extends LongRunOptions {
  /** True to get a report of moved bytes, if the backend supports one. Default false. */
  readonly report?: boolean;
}

/** Kernel that a backend has prepared. The kernel can be executed many times, until release. */
export interface PreparedKernel {
  /**
   * Rejects with a RunError (TC601) for an index out of range, and with the signal's reason when it is
   * aborted.
   */
  run(inputs: HostInputs, options?: BackendRunOptions): Promise<BackendRun>;
  /** Releases memory, threads and device objects. */
  release(): void;
}

/** Execution backend: prepares compiled kernels to run on one kind of machine. */
export interface Backend {
  readonly name: string;
  /** Origin of a loaded backend, for messages, such as `backends.mine of tilec.config.ts`. */
  readonly origin?: string;
  /**
   * False for one that has no way to reject an index: a comparison leaves out inputs that its program
   * rejects. Default true.
   */
  readonly rejects?: boolean;
  /** Throws a CompileError when the kernel cannot run here. */
  prepare(kernel: BackendKernel): PreparedKernel | Promise<PreparedKernel>;
}
