/** Code of the page of `openSidePage`. */
import { gpuSide } from "./gpu-side.js";
import type { GpuLibrary } from "./library.js";
import { pageDevice } from "./page-device.js";

/**
 * Creates an object that measures a tilec build in a browser page. Publishes the object as the page's global
 * `side`, for the process that opened the page. Each measured call makes `launches` launches.
 */
export async function serveSide(library: GpuLibrary, launches: number): Promise<void> {
  const side = gpuSide(library, await pageDevice(), launches, () => performance.now());
  Object.assign(globalThis, { side });
}
