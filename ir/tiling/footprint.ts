/**
 * The footprint: bytes of unified buffer that one tile needs, part by part.
 *
 * Counted as PyPTO's own code counts (decision D6): every operand tile in UB with its innermost rows padded to the
 * target's block, times its copies, plus the hidden scratch of a vector gather. The budget rule `spec` counts the
 * written rule's sum of tiles alone.
 */
import { isPlain } from "../access.js";
import { keyOf } from "../func.js";
import type { BudgetRule, Copies } from "../schedule.js";
import type { Target } from "../target.js";
import { alignUp, dtypeBytes, elementCount, type DType, type Shape } from "../types.js";
import { copiesOf } from "./copies.js";
import type { Loop } from "./loops.js";
import type { TiledGather } from "./tiled.js";

/** What one operand, or scratch, takes of UB, in bytes. */
export interface FootprintPart {
  /** An operand's key (`keyOf`), or `scratch`. */
  readonly part: string;
  readonly dtype: DType;
  /** Extents of the tile in elements. */
  readonly tile: Shape;
  /** Bytes of the elements alone. */
  readonly bytes: number;
  /** Bytes with each innermost row padded to the block. */
  readonly padded: number;
  readonly buffers: Copies;
  /** What counts against the budget under the rule. */
  readonly counted: number;
}

export interface Footprint {
  readonly parts: readonly FootprintPart[];
  /** Their sum under the rule. */
  readonly bytes: number;
  /** What the plan of addresses takes, whatever the rule counts: padding and second buffers included. */
  readonly planned: number;
  readonly budget: number;
  readonly rule: BudgetRule;
}

/** Bytes of one innermost row of a tile in UB; a row without elements still takes a block. */
export const rowBytes = (shape: Shape, dtype: DType, block: number): number =>
  alignUp(Math.max(1, shape[shape.length - 1] ?? 1) * dtypeBytes[dtype], block);

/** Bytes of a tile in UB with padded rows. */
export const paddedBytes = (shape: Shape, dtype: DType, block: number): number =>
  elementCount(shape.slice(0, -1)) * rowBytes(shape, dtype, block);

/** Elements of the scratch of one vector gather: two index rows, each a whole number of blocks (D6). */
function scratchShape(indexTile: Shape, dtype: DType, target: Target): Shape {
  const lanes = Math.max(1, target.blockBytes / dtypeBytes[dtype]);
  return [2, alignUp(indexTile[indexTile.length - 1] ?? 1, lanes)];
}

export function footprintOf(tiling: TiledGather & { readonly loops: readonly Loop[] }): Footprint {
  const { gather, operands, schedule, target, tile } = tiling;
  const { budgetRule: rule, ubBytes: budget } = schedule;
  const part = (name: FootprintPart["part"], shape: Shape, dtype: DType, buffers: Copies): FootprintPart => {
    const bytes = elementCount(shape) * dtypeBytes[dtype];
    const padded = paddedBytes(shape, dtype, target.blockBytes);
    return {
      part: name,
      dtype,
      tile: shape,
      bytes,
      padded,
      buffers,
      counted: rule === "full" ? padded * buffers : bytes,
    };
  };
  const tiles = operands
    .filter(({ inUb }) => inUb)
    .map((held) => part(keyOf(held.operand), held.tile, held.operand.type.dtype, copiesOf(tiling, held)));
  const scratched =
    rule === "full" &&
    target.gatherScratch &&
    schedule.residency === "ub" &&
    elementCount(tile) > 0 &&
    // One index for each element: what the vector unit gathers by.
    operands.length === 3 &&
    isPlain(gather.map);
  const scratch = operands.flatMap(({ operand, tile: own }) => {
    const { role, type } = operand;
    return scratched && role === "indices"
      ? [part("scratch", scratchShape(own, type.dtype, target), type.dtype, 1)]
      : [];
  });
  const parts = [...tiles, ...scratch];
  return {
    parts,
    bytes: parts.reduce((sum, p) => sum + p.counted, 0),
    planned: parts.reduce((sum, p) => sum + p.padded * p.buffers, 0),
    budget,
    rule,
  };
}
