/**
 * A tile in the words of the framework whose operator is tiled: the line to write, its last entry, and what
 * the framework chooses.
 */
import {
  at,
  entryLimits,
  frameworkFacts,
  isLegal,
  meanBytes,
  outputOf,
  pinnedTiles,
  replaced,
  sameShape,
  targetFacts,
  tileCall,
  type Copies,
  type Framework,
  type ResolvedSchedule,
  type Schedule,
  type Shape,
  type Tiling,
} from "../../ir/index.js";
import { clockOf } from "../../passes/index.js";

/**
 * Result of a check of the rows of an output tile. A framework such as PyPTO requires that the bytes of a row
 * be a multiple of a fixed number. `instead`: nearest legal tiles that pass the check.
 */
export interface TileTail {
  /** Output dim of the last extent. */
  readonly dim: number;
  /** Bytes of a row of the output's tile. */
  readonly bytes: number;
  /** True if `bytes` is a multiple of the required number of bytes. */
  readonly aligned: boolean;
  /**
   * Legal tiles whose last entry is the next aligned one below and above; none for a tile that is aligned.
   */
  readonly instead: readonly Shape[];
}

/**
 * Legal tile for a program of a framework such as PyPTO: the framework call that sets the tile, the bytes of
 * the tile's rows, and the estimated cycles.
 */
export interface FrameworkTile {
  readonly tile: Shape;
  /**
   * View in which this tile and the tiles of `instead` are legal. Absent if it is the view of the judged
   * schedule and splits no dim.
   */
  readonly view?: Shape;
  /** Framework call that sets the tile, such as `pypto.set_vec_tile_shapes(64, 512)`. */
  readonly call: string;
  readonly tail: TileTail;
  /**
   * Cycles with each number of copies, which the framework chooses; without cycles where the copies do not
   * fit.
   */
  readonly buffers: readonly { readonly buffers: Copies; readonly cycles?: number }[];
  /** Cores that the cycles are for. */
  readonly cores: number;
}

/**
 * Facts of a program's framework, for example PyPTO: its name, and a legal tile with the framework call that
 * sets the tile. `tile` is absent if no tile is legal or the framework does not run on the target.
 */
export interface FrameworkWords {
  readonly name: Framework;
  /** Bytes of an element of the output. */
  readonly elementBytes: number;
  /**
   * Extents of the stated tile beyond the output's dims. Other operators use these extents, and every call
   * repeats them.
   */
  readonly others?: Shape;
  /**
   * The judged tile if it is legal, else the nearest legal tile. Absent if no tile is legal or the framework
   * does not run on the target.
   */
  readonly tile?: FrameworkTile;
}

/**
 * Returns the facts of the framework `name`. The result's field `tile` describes the tile of the legal
 * schedule `legal`, with the framework call that sets the tile. The field is absent if `legal` is undefined
 * or the target does not execute PTO-ISA. `stated`: tile and view that the user stated.
 */
export function frameworkWords(
  name: Framework,
  { gather, target, schedule }: Pick<Tiling, "gather" | "target" | "schedule">,
  legal: Tiling | undefined,
  stated: Pick<Schedule, "tile" | "view"> = {},
): FrameworkWords {
  const others = (stated.tile ?? []).slice(schedule.tile.length);
  const elementBytes = meanBytes(outputOf(gather).type.dtype);
  const words = { name, elementBytes, ...(others.length === 0 ? {} : { others }) };
  return legal === undefined || !targetFacts[target.kind].runsPto
    ? words
    : { ...words, tile: tileIn(words, legal, schedule, stated.view === undefined) };
}

/**
 * Returns a description of the tile of `tiling`: the framework call that sets the tile, the bytes of the
 * tile's rows, and the estimated cycles with 1 and with 2 buffers. The view is included only if it splits a
 * dim, or differs from the view of `judged`, the schedule that the user asked about. `viewDepends`: true if
 * the user stated no view.
 */
function tileIn(
  words: FrameworkWords,
  tiling: Tiling,
  judged: Pick<ResolvedSchedule, "view">,
  viewDepends: boolean,
): FrameworkTile {
  const { tile, view, cores } = tiling.schedule;
  const cuts = entryLimits(tiling.gather).some((limit, d) => at(view, d) < limit);
  return {
    tile,
    ...(cuts || !sameShape(view, judged.view) ? { view } : {}),
    call: callOf(words, tile),
    tail: tailOf(words, tiling, viewDepends),
    buffers: ([1, 2] as const).map((buffers) => {
      const other = tiling.with({ buffers });
      return { buffers, ...(isLegal(other) ? { cycles: clockOf(other).cycles } : {}) };
    }),
    cores,
  };
}

/** Returns the framework call that sets a tile, for example `pypto.set_vec_tile_shapes(64, 512)`. */
export const callOf = ({ name, others = [] }: FrameworkWords, tile: Shape): string =>
  tileCall(name, [...tile, ...others]);

/**
 * True if a row of the output tile has a multiple of the bytes that the framework's vector operators require.
 */
export const isTailAligned = ({ name, elementBytes }: FrameworkWords, tile: Shape): boolean =>
  (at(tile, tile.length - 1) * elementBytes) % frameworkFacts[name].tailBytes === 0;

/**
 * Checks that the bytes of a tile's row are a multiple of the number that the framework requires. Returns the
 * result, with the nearest legal tiles that pass if the tile does not. `viewDepends`: true if the user stated
 * no view, so that the view may follow the tile.
 */
function tailOf(words: FrameworkWords, tiling: Tiling, viewDepends: boolean): TileTail {
  const { gather, schedule } = tiling;
  const dim = schedule.tile.length - 1;
  const entry = at(schedule.tile, dim);
  const step = Math.ceil(frameworkFacts[words.name].tailBytes / words.elementBytes);
  const fixed = viewDepends && pinnedTiles(gather, schedule).includes(dim);
  const withTail = (n: number): Tiling =>
    tiling.with({
      tile: replaced(schedule.tile, dim, n),
      ...(fixed ? { view: replaced(schedule.view, dim, n) } : {}),
    });
  const aligned = isTailAligned(words, schedule.tile);
  const nearest = aligned ? [] : [step * Math.floor(entry / step), step * Math.ceil(entry / step)];
  return {
    dim,
    bytes: entry * words.elementBytes,
    aligned,
    instead: nearest
      .filter((n) => n > 0)
      .map(withTail)
      .filter(isLegal)
      .map((other) => other.schedule.tile),
  };
}
