/** What a launch of a module's kernel takes at some sizes. */
import type { Sized } from "./host.js";
import type { Numbers } from "../../../backends/bad-index.js";

export interface Launch extends Sized {
  readonly dispatch: readonly [number, number, number];
  /** Of each binding. */
  readonly bytes: readonly number[];
  /** The last binding, where sizes are told to the kernel. */
  readonly uniform?: GPUBuffer;
}

/** Throws TC107 for sizes that the program does not take. `uniform`: makes a buffer with such contents. */
export type LaunchAt = (sizes: Numbers, uniform: (contents: Uint8Array) => GPUBuffer) => Launch;
