/** Code of the page of `openSidePage`. */
import { gpuSide } from "./gpu-side.js";
import type { GpuLibrary } from "./library.js";
import { pageDevice } from "./page-device.js";

/**
 * Creates an object that measures a tilec build in a browser page, and publishes the object as the page's
 * global `side`. Each measured call makes `launches` launches.
 */
export async function serveSide(library: GpuLibrary, launches: number): Promise<void> {
  const side = gpuSide(library, await pageDevice(), launches, () => performance.now());
  Object.assign(globalThis, { side });
}
