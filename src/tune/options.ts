/** Options of a search, and the state that its parts share. */
import type { HostInputs } from "../../backends/index.js";
import {
  formatEntry,
  type AccessFunc,
  type Diagnostic,
  type Func,
  type LowerBound,
  type Target,
} from "../../ir/index.js";
import type { Pass } from "../../passes/index.js";
import type { CompileOptions, Kernel } from "../api/compile.js";
import type { Cost } from "./cost.js";
import type { Budget, Shard } from "./cut.js";
import type { OpenMeasurer } from "./measurer.js";
import type { Candidate, CandidateRun, Objective, TuneBackend } from "./result.js";
import type { Measurement } from "./search-ms.js";
import type { SearchSpace, SpaceEntry } from "./space.js";

/**
 * Options of a search over schedules: objective, budget, shard, earlier results, measurement and callbacks.
 */
export interface TuneOptions extends CompileOptions {
  /** Quantity that the search minimizes; default `cycles`. */
  readonly objective?: Objective;
  /**
   * Limit of the search: the number of candidates to cost (to measure, for objective `ms`), `"all"`, or a
   * time. Default 50. Rough estimates that only rank candidates do not count.
   */
  readonly budget?: Budget;
  /** Seed of random inputs, and of ties in a measured search. Default 1. */
  readonly seed?: number;
  /**
   * Part of the candidates that this search costs; default: all candidates. Every part includes the default
   * schedule.
   */
  readonly shard?: Shard;
  /** Results of earlier searches, by candidate id. */
  readonly cached?: ReadonlyMap<string, CachedCandidate>;
  /** For `ms`: what runs candidates, and its name. */
  readonly measure?: { readonly backend: TuneBackend; readonly open: OpenMeasurer };
  /** For `ms`: the inputs; random ones otherwise. */
  readonly inputs?: HostInputs;
  /** An aborted search resolves with what it has, once the default was costed. */
  readonly signal?: AbortSignal;
  /** Called as candidates are costed or measured. */
  readonly onProgress?: (done: number, total: number, label: string) => void;
  /** Called once the space is known, before any candidate; `defaultId` is the id of the default. */
  readonly onSpace?: (
    task: TuneTask,
    space: SearchSpace,
    pruned: readonly PrunedCount[],
    defaultId: string,
  ) => void;
  /**
   * Called with every candidate that was costed or measured now, as soon as it was; a second time after a
   * run-off.
   */
  readonly onCandidate?: (candidate: Candidate) => void;
}

/**
 * Earlier result for one candidate: cost, measured times or failure. A search does not cost or measure a
 * candidate with an earlier result again.
 */
export interface CachedCandidate {
  /** Cost by the cost model; absent if the tuning record lacks a part of the cost. */
  readonly cost?: Cost;
  readonly runs?: readonly CandidateRun[];
  readonly failure?: Exclude<Measurement, { readonly status: "measured" }>;
}

/**
 * Number of candidates that a search left out for one reason, `why`: too many estimated cycles (`model`), a
 * spent search budget (`budget`), or too many elements in the tile (`length`).
 */
export interface PrunedCount {
  readonly why: "model" | "budget" | "length";
  readonly count: number;
}

/**
 * Input of a search: program, target, quantity to minimize (`objective`), passes and backend. `gather` is the
 * program at access level.
 */
export interface TuneTask {
  readonly program: Func;
  readonly gather: AccessFunc;
  readonly target: Target;
  readonly objective: Objective;
  /** Compiler passes; absent for the built-in pipeline. */
  readonly passes?: readonly Pass[];
  readonly backend?: TuneBackend;
  readonly device?: string;
}

/** Number of candidates that a search costs or measures if no budget is given. */
export const defaultBudget = 50;
/** Seed of random inputs, and of the order of equal candidates, if no seed is given. */
export const defaultSeed = 1;

/**
 * State of a running search: the task, the search space, the default schedule with the compiled kernel, the
 * lower bound of cycles, and the options.
 */
export interface Search {
  readonly task: TuneTask;
  readonly space: SearchSpace;
  /** Id of the default schedule. */
  readonly defaultId: string;
  readonly kernel: Kernel;
  /** Error by which the compiler refuses the program without a residency; absent if it does not. */
  readonly refusal?: Diagnostic;
  readonly lowerBound: LowerBound;
  readonly options: TuneOptions;
}

/**
 * Returns the time at which a budget of milliseconds ends, in milliseconds of `performance.now()`. Returns
 * Infinity if the budget is not a time.
 */
export const deadlineOf = (budget: Budget): number =>
  typeof budget === "object" ? performance.now() + budget.milliseconds : Infinity;

/**
 * Returns a short label of a schedule for progress output: residency (memory in which an operand is kept) and
 * tile, for example `ub [8,128]`.
 */
export const scheduleLabel = ({ facts }: SpaceEntry): string =>
  `${formatEntry(facts.schedule.residency)} [${facts.schedule.tile.join(",")}]`;
