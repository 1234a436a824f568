/** A device that says it runs on a GPU: kernels for GPUs run on adapters in software too. */

/**
 * Returns a proxy of `device` that passes for a hardware GPU: according to its adapter information, the
 * adapter is not a software (fallback) adapter.
 */
export const asGpu = (device: GPUDevice): GPUDevice =>
  new Proxy(device, {
    get(device, name) {
      if (name === "adapterInfo") return { isFallbackAdapter: false };
      const value: unknown = Reflect.get(device, name, device);
      return typeof value === "function" ? (value.bind(device) as unknown) : value;
    },
  });
