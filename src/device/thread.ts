/** What a thread of the fast executor runs in Node. */
import { workerData } from "node:worker_threads";
import { serveThread, type ThreadMessage } from "../../backends/wasm/thread.js";

serveThread(workerData as ThreadMessage);
