/**
 * Global-memory traffic of a schedule in closed form: exact, and independent of tensor sizes.
 *
 * A load sits inside every parallel loop and inside the serial loops up to the last one its operand follows.
 * Loops outside it that the operand does not follow repeat it.
 */
import { cutBy, elementsRead, gatheredTable, inputTile, rowElements, walked } from "../access.js";
import { keyOf, type Role } from "../func.js";
import { at, bytesFor, contiguousRun, elementCount } from "../types.js";
import { tilesAlong, viewsAlong, type Loop } from "./loops.js";
import { isLookup } from "./residency.js";
import { entryLimits, type TiledGather, type TiledOperand } from "./tiled.js";

/**
 * Traffic of one operand between global memory and the cores over a whole execution, in bytes and transfers.
 */
export interface OperandTraffic {
  /** Key of the operand (`keyOf`). */
  readonly operand: string;
  readonly role: Role;
  /** Bytes that cross between global memory and the core. */
  readonly bytes: number;
  /** Bytes that every schedule must move: each needed element once. */
  readonly compulsory: number;
  /** Statements that move them, over the whole run. */
  readonly transfers: number;
  /** Bytes that lie together in global memory, per row of a transfer. */
  readonly burst: number;
}

/** A tiled gather with its loops, outermost first. */
type Planned = TiledGather & { readonly loops: readonly Loop[] };

/** Traffic of an operand, without its name. */
type Transferred = Omit<OperandTraffic, "operand" | "role">;

/**
 * Traffic between global memory and the cores over a whole execution, by operand and in total, in bytes.
 * `compulsory`: bytes that every schedule must move.
 */
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

/**
 * Returns the traffic of a gather between global memory and the cores, by operand and in total, in bytes and
 * transfers.
 */
export function trafficOf(tiling: Planned): Traffic {
  const { loops } = tiling;
  const operands = tiling.operands.map((operand, k): OperandTraffic => {
    const { role } = operand.operand;
    const transferred =
      role === "data" && !operand.inUb
        ? fetchedRows(tiling, operand, k)
        : (operand.inUb ? throughUb : inPlace)(tiling, operand, k);
    return { operand: keyOf(operand.operand), role, ...transferred };
  });
  return {
    operands,
    bytes: operands.reduce((sum, { bytes }) => sum + bytes, 0),
    compulsory: operands.reduce((sum, { compulsory }) => sum + compulsory, 0),
    tasks: iterations(
      tiling,
      loops.filter((loop) => loop.mode === "parallel"),
    ),
    tiles: iterations(tiling, loops),
    loops,
  };
}

/**
 * Returns the number of distinct elements of an operand that computing the whole output needs. `k`: index of
 * the operand, from 0.
 */
function compulsoryElements(
  { gather, extents }: TiledGather,
  { operand, inUb }: TiledOperand,
  k: number,
): number {
  const { role, type } = operand;
  const { map } = gather;
  if (elementCount(extents) === 0) return 0;
  if (role === "output") return elementCount(extents);
  const space = walked(map, extents);
  const reached = elementCount(inputTile(map, k, space, type.shape));
  // Rows straight from global memory need no more of the data than the output, or its terms, take.
  if (role === "data") return inUb ? reached : Math.min(reached, elementCount(space));
  return inUb ? reached : elementsRead(map, k, space, type.shape);
}

/**
 * Returns the bytes of the distinct elements of an operand that computing the whole output needs. `k`: index
 * of the operand, from 0.
 */
export const compulsoryBytes = (tiling: TiledGather, operand: TiledOperand, k: number): number =>
  bytesFor(compulsoryElements(tiling, operand, k), operand.operand.type.dtype);

/**
 * Returns the number of iterations of a nest of loops; 0 if the output is empty. `kinds`: loops of the nest.
 */
function iterations(
  { gather, extents, schedule, tile, reductionTile }: TiledGather,
  kinds: readonly Loop[],
): number {
  if (extents.includes(0)) return 0;
  const { max } = gather.map.reduced ?? { max: 0 };
  const chunks = kinds.some((loop) => loop.dim === extents.length) ? Math.ceil(max / reductionTile) : 1;
  return extents.reduce((product, extent, d) => {
    const loopKinds = kinds.filter((loop) => loop.dim === d).map((loop) => loop.kind);
    const view = Math.min(at(schedule.view, d), extent);
    if (loopKinds.includes("tile")) return product * tilesAlong(extent, view, at(tile, d));
    return loopKinds.includes("view") ? product * viewsAlong(extent, view) : product;
  }, chunks);
}

/**
 * Returns the traffic of data that stays in global memory: one transfer for each row that an index selects.
 * `k`: index of the operand, from 0.
 */
function fetchedRows(tiling: Planned, operand: TiledOperand, k: number): Transferred {
  const { gather, tile, extents } = tiling;
  const { dtype, shape } = operand.operand.type;
  const row = rowElements(gather.map, tile, shape);
  // Without an element to name, an index fetches nothing.
  const elements = gather.map.indices.some((index) => index.extent === 0)
    ? 0
    : elementCount(walked(gather.map, extents));
  const bytes = bytesFor(elements, dtype);
  return {
    bytes,
    compulsory: Math.min(compulsoryBytes(tiling, operand, k), bytes),
    transfers: elements / row,
    burst: bytesFor(row, dtype),
  };
}

/**
 * Returns two counts for an operand: the bytes that a set of loops transfers (`bytes`), and the bytes that
 * every schedule must transfer (`compulsory`). `repeats`: the loops. `each`: elements that one iteration
 * transfers; by default, all needed elements. `k`: index of the operand, from 0.
 */
function repeatedBytes(
  tiling: Planned,
  operand: TiledOperand,
  k: number,
  repeats: readonly Loop[],
  each = compulsoryElements(tiling, operand, k),
): Pick<OperandTraffic, "bytes" | "compulsory"> {
  const { dtype } = operand.operand.type;
  const elements = compulsoryElements(tiling, operand, k);
  const elementsIn = elements === 0 ? 0 : each * iterations(tiling, repeats);
  return { bytes: bytesFor(elementsIn, dtype), compulsory: bytesFor(elements, dtype) };
}

/**
 * Returns the traffic of an operand that is read or written in place, in global memory. `k`: index of the
 * operand, from 0.
 */
function inPlace(tiling: Planned, operand: TiledOperand, k: number): Transferred {
  const { role, type } = operand.operand;
  if (role === "indices" && isLookup(tiling.gather, k)) return lookupTraffic(tiling, operand, k);
  const repeats = role === "output" ? [] : tiling.loops.filter((loop) => !operand.dependsOn.has(loop.dim));
  return {
    ...repeatedBytes(tiling, operand, k, repeats),
    transfers: iterations(tiling, tiling.loops),
    burst: bytesFor(1, type.dtype),
  };
}

/**
 * Returns an upper bound on the traffic of an index tensor that is read element by element in global memory.
 * `k`: index of the operand, from 0.
 */
function lookupTraffic(tiling: Planned, operand: TiledOperand, k: number): Transferred {
  const { type } = operand.operand;
  const { map } = tiling.gather;
  const tiles = iterations(tiling, tiling.loops);
  const elements = elementsRead(map, k, walked(map, tiling.tile, tiling.reductionTile), type.shape);
  return {
    bytes: bytesFor(elements * tiles, type.dtype),
    compulsory: compulsoryBytes(tiling, operand, k),
    transfers: tiles,
    burst: bytesFor(1, type.dtype),
  };
}

/**
 * Returns the number of distinct elements of an operand that are loaded to the unified buffer (UB). `k`:
 * index of the operand, from 0.
 */
function loadedElements(tiling: Planned, operand: TiledOperand, k: number): number {
  const { gather, cut, schedule, extents } = tiling;
  const compulsory = compulsoryElements(tiling, operand, k);
  if (k !== gatheredTable || gather.framework === undefined || compulsory === 0) return compulsory;
  const reached = entryLimits(gather).map((limit, d) => {
    const [extent, view] = [at(extents, d), at(schedule.view, d)];
    const start = view * (viewsAlong(extent, view) - 1);
    const tiles = Math.ceil((extent - start) / at(cut, d));
    return start + Math.min(tiles * at(cut, d), view, limit - start);
  });
  return elementCount(inputTile(gather.map, k, walked(gather.map, reached), operand.operand.type.shape));
}

/**
 * Returns the traffic of an operand whose tiles are loaded to, or stored from, the unified buffer (UB). `k`:
 * index of the operand, from 0.
 */
function throughUb(tiling: Planned, operand: TiledOperand, k: number): Transferred {
  const { type } = operand.operand;
  const around = [...tiling.loops];
  for (
    let last = around.at(-1);
    last?.mode === "serial" && !operand.dependsOn.has(last.dim);
    last = around.at(-1)
  )
    around.pop();
  const cut = operand.operand.role === "output" ? operand.dependsOn : cutBy(tiling.gather.map, k);
  const repeats = around.filter((loop) => !cut.has(loop.dim));
  return {
    ...repeatedBytes(tiling, operand, k, repeats, loadedElements(tiling, operand, k)),
    transfers: iterations(tiling, around),
    burst: bytesFor(contiguousRun(operand.tile, type.shape), type.dtype),
  };
}
