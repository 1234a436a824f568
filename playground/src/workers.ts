/** Two workers of one script: one answers while something is dragged, the other does what may take long. */
import { Client } from "./jobs/client.js";

const spawn = (): Worker => new Worker(new URL("./jobs/worker.ts", import.meta.url), { type: "module" });

export const quick = new Client(spawn);
export const long = new Client(spawn);
