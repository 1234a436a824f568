/**
 * Launches of WGSL that tilec did not print: buffers with their contents in, what they hold after the launch
 * out.
 */
import "../platform.js";
import { error, RunError } from "../../ir/diagnostic.js";
import { bufferUsage } from "./buffers.js";
import { deviceFaults } from "./errors.js";
import { describePipeline, orRefused, resourcesOn, settle, workOn } from "./work.js";

/** Compute shader that tilec did not emit, with the bindings of group 0. */
export interface ForeignShader {
  readonly code: string;
  readonly entryPoint: string;
  /** Values of `override` declarations, by name. */
  readonly constants: Readonly<Record<string, number>>;
  readonly bindings: readonly {
    readonly binding: number;
    readonly access: "read" | "read_write" | "uniform";
  }[];
}

/**
 * Contents of a buffer before a launch, and the range of the buffer that is bound. `offset`, `size`: in
 * bytes.
 */
export interface BoundContents {
  readonly contents: Uint8Array;
  readonly offset: number;
  readonly size: number;
}

/**
 * Launcher of a compute shader on a device. Buffers of the previous launch are reused for bindings of the
 * same size.
 */
export interface ForeignLauncher {
  /**
   * Launches once, with one buffer for each binding, and resolves to the contents of each buffer after the
   * launch. Rejects with a RunError: TC611 if the device refuses the shader or the launch, TC504 if it is
   * lost or out of memory.
   */
  launch(
    buffers: readonly BoundContents[],
    dispatch: readonly [number, number, number],
  ): Promise<readonly Uint8Array[]>;
  release(): void;
}

const usages = {
  read: bufferUsage.STORAGE | bufferUsage.COPY_SRC | bufferUsage.COPY_DST,
  read_write: bufferUsage.STORAGE | bufferUsage.COPY_SRC | bufferUsage.COPY_DST,
  uniform: bufferUsage.UNIFORM | bufferUsage.COPY_SRC | bufferUsage.COPY_DST,
} as const;

/**
 * Creates the pipeline of a shader and resolves to a launcher. Rejects with a RunError: TC611 if the device
 * rejects the shader, TC504 if the device is lost or out of memory.
 */
export async function openForeignLauncher(
  device: GPUDevice,
  { code, entryPoint, constants, bindings }: ForeignShader,
): Promise<ForeignLauncher> {
  const work = workOn(device, deviceFaults);
  const { descriptors, layout } = describePipeline(work, { code, entryPoint, constants, bindings });
  const pipeline = await settle(
    work,
    () =>
      orRefused(
        work,
        device.createComputePipelineAsync(descriptors[0] as GPUComputePipelineDescriptor),
        refusedByDevice,
      ),
    refusedByDevice,
  );
  const owned = resourcesOn(work);
  const kept = new Map<number, GPUBuffer>();
  const bufferFor = ({ binding, access }: ForeignShader["bindings"][number], bytes: number): GPUBuffer => {
    const buffer = kept.get(binding);
    if (buffer?.size === bytes) return buffer;
    const made = owned.buffer(bytes, usages[access]);
    kept.set(binding, made);
    return made;
  };
  return {
    async launch(buffers, dispatch) {
      const reads = resourcesOn(work);
      try {
        return await settle(
          work,
          () => {
            const bound = bindings.map((binding, k) => {
              const { contents, offset, size } = buffers[k] ?? none;
              const buffer = bufferFor(binding, contents.byteLength);
              device.queue.writeBuffer(buffer, 0, contents.slice());
              return { binding: binding.binding, resource: { buffer, offset, size } };
            });
            const encoder = device.createCommandEncoder();
            const pass = encoder.beginComputePass();
            pass.setPipeline(pipeline);
            pass.setBindGroup(0, device.createBindGroup({ layout, entries: bound }));
            pass.dispatchWorkgroups(...dispatch);
            pass.end();
            const after = bound.map(({ resource: { buffer } }) =>
              reads.readback(encoder, buffer, 0, buffer.size),
            );
            device.queue.submit([encoder.finish()]);
            return Promise.all(after.map((read) => read()));
          },
          refusedByDevice,
        );
      } finally {
        reads.destroy();
      }
    },
    release() {
      owned.destroy();
    },
  };
}

const none: BoundContents = { contents: new Uint8Array(4), offset: 0, size: 4 };

const refusedByDevice = (message: string): RunError =>
  new RunError([error("TC611", `the device refused the kernel: ${firstParagraph(message)}`)]);

/** Returns the first paragraph of a message. After an empty line, Dawn adds what it was doing. */
const firstParagraph = (message: string): string => message.trim().split("\n\n", 1).join("").trimEnd();
