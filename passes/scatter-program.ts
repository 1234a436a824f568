/**
 * The tile program of a scatter. Tasks are tiles along the dims of the domain that the written region
 * follows. Each loads its region of the base, or copies it in global memory, then takes its points chunk by
 * chunk in order, and stores the region where it was in UB.
 */
import { walked, type AccessMap } from "../ir/access.js";
import { defined } from "../ir/defined.js";
import { inputsOf, isInPlace, outputOf, outputPlace, type TileFunc } from "../ir/func.js";
import { add, constant, equalLinear, isConstant, iv, min, scale, sub, type Linear } from "../ir/linear.js";
import { domainOver, extentsOver, type Symbolic } from "../ir/symbols/symbols.js";
import {
  baseOf,
  isTable,
  tileScatter,
  type BaseCopy,
  type ScatterTiling,
} from "../ir/tiling/scatter-tiling.js";
import type { ScatterTile } from "../ir/tiling/scatter-tile.js";
import type { Region, Stmt, UbBuffer } from "../ir/tile.js";
import { at, elementCount } from "../ir/types.js";
import { UniqueNames } from "../ir/unique-names.js";
import {
  dimBounds,
  inputRegion,
  inUbTile,
  mapInTile,
  nest,
  regionOver,
  type DimBounds,
  type TileBounds,
} from "./tile-bounds.js";

/**
 * Returns the tile program of a scatter before the later passes: loads are not hoisted, buffers have no
 * addresses, and there are no syncs.
 */
export const scatterProgram = (tiling: ScatterTiling): TileFunc =>
  programOf(tiling, tiling.scatter.map, extentsOf(tiling));

/**
 * Returns one tile program for all sizes of a scatter's symbols (dynamic sizes). Tiles and buffers are sized
 * for the largest sizes. Undefined if an extent of the domain after the outermost is dynamic, or if the
 * domain is empty. `map`: access map of all sizes.
 */
export function dynamicScatterProgram(
  tiling: ScatterTiling,
  map: AccessMap,
  symbolic: Symbolic,
): TileFunc | undefined {
  const { scatter, schedule, target, tasks } = tiling;
  const extents = extentsOf(tiling, symbolic);
  if (elementCount(map.domain) === 0 || !extents.domain.slice(1).every(isConstant)) return undefined;
  const output = at(extents.operands, outputPlace(scatter));
  // What each of its tasks would copy of the base after the domain depends on sizes.
  const serial = [...tasks].flatMap(([d, { output: k }]) => {
    const [points, elements] = [at(extents.domain, d), at(output, k)];
    const isFixed = equalLinear(points, elements) || [points, elements].every(isConstant);
    return isInPlace(scatter) || isFixed ? [] : [d];
  });
  return programOf(tileScatter(scatter, schedule, target, serial), map, extents);
}

/** Extents of a scatter's domain and of its operands, outermost first. */
interface ScatterExtents {
  readonly domain: readonly Linear[];
  readonly operands: readonly (readonly Linear[])[];
}

/** Returns the extents of a scatter: over symbols, or the numbers of the tiling. */
const extentsOf = ({ scatter: { map, operands } }: ScatterTiling, symbolic?: Symbolic): ScatterExtents => ({
  domain: domainOver(map.domain, symbolic?.domain),
  operands: operands.map(({ type }, k) => extentsOver(type.shape, symbolic?.outermost[k] ?? null)),
});

/** Returns the tile program of a scatter with the access map `map`, over extents that may be dynamic. */
function programOf(tiling: ScatterTiling, map: AccessMap, extents: ScatterExtents): TileFunc {
  const { scatter, schedule, tile, loops } = tiling;
  const { operands, name, target, span } = scatter;
  const output = outputOf(scatter);
  const bounds = map.domain.map((limit, d) =>
    dimBounds(d, at(extents.domain, d), { limit, step: Math.min(at(tile, d), limit) }, { schedule, loops }),
  );
  const full = at(extents.operands, outputPlace(scatter));
  const along = writtenBounds(tiling, bounds, full);
  const region = (buffer: string): Region => regionOver(buffer, along);
  const names = new UniqueNames(operands.map((operand) => operand.name));
  const buffers = new Map(tiling.tiles.map((entry) => [entry.operand, bufferOf(entry, names)]));
  const reduction = walked(map, []).map((max) => ({ offset: constant(0), size: constant(max) }));
  const space = [...bounds, ...reduction];
  const global = inputsOf(scatter).map(({ name: buffer }, table): Region => ({
    buffer,
    ...inputRegion(map, table, at(extents.operands, table), space),
  }));
  const tileOf = (operand: number): string | undefined => buffers.get(operand)?.name;
  const to = region(output.name);
  // Where nothing is read of the base, no region of it stands in the statement.
  const first = typeof baseOf(scatter) === "string" || isTable(scatter, 0) ? 0 : 1;
  const points: Stmt[] = [
    ...global.flatMap((from, table): Stmt[] => {
      const to = tileOf(table);
      return to === undefined ? [] : [{ op: "load", from, to }];
    }),
    {
      op: "scatter",
      from: global.slice(first).map((from, k) => inUbTile(from, tileOf(first + k))),
      to: inUbTile(to, tileOf(outputPlace(scatter))),
      map: mapInTile(map, [...global, to], space),
      sizes: bounds.map(({ size }) => size),
      origin: bounds.map(({ offset }) => offset),
    },
  ];
  const chunks = nest(
    loops.filter(({ mode }) => mode === "serial"),
    bounds,
    points,
  );
  const written = buffers.get(outputPlace(scatter));
  const copies = tiling.copies.map((copy) => copied(tiling, copy, { bounds, full }, names));
  const task: readonly Stmt[] = [
    ...copies.flatMap(({ body }) => body),
    ...(written === undefined
      ? chunks
      : [filled(tiling, region, written.name), ...chunks, { op: "store", from: written.name, to } as const]),
  ];
  return {
    level: "tile",
    name,
    operands,
    schedule,
    body: [
      ...[...buffers.values(), ...copies.map(({ buffer }) => buffer)].map(
        (buffer) => ({ op: "alloc", buffer }) as const,
      ),
      ...nest(
        loops.filter(({ mode }) => mode === "parallel"),
        bounds,
        task,
      ),
    ],
    ...defined({ target, span }),
  };
}

/**
 * Returns, for each output dim, the bounds in elements of the region that a task writes. Along dims that are
 * not split among tasks, the bounds are the full extent. `full`: extents of the output.
 */
function writtenBounds(
  { tasks }: ScatterTiling,
  bounds: readonly TileBounds[],
  full: readonly Linear[],
): readonly TileBounds[] {
  const along = full.map((size): TileBounds => ({ offset: constant(0), size }));
  for (const [d, { output: k }] of tasks) along[k] = at(bounds, d);
  return along;
}

const bufferOf = ({ name, dtype, shape, rowBytes }: ScatterTile, names: UniqueNames): UbBuffer => ({
  name: names.next(`${name}_ub`),
  dtype,
  shape,
  rowBytes,
  buffers: 1,
});

/** Returns what fills the written tile with its region of the base. */
function filled({ scatter }: ScatterTiling, region: (buffer: string) => Region, to: string): Stmt {
  const base = baseOf(scatter);
  return typeof base === "string"
    ? { op: "fill", to, bits: base }
    : { op: "load", from: region(base.name), to };
}

/** Bounds of a task's tile along each dim of the domain, and the extents of the output. */
interface TaskBounds {
  readonly bounds: readonly DimBounds[];
  readonly full: readonly Linear[];
}

/**
 * Part of a dim of the output that a task copies box by box: from an offset up to the least of some ends,
 * from that offset.
 */
interface CopiedDim {
  readonly offset: Linear;
  /** Start of the walk over boxes, and its ends; absent if one box covers the part. */
  readonly walk?: { readonly from: Linear; readonly ends: readonly [Linear, ...Linear[]] };
  readonly size: Linear;
}

/**
 * Returns the code that copies part of a scatter's base (initial values of the output) to the output. The
 * result has two fields: the buffer in the unified buffer (UB) through which the part is copied, and the
 * statements.
 */
function copied(
  tiling: ScatterTiling,
  copy: BaseCopy,
  within: TaskBounds,
  names: UniqueNames,
): { readonly buffer: UbBuffer; readonly body: readonly Stmt[] } {
  const { scatter } = tiling;
  const base = baseOf(scatter);
  const buffer = bufferOf({ ...copy, name: "base" }, names);
  const dims = copiedDims(tiling, copy, within);
  const variables = dims.map(({ walk }, k) => (walk === undefined ? undefined : names.next(`c${k}`)));
  const piece = (of: string): Region => ({
    buffer: of,
    offsets: dims.map(({ offset }, k) => {
      const variable = variables[k];
      return variable === undefined ? offset : add(offset, iv(variable));
    }),
    sizes: dims.map(({ size, walk }, k) => {
      const variable = variables[k];
      if (variable === undefined || walk === undefined) return size;
      const [only, another] = walk.ends;
      const isEven = another === undefined && isConstant(only) && only.at % at(copy.shape, k) === 0;
      if (isEven) return constant(at(copy.shape, k));
      const [end, ...ends] = walk.ends.map((one) => sub(one, iv(variable)));
      return [end, ...ends].reduce<Linear>(
        (least, one) => (one === undefined ? least : min(least, one)),
        constant(at(copy.shape, k)),
      );
    }),
  });
  const store: Stmt = { op: "store", from: buffer.name, to: piece(outputOf(scatter).name) };
  const inside: readonly Stmt[] =
    typeof base === "string" ? [store] : [{ op: "load", from: piece(base.name), to: buffer.name }, store];
  const walk = dims.reduceRight<readonly Stmt[]>((body, dimOf, k) => {
    const variable = variables[k];
    if (variable === undefined || dimOf.walk === undefined) return body;
    const { from: lower, ends } = dimOf.walk;
    const upper = ends.reduce<Linear>((least, one) => min(least, one), ends[0]);
    return [{ op: "for", iv: variable, lower, upper, step: at(copy.shape, k), mode: "serial", body }];
  }, inside);
  const fill: readonly Stmt[] = typeof base === "string" ? [{ op: "fill", to: buffer.name, bits: base }] : [];
  return { buffer, body: [...fill, ...walk] };
}

/**
 * Returns, for each output dim, the part of a scatter's base that a task copies to the output. The part has
 * an offset and a size in elements, and a loop if it is copied in several chunks.
 */
function copiedDims(
  { scatter, tasks, written, tile }: ScatterTiling,
  { after, shape }: BaseCopy,
  { bounds, full }: TaskBounds,
): readonly CopiedDim[] {
  const dims = outputOf(scatter).type.shape.map((extent, k): CopiedDim => {
    const size = at(full, k);
    return at(shape, k) >= extent
      ? { offset: constant(0), size }
      : { offset: constant(0), size, walk: { from: constant(0), ends: [size] } };
  });
  for (const [d, { output: k, rest, restOfEach }] of tasks) {
    const { offset, size, tileRange } = at(bounds, d);
    if (after.includes(d)) {
      const ends = [
        scale(add(offset, constant(at(tile, d))), restOfEach),
        scale(tileRange[1], restOfEach),
      ] as const;
      dims[k] = {
        offset: constant(at(scatter.map.domain, d)),
        size,
        walk: { from: scale(offset, restOfEach), ends: [...ends, constant(rest)] },
      };
    } else if (at(shape, k) >= at(written, k)) dims[k] = { offset, size };
    else {
      dims[k] = { offset, size, walk: { from: constant(0), ends: [size] } };
    }
  }
  return dims;
}
