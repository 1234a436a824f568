/**
 * A schedule is a value: every choice that changes how a gather runs and never what it computes.
 *
 * What the user leaves out stays absent until `select-tile`, which writes it down in full.
 */
import type { Shape } from "./types.js";

/**
 * Names of the PyPTO rule profiles, which are interpretations of the full-load rule. `strict`: PyPTO's
 * specification. `pages`: PyPTO's documentation since April 2026. `head`: PyPTO's code.
 */
export const profiles = ["strict", "pages", "head"] as const;
/** Name of a PyPTO rule profile; see {@link profiles}. */
export type Profile = (typeof profiles)[number];

/**
 * Options for the memory from which a gather reads the data. `ub`: the unified buffer (UB), after a full
 * load. `gm`: global memory. `auto`: the compiler chooses.
 */
export const residencies = ["ub", "gm", "auto"] as const;
/** Memory from which a gather reads an operand: the unified buffer (`ub`) or global memory (`gm`). */
export type Residency = Exclude<(typeof residencies)[number], "auto">;

/**
 * Residency (memory from which a gather reads) of the data, or residencies by operand key (`keyOf`). For an
 * index tensor that is not named, the target chooses.
 */
export type Residencies = Residency | Readonly<Record<string, Residency>>;

/**
 * Rules for the bytes that count against the capacity of the unified buffer (UB). `full`: tiles with padding,
 * scratch and copies. `spec`: tiles only, as in PyPTO's specification.
 */
export const budgetRules = ["full", "spec"] as const;
/**
 * Rule that determines which bytes count against the capacity of the unified buffer; see {@link budgetRules}.
 */
export type BudgetRule = (typeof budgetRules)[number];

/**
 * Number of copies of a tile in the unified buffer (UB). With 2 copies (double buffering), loads and stores
 * overlap with computation.
 */
export type Copies = 1 | 2;

/**
 * Number of copies of tiles in the unified buffer (UB): one number for all operands, or numbers by operand
 * key (`keyOf`). An operand that is not named has one copy.
 */
export type Buffers = Copies | Readonly<Record<string, Copies>>;

/**
 * Names of the classes of instructions with which an Ascend core executes a gather (docs/pto.md). On other
 * targets, the class is `direct`.
 */
export const gatherClasses = ["flat", "row-copy", "row-fetch", "mgather", "scalar", "direct"] as const;
/** Class of the instructions that execute a gather; see {@link gatherClasses}. */
export type GatherClass = (typeof gatherClasses)[number];

/**
 * Orders in which a core executes its tasks. `off`: from the core's first task on. `on`: from another task of
 * the core (rotation), so that cores do not all load the same slab at once.
 */
export const rotations = ["off", "on"] as const;
/** Order in which a core executes tasks; see {@link rotations}. */
export type Rotation = (typeof rotations)[number];

/**
 * Schedule of a gather or scatter: the choices that affect speed, such as tile, loop order and residency. The
 * compiler chooses the value of an absent entry.
 */
export interface Schedule {
  /** Extents over the output dims (over the domain, for a scatter), in elements. */
  readonly tile?: Shape;
  /**
   * Extents over the output dims (over the domain, for a scatter), in elements, that one step of PyPTO's
   * outer loop gets. A view is split into tiles.
   */
  readonly view?: Shape;
  readonly profile?: Profile;
  readonly residency?: Residencies | "auto";
  /** A permutation of the output dims (of the domain's dims, for a scatter), outermost loop first. */
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

/** Schedule in which all choices are made. */
export interface ResolvedSchedule
  extends
    Required<Omit<Schedule, "lowering" | "profile" | "rotate">>,
    Pick<Schedule, "lowering" | "profile" | "rotate"> {
  readonly residency: Residencies;
}

/** Value of a schedule entry, of any type that an entry can have. */
export type EntryValue = Required<Schedule>[keyof Schedule];

/**
 * Formats the value of a schedule entry as for a command-line flag: `8,64`, `gm`, `2`, or `kv=gm,bt=ub` by
 * operand.
 */
export const formatEntry = (value: EntryValue): string => {
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.join();
  return Object.entries(value)
    .map(([operand, value]) => `${operand}=${value}`)
    .join(",");
};
