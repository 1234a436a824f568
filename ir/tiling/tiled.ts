/** A gather cut to tiles: what footprint, loops and traffic are derived from. */
import { followedBy, inputTile } from "../access.js";
import { inputsOf, outputOf, type AccessFunc, type Operand } from "../func.js";
import type { ResolvedSchedule } from "../schedule.js";
import { targetFacts, type Target } from "../target.js";
import type { Shape } from "../types.js";

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

/**
 * An Ascend core gathers UB to UB, or fetches rows to UB by an index tile in UB; machines that gather in place read and write
 * global memory directly and stage only the data of a full load.
 */
export function tiledOperands({
  gather,
  schedule,
  target,
  tile,
  extents,
}: Omit<TiledGather, "operands">): readonly TiledOperand[] {
  const { gathersInPlace } = targetFacts[target.kind];
  const inUb = ({ role }: Operand): boolean =>
    role === "data" ? schedule.residency === "ub" : !gathersInPlace;
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
