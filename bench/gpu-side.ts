/** A side of bench:webgpu: the kernels of a build on a device, in Node or in a page. */
import { tilecOnGpu, upload } from "./gpu-subjects.js";
import type { GpuLibrary } from "./library.js";
import { keptTensors, localSide, type Side } from "./side.js";

/**
 * Returns a {@link Side} (object that measures a tilec build) for WebGPU kernels on `device`. `library` is
 * the API of the build. Each measured call makes `launches` launches. `now` returns the time in milliseconds.
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
