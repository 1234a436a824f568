/**
 * The footprint: bytes of unified buffer that one tile needs, part by part.
 *
 * Counted as PyPTO's own code counts (decision D6): every operand tile in UB with its innermost rows padded to the
 * target's block, times its buffers, plus the hidden scratch of a vector gather. The budget rule `spec` counts the
 * written rule's sum of tiles alone.
 */
import { dataTile, gatherDims, indicesTile, type AccessMap } from "./access.js";
import type { BudgetRule, Residency } from "./schedule.js";
import type { Target } from "./target.js";
import { alignUp, at, dtypeBytes, elementCount, type DType, type Shape, type TensorType } from "./types.js";

export type Operand = "data" | "indices" | "output";

export interface FootprintPart {
  readonly part: Operand | "scratch";
  readonly dtype: DType;
  /** Extents of the tile in elements. */
  readonly tile: Shape;
  /** Bytes of the elements alone. */
  readonly bytes: number;
  /** Bytes with each innermost row padded to the block. */
  readonly padded: number;
  readonly buffers: 1 | 2;
  /** What counts against the budget under the rule. */
  readonly counted: number;
}

export interface Footprint {
  readonly parts: readonly FootprintPart[];
  readonly bytes: number;
  readonly budget: number;
  readonly rule: BudgetRule;
}

/** What a footprint depends on: the gather, and the choices of its schedule that cost bytes. */
export interface Gather {
  readonly map: AccessMap;
  readonly data: TensorType;
  readonly indices: TensorType;
  readonly output: TensorType;
}

export interface FootprintChoices {
  readonly residency: Residency;
  readonly buffers: 1 | 2;
  readonly budgetRule: BudgetRule;
  readonly ubBytes: number;
}

/** Bytes of one innermost row of a tile in UB; a row without elements still takes a block. */
export const rowBytes = (shape: Shape, dtype: DType, block: number): number =>
  alignUp(Math.max(1, shape[shape.length - 1] ?? 1) * dtypeBytes[dtype], block);

/** Bytes of a tile in UB with padded rows. */
export const paddedBytes = (shape: Shape, dtype: DType, block: number): number =>
  elementCount(shape.slice(0, -1)) * rowBytes(shape, dtype, block);

/** The tile as it runs: no entry beyond its view or its extent. */
export const clipTile = (tile: Shape, view: Shape, output: Shape): number[] =>
  output.map((extent, d) => Math.min(at(tile, d), at(view, d), extent));

/** Elements of the scratch of one vector gather: two index rows, each a whole number of blocks (D6). */
export function scratchShape(indexTile: Shape, dtype: DType, target: Target): Shape {
  const lanes = Math.max(1, target.blockBytes / dtypeBytes[dtype]);
  return [2, alignUp(indexTile[indexTile.length - 1] ?? 1, lanes)];
}

/**
 * Which operands live in UB. An Ascend core gathers UB to UB, or fetches rows to UB by an index tile in UB; a WebGPU
 * workgroup reads and writes global memory directly and stages only the data of a full load.
 */
export function operandsInUb(residency: Residency, target: Target): readonly Operand[] {
  if (target.kind !== "ascend") return residency === "ub" ? ["data"] : [];
  return residency === "ub" ? ["data", "indices", "output"] : ["indices", "output"];
}

/** `tile` is clipped already (see clipTile). */
export function footprint(gather: Gather, tile: Shape, choices: FootprintChoices, target: Target): Footprint {
  const { map, data, indices } = gather;
  const tiles: Readonly<Record<Operand, Shape>> = {
    data: dataTile(map, tile, data.shape),
    indices: indicesTile(map, tile, indices.shape),
    output: tile,
  };
  const rule = choices.budgetRule;
  const part = (name: FootprintPart["part"], shape: Shape, dtype: DType, buffers: 1 | 2): FootprintPart => {
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
  const parts = operandsInUb(choices.residency, target).map((operand) =>
    part(operand, tiles[operand], gather[operand].dtype, choices.buffers),
  );
  if (rule === "full" && target.gatherScratch && choices.residency === "ub" && elementCount(tile) > 0) {
    parts.push(part("scratch", scratchShape(tiles.indices, indices.dtype, target), indices.dtype, 1));
  }
  const bytes = parts.reduce((sum, p) => sum + p.counted, 0);
  return { parts, bytes, budget: choices.ubBytes, rule };
}

/** The extents a full load holds whole, by data dim. */
export const wholeDims = (gather: Gather): readonly { readonly dim: number; readonly extent: number }[] =>
  gatherDims(gather.map).map((dim) => ({ dim, extent: at(gather.data.shape, dim) }));
