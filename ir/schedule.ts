/**
 * A schedule is a value: every choice that changes how a gather runs and never what it computes.
 *
 * What the user leaves out stays absent until `select-tile`, which writes it down in full.
 */
import type { Shape } from "./types.js";

/** `strict`: the specification's page. `pages`: PyPTO's pages since April 2026. `head`: its code. See {@link profileFacts}. */
export const profiles = ["strict", "pages", "head"] as const;
/** A reading of the full-load rule, by name. */
export type Profile = (typeof profiles)[number];

/** Where the gather's data lives: `ub` full load, then gather in UB; `gm` rows straight from global memory. */
export const residencies = ["ub", "gm", "auto"] as const;
/** Where an operand of a gather lives when it is read. */
export type Residency = Exclude<(typeof residencies)[number], "auto">;

/**
 * Of the data, or by operand (`keyOf`): the data, and the index tables that are named. Tables that are not are where the target
 * has them.
 */
export type Residencies = Residency | Readonly<Record<string, Residency>>;

/** `full` counts padding, scratch and buffers; `spec` the sum of the tiles alone, as PyPTO's page states it. */
export const budgetRules = ["full", "spec"] as const;
/** What counts against the UB budget. */
export type BudgetRule = (typeof budgetRules)[number];

/** Copies of a tile in UB: with 2, a load or a store hides behind what reads or writes the other copy. */
export type Copies = 1 | 2;

/** For every operand alike, or by operand (`keyOf`) with one copy of those that are not named. */
export type Buffers = Copies | Readonly<Record<string, Copies>>;

/** The instructions that a gather becomes on an Ascend core (docs/pto.md); `direct` on every other target. */
export const gatherClasses = ["flat", "row-copy", "row-fetch", "mgather", "scalar", "direct"] as const;
/** The instructions that a gather becomes. */
export type GatherClass = (typeof gatherClasses)[number];

/** Orders in which a core takes its tasks: from the first, or from another one on each core. */
export const rotations = ["off", "on"] as const;
/** Order in which a core takes its tasks. */
export type Rotation = (typeof rotations)[number];

/** The choices that the user made. */
export interface Schedule {
  /** Extents over the output dims, in elements. */
  readonly tile?: Shape;
  /** PyPTO's view shape: splits the outer iteration before the tile does. */
  readonly view?: Shape;
  readonly profile?: Profile;
  readonly residency?: Residencies | "auto";
  /** A permutation of the output dims, outermost loop first. */
  readonly order?: readonly number[];
  /** Copies of what the loops move (ir/tiling/copies.ts): 2 is double buffering. What stays in place keeps one. */
  readonly buffers?: Buffers;
  /** Cores that share the tasks. */
  readonly cores?: number;
  readonly budgetRule?: BudgetRule;
  /** Overrides the target's unified buffer size, in bytes. */
  readonly ubBytes?: number;
  /** The instructions of the gather, where these are given: else those that take the fewest cycles. */
  readonly lowering?: GatherClass;
  /** `on`: each core begins at another of its tasks, so that cores which share slabs of the data load them apart. */
  readonly rotate?: Rotation;
}

/** A schedule with every choice made. Without a profile, full load is not in force: the data stays in global memory. */
export interface ResolvedSchedule
  extends
    Required<Omit<Schedule, "lowering" | "profile" | "rotate">>,
    Pick<Schedule, "lowering" | "profile" | "rotate"> {
  readonly residency: Residencies;
}

/** A value that some entry takes. */
export type EntryValue = Required<Schedule>[keyof Schedule];

/** As flags take it: `8,64`, `gm`, `2`, or by operand `kv=gm,bt=ub`. */
export const formatEntry = (value: EntryValue): string => {
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.join();
  return Object.entries(value)
    .map(([operand, value]) => `${operand}=${value}`)
    .join(",");
};
