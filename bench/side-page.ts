/** What the page of `openSidePage` runs. */
import { gpuSide } from "./gpu-side.js";
import type { GpuLibrary } from "./library.js";
import { pageDevice } from "./page-device.js";

/** Makes the side of a build ready for the process that opened the page. */
export async function serveSide(library: GpuLibrary, launches: number): Promise<void> {
  const side = gpuSide(library, await pageDevice(), launches, () => performance.now());
  Object.assign(globalThis, { side });
}
