/** The flag `--backend`, and the flags of the backend `sim`. */
import { defined } from "../../ir/index.js";
import type { Executor } from "../../backends/sim/index.js";
import { backendNames, nameOf, type BackendChoice, type BackendOptions } from "../api/backends.js";
import type { Project } from "../config/project.js";
import { spawnThread } from "../device/index.js";
import { parseThreads } from "./options.js";
import { UsageError } from "./usage-error.js";

/** Flags of the backend `sim`. */
export interface ExecutorFlags {
  readonly executor?: Executor;
  readonly threads?: string;
}

/**
 * Parses a comma-separated list of backend names and returns the backends in that order. Throws a UsageError
 * for an unknown name or a name that occurs twice.
 */
export function parseBackends(text: string, { backends: projectBackends }: Project): BackendChoice[] {
  const list = text.split(",").map((piece) => {
    const word = piece.trim();
    const backend = backendNames.find((name) => name === word) ?? projectBackends.get(word);
    if (backend === undefined)
      throw new UsageError(
        `${word} is not a backend`,
        [...backendNames, ...projectBackends.keys()].join(", "),
      );
    return backend;
  });
  const twice = list.find((backend, k) => list.indexOf(backend) !== k);
  if (twice !== undefined) throw new UsageError(`--backend names ${nameOf(twice)} twice`);
  return list;
}

/** Throws a UsageError if `--executor` or `--threads` is given and `backends` does not contain `sim`. */
export function refuseWithoutSim(backends: readonly BackendChoice[], flags: ExecutorFlags): void {
  const ofSim = (["executor", "threads"] as const).find((flag) => flags[flag] !== undefined);
  if (ofSim !== undefined && !backends.includes("sim")) {
    throw new UsageError(`--${ofSim} needs backend sim, and --backend is ${backends.map(nameOf).join(",")}`);
  }
}

/**
 * Returns the options of the backend `sim` from the flags; `--threads` selects the executor `fast`. Throws a
 * UsageError for `--threads` with `--executor checked`.
 */
export function executorOf({ executor, threads }: ExecutorFlags): BackendOptions {
  if (threads === undefined) return defined({ executor });
  if (executor === "checked")
    throw new UsageError(
      "--threads needs --executor fast",
      "leave --threads out: the checked executor has one thread",
    );
  return { executor: "fast", threads: parseThreads(threads), spawn: spawnThread };
}
