/**
 * A tiling: what a gather becomes under a schedule on a target. Made once; the rules, lowering, costs and every report read
 * its parts instead of deriving them again.
 */
import { followedBy, inputTile } from "../access.js";
import { inputsOf, outputOf, type AccessFunc, type Operand } from "../func.js";
import type { ResolvedSchedule } from "../schedule.js";
import { targetFacts, type Target } from "../target.js";
import { at, type Shape } from "../types.js";
import { footprintOf, type Footprint } from "./footprint.js";
import { loopsOf, type Loop } from "./loops.js";
import { trafficOf, type Traffic } from "./traffic.js";

export interface TiledOperand {
  readonly operand: Operand;
  /** Extents of its tile, in elements: gather dims are whole. */
  readonly tile: Shape;
  /** Output dims that it follows. */
  readonly follows: ReadonlySet<number>;
  readonly inUb: boolean;
}

/** Each part is derived when it is first asked for. */
export class Tiling {
  /** The output tile as it runs: no entry beyond its view or its extent. */
  readonly tile: Shape;
  private parts: {
    operands?: readonly TiledOperand[];
    footprint?: Footprint;
    loops?: readonly Loop[];
    traffic?: Traffic;
  } = {};

  constructor(
    readonly gather: AccessFunc,
    readonly schedule: ResolvedSchedule,
    readonly target: Target,
  ) {
    this.tile = this.extents.map((extent, d) => Math.min(at(schedule.tile, d), at(schedule.view, d), extent));
  }

  /** Extents of the output. */
  get extents(): Shape {
    return outputOf(this.gather).type.shape;
  }

  /** The inputs by their number in the map, then the output. */
  get operands(): readonly TiledOperand[] {
    return (this.parts.operands ??= tiledOperands(this));
  }

  get footprint(): Footprint {
    return (this.parts.footprint ??= footprintOf(this));
  }

  /** Outermost first; loops with one trip are left out. */
  get loops(): readonly Loop[] {
    return (this.parts.loops ??= loopsOf(this));
  }

  get traffic(): Traffic {
    return (this.parts.traffic ??= trafficOf(this));
  }

  /** The same gather on the same target under another schedule. */
  with(changes: Partial<ResolvedSchedule>): Tiling {
    return new Tiling(this.gather, { ...this.schedule, ...changes }, this.target);
  }
}

export const tilingOf = (gather: AccessFunc, schedule: ResolvedSchedule, target: Target): Tiling =>
  new Tiling(gather, schedule, target);

/**
 * An Ascend core gathers UB to UB, or fetches rows to UB by an index tile in UB; machines that gather in place read and write
 * global memory directly and stage only the data of a full load.
 */
function tiledOperands({ gather, schedule, target, tile, extents }: Tiling): readonly TiledOperand[] {
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
