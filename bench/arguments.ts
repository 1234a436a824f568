/** Values of the flags `--runs`, `--against` and `--only` of the benchmarks. */
import { resolve } from "node:path";
import { builtFile } from "./built.js";
import { countOf, fail } from "./flags.js";
import { everyWorkload, groups, workloads, type Workload } from "./workloads.js";

/** Two runs have no spread that says more than one of them does. */
const runsAgainst = 9;

/**
 * Returns the number of runs that `--runs` requests; by default 9 for a comparison with another build, and 1
 * without a comparison. Ends the process with an error if the value is not an integer of at least 1.
 */
export const runsOf = (text: string | undefined, against: string | undefined): number =>
  text === undefined ? (against === undefined ? 1 : runsAgainst) : countOf("runs", text);

/**
 * Returns the absolute path of a folder that contains a build of tilec; undefined for undefined. Ends the
 * process with an error if the folder has no build.
 */
export function folderOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
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
