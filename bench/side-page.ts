/** Code of the page of `openSidePage`. */
import { gpuSide } from "./gpu-side.js";
import type { GpuLibrary } from "./library.js";
import { pageDevice } from "./page-device.js";

/**
 * Creates a build under test in a browser page and publishes it as the page's global `side`, for the process
 * that opened the page. `launches` is the number of launches in each measured call.
 */
export async function serveSide(library: GpuLibrary, launches: number): Promise<void> {
  const side = gpuSide(library, await pageDevice(), launches, () => performance.now());
  Object.assign(globalThis, { side });
}
