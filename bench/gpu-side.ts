/** A side of bench:webgpu: the kernels of a build on a device, in Node or in a page. */
import { tilecOnGpu, upload } from "./gpu-subjects.js";
import type { GpuLibrary } from "./library.js";
import { keptTensors, localSide, type Side } from "./side.js";

/**
 * Returns a build under test that runs its kernels on a GPU device. `launches` is the number of launches in
 * each measured call. `now` returns the time in milliseconds.
 */
export function gpuSide(library: GpuLibrary, device: GPUDevice, launches: number, now: () => number): Side {
  const tensorsOf = keptTensors();
  return localSide(async ({ workload: name }) => {
    const { workload, inputs, expected } = tensorsOf(name);
    const resident = upload(device, workload, inputs);
    const subject = await tilecOnGpu(library, device, workload, resident, launches, now);
    return {
      expected,
      subject: {
        ...subject,
        close() {
          resident.destroy();
        },
      },
      now,
    };
  });
}
