/** Threads of the fast executor in Node. */
import { Worker } from "node:worker_threads";
import type { SpawnThread } from "../../backends/sim/index.js";
import { packageFile } from "./package-files.js";

/**
 * Starts a worker thread of the simulator's fast executor and returns the thread. `message`: data that the
 * thread receives at the start.
 */
export const spawnThread: SpawnThread = (message) => {
  const worker = new Worker(packageFile("dist/src/device/thread.js"), { workerData: message });
  worker.unref();
  return worker;
};
