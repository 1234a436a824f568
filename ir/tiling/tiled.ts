/** A gather cut to tiles: what footprint, loops and traffic are derived from. */
import {
  followedBy,
  followedDims,
  gatheredTable,
  inputTile,
  isScatter,
  outputDims,
  walked,
  type Followed,
} from "../access.js";
import { inputOf, type AccessFunc, type Operand } from "../func.js";
import { soleAtom } from "../linear.js";
import type { ResolvedSchedule } from "../schedule.js";
import type { Target } from "../target.js";
import { at, type Shape } from "../types.js";
import { residencyOf } from "./residency.js";

/**
 * Operand of a gather or scatter with the tile that one output tile reads or writes. `inUb`: true for a tile
 * in the unified buffer (UB).
 */
export interface TiledOperand {
  readonly operand: Operand;
  /** Extents of its tile, in elements: gather dims are whole. */
  readonly tile: Shape;
  /** Output dims on which the position of the operand's tile depends. */
  readonly dependsOn: ReadonlySet<number>;
  readonly inUb: boolean;
}

/**
 * Result of splitting a gather into tiles by a schedule on a target: the output tile and the tiles of the
 * operands.
 */
export interface TiledGather {
  readonly gather: AccessFunc;
  readonly schedule: ResolvedSchedule;
  readonly target: Target;
  /** Extents of the domain; for a gather, of the output. */
  readonly extents: Shape;
  /** Output tile as it runs: the schedule's tile, limited to the view and to `extents`. */
  readonly tile: Shape;
  /**
   * The tile of the data over the output dims: as `tile`, or longer where the framework cuts the data beyond
   * the output.
   */
  readonly cut: Shape;
  /** Terms that are taken in at once; 0 without any. */
  readonly reductionTile: number;
  /** The inputs by their number in the map, then the output. */
  readonly operands: readonly TiledOperand[];
}

/**
 * Returns the largest extent that a tile may have along each dim of the output (of the domain, for a
 * scatter), in elements: the dim's extent. For a framework's gather, the limit of a dim that data and output
 * have in common is the longer extent. Source: hicann/pypto
 * framework/src/interface/operation/vector/indexing.cpp at 883e7df (2026-08-22), TiledGatherElementOperation.
 */
export function entryLimits(gather: AccessFunc): Shape {
  const { map, framework } = gather;
  const extents = [...gather.map.domain];
  if (framework === undefined || isScatter(map)) return extents;
  const { shape } = inputOf(gather, gatheredTable).type;
  followedDims(map, gatheredTable).forEach((followed, k) => {
    const d = followed === undefined ? undefined : soleDim(followed);
    if (d !== undefined) extents[d] = Math.max(at(extents, d), at(shape, k));
  });
  return extents;
}

/**
 * Returns the output dim that is by itself the coordinate along an input dim; undefined if the coordinate is
 * any other expression.
 */
export function soleDim({ form, spread }: Followed): number | undefined {
  const atom = spread === 0 ? soleAtom(form) : undefined;
  return atom?.kind === "dim" ? atom.dim : undefined;
}

/** Returns the operands of a gather, with the tiles and the memory of the tiles. */
export function tiledOperands({
  gather,
  schedule,
  target,
  tile,
  cut,
  reductionTile,
}: Omit<TiledGather, "operands">): readonly TiledOperand[] {
  const { map } = gather;
  return gather.operands.map((operand, table) => {
    const inUb = residencyOf(operand, schedule.residency, target) === "ub";
    if (operand.role === "output") return { operand, tile, dependsOn: outputDims(map), inUb };
    const shape = inputTile(
      map,
      table,
      walked(map, inUb && table === gatheredTable ? cut : tile, reductionTile),
      operand.type.shape,
    );
    return { operand, tile: shape, dependsOn: followedBy(map, table), inUb };
  });
}
