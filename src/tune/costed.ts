/** The program of a candidate and its exact figures: what the search's pipeline makes of a schedule. */
import {
  elementCount,
  printSchedule,
  standingOf,
  type Code,
  type ProgramFloor,
  type TileFunc,
} from "../../ir/index.js";
import { lowered } from "../../passes/index.js";
import { compileTiled } from "../api/compile.js";
import { ranFigures, ranTiling } from "../api/own-pipeline.js";
import { costOf } from "./cost.js";
import type { Search } from "./options.js";
import type { CostFacts } from "./result.js";
import type { SpaceEntry } from "./space.js";

/** A candidate before it is run. */
export interface Costed {
  readonly facts: CostFacts;
  /** Made when it is first read. */
  readonly tile: () => TileFunc;
  /** Why a pipeline of the user's refuses it. */
  readonly refusal?: { readonly status: "error"; readonly code: Code; readonly reason: string };
}

const costed = new WeakMap<SpaceEntry, Costed>();

/** Throws the PassError of a pass that breaks a candidate. */
export function costedBy(search: Pick<Search, "task" | "floor">, entry: SpaceEntry): Costed {
  const found =
    costed.get(entry) ?? (search.task.passes === undefined ? plain(entry, search.floor) : ran(search, entry));
  costed.set(entry, found);
  return found;
}

function plain(entry: SpaceEntry, floor: ProgramFloor): Costed {
  let tile: TileFunc | undefined;
  return {
    facts: { ...entry.facts, ...costOf(entry, floor) },
    tile: () => (tile ??= lowered(entry.tiling)),
  };
}

/** By the program that runs: the passes may change the schedule, and what is made of it. */
function ran({ task, floor }: Pick<Search, "task" | "floor">, entry: SpaceEntry): Costed {
  const { gather, target, passes = [] } = task;
  const { facts } = entry;
  const result = compileTiled({ ...gather, schedule: facts.schedule }, { target, passes });
  if (!result.ok) {
    const { code = "TC702", message = "" } =
      result.diagnostics.find(({ severity }) => severity === "error") ?? {};
    return { ...plain(entry, floor), refusal: { status: "error", code, reason: message } };
  }
  const { kernel } = result;
  const { tile } = kernel;
  const tiling = ranTiling(kernel, gather) ?? entry.tiling;
  const { clock, traffic, ubBytes } = ranFigures(kernel, tiling);
  const { schedule } = tiling;
  return {
    facts: {
      ...facts,
      schedule,
      ...(printSchedule(schedule) === printSchedule(facts.schedule) ? {} : { given: facts.schedule }),
      cycles: clock.cycles,
      idleCores: clock.idleCores,
      ...standingOf({ traffic, target }, clock, floor),
      bytes: traffic.bytes,
      ubBytes,
      tasks: traffic.tasks,
      elements: elementCount(tiling.tile),
    },
    tile: () => tile,
  };
}
