/** Two workers of one script: one answers while something is dragged, the other does what may take long. */
import { Client } from "./jobs/client.js";

const spawn = (): Worker => new Worker(new URL("./jobs/worker.ts", import.meta.url), { type: "module" });

/** Client of the worker that answers short requests, for example while a slider is dragged. */
export const quick = new Client(spawn);
/** Client of the worker that does long work, for example runs and searches. */
export const long = new Client(spawn);
