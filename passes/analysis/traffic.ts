/**
 * Global-memory traffic of a schedule in closed form: exact, and independent of tensor sizes.
 *
 * A load sits inside every parallel loop and inside the serial loops up to the last one its operand follows. Loops
 * outside it that the operand does not follow repeat it.
 */
import { dataFollows, indexDims, indicesFollow, rowElements } from "../../ir/access.js";
import { clipTile, operandsInUb, type Gather, type Operand } from "../../ir/footprint.js";
import { loopNest, tilesAlong, viewsAlong, type Loop } from "../../ir/loops.js";
import type { ResolvedSchedule } from "../../ir/schedule.js";
import type { Target } from "../../ir/target.js";
import { at, contiguousRun, dtypeBytes, elementCount, type Shape } from "../../ir/types.js";

export interface OperandTraffic {
  readonly operand: Operand;
  /** Bytes that cross between global memory and the core. */
  readonly bytes: number;
  /** Bytes that any schedule moves: each element it touches once. */
  readonly compulsory: number;
  /** Statements that move them, over the whole run. */
  readonly transfers: number;
  /** Bytes that lie together in global memory, per row of a transfer. */
  readonly burst: number;
}

export interface Traffic {
  readonly operands: readonly OperandTraffic[];
  readonly bytes: number;
  readonly compulsory: number;
  /** Iterations of the parallel loops. */
  readonly tasks: number;
  /** Output tiles. */
  readonly tiles: number;
  readonly loops: readonly Loop[];
}

export function traffic(gather: Gather, schedule: ResolvedSchedule, target: Target): Traffic {
  const extents = gather.output.shape;
  const tile = clipTile(schedule.tile, schedule.view, extents);
  const loops = loopNest(gather, schedule);
  const trips = (dim: number, kinds: readonly Loop[]): number => {
    const own = kinds.filter((loop) => loop.dim === dim).map((loop) => loop.kind);
    const extent = at(extents, dim);
    const view = Math.min(at(schedule.view, dim), extent);
    if (own.includes("tile")) return tilesAlong(extent, view, at(tile, dim));
    return own.includes("view") ? viewsAlong(extent, view) : 1;
  };
  const count = (kinds: readonly Loop[]): number =>
    extents.includes(0) ? 0 : extents.reduce((product, _, dim) => product * trips(dim, kinds), 1);

  const dims: Readonly<Record<Operand, ReadonlySet<number>>> = {
    data: dataFollows(gather.map),
    indices: indicesFollow(gather.map),
    output: new Set(extents.map((_, d) => d)),
  };
  /** The elements of an operand that the output dims it follows reach: index may be shorter than data. */
  const reached: Readonly<Record<Operand, Shape>> = {
    data: gather.map.results.map((access, k) =>
      access.kind === "direct" ? at(extents, access.dim) : at(gather.data.shape, k),
    ),
    indices: gather.indices.shape,
    output: extents,
  };
  /** Loops around the operand's load or store. */
  const around = (operand: Operand): readonly Loop[] => {
    let last = loops.length;
    while (last > 0 && at(loops, last - 1).mode === "serial" && !dims[operand].has(at(loops, last - 1).dim))
      last--;
    return loops.slice(0, last);
  };
  const inUb = operandsInUb(schedule.residency, target);
  const operands = (["data", "indices", "output"] as const).map((operand): OperandTraffic => {
    const size = dtypeBytes[gather[operand].dtype];
    const empty = elementCount(extents) === 0;
    const compulsory = empty ? 0 : elementCount(reached[operand]) * size;
    if (operand === "data" && schedule.residency === "gm") {
      const row = rowElements(gather.map, tile, gather.data.shape);
      const bytes = elementCount(extents) * size;
      return {
        operand,
        bytes,
        compulsory: Math.min(compulsory, bytes),
        transfers: empty ? 0 : elementCount(extents) / row,
        burst: row * size,
      };
    }
    if (operand !== "data" && !inUb.includes(operand)) {
      // Read or written in place: an index once for each element of the output tile it serves.
      const perTile = operand === "indices" ? loops.filter((loop) => !dims.indices.has(loop.dim)) : [];
      const bytes = compulsory * (empty ? 1 : count(perTile));
      return { operand, bytes, compulsory, transfers: count(loops), burst: size };
    }
    const nest = around(operand);
    const repeats = nest.filter((loop) => !dims[operand].has(loop.dim));
    const bytes = compulsory * (empty ? 1 : count(repeats));
    const tiles = operandTileShape(gather, operand, tile);
    return {
      operand,
      bytes,
      compulsory,
      transfers: count(nest),
      burst: contiguousRun(tiles, gather[operand].shape) * size,
    };
  });
  return {
    operands,
    bytes: operands.reduce((sum, o) => sum + o.bytes, 0),
    compulsory: operands.reduce((sum, o) => sum + o.compulsory, 0),
    tasks: count(loops.filter((loop) => loop.mode === "parallel")),
    tiles: count(loops),
    loops,
  };
}

function operandTileShape(gather: Gather, operand: Operand, tile: Shape): Shape {
  switch (operand) {
    case "data":
      return gather.map.results.map((access, k) =>
        access.kind === "direct" ? at(tile, access.dim) : at(gather.data.shape, k),
      );
    case "indices":
      return indexDims(gather.map).map((dim, k) =>
        dim === undefined ? at(gather.indices.shape, k) : at(tile, dim),
      );
    case "output":
      return tile;
  }
}
