/** tilec/node: a GPU device and worker threads for Node. */
export { acquireGpu, type NodeGpu, type NodeGpuOptions, type NodeGpuResult } from "./node.js";
export { spawnThread } from "./threads.js";
