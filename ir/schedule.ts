/**
 * A schedule is a value: every choice that changes how a gather runs and never what it computes.
 *
 * What the user leaves out stays absent until `select-tile`, which writes it down in full.
 */
import type { Shape } from "./types.js";

/**
 * Names of the profiles, which are readings of PyPTO's full-load rule ({@link profileFacts}). `strict`: the
 * specification's page. `pages`: PyPTO's pages since April 2026. `head`: PyPTO's code.
 */
export const profiles = ["strict", "pages", "head"] as const;
/** Name of a profile: a reading of PyPTO's full-load rule. */
export type Profile = (typeof profiles)[number];

/**
 * Residencies of the gather's data. `ub`: a full load, then a gather in UB. `gm`: rows straight from global
 * memory. `auto`: chosen by the compiler.
 */
export const residencies = ["ub", "gm", "auto"] as const;
/** Memory that holds an operand of a gather when it is read. */
export type Residency = Exclude<(typeof residencies)[number], "auto">;

/**
 * Residency of the data, or residencies by operand key (`keyOf`): of the data and of index tables. The target
 * decides for index tables that are not named.
 */
export type Residencies = Residency | Readonly<Record<string, Residency>>;

/**
 * Rules for the bytes that count against the UB budget. `full` counts tiles with padding, scratch and copies.
 * `spec` counts the tiles alone, as PyPTO's page states.
 */
export const budgetRules = ["full", "spec"] as const;
/** Rule that determines which bytes count against the UB budget. */
export type BudgetRule = (typeof budgetRules)[number];

/**
 * Number of copies of a tile in UB. With 2 copies, a load or store overlaps with the statements that use the
 * other copy.
 */
export type Copies = 1 | 2;

/**
 * Number of copies of tiles in UB: one number for every operand, or a number by operand key (`keyOf`). An
 * operand without an entry has one copy.
 */
export type Buffers = Copies | Readonly<Record<string, Copies>>;

/**
 * Classes of instructions by which an Ascend core executes a gather (docs/pto.md). On every other target the
 * class is `direct`.
 */
export const gatherClasses = ["flat", "row-copy", "row-fetch", "mgather", "scalar", "direct"] as const;
/** Class of instructions that execute a gather. */
export type GatherClass = (typeof gatherClasses)[number];

/**
 * Orders in which a core runs its tasks. `off`: from its first task on. `on`: each core starts at a different
 * task.
 */
export const rotations = ["off", "on"] as const;
/** Order in which a core runs its tasks. */
export type Rotation = (typeof rotations)[number];

/** Choices of a schedule that the user made; absent entries are chosen by the compiler. */
export interface Schedule {
  /** Extents over the output dims, in elements. */
  readonly tile?: Shape;
  /** PyPTO's view shape: splits the outer iteration before the tile does. */
  readonly view?: Shape;
  readonly profile?: Profile;
  readonly residency?: Residencies | "auto";
  /** A permutation of the output dims, outermost loop first. */
  readonly order?: readonly number[];
  /**
   * Copies of what the loops move (ir/tiling/copies.ts): 2 is double buffering. What stays in place keeps
   * one.
   */
  readonly buffers?: Buffers;
  /** Cores that share the tasks. */
  readonly cores?: number;
  readonly budgetRule?: BudgetRule;
  /** Overrides the target's unified buffer size, in bytes. */
  readonly ubBytes?: number;
  /** The instructions of the gather, where these are given: else those that take the fewest cycles. */
  readonly lowering?: GatherClass;
  /**
   * `on`: each core begins at another of its tasks, so that cores which share slabs of the data load them apart.
   */
  readonly rotate?: Rotation;
}

/**
 * Schedule with every choice made. Without a profile the full-load rule does not apply, and the data stays in
 * global memory.
 */
export interface ResolvedSchedule
  extends
    Required<Omit<Schedule, "lowering" | "profile" | "rotate">>,
    Pick<Schedule, "lowering" | "profile" | "rotate"> {
  readonly residency: Residencies;
}

/** Value of an entry of a schedule. */
export type EntryValue = Required<Schedule>[keyof Schedule];

/** Formats an entry as flags take it: `8,64`, `gm`, `2`, or by operand `kv=gm,bt=ub`. */
export const formatEntry = (value: EntryValue): string => {
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.join();
  return Object.entries(value)
    .map(([operand, value]) => `${operand}=${value}`)
    .join(",");
};
