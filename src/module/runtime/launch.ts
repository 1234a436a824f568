/** Launch of a module's kernel at given sizes. */
import { uniformUsage } from "../../../backends/webgpu/usage.js";
import { resourcesOn, type DeviceWork } from "../../../backends/webgpu/work.js";
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

/** Sizes whose launches are kept; what is evicted lives as long as the passes that it is recorded in. */
const maxCached = 64;

/**
 * Returns a function that returns the launch for given sizes, and keeps the launches of the latest 64 sizes.
 * `make`: returns the launch with the contents of its uniform buffer (`words`).
 */
export function keptLaunches<L extends Launch>(
  work: DeviceWork,
  make: (sizes: Numbers) => Omit<L, "uniform"> & { readonly words: Uint32Array<ArrayBuffer> },
): LaunchAt<L> {
  const kept = new Map<string, L>();
  return (sizes) => {
    const key = JSON.stringify(sizes);
    const cached = kept.get(key);
    if (cached !== undefined) return cached;
    const { words, ...launch } = make(sizes);
    const contents = new Uint8Array(words.buffer);
    const made = (words.length === 0
      ? launch
      : {
          ...launch,
          uniform: resourcesOn(work).buffer(contents.length, uniformUsage, contents),
        }) as unknown as L;
    const [oldest] = kept.keys();
    if (kept.size >= maxCached && oldest !== undefined) kept.delete(oldest);
    kept.set(key, made);
    return made;
  };
}

/**
 * Function that returns the launch of a kernel for given sizes. Throws a GatherError (TC107) for sizes that
 * the program does not accept.
 */
export type LaunchAt<L extends Launch = Launch> = (sizes: Numbers) => L;
