/**
 * A scatter under a schedule: which dims of its domain are cut to tasks, which run one after another, and
 * what a tile takes of UB.
 *
 * A dim of the domain is separating if one written coordinate is that dim times a number, plus a number:
 * points that differ in it never write the same element. All other dims carry points, which are taken in
 * order. Tasks divide a dim if one written coordinate is the dim itself: then the written tile follows it. If
 * the output is longer than the domain along that dim and is a copy of the base, each task also copies its
 * share of the elements after the domain.
 */
import { baseFill, gatheredTable, inputTile, readsOf, walked, type AccessMap } from "../access.js";
import { entryOf } from "../entry-of.js";
import {
  inputOf,
  inputsOf,
  keyOf,
  outputOf,
  outputPlace,
  isInPlace,
  type AccessFunc,
  type Operand,
} from "../func.js";
import { dimsOf, soleAtom } from "../linear.js";
import type { Residency, ResolvedSchedule } from "../schedule.js";
import { targetFacts, type Target } from "../target.js";
import { at, elementCount, type Shape } from "../types.js";
import type { Loop } from "./loops.js";
import { carryingDims } from "./point-order.js";
import { maxSlotBytes } from "./scatter-slots.js";
import { countedByPypto, type PyptoEntry } from "./pypto-writes.js";
import { dataResidency } from "./residency.js";
import { paddedTile, type ScatterTile } from "./scatter-tile.js";
import type { TiledOperand } from "./tiled.js";

/** Properties of a task dim: a dim of a scatter's domain whose tiles are parallel tasks. */
export interface TaskDim {
  /** Output dim whose written coordinate equals this dim. */
  readonly output: number;
  /**
   * `rest`: number of output elements beyond the domain, which tasks copy from the base. `restOfEach`: the
   * part of `rest` for each point of this dim.
   */
  readonly rest: number;
  readonly restOfEach: number;
}

/**
 * Result of applying a schedule to a scatter on a target: tiles, parallel tasks, loops, and the tiles in the
 * unified buffer (UB).
 */
export interface ScatterTiling {
  readonly scatter: AccessFunc;
  readonly schedule: ResolvedSchedule;
  readonly target: Target;
  /** Points of a tile along each dim of the domain. */
  readonly tile: Shape;
  /** Memory that holds the written operand while points are written. */
  readonly residency: Residency;
  /** Dims of the domain whose tiles are tasks. */
  readonly tasks: ReadonlyMap<number, TaskDim>;
  /** Dims of the domain that carry points. */
  readonly carrying: readonly number[];
  /**
   * Loops over tiles, outermost first. Those of tasks are parallel; the others are serial, and ascend in the
   * order of dims.
   */
  readonly loops: readonly Loop[];
  /** Extents of the region of the output that a task writes. */
  readonly written: Shape;
  /** True if a region of the output is kept in UB while its points are written. */
  readonly isLoaded: boolean;
  /** Tiles in UB: the written one, and those of what is read there. */
  readonly tiles: readonly ScatterTile[];
  /** Entries that PyPTO counts in addition to the tiles. */
  readonly counted: readonly PyptoEntry[];
  /** Parts of the output that a task copies from the base, each with the box that it copies at once. */
  readonly copies: readonly BaseCopy[];
}

/**
 * Region of the output, beyond the domain, that a task fills with elements of the base. `shape`, `bytes`:
 * part of the region that is copied at once.
 */
export interface BaseCopy extends ScatterTile {
  /** Dims along which the region lies beyond the domain. */
  readonly after: readonly number[];
}

/**
 * Returns the dims of a scatter's domain whose tiles can be parallel tasks, each with its output dim. Such a
 * domain dim equals the written coordinate along the output dim, and occurs in no other written coordinate.
 * Empty dims are left out.
 */
export function taskDims(scatter: Pick<AccessFunc, "map" | "operands">): ReadonlyMap<number, TaskDim> {
  const { map, operands } = scatter;
  const { shape } = outputOf({ operands }).type;
  const tasks = new Map<number, TaskDim>();
  map.write.at.forEach((coord, k) => {
    const only = soleAtom(coord);
    if (only?.kind !== "dim" || tasks.has(only.dim)) return;
    const others = map.write.at.filter((other, n) => n !== k && dimsOf(other).includes(only.dim));
    const [extent = 0, full] = [map.domain[only.dim], at(shape, k)];
    if (others.length > 0 || extent === 0) return;
    const rest = isInPlace(scatter) ? 0 : full - extent;
    tasks.set(only.dim, { output: k, rest, restOfEach: Math.ceil(rest / extent) });
  });
  return tasks;
}

/** Returns the points of a tile along each dim: no more than its view and the domain have. */
const tileOfPoints = ({ domain }: AccessMap, { tile, view }: ResolvedSchedule): Shape =>
  domain.map((extent, d) => Math.max(1, Math.min(tile[d] ?? extent, view[d] ?? extent, extent)));

/**
 * Returns the loops of a scatter over views and tiles, outermost first. Parallel loops precede serial loops.
 */
function loopsOf(
  { domain }: AccessMap,
  { order, view }: ResolvedSchedule,
  tile: Shape,
  tasks: ReadonlyMap<number, TaskDim>,
): readonly Loop[] {
  const along = (dim: number, mode: Loop["mode"]): Loop[] => {
    const extent = at(domain, dim);
    const inView = Math.min(view[dim] ?? extent, extent);
    return [
      ...(inView < extent ? [{ dim, kind: "view", mode, step: inView } as const] : []),
      ...(at(tile, dim) < inView ? [{ dim, kind: "tile", mode, step: at(tile, dim) } as const] : []),
    ];
  };
  return [
    ...order.filter((d) => tasks.has(d)).flatMap((d) => along(d, "parallel")),
    ...domain.flatMap((_, d) => (tasks.has(d) ? [] : along(d, "serial"))),
  ];
}

/**
 * True if a scatter reads an input, for the value or for an index operand. `table`: index of the input, from
 * 0.
 */
export const isTable = ({ map }: AccessFunc, table: number): boolean => readsOf(map, table).length > 0;

/**
 * Returns a scatter without points as one that has none along any dim, and any other unchanged. Coordinates
 * without points may leave their operands, and no tile may.
 */
function emptyAlongAll(scatter: AccessFunc): AccessFunc {
  const { domain } = scatter.map;
  if (!domain.includes(0)) return scatter;
  return { ...scatter, map: { ...scatter.map, domain: domain.map(() => 0) } };
}

/**
 * Returns the result of applying a schedule to a scatter on a target: tiles, parallel tasks, loops, and
 * copies of the base (the scatter's initial output). `serial`: dims of the domain whose tiles are no tasks,
 * though they could be.
 */
export function tileScatter(
  given: AccessFunc,
  schedule: ResolvedSchedule,
  target: Target,
  serial: readonly number[] = [],
): ScatterTiling {
  const scatter = emptyAlongAll(given);
  const { map } = scatter;
  const output = outputOf(scatter);
  const { shape: full } = output.type;
  const tasks = new Map([...taskDims(scatter)].filter(([d]) => !serial.includes(d)));
  const tile = tileOfPoints(map, schedule);
  const written = [...full];
  for (const [d, { output: k }] of tasks) written[k] = at(tile, d);
  const residency = dataResidency(scatter, schedule);
  const hasElements = elementCount(full) > 0;
  const isLoaded = residency === "ub" && hasElements;
  const tiles = [
    ...(isLoaded ? [tileOf(output, outputPlace(scatter), written, target)] : []),
    ...tablesInUb(scatter, schedule, tile, target),
  ];
  const counted = countedByPypto({ scatter, target, tiles, tile, isLoaded, written });
  const points = {
    dtype: output.type.dtype,
    isSet: map.write.combine === "set",
    inUb: isLoaded,
    columns: tile.at(-1) ?? 1,
  };
  // What is copied at once leaves space for the slots of points.
  const slots = targetFacts[target.kind].vectorUnit ? maxSlotBytes(points, target.blockBytes) : 0;
  const taken = [...tiles, ...counted].reduce((sum, { bytes }) => sum + bytes, slots);
  return {
    scatter,
    schedule,
    target,
    tile,
    residency,
    tasks,
    carrying: carryingDims(map),
    loops: loopsOf(map, schedule, tile, tasks),
    written,
    isLoaded,
    tiles,
    counted,
    copies: hasElements
      ? copiesOfBase(
          scatter,
          { tasks, tile, written, isLoaded },
          Math.min(schedule.ubBytes, target.ubSafeBytes) - taken,
          (shape) => tileOf(output, outputPlace(scatter), shape, target),
        )
      : [],
  };
}

/**
 * Returns the regions of the output that a task fills with elements of the base (the scatter's initial
 * output). The list is empty for an in-place scatter. `free`: bytes of the unified buffer (UB) for all
 * copies.
 */
function copiesOfBase(
  scatter: AccessFunc,
  { tasks, tile, written, isLoaded }: Pick<ScatterTiling, "tasks" | "tile" | "written" | "isLoaded">,
  free: number,
  tileFor: (shape: Shape) => ScatterTile,
): readonly BaseCopy[] {
  if (isInPlace(scatter)) return [];
  const short = [...tasks].flatMap(([d, { rest }]) => (rest > 0 ? [d] : []));
  const pieces = short
    .reduce<readonly (readonly number[])[]>((sets, d) => [...sets, ...sets.map((set) => [...set, d])], [[]])
    .filter((after) => after.length > 0 || !isLoaded);
  return pieces.map((after) => {
    const region = [...written];
    for (const d of after) {
      const task = tasks.get(d);
      if (task !== undefined) region[task.output] = copiedRest(task, at(tile, d));
    }
    return { ...copiedAtOnce(region, Math.floor(free / pieces.length), tileFor), after };
  });
}

/** Returns the most elements after the domain that a task of so many points copies along its dim. */
const copiedRest = ({ rest, restOfEach }: TaskDim, points: number): number =>
  Math.min(rest, restOfEach * points);

/**
 * Returns the tiles in the unified buffer (UB) of the inputs that a scatter reads. The list is empty on
 * targets other than Ascend cores.
 */
function tablesInUb(
  scatter: AccessFunc,
  { residency }: ResolvedSchedule,
  tile: Shape,
  target: Target,
): readonly ScatterTile[] {
  const { map } = scatter;
  if (targetFacts[target.kind].gathersInPlace || elementCount(map.domain) === 0) return [];
  const space = walked(map, tile);
  const inGm = (operand: Operand): boolean =>
    typeof residency !== "string" &&
    operand.role === "indices" &&
    entryOf(residency, keyOf(operand)) === "gm";
  return inputsOf(scatter).flatMap((operand, table) =>
    isTable(scatter, table) && !inGm(operand)
      ? [tileOf(operand, table, inputTile(map, table, space, operand.type.shape), target)]
      : [],
  );
}

/** Returns the tile of an operand in UB. */
const tileOf = ({ name, type }: Operand, place: number, shape: Shape, target: Target): ScatterTile => ({
  operand: place,
  ...paddedTile(name, type.dtype, shape, target.blockBytes),
});

/**
 * Returns the largest part of a region that fits `free` bytes of the unified buffer (UB), as a tile of at
 * least one element.
 */
function copiedAtOnce(region: Shape, free: number, tileFor: (shape: Shape) => ScatterTile): ScatterTile {
  let shape: Shape = region.map((extent) => Math.max(1, extent));
  for (let k = 0; k < region.length && tileFor(shape).bytes > free; k++) {
    const one = shape.with(k, 1);
    const inRow = k === region.length - 1;
    const times = inRow
      ? Math.floor((free * at(shape, k)) / Math.max(1, tileFor(shape).bytes))
      : Math.floor(free / tileFor(one).bytes);
    shape = shape.with(k, Math.max(1, Math.min(at(shape, k), times)));
  }
  return tileFor(shape);
}

/** Returns the operands of a scatter, with the extents of the part that a tile reads or writes. */
export function tiledTables({
  scatter,
  tile,
  written,
  tiles,
  isLoaded,
}: ScatterTiling): readonly TiledOperand[] {
  const { map } = scatter;
  const points = new Set(map.domain.keys());
  return scatter.operands.map((operand, place): TiledOperand => {
    if (operand.role === "output") return { operand, tile: written, dependsOn: points, inUb: isLoaded };
    return {
      operand,
      tile: inputTile(map, place, walked(map, tile), operand.type.shape),
      dependsOn: points,
      inUb: tiles.some((entry) => entry.operand === place),
    };
  });
}

/**
 * Returns the base of a scatter (the initial values of the output): an input operand, or the bits of a
 * constant fill value.
 */
export const baseOf = (scatter: AccessFunc): Operand | string =>
  baseFill(scatter.map.write) ?? inputOf(scatter, gatheredTable);
