/**
 * lower-to-tile: the access op becomes loops over output tiles, with memory spaces spelled out.
 *
 *   access.gather … {data_tile = [3, 2], indices_tile = [3, 2]}
 *     →
 *   %data_ub = alloc : ub<3x2xf32, row 32>
 *   for %t1 = 0 to 4 step 2 parallel {
 *     load %data[0, %t1][3, 2] to %data_ub
 *     gather %data_ub[0, 0][3, 2], %indices_ub[0, 0][3, 2] to %output_ub[0, 0][3, 2] …
 *     store %output_ub to %output[0, %t1][3, 2]
 *   }
 *
 * Everything is loaded in the innermost loop; hoist-loads moves what may move. An empty output has no statements.
 */
import { indexDims } from "../ir/access.js";
import { add, constant, iv, min, sub, type IndexExpr } from "../ir/expr.js";
import {
  clipTile,
  footprint,
  operandsInUb,
  rowBytes,
  type FootprintPart,
  type Operand,
} from "../ir/footprint.js";
import type { AccessFunc, TileFunc } from "../ir/func.js";
import { loopNest, type Loop } from "../ir/loops.js";
import { isResolved, type ResolvedSchedule } from "../ir/schedule.js";
import type { Target } from "../ir/target.js";
import type { GatherStmt, Region, Stmt, UbBuffer } from "../ir/tile.js";
import { at, elementCount, invariant, type Shape } from "../ir/types.js";
import { gatherOf } from "./analysis/legality.js";
import { definePass } from "./pass.js";

export const lowerToTile = definePass({
  name: "lower-to-tile",
  summary: "loops over output tiles with loads, one gather and stores",
  requires: ["fits-ub"],
  ensures: ["tile"],
  run(func, context) {
    if (func.level !== "access") return func;
    const { schedule } = func;
    invariant(isResolved(schedule), "lower-to-tile runs on a resolved schedule");
    const empty = elementCount(func.output.type.shape) === 0;
    const body = empty ? [] : lower(func, schedule, context.target);
    const { name, data, indices, output, target, span } = func;
    const lowered: TileFunc = { level: "tile", name, data, indices, output, schedule, body };
    return {
      ...lowered,
      ...(target === undefined ? {} : { target }),
      ...(span === undefined ? {} : { span }),
    };
  },
});

const ubName = (name: string): string => `${name}_ub`;

function lower(func: AccessFunc, schedule: ResolvedSchedule, target: Target): Stmt[] {
  const gather = gatherOf(func);
  const extents = func.output.type.shape;
  const tile = clipTile(schedule.tile, schedule.view, extents);
  const loops = loopNest(gather, schedule);
  const bounds = extents.map((_, dim) => dimBounds(dim, extents, tile, schedule, loops));
  const offsets = bounds.map((b) => b.offset);
  const sizes = bounds.map((b) => b.size);
  const { parts } = footprint(gather, tile, schedule, target);
  const staged = operandsInUb(schedule.residency, target);

  const global: Readonly<Record<Operand, Region>> = {
    data: {
      buffer: func.data.name,
      offsets: func.map.results.map((r) => (r.kind === "direct" ? at(offsets, r.dim) : constant(0))),
      sizes: func.map.results.map((r, k) =>
        r.kind === "direct" ? at(sizes, r.dim) : constant(at(func.data.type.shape, k)),
      ),
    },
    indices: {
      buffer: func.indices.name,
      offsets: indexDims(func.map).map((dim) => (dim === undefined ? constant(0) : at(offsets, dim))),
      sizes: indexDims(func.map).map((dim, k) =>
        dim === undefined ? constant(at(func.indices.type.shape, k)) : at(sizes, dim),
      ),
    },
    output: { buffer: func.output.name, offsets, sizes },
  };
  /** Where the gather finds an operand: its UB tile, from the origin, or global memory. */
  const operand = (which: Operand): Region => {
    if (!staged.includes(which)) return global[which];
    const region = global[which];
    return {
      buffer: ubName(region.buffer),
      offsets: region.offsets.map(() => constant(0)),
      sizes: region.sizes,
    };
  };
  const buffers = parts.map((part) => bufferOf(func, part, schedule, target));
  const scratch = buffers.find((buffer) => buffer.name === scratchName);
  const stmt: GatherStmt = {
    op: "gather",
    data: operand("data"),
    indices: operand("indices"),
    to: operand("output"),
    map: func.map,
    oob: func.oob,
    origin: global.indices.offsets,
    ...(scratch === undefined ? {} : { scratch: scratch.name }),
  };
  const inner: Stmt[] = [
    ...(["data", "indices"] as const).flatMap((which): Stmt[] =>
      staged.includes(which) ? [{ op: "load", from: global[which], to: ubName(func[which].name) }] : [],
    ),
    stmt,
    ...(staged.includes("output")
      ? [{ op: "store", from: ubName(func.output.name), to: global.output } as const]
      : []),
  ];
  return [...buffers.map((buffer) => ({ op: "alloc", buffer }) as const), ...nest(loops, bounds, inner)];
}

const scratchName = "scratch_ub";

function bufferOf(
  func: AccessFunc,
  part: FootprintPart,
  schedule: ResolvedSchedule,
  target: Target,
): UbBuffer {
  return {
    name: part.part === "scratch" ? scratchName : ubName(func[part.part].name),
    dtype: part.dtype,
    shape: part.tile,
    rowBytes: rowBytes(part.tile, part.dtype, target.blockBytes),
    buffers: part.part === "scratch" ? 1 : schedule.buffers,
  };
}

interface DimBounds {
  /** Where the tile starts and how much of it exists, in elements. */
  readonly offset: IndexExpr;
  readonly size: IndexExpr;
  readonly viewRange: readonly [IndexExpr, IndexExpr];
  readonly tileRange: readonly [IndexExpr, IndexExpr];
}

function dimBounds(
  dim: number,
  extents: Shape,
  tile: Shape,
  schedule: ResolvedSchedule,
  loops: readonly Loop[],
): DimBounds {
  const extent = at(extents, dim);
  const view = Math.min(at(schedule.view, dim), extent);
  const step = at(tile, dim);
  const hasView = loops.some((loop) => loop.dim === dim && loop.kind === "view");
  const hasTile = loops.some((loop) => loop.dim === dim && loop.kind === "tile");
  const viewStart = hasView ? iv(`v${dim}`) : constant(0);
  const viewEnd = !hasView
    ? constant(extent)
    : extent % view === 0
      ? add(viewStart, constant(view))
      : min(add(viewStart, constant(view)), constant(extent));
  const offset = hasTile ? iv(`t${dim}`) : viewStart;
  // Every view ends on a tile's end: all tiles are whole.
  const divides = view % step === 0 && extent % step === 0;
  const size = divides || (!hasView && !hasTile) ? constant(step) : min(constant(step), sub(viewEnd, offset));
  return { offset, size, viewRange: [constant(0), constant(extent)], tileRange: [viewStart, viewEnd] };
}

function nest(loops: readonly Loop[], bounds: readonly DimBounds[], inner: readonly Stmt[]): readonly Stmt[] {
  const [loop, ...rest] = loops;
  if (loop === undefined) return inner;
  const dim = at(bounds, loop.dim);
  const [lower, upper] = loop.kind === "view" ? dim.viewRange : dim.tileRange;
  const variable = `${loop.kind === "view" ? "v" : "t"}${loop.dim}`;
  return [
    {
      op: "for",
      iv: variable,
      lower,
      upper,
      step: loop.step,
      mode: loop.mode,
      body: nest(rest, bounds, inner),
    },
  ];
}
