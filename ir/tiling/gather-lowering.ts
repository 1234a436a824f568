/**
 * Lowering of a gather on its target, as plain data: its class, the UB that the class adds, and its
 * instructions.
 */
import type { AccessMap } from "../access.js";
import type { Shape, TensorType } from "../types.js";
import type { GatherClass } from "../schedule.js";
import type { Added, FlatProgram } from "./flat-program.js";

/**
 * Tensor that a gather accesses, in the unified buffer (UB) or in global memory. `inTile`: strides of the
 * tile's dims in elements; absent in global memory.
 */
export interface PlacedTensor {
  readonly type: TensorType;
  readonly inTile?: readonly number[];
}

/** Facts about a tiled gather that determine the possible lowerings (instructions on the target). */
export interface LoweringFacts {
  readonly map: AccessMap;
  /** By table: the data, then the tables of indices. */
  readonly inputs: readonly PlacedTensor[];
  readonly output: PlacedTensor;
  /** The largest output tile, in elements. */
  readonly tile: Shape;
  /** Output dims along which some tiles are shorter. */
  readonly ragged: ReadonlySet<number>;
  /** True if each run of the gather has freshly loaded index tiles, which it may overwrite. */
  readonly freshIndices: boolean;
  /** Bytes of UB that the program's own buffers leave free; those of its scratch are free too. */
  readonly spareBytes: number;
  /** The class that the schedule asks for. */
  readonly requested?: GatherClass;
}

/**
 * Numbers of vector instructions: `scalar` with a tile and a scalar as operands, `tile` with two tiles as
 * operands.
 */
export interface Steps {
  readonly scalar: number;
  readonly tile: number;
}

/**
 * Instructions of a gather for one lowering class, such as `flat` or `row-copy`, with the added buffers and
 * work.
 */
export interface Instructions {
  readonly class: GatherClass;
  readonly adds: readonly Added[];
  /** `mgather`: vector instructions on index values in each execution of the gather. */
  readonly steps: Steps;
  /**
   * Work that each core does once: accesses of the scalar unit, vector instructions, and repeats over all
   * tiles that the instructions read.
   */
  readonly once: { readonly scalars: number; readonly steps: number; readonly stepRepeats: number };
  /** Waits between pipes that a run needs beside the program's own syncs. */
  readonly waits: number;
  /** `flat`: the instructions. */
  readonly flat?: FlatProgram;
}

/** Instructions of a gather for one lowering class, with the estimated cycles. */
export interface TimedLowering extends Instructions {
  /** Cycles of the gather of one whole tile on one core. */
  readonly cycles: number;
  /** Cycles on each core before the core's first gather. */
  readonly setup: number;
}

/** Lowering class that is impossible for a gather, with the reason as text. */
export interface LackingClass {
  readonly class: GatherClass;
  readonly reason: string;
  /** True if more UB would make the class available. */
  readonly room: boolean;
}

/**
 * Lowering class that was not chosen for a gather: a slower class with the cycles, or an impossible class
 * with the reason.
 */
export type LostClass = Pick<TimedLowering, "class" | "cycles" | "setup"> | LackingClass;

/**
 * Possible lowerings of a gather in the free space of the unified buffer (UB), and the impossible lowering
 * classes.
 */
export interface Lowerings {
  /** One lowering of each possible class; `flat` with the longest chunks that fit. */
  readonly lowerings: readonly TimedLowering[];
  /** The lowerings that the schedule permits. */
  readonly eligible: readonly TimedLowering[];
  /** Returns further eligible lowerings, which split the tile into other chunks. */
  readonly further: () => Iterable<TimedLowering>;
  readonly lacking: readonly LackingClass[];
}

/** Lowering that was chosen for a gather, and the classes that were not chosen, with the reasons. */
export interface GatherLowering extends TimedLowering {
  readonly lost: readonly LostClass[];
}
