/**
 * The globals that public declarations mention, each by a member that all its declarations share. A program
 * that has the DOM library, `@types/node` or `@webgpu/types` merges the whole interfaces into these; one that
 * has none of them still type-checks.
 */
declare global {
  interface AbortSignal {
    readonly aborted: boolean;
  }
  interface GPUBuffer {
    readonly size: number;
  }
  interface GPUComputePassEncoder {
    label: string;
  }
  interface GPUDevice {
    label: string;
  }
  interface GPUSupportedLimits {
    readonly maxBufferSize: number;
  }
}

export {};
