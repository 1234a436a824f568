/** What bench:sim and bench:webgpu take on their command lines. */
import { parseArgs } from "node:util";
import { workloads, type Workload } from "./workloads.js";

export interface BenchArguments {
  readonly json: boolean;
  /** bench:webgpu: on Dawn in this process. */
  readonly node: boolean;
  /** bench:webgpu: in the Chrome of this machine, on its GPU. */
  readonly gpu: boolean;
  readonly chosen: readonly Workload[];
  /** Runs of the whole benchmark, each in a process of its own. */
  readonly runs: number;
}

/** Ends the process: what was asked for cannot be done as things are. */
export function fail(message: string, hint: string): never {
  console.error(`error: ${message}\n  hint: ${hint}`);
  process.exit(2);
}

export function benchArguments(): BenchArguments {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean", default: false },
      node: { type: "boolean", default: false },
      gpu: { type: "boolean", default: false },
      only: { type: "string" },
      runs: { type: "string", default: "1" },
    },
  });
  const names = values.only?.split(",") ?? workloads.map((workload) => workload.name);
  const chosen = names.map((name) => {
    const found = workloads.find((workload) => workload.name === name);
    return found ?? fail(`no workload ${name}`, `there are ${workloads.map((w) => w.name).join(", ")}`);
  });
  const runs = Number(values.runs);
  if (!Number.isSafeInteger(runs) || runs < 1) fail(`--runs is ${values.runs}`, "a whole number from 1");
  if (runs > 1 && values.gpu) fail("--gpu keeps the rows of one run", "leave out --runs");
  return { json: values.json, node: values.node, gpu: values.gpu, chosen, runs };
}
