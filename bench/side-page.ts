/** Code of the page of `openSidePage`. */
import { gpuSide } from "./gpu-side.js";
import type { GpuLibrary } from "./library.js";
import { pageDevice } from "./page-device.js";

/**
 * Publishes a build under test as the page's global `side`, for the process that opened the page. `launches`
 * is the number of launches per call.
 */
export async function serveSide(library: GpuLibrary, launches: number): Promise<void> {
  const side = gpuSide(library, await pageDevice(), launches, () => performance.now());
  Object.assign(globalThis, { side });
}
