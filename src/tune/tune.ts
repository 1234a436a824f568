/**
 * A search over the schedules of a gather: what is best, what the default is, and what became of every other
 * one.
 */
import { inSlices } from "../../backends/long-run.js";
import {
  defined,
  CompileError,
  error,
  isResolved,
  programLowerBound,
  throwIfErrors,
  Tiling,
  type AccessFunc,
  type Func,
  type Residencies,
  type Schedule,
  type Target,
} from "../../ir/index.js";
import { defaultPipeline, isDefaultPipeline, residenciesOf } from "../../passes/index.js";
import { accessOf } from "../api/access.js";
import { callable, isObject, oneOf, integer, type Fields } from "../../backends/index.js";
import { simulateLongFields } from "../../backends/sim/options.js";
import { checkOptions, checkProgram } from "../api/check-options.js";
import { compileFields, resolveTargetOf, tryCompile, type CompileOptions } from "../api/compile.js";
import { defaultKernel, type DefaultKernel } from "../api/default-kernel.js";
import { maxSeed } from "../formats/lcg.js";
import type { Search, TuneOptions, TuneTask } from "./options.js";
import { objectives, type TuneResult } from "./result.js";
import { searchExact } from "./search-exact.js";
import { idOf, spaceOf } from "./space.js";

/**
 * Searches the schedules of a gather or scatter, and resolves to the best schedule, the default schedule, and
 * the outcome of every candidate. Rejects with a CompileError for an invalid program, for a tile program, and
 * if no tile is legal (TC402). If the signal aborts before the default schedule is costed, rejects with the
 * signal's reason.
 *
 * For the objectives `cycles` and `bytes`, equal programs, options and seeds give equal results on every
 * machine.
 */
export async function tune(program: Func, options: TuneOptions = {}): Promise<TuneResult> {
  const task = taskOf(program, options);
  const { gather, target, objective } = task;
  const { findTarget } = options;
  const { kernel, schedule, refusal } = defaultOf(
    task,
    findTarget === undefined ? { target } : { target, findTarget },
  );
  if (!isResolved(schedule)) throw new CompileError(kernel.diagnostics);
  const start = new Tiling(gather, schedule, target);
  const space = await inSlices(
    spaceOf(gather, target, objective, residencyChoicesOf(gather, target), [start]),
    (weighed) => weighed,
    0,
    defined({ signal: options.signal }),
  );
  const search: Search = {
    task,
    space,
    defaultId: idOf(schedule),
    kernel,
    ...defined({ refusal }),
    lowerBound: programLowerBound(start),
    options,
  };
  if (objective !== "ms") return searchExact(search);
  // With what compares and names measurements, which the cycles do without.
  const { searchMeasured } = await import("./search-measured.js");
  return searchMeasured(search);
}

/**
 * Returns the default schedule of a search, as chosen before the user's passes change it, and the kernel that
 * these passes compile. If the passes refuse the schedule, the built-in passes compile the kernel.
 */
function defaultOf(
  { gather, passes }: TuneTask,
  options: Pick<CompileOptions, "target" | "findTarget">,
): DefaultKernel & { readonly schedule: Schedule } {
  const builtIn = (): DefaultKernel => defaultKernel(gather, options);
  if (passes === undefined) {
    const standard = builtIn();
    return { ...standard, schedule: standard.kernel.tile.schedule };
  }
  let chosen: Schedule = gather.schedule;
  const afterPass: CompileOptions["afterPass"] = (_, before, after) => {
    if (isResolved(after.schedule) && !isResolved(before.schedule)) chosen = after.schedule;
  };
  const compileOptions = { ...options, passes, afterPass };
  const compiled = tryCompile(gather, compileOptions);
  if (compiled.ok) return { kernel: compiled.kernel, schedule: chosen };
  if (isResolved(chosen)) return { ...builtIn(), schedule: chosen };
  return { ...defaultKernel(gather, compileOptions), schedule: chosen };
}

const within = (value: unknown, low: number, high: number): boolean =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= low && value <= high;

/** Checks of the options of {@link tune}, by option name. */
export const tuneFields: Fields<TuneOptions> = {
  ...compileFields,
  objective: oneOf(objectives),
  budget: {
    code: "TC702",
    takes: 'a number of candidates, "all" or { milliseconds }',
    holds: (value) =>
      value === "all" ||
      within(value, 1, Number.MAX_SAFE_INTEGER) ||
      (isObject(value) && typeof value["milliseconds"] === "number" && value["milliseconds"] > 0),
  },
  seed: integer(0, "TC702", maxSeed),
  shard: {
    code: "TC702",
    takes: "{ part, parts }, the first part being 1",
    holds: (value) =>
      isObject(value) &&
      within(value["parts"], 1, Number.MAX_SAFE_INTEGER) &&
      within(value["part"], 1, Number(value["parts"])),
  },
  cached: {
    code: "TC702",
    takes: "a Map, such as cachedCandidates gives",
    holds: (value) => value instanceof Map,
  },
  measure: {
    code: "TC702",
    takes: "{ backend, open }, open being simMeasurer() of tilec/node or the like",
    holds: (value) => isObject(value) && typeof value["open"] === "function",
  },
  inputs: { code: "TC702", takes: "a tensor for each input", holds: isObject },
  signal: simulateLongFields.signal,
  onProgress: callable,
  onSpace: callable,
  onCandidate: callable,
};

/**
 * Returns the input of a search for a program ({@link TuneTask}). Throws a CompileError (TC702) for a tile
 * program, for invalid options, and for passes that a search cannot use.
 */
export function taskOf(program: Func, options: TuneOptions): TuneTask {
  throwIfErrors([...checkProgram(program), ...checkOptions("tune", options, tuneFields)]);
  const target = resolveTargetOf(program, options);
  const gather = accessOf(program, options);
  if (gather === undefined) {
    const hint = "pass the source or access program to tune";
    throw new CompileError([
      error("TC702", `@${program.name} is a tile program: its schedule is chosen`, { hint }),
    ]);
  }
  const { objective = "cycles", measure } = options;
  if (objective === "ms" && measure === undefined) {
    const hint = "pass measure: simMeasurer() of tilec/node in Node, localMeasurer() in a browser";
    throw new CompileError([error("TC702", "objective ms needs `measure`", { hint })]);
  }
  const { passes = defaultPipeline } = options;
  const above = passes.find((pass) => !defaultPipeline.includes(pass) && pass.requires.includes("source"));
  if (above !== undefined) {
    const hint = "a pass that requires access, or none";
    throw new CompileError([
      error("TC702", `${above.name} requires the source level, and a search starts at the access level`, {
        hint,
      }),
    ]);
  }
  return {
    program,
    gather,
    target,
    objective,
    ...(isDefaultPipeline(passes) ? {} : { passes }),
    ...(objective === "ms" && measure !== undefined ? { backend: measure.backend } : {}),
  };
}

/** Returns a residency that the user stated, or all that there are: a target's default pins nothing. */
function residencyChoicesOf(gather: AccessFunc, target: Target): readonly Residencies[] {
  const { residency = "auto", view } = gather.schedule;
  const kept = defined({ view });
  return residenciesOf({ ...gather, schedule: { residency, ...kept } }, target);
}
