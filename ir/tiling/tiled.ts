/** A gather cut to tiles: what footprint, loops and traffic are derived from. */
import { followedBy, inputTile, outputDims, walked } from "../access.js";
import type { AccessFunc, Operand } from "../func.js";
import type { ResolvedSchedule } from "../schedule.js";
import type { Target } from "../target.js";
import type { Shape } from "../types.js";
import { residencyOf } from "./residency.js";

/** An operand with its tile. */
export interface TiledOperand {
  readonly operand: Operand;
  /** Extents of its tile, in elements: gather dims are whole. */
  readonly tile: Shape;
  /** Output dims that it follows. */
  readonly follows: ReadonlySet<number>;
  readonly inUb: boolean;
}

export interface TiledGather {
  readonly gather: AccessFunc;
  readonly schedule: ResolvedSchedule;
  readonly target: Target;
  /** Extents of the output. */
  readonly extents: Shape;
  /** The output tile as it runs: no entry beyond its view or its extent. */
  readonly tile: Shape;
  /** Terms that are taken in at once; 0 without any. */
  readonly terms: number;
  /** The inputs by their number in the map, then the output. */
  readonly operands: readonly TiledOperand[];
}

/** The tiles of a gather's operands, and which of them the unified buffer holds. */
export function tiledOperands({
  gather,
  schedule,
  target,
  tile,
  terms,
}: Omit<TiledGather, "operands">): readonly TiledOperand[] {
  const { map } = gather;
  return gather.operands.map((operand, table) => {
    const inUb = residencyOf(operand, schedule.residency, target) === "ub";
    if (operand.role === "output") return { operand, tile, follows: outputDims(map), inUb };
    const own = inputTile(map, table, walked(map, tile, terms), operand.type.shape);
    return { operand, tile: own, follows: followedBy(map, table), inUb };
  });
}
