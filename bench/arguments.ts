/** Command-line arguments of bench:sim and bench:webgpu. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { builtFile } from "./built.js";
import { everyWorkload, groups, workloads, type Workload } from "./workloads.js";

/** Parsed command-line arguments of the benchmarks bench:sim and bench:webgpu. */
export interface BenchArguments {
  readonly json: boolean;
  /** bench:webgpu: on Dawn in this process. */
  readonly node: boolean;
  /** bench:webgpu: in the Chrome of this machine, on its GPU. */
  readonly gpu: boolean;
  /** bench:webgpu: a model's kernels under each policy of folding, on Dawn in this process. */
  readonly folds: boolean;
  readonly chosen: readonly Workload[];
  /** Runs of the whole benchmark, each in a process of its own. */
  readonly runs: number;
  /** The folder of another build, which runs in turns with this one. */
  readonly against: string | undefined;
}

/** Prints an error with a hint on stderr and ends the process with exit code 2. */
export function fail(message: string, hint: string): never {
  console.error(`error: ${message}\n  hint: ${hint}`);
  process.exit(2);
}

/**
 * Parses the command line of a benchmark. `all` lists the workloads that run if `--only` is absent. Ends the
 * process with an error if an argument is invalid.
 */
export function benchArguments(all: readonly Workload[] = workloads): BenchArguments {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean", default: false },
      node: { type: "boolean", default: false },
      gpu: { type: "boolean", default: false },
      folds: { type: "boolean", default: false },
      only: { type: "string" },
      runs: { type: "string" },
      against: { type: "string" },
    },
  });
  const against = values.against === undefined ? undefined : folderOf(values.against);
  const runs = runsOf(values.runs, against);
  if (runs > 1 && values.gpu && against === undefined)
    fail("--gpu keeps the rows of one run", "leave out --runs");
  return { ...values, chosen: workloadsOf(values.only, all), runs, against };
}

/** Two runs have no spread that says more than one of them does. */
const runsAgainst = 9;

/**
 * Returns the number of runs that `--runs` requests; by default 9 for a comparison with another build, and 1
 * without a comparison. Ends the process with an error if the value is not an integer of at least 1.
 */
export function runsOf(text: string | undefined, against: string | undefined): number {
  const runs = text === undefined ? (against === undefined ? 1 : runsAgainst) : Number(text);
  if (!Number.isSafeInteger(runs) || runs < 1) fail(`--runs is ${String(text)}`, "a whole number from 1");
  return runs;
}

/**
 * Returns the absolute path of a folder that contains a build of tilec. Ends the process with an error if the
 * folder has no build.
 */
export function folderOf(text: string): string {
  const folder = resolve(text);
  try {
    builtFile(folder, "tilec");
  } catch {
    fail(`${folder} holds no build of tilec`, "the folder of a checkout, after npm ci there");
  }
  return folder;
}

/**
 * Returns the workloads that a comma-separated list of workload and group names selects, without duplicates.
 * Without a list, returns `all`. Ends the process with an error if a name is unknown.
 */
export function workloadsOf(
  only: string | undefined,
  all: readonly Workload[] = workloads,
): readonly Workload[] {
  if (only === undefined) return all;
  const chosen = only.split(",").flatMap((name) => {
    const named = groups[name] ?? everyWorkload.filter((workload) => workload.name === name);
    if (named.length > 0) return named;
    const known = [...everyWorkload.map((workload) => workload.name), ...Object.keys(groups)];
    return fail(`no workload ${name}`, `there are ${known.join(", ")}`);
  });
  return [...new Set(chosen)];
}
