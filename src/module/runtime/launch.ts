/** Launch of a module's kernel at given sizes. */
import type { Sized } from "./host.js";
import type { Numbers } from "../../../backends/bad-index.js";

/**
 * Launch of a kernel for given sizes: workgroup counts, bytes of each binding, and the uniform buffer if the
 * kernel reads the sizes.
 */
export interface Launch extends Sized {
  readonly dispatch: readonly [number, number, number];
  /** Bytes of each binding. */
  readonly bytes: readonly number[];
  /** Uniform buffer with the sizes, bound last; absent if the kernel reads no sizes. */
  readonly uniform?: GPUBuffer;
}

/**
 * Function that returns the launch of a kernel for given sizes. Throws a GatherError (TC107) for sizes that
 * the program does not accept. `uniform` creates a buffer with the given contents.
 */
export type LaunchAt = (sizes: Numbers, uniform: (contents: Uint8Array) => GPUBuffer) => Launch;
