/** A gather cut to tiles: what footprint, loops and traffic are derived from. */
import { followedBy, inputTile } from "../access.js";
import { inputsOf, outputOf, type AccessFunc, type Operand } from "../func.js";
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
  /** The inputs by their number in the map, then the output. */
  readonly operands: readonly TiledOperand[];
}

/** The tiles of a gather's operands, and which of them the unified buffer holds. */
export function tiledOperands({
  gather,
  schedule,
  target,
  tile,
  extents,
}: Omit<TiledGather, "operands">): readonly TiledOperand[] {
  const inUb = (operand: Operand): boolean => residencyOf(operand, schedule.residency, target) === "ub";
  const inputs = inputsOf(gather).map((operand, table) => ({
    operand,
    tile: inputTile(gather.map, table, tile, operand.type.shape),
    follows: followedBy(gather.map, table),
    inUb: inUb(operand),
  }));
  const output = outputOf(gather);
  const all = new Set(extents.map((_, d) => d));
  return [...inputs, { operand: output, tile, follows: all, inUb: inUb(output) }];
}
