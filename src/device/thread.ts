/** Entry point of a thread of the fast executor in Node. */
import { workerData } from "node:worker_threads";
import { serveThread, type ThreadMessage } from "../../backends/wasm/thread.js";

serveThread(workerData as ThreadMessage);
