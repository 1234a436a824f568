/** tilec/node: a GPU device, worker threads and measurers for Node. */
export { acquireGpu, type NodeGpu, type NodeGpuOptions, type NodeGpuResult } from "./node.js";
export { spawnThread } from "./threads.js";
export { simMeasurer } from "./sim-measurer.js";
export { commandMeasurer, type CommandMeasurerOptions } from "./command-measurer.js";
