/** Threads of the fast executor for tests. */
import { Worker } from "node:worker_threads";
import type { SpawnThread } from "../../backends/sim/index.js";

/** The built file: a thread cannot run TypeScript. */
export const spawn: SpawnThread = (message) => {
  const thread = new URL("../../dist/src/device/thread.js", import.meta.url);
  const worker = new Worker(thread, { workerData: message });
  worker.unref();
  return worker;
};
