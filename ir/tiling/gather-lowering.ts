/** What a gather becomes on its target, as plain data: its class, what that adds to UB, and the instructions it takes. */
import type { AccessMap } from "../access.js";
import type { Shape, TensorType } from "../types.js";
import type { GatherClass } from "../schedule.js";
import type { Added, FlatProgram } from "./flat-program.js";

/** A tensor as a gather finds it: in a tile in UB, with so many elements between neighbours there, or in place. */
export interface PlacedTensor {
  readonly type: TensorType;
  readonly inTile?: readonly number[];
}

/** What of a tiled gather its lowering depends on. */
export interface LoweringFacts {
  readonly map: AccessMap;
  /** By table: the data, then the tables of indices. */
  readonly inputs: readonly PlacedTensor[];
  readonly output: PlacedTensor;
  /** The largest output tile, in elements. */
  readonly tile: Shape;
  /** Output dims along which some tiles are shorter. */
  readonly ragged: ReadonlySet<number>;
  /** Whether each run of the gather finds freshly loaded index tiles, which it may overwrite. */
  readonly freshIndices: boolean;
  /** Bytes of UB that the program's own buffers leave free; those of its scratch are free too. */
  readonly spareBytes: number;
  /** The class that the schedule asks for. */
  readonly requested?: GatherClass;
}

/** Vector instructions by what they read: one tile and a scalar, or two tiles. */
export interface Steps {
  readonly scalar: number;
  readonly tile: number;
}

/** What a class makes of a gather: what that adds to UB, in bytes, and to time. */
export interface Instructions {
  readonly class: GatherClass;
  readonly adds: readonly Added[];
  /** `mgather`: steps on the index values of each run. */
  readonly steps: Steps;
  /** Once per core: accesses of the scalar unit, vector instructions, and the repeats of all tiles that these read. */
  readonly once: { readonly scalars: number; readonly steps: number; readonly stepRepeats: number };
  /** Waits between pipes that a run needs beside the program's own syncs. */
  readonly waits: number;
  /** `flat`: the instructions. */
  readonly flat?: FlatProgram;
}

/** Instructions with their cycles. */
export interface TimedLowering extends Instructions {
  /** Of the gather of one whole tile, on one core. */
  readonly cycles: number;
  /** On each core, before its first gather. */
  readonly setup: number;
}

/** A class that a gather cannot have. */
export interface LackingClass {
  readonly class: GatherClass;
  readonly reason: string;
  /** Whether more of UB would help. */
  readonly room: boolean;
}

/** A class that was not chosen: slower, or with the reason why the gather cannot have it. */
export type LostClass = Pick<TimedLowering, "class" | "cycles" | "setup"> | LackingClass;

/** In which ways a gather can be done, in the room that there is. */
export interface Lowerings {
  /** Each class; `flat` in the longest strips that there is room for. */
  readonly lowerings: readonly TimedLowering[];
  /** Those of them that the schedule leaves to choose from. */
  readonly eligible: readonly TimedLowering[];
  /** And in other strips. */
  readonly further: () => Iterable<TimedLowering>;
  readonly lacking: readonly LackingClass[];
}

/** What a gather becomes, and why nothing else. */
export interface GatherLowering extends TimedLowering {
  readonly lost: readonly LostClass[];
}
