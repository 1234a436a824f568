/**
 * A schedule is a value: every choice that changes how a gather runs and never what it computes.
 *
 * What the user leaves out stays absent until `select-tile`, which writes it down in full.
 */
import type { Shape } from "./types.js";

/**
 * Names of the profiles, which are interpretations of PyPTO's full-load rule ({@link profileFacts}).
 * `strict`: the page of PyPTO's specification. `pages`: PyPTO's pages since April 2026. `head`: PyPTO's code.
 */
export const profiles = ["strict", "pages", "head"] as const;
/** Name of a profile, an interpretation of PyPTO's full-load rule; see {@link profiles}. */
export type Profile = (typeof profiles)[number];

/**
 * Choices for the memory from which a gather reads its data. `ub`: a full load copies the data to the unified
 * buffer (UB). `gm`: rows are read directly from global memory. `auto`: the compiler chooses.
 */
export const residencies = ["ub", "gm", "auto"] as const;
/** Memory from which a gather reads an operand: the unified buffer (`ub`) or global memory (`gm`). */
export type Residency = Exclude<(typeof residencies)[number], "auto">;

/**
 * Residency of the data of a gather, or residencies of the data and index tables by operand key (`keyOf`).
 * The target decides for index tables without an entry.
 */
export type Residencies = Residency | Readonly<Record<string, Residency>>;

/**
 * Rules for the bytes that count against the capacity of the unified buffer (UB). `full` counts tiles with
 * padding, scratch and copies. `spec` counts only the tiles, as PyPTO's page states.
 */
export const budgetRules = ["full", "spec"] as const;
/**
 * Rule that determines which bytes count against the capacity of the unified buffer; see {@link budgetRules}.
 */
export type BudgetRule = (typeof budgetRules)[number];

/**
 * Number of copies of a tile in the unified buffer (UB). With 2 copies (double buffering), a load or store
 * overlaps with the statements that use the other copy.
 */
export type Copies = 1 | 2;

/**
 * Number of copies of tiles in the unified buffer (UB): one number for all operands, or numbers by operand
 * key (`keyOf`). An operand without an entry has one copy.
 */
export type Buffers = Copies | Readonly<Record<string, Copies>>;

/**
 * Names of the classes of instructions with which an Ascend core executes a gather (docs/pto.md). On every
 * other target the class is `direct`.
 */
export const gatherClasses = ["flat", "row-copy", "row-fetch", "mgather", "scalar", "direct"] as const;
/** Class of the instructions that execute a gather; see {@link gatherClasses}. */
export type GatherClass = (typeof gatherClasses)[number];

/**
 * Orders in which cores execute their tasks. `off`: each core starts at its first task. `on`: each core
 * starts at a different task of its own.
 */
export const rotations = ["off", "on"] as const;
/** Order in which cores execute their tasks; see {@link rotations}. */
export type Rotation = (typeof rotations)[number];

/**
 * Schedule of a gather or scatter: the choices that affect its speed, such as tile, loop order and residency.
 * Absent entries are chosen by the compiler.
 */
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
 * Schedule in which all choices are made. Without a profile, the full-load rule does not apply and the data
 * stays in global memory.
 */
export interface ResolvedSchedule
  extends
    Required<Omit<Schedule, "lowering" | "profile" | "rotate">>,
    Pick<Schedule, "lowering" | "profile" | "rotate"> {
  readonly residency: Residencies;
}

/** Value of a schedule entry, of any type that an entry can have. */
export type EntryValue = Required<Schedule>[keyof Schedule];

/**
 * Formats the value of a schedule entry as a command-line flag takes it: `8,64`, `gm`, `2`, or by operand
 * `kv=gm,bt=ub`.
 */
export const formatEntry = (value: EntryValue): string => {
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.join();
  return Object.entries(value)
    .map(([operand, value]) => `${operand}=${value}`)
    .join(",");
};
