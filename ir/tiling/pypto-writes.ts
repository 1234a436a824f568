/**
 * The rules that PyPTO has for the tiles of its operators that write, by operator.
 *
 * Sources: docs/zh/api/operation/ of hicann/pypto at 883e7df (2026-08-22), the page of each operator, and
 * framework/src/interface/operation/vector/indexing.cpp there.
 */
import { isRead } from "../access.js";
import { inputOf, outputOf, type AccessFunc } from "../func.js";
import type { Profile, Residency } from "../schedule.js";
import { targetFacts, type Target } from "../target.js";
import { at, type DType, type Shape } from "../types.js";
import { paddedTile, type ScatterTile } from "./scatter-tile.js";

/** PyPTO's rules for the tile and view of a scatter operator, with citations. */
export interface WriteRules {
  /** Profiles that require a full tile along the dim that the index tensor and the output share. */
  readonly pinsTile: readonly Profile[];
  /** True if a tile and a view must contain whole rows, that is, the full innermost dim. */
  readonly fullRows?: true;
  /**
   * True if, in a scatter of two dims, the tile's extent along dim 0 must be a multiple or a divisor of the
   * slots of a sequence, and the view's extent a multiple.
   */
  readonly slots?: true;
  /**
   * Memory that holds the input. In the unified buffer (`ub`), PyPTO's buffer holds the input and the result
   * separately, and a temporary of the last index tile. In global memory, `set` alone writes its points as
   * they come.
   */
  readonly memory: Residency;
  /** True if bf16 is computed in f32 copies of the tiles. */
  readonly widensBf16?: true;
  /** True if a tile may have fewer entries than the points have dims: the others are whole. */
  readonly shorterTiles?: true;
  /** Profiles under which a view cuts input and index into equal numbers of blocks. */
  readonly equalBlocks?: readonly Profile[];
  /** Citation of the rule on the view. */
  readonly view: string;
  /** Citation of the rule on the tile. */
  readonly tile: string;
}

const at883e7df = "at 883e7df (2026-08-22)";
const page = (name: string): string => `hicann/pypto docs/zh/api/operation/pypto-${name}.md ${at883e7df}`;
const code = `hicann/pypto framework/src/interface/operation/vector/indexing.cpp ${at883e7df}`;

const scatter = (name: string): WriteRules => ({
  pinsTile: ["strict", "pages", "head"],
  equalBlocks: ["strict", "pages"],
  memory: "ub",
  view: page(name),
  tile: `${page(name)}; ${code}, lines 736-739 and 895-897: FC1000`,
});

const rules: Readonly<Record<string, WriteRules>> = {
  scatter_: scatter("scatter_"),
  scatter: scatter("scatter"),
  scatter_update: {
    pinsTile: ["strict", "pages", "head"],
    fullRows: true,
    slots: true,
    memory: "gm",
    view: page("scatter_update"),
    tile: `${page("scatter_update")}; ${code}: FC1000`,
  },
  index_put_: {
    pinsTile: [],
    shorterTiles: true,
    memory: "gm",
    view: page("index_put_"),
    tile: page("index_put_"),
  },
  index_add_ub: {
    // PyPTO's own tests have tiles of 3 along a dim of 13: its code takes the dim whole, whatever the tile
    // says.
    pinsTile: ["strict", "pages"],
    memory: "ub",
    widensBf16: true,
    view: page("index_add_ub"),
    tile: page("index_add_ub"),
  },
};

/** Returns PyPTO's tile rules for the operator of a scatter; undefined for operators that are not PyPTO's. */
export const writeRulesOf = ({
  framework,
  frameworkOp,
}: Pick<AccessFunc, "framework" | "frameworkOp">): WriteRules | undefined =>
  framework === "pypto" && frameworkOp !== undefined && Object.hasOwn(rules, frameworkOp.name)
    ? rules[frameworkOp.name]
    : undefined;

/**
 * Returns the memory in which PyPTO has the input of a scatter operator. Tiles and texts of the operator
 * exist for this memory alone. Undefined for operators of others, and for combinations in global memory.
 */
export function frameworkMemory(func: AccessFunc): Residency | undefined {
  const memory = writeRulesOf(func)?.memory;
  return memory === "gm" && func.map.write.combine !== "set" ? undefined : memory;
}

/**
 * Returns the number of slots of a sequence in a scatter into a rank-2 cache: the extent of dim 1 of the
 * index tensor. The tile's extent along dim 0 must be a multiple or a divisor of this number. Undefined for
 * other operators and ranks.
 */
export function slotsOf(func: AccessFunc): number | undefined {
  if (writeRulesOf(func)?.slots !== true || outputOf(func).type.shape.length !== 2) return undefined;
  const table = func.map.indices.flatMap(({ value }) => (isRead(value) ? [value.table] : []))[0];
  return table === undefined ? undefined : inputOf(func, table).type.shape[1];
}

/**
 * True if `entry`, the extent of a tile along dim 0, is a multiple or a divisor of `slots`, or if `slots` is
 * 0. `slots`: result of {@link slotsOf}.
 */
export const keepsSlots = (entry: number, slots: number): boolean =>
  slots === 0 || entry % slots === 0 || slots % entry === 0;

/** View along a dim that cuts the output and the index of a scatter into different numbers of blocks. */
export interface UnequalBlocks {
  readonly dim: number;
  /** Extents of the output and of the index tensor along the dim, in elements. */
  readonly output: number;
  readonly index: number;
  /** Numbers of blocks into which the view cuts the output and the index tensor. */
  readonly outputBlocks: number;
  readonly indexBlocks: number;
}

/**
 * Returns the first dim along which a view cuts the index tensor and the output of a scatter into different
 * numbers of blocks; undefined if there is none. The dim along which index values select is skipped
 * (constraint 4 of PyPTO's page on scatter_).
 */
export function unequalBlocks(func: AccessFunc, view: Shape): UnequalBlocks | undefined {
  const { domain } = func.map;
  const { shape } = outputOf(func).type;
  for (const [dim, index] of domain.entries()) {
    const [step, output] = [view[dim] ?? index, shape[dim] ?? index];
    if (func.sharedDims.includes(dim) || step < 1 || step >= index) continue;
    const [outputBlocks, indexBlocks] = [Math.ceil(output / step), Math.ceil(index / step)];
    if (outputBlocks !== indexBlocks) return { dim, output, index, outputBlocks, indexBlocks };
  }
  return undefined;
}

/**
 * Part of the unified buffer (UB) that PyPTO counts in addition to the kernel's tiles: name, type, shape and
 * bytes.
 */
export type PyptoEntry = Omit<ScatterTile, "operand">;

/** Facts of a scatter's tiling that PyPTO's count of UB follows. */
interface CountedScatter {
  readonly scatter: AccessFunc;
  readonly target: Target;
  readonly tiles: readonly ScatterTile[];
  /** Points of a tile along each dim of the domain. */
  readonly tile: Shape;
  /** True if a region of the output is kept in UB while its points are written. */
  readonly isLoaded: boolean;
  /** Extents of the region of the output that a task writes. */
  readonly written: Shape;
}

/**
 * Returns the buffers in the unified buffer (UB) that PyPTO counts in addition to a scatter's tiles. The list
 * is empty if there are none.
 */
export function countedByPypto({
  scatter: func,
  target,
  tiles,
  tile,
  isLoaded,
  written,
}: CountedScatter): readonly PyptoEntry[] {
  const operator = writeRulesOf(func);
  if (operator?.memory !== "ub" || !isLoaded || !targetFacts[target.kind].vectorUnit) return [];
  const padded = (name: string, dtype: DType, shape: Shape): PyptoEntry =>
    paddedTile(name, dtype, shape, target.blockBytes);
  const output = outputOf(func).type;
  const index = func.map.indices.flatMap(({ value }) =>
    isRead(value) ? [inputOf(func, value.table).type.dtype] : [],
  )[0];
  const last = tile.at(-1) ?? 1;
  const widened =
    operator.widensBf16 === true && output.dtype === "bf16"
      ? [
          padded("input in f32", "f32", written),
          ...tiles
            .filter(({ dtype, operand }) => dtype === "bf16" && at(func.operands, operand).role !== "output")
            .map(({ shape, name }) => padded(`${name} in f32`, "f32", shape)),
        ]
      : [];
  return [
    padded("input apart from the result", output.dtype, written),
    ...(index === undefined ? [] : [padded("temporary of the last index tile", index, [last])]),
    ...widened,
  ];
}
