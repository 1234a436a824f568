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

/** Cost and tile program of a candidate that has not run. */
export interface Costed {
  readonly facts: CostFacts;
  /** Made when it is first read. */
  readonly tile: () => TileFunc;
  /** Refusal of the candidate by a pipeline of the user. */
  readonly refusal?: { readonly status: "error"; readonly code: Code; readonly reason: string };
}

/** By entry of a space, which several strategies visit. Weak: searches drop entries. */
const costed = new WeakMap<SpaceEntry, Costed>();

/**
 * Returns the cost and the tile program of a candidate. The cost is computed once per entry and cached. If
 * the passes refuse the candidate, `refusal` says why. Throws the PassError of a pass that breaks the
 * candidate.
 */
export function costedBy(search: Pick<Search, "task" | "lowerBound">, entry: SpaceEntry): Costed {
  const result =
    costed.get(entry) ??
    (search.task.passes === undefined ? plain(entry, search.lowerBound) : costOfRun(search, entry));
  costed.set(entry, result);
  return result;
}

/**
 * Returns the cost of a candidate under the built-in pipeline. Its tile program is lowered when `tile` is
 * first called.
 */
function plain(entry: SpaceEntry, lowerBound: LowerBound): Costed {
  let tile: TileFunc | undefined;
  return {
    facts: { ...entry.facts, ...costOf(entry, lowerBound) },
    tile: () => (tile ??= lowered(entry.tiling)),
  };
}

/**
 * Returns the cost of the program that runs. Passes of the project may change the schedule and its lowering.
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
