/** Interface of all backends: a kernel is prepared once and run many times. */
import type { Resolved } from "../ir/ops/op-def.js";
import type { AccessFunc, TileFunc } from "../ir/func.js";
import type { Target } from "../ir/target.js";
import type { LongRunOptions } from "./long-run.js";
import type { HostInputs } from "./memory.js";
import type { SimReport } from "./report.js";

/**
 * Compiled kernel as a backend receives it: the tile program, the target, and the program that it was
 * compiled from.
 */
export interface BackendKernel {
  readonly tile: TileFunc;
  readonly target: Target;
  /** The dialect-free operator, where the program had one. */
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
 * Result of one run of a kernel: the output's bytes, and a report of the bytes moved if it was requested and
 * the backend makes one.
 */
export interface BackendRun {
  /** The output's elements, row-major; the caller's own. */
  readonly output: Uint8Array;
  /**
   * Report of what the run moved, if it was requested and the backend counts. It is derived at the first
   * read, which must come before the kernel runs again.
   */
  readonly report?: SimReport;
}

/**
 * Options of one run of a kernel on a backend: abort signal, progress callback, and whether to make a report.
 */
export interface BackendRunOptions extends LongRunOptions {
  /** Asks for the report of a backend that counts. Default false: nothing is kept for it. */
  readonly report?: boolean;
}

/** Kernel that a backend has prepared, which can run many times until it is released. */
export interface PreparedKernel {
  /**
   * Rejects with a RunError (TC601) for an index out of range, and with the signal's reason when it is
   * aborted.
   */
  run(inputs: HostInputs, options?: BackendRunOptions): Promise<BackendRun>;
  /** Gives back memory, threads and device objects. */
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
