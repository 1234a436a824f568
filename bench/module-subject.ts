/** tilec's kernel as a module, which the page imports as an app does. */
import { emitModule } from "../src/module/emit-module.js";
import { timed, withOutput, type Resident } from "./gpu-subjects.js";
import { kernelOf } from "./kernels.js";
import type { GpuLibrary } from "./library.js";
import type { Subject } from "./rows.js";
import type { Workload } from "./workloads.js";

interface GatherModule {
  create(device: GPUDevice): Promise<{
    encode(pass: GPUComputePassEncoder, buffers: Readonly<Record<string, GPUBuffer>>): void;
    dispose(): void;
  }>;
}

/**
 * Resolves to a {@link Subject} (implementation to measure): tilec's kernel on the GPU, emitted as a
 * JavaScript module. Each run makes `launches` launches and resolves to the milliseconds per launch.
 */
export async function moduleOnGpu(
  library: GpuLibrary,
  device: GPUDevice,
  workload: Workload,
  resident: Resident,
  launches: number,
): Promise<Subject> {
  const { target } = await library.createRunner(device);
  const runtime = await (await fetch("/dist/module/gpu.js")).text();
  const { code } = emitModule(kernelOf(library, workload, target), "module", () => runtime);
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const loaded = (await import(address)) as GatherModule;
  URL.revokeObjectURL(address);
  const gather = await loaded.create(device);
  const { data, indices, output } = resident;
  return withOutput(
    device,
    resident,
  )({
    subject: "tilec-module",
    threads: 1,
    run: () =>
      timed(device, launches, (pass) => {
        gather.encode(pass, { data, indices, output });
      }),
    close() {
      gather.dispose();
    },
  });
}
