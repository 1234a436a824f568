/** Flags of `tilec tune` on the command line. */
import type { Budget } from "../tune/cut.js";
import type { Objective } from "../tune/result.js";
import type { ListFlags } from "./list/list-flags.js";
import { parseCount, type ProgramFlags } from "./options.js";
import type { OutputFlags } from "./outputs.js";
import type { PipelineFlags } from "./pipeline-flags.js";
import { UsageError } from "./usage-error.js";

/** Values of the command-line flags of `tilec tune`; numbers and lists are unparsed strings. */
export interface TuneFlags extends ProgramFlags, PipelineFlags, OutputFlags, ListFlags {
  readonly objective: Objective;
  readonly backend: "sim" | "webgpu";
  readonly budget: string;
  readonly seed: string;
  readonly threads?: string;
  readonly measure?: string;
  readonly keep?: string;
  readonly verbose?: boolean;
  readonly records?: string;
  readonly sweep?: string;
  /** A file, or true for the standard output. */
  readonly csv?: string | true;
  readonly html?: string;
  readonly svg?: string;
  readonly json?: boolean;
  readonly sizes?: string;
  readonly pieces?: string;
}

/**
 * Parses the value of `--budget`: a number of candidates (`50`), the word `all`, or a time (`90s`, `2m`,
 * `1h`). Throws a UsageError for any other text.
 */
export function parseBudget(text: string): Budget {
  if (text === "all") return "all";
  const [, amount, unit] = /^(\d+)(s|m|h)?$/.exec(text) ?? [];
  const seconds = { s: 1, m: 60, h: 3600 } as const;
  const value = amount === undefined ? 0 : parseCount(amount, "budget");
  if (value < 1) {
    throw new UsageError(
      `--budget ${text} must be 1 or more candidates, a time, or all`,
      "--budget 50, --budget 2m or --budget all",
    );
  }
  return unit === undefined ? value : { milliseconds: 1000 * value * seconds[unit as keyof typeof seconds] };
}

/** Flags of a single search. `--sweep` and `--sizes` make several, and refuse them. */
const ofOneSearch = ["resume", "shard", "measure", "threads", "keep", "verbose"] as const;

/**
 * Throws a UsageError if a flag is given that has no effect with `--sweep` or `--sizes` (`which`). `unread`:
 * further flags without effect.
 */
export function refuseWith(
  which: "sweep" | "sizes",
  flags: TuneFlags,
  unread: readonly (keyof TuneFlags)[],
): void {
  const [unused] = [
    ...(flags.objective === "cycles" ? [] : [`objective ${flags.objective}`]),
    ...(flags.backend === "sim" ? [] : [`backend ${flags.backend}`]),
    ...[...ofOneSearch, ...unread].filter((flag) => flags[flag] !== undefined),
  ];
  if (unused !== undefined)
    throw new UsageError(`--${unused} cannot be used with --${which}, which searches by estimated cycles`);
}
