/**
 * Resolves to a WebGPU device of the page's adapter. The device has the largest buffer and storage-binding
 * sizes that the adapter supports. Rejects if the page has no adapter.
 */
export async function pageDevice(): Promise<GPUDevice> {
  const adapter = await navigator.gpu.requestAdapter();
  if (adapter === null) throw new Error("the page has no WebGPU adapter");
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  return adapter.requestDevice({ requiredLimits: { maxBufferSize, maxStorageBufferBindingSize } });
}
