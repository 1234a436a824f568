/** A device that says it runs on a GPU: kernels for GPUs run on adapters in software too. */

/** Returns a device with the behaviour of another, but with the information of an adapter on a GPU. */
export const asGpu = (device: GPUDevice): GPUDevice =>
  new Proxy(device, {
    get(device, name) {
      if (name === "adapterInfo") return { isFallbackAdapter: false };
      const value: unknown = Reflect.get(device, name, device);
      return typeof value === "function" ? (value.bind(device) as unknown) : value;
    },
  });
