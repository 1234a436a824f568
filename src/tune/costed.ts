/** The program of a candidate and its exact figures: what the search's pipeline makes of a schedule. */
import {
  elementCount,
  printSchedule,
  rooflineOf,
  type Code,
  type LowerBound,
  type TileFunc,
} from "../../ir/index.js";
import { lowered } from "../../passes/index.js";
import { compileTiled } from "../api/compile.js";
import { runFigures, tilingOfRun } from "../api/custom-pipeline.js";
import { costOf } from "./cost.js";
import type { Search } from "./options.js";
import type { CostFacts } from "./result.js";
import type { SpaceEntry } from "./space.js";

/**
 * Cost of a candidate, with its tile program. `refusal` is present if the user's passes refuse the candidate.
 */
export interface Costed {
  readonly facts: CostFacts;
  /** Returns the tile program, which is created at the first call. */
  readonly tile: () => TileFunc;
  /** Reason why the user's passes refuse the candidate; absent if they accept it. */
  readonly refusal?: { readonly status: "error"; readonly code: Code; readonly reason: string };
}

/**
 * Returns the cost and the tile program of a candidate. If custom passes refuse the candidate, `refusal` says
 * why. Throws a PassError if a pass breaks the program.
 */
export const costedBy = (search: Pick<Search, "task" | "lowerBound">, entry: SpaceEntry): Costed =>
  search.task.passes === undefined ? plain(entry, search.lowerBound) : costOfRun(search, entry);

/**
 * Returns the cost of a candidate under the built-in passes. The candidate's tile program is lowered at the
 * first call of `tile`.
 */
function plain(entry: SpaceEntry, lowerBound: LowerBound): Costed {
  let tile: TileFunc | undefined;
  return {
    facts: { ...entry.facts, ...costOf(entry, lowerBound) },
    tile: () => (tile ??= lowered(entry.tiling)),
  };
}

/**
 * Returns the cost of a candidate whose program is changed by the user's passes. If a pass refuses the
 * candidate, returns the cost under the built-in passes, and the reason as `refusal`.
 */
function costOfRun({ task, lowerBound }: Pick<Search, "task" | "lowerBound">, entry: SpaceEntry): Costed {
  const { gather, target, passes = [] } = task;
  const { facts } = entry;
  const result = compileTiled({ ...gather, schedule: facts.schedule }, { target, passes });
  if (!result.ok) {
    const { code = "TC702", message = "" } =
      result.diagnostics.find(({ severity }) => severity === "error") ?? {};
    return { ...plain(entry, lowerBound), refusal: { status: "error", code, reason: message } };
  }
  const { kernel } = result;
  const { tile } = kernel;
  const tiling = tilingOfRun(kernel, gather) ?? entry.tiling;
  const { clock, traffic, ubBytes } = runFigures(kernel, tiling);
  const { schedule } = tiling;
  return {
    facts: {
      ...facts,
      schedule,
      ...(printSchedule(schedule) === printSchedule(facts.schedule) ? {} : { given: facts.schedule }),
      cycles: clock.cycles,
      idleCores: clock.idleCores,
      ...rooflineOf({ traffic, target }, clock, lowerBound),
      bytes: traffic.bytes,
      ubBytes,
      tasks: traffic.tasks,
      elements: elementCount(tiling.tile),
    },
    tile: () => tile,
  };
}
