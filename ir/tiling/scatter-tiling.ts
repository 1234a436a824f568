/**
 * A scatter under a schedule: which dims of its domain are cut to tasks, which run one after another, and what a tile takes of UB.
 *
 * A dim of the domain is separating if one written coordinate is that dim times a number, plus a number: points that differ in it never
 * write the same element. All other dims carry points, which are taken in order. A dim is a task's own if one written coordinate is
 * the dim itself and covers the output's: then the written tile follows it.
 */
import {
  baseFill,
  gatheredTable,
  inputTile,
  isOrderFree,
  readsOf,
  walked,
  type AccessMap,
} from "../access.js";
import { defined } from "../defined.js";
import { error, type Diagnostic } from "../diagnostic.js";
import { entryOf } from "../entry-of.js";
import { inputOf, inputsOf, keyOf, outputOf, type AccessFunc, type Operand } from "../func.js";
import { soleAtom } from "../linear.js";
import { formatEntry, type Residencies, type Residency, type ResolvedSchedule } from "../schedule.js";
import { targetFacts, type Target } from "../target.js";
import { alignUp, at, bytesFor, elementCount, formatShape, type DType, type Shape } from "../types.js";

/** A tile of an operand in UB. */
export interface ScatterTile {
  /** Place of the operand in the function. */
  readonly operand: number;
  readonly name: string;
  readonly dtype: DType;
  readonly shape: Shape;
  /** Bytes of an innermost row as it lies in UB. */
  readonly rowBytes: number;
  readonly bytes: number;
}

/** Part of the base that is copied at once where points are written to global memory. */
export interface BaseCopy extends ScatterTile {
  /** Dims of the output that a loop walks: those before the last by one element, the last by {@link step}. */
  readonly loops: readonly number[];
  readonly step: number;
}

/** A scatter cut to tiles. */
export interface ScatterTiling {
  readonly scatter: AccessFunc;
  readonly schedule: ResolvedSchedule;
  readonly target: Target;
  /** Points of a tile along each dim of the domain. */
  readonly tile: Shape;
  /** The memory of the written operand when points are written. */
  readonly residency: Residency;
  /** Dims of the domain whose tiles are tasks, with the dim of the output that each is. */
  readonly tasks: ReadonlyMap<number, number>;
  /** Dims of the domain that carry points. */
  readonly carrying: readonly number[];
  /** Extents of the region of the output that a task writes. */
  readonly written: Shape;
  /** Tiles in UB: the written one, and those of what is read there. */
  readonly tiles: readonly ScatterTile[];
  /** Absent where the written tile is in UB, in place, and of an output without elements. */
  readonly copy?: BaseCopy;
  /** UB that all take, in bytes. */
  readonly bytes: number;
}

/** Returns the dims of a domain that a written coordinate is a multiple of, plus a number. */
export function separatingDims({ write, domain }: AccessMap): ReadonlySet<number> {
  const dims = write.at.flatMap((coord) => {
    const [term, ...others] = coord.terms;
    return term?.of.kind === "dim" && others.length === 0 ? [term.of.dim] : [];
  });
  return new Set(dims.filter((d) => d < domain.length));
}

/** Returns the dims of the domain that are a dim of the output from end to end, with that dim. */
export function taskDims({ map, operands }: AccessFunc): ReadonlyMap<number, number> {
  const { shape } = outputOf({ operands }).type;
  const tasks = new Map<number, number>();
  map.write.at.forEach((coord, k) => {
    const only = soleAtom(coord);
    if (only?.kind !== "dim" || tasks.has(only.dim)) return;
    const others = map.write.at.filter(
      (other, n) => n !== k && other.terms.some(({ of }) => of.kind === "dim" && of.dim === only.dim),
    );
    if (others.length === 0 && map.domain[only.dim] === shape[k]) tasks.set(only.dim, k);
  });
  return tasks;
}

/** Returns where the written operand is under a schedule. */
export function writtenResidency(scatter: AccessFunc, residency: Residencies): Residency {
  if (typeof residency === "string") return residency;
  const base = scatter.operands[gatheredTable];
  const named = [outputOf(scatter), ...(base === undefined ? [] : [base])];
  return (
    named.map((operand) => entryOf(residency, keyOf(operand))).find((place) => place !== undefined) ?? "ub"
  );
}

/** True if a scatter reads an input: by its value, or as index values. */
const isTable = ({ map }: AccessFunc, table: number): boolean => readsOf(map, table).length > 0;

/** Returns what a scatter becomes under a schedule on a target. */
export function tileScatter(scatter: AccessFunc, schedule: ResolvedSchedule, target: Target): ScatterTiling {
  const { map } = scatter;
  const output = outputOf(scatter);
  const tasks = taskDims(scatter);
  const tile = map.domain.map((extent, d) => Math.max(1, Math.min(schedule.tile[d] ?? extent, extent)));
  const separating = separatingDims(map);
  const written = [...output.type.shape];
  for (const [d, k] of tasks) written[k] = Math.min(at(tile, d), at(written, k));
  const residency = writtenResidency(scatter, schedule.residency);
  const isEmpty = elementCount(map.domain) === 0 || elementCount(output.type.shape) === 0;
  const inUb = !targetFacts[target.kind].gathersInPlace && !isEmpty;
  const tileOf = (operand: Operand, number: number, shape: Shape): ScatterTile => {
    const { dtype } = operand.type;
    const rowBytes = alignUp(bytesFor(Math.max(1, shape[shape.length - 1] ?? 1), dtype), target.blockBytes);
    return {
      operand: number,
      name: operand.name,
      dtype,
      shape,
      rowBytes,
      bytes: elementCount(shape.slice(0, -1)) * rowBytes,
    };
  };
  const space = walked(map, tile);
  const tables = inputsOf(scatter).flatMap((operand, table) =>
    inUb && isTable(scatter, table)
      ? [tileOf(operand, table, inputTile(map, table, space, operand.type.shape))]
      : [],
  );
  const outputPlace = scatter.operands.length - 1;
  const inPlace = scatter.operands[gatheredTable]?.inout === true;
  const isLoaded = residency === "ub" && elementCount(output.type.shape) > 0;
  const tiles = [...(isLoaded ? [tileOf(output, outputPlace, written)] : []), ...tables];
  const taken = tiles.reduce((sum, { bytes }) => sum + bytes, 0);
  const copies = !isLoaded && !inPlace && elementCount(output.type.shape) > 0;
  const copy = copies
    ? baseCopy(written, new Set(tasks.values()), schedule.ubBytes - taken, (shape) =>
        tileOf(output, outputPlace, shape),
      )
    : undefined;
  return {
    scatter,
    schedule,
    target,
    tile,
    residency,
    tasks,
    carrying: map.domain.map((_, d) => d).filter((d) => !separating.has(d)),
    written,
    tiles,
    ...defined({ copy }),
    bytes: taken + (copy?.bytes ?? 0),
  };
}

/** Returns the largest box of a region that fits free UB: whole inner dims, and a number of elements of the one before them. */
function baseCopy(
  region: Shape,
  fixed: ReadonlySet<number>,
  free: number,
  tileOf: (shape: Shape) => ScatterTile,
): BaseCopy {
  const loops: number[] = [];
  let shape = [...region];
  for (let k = 0; k < region.length && tileOf(shape).bytes > free; k++) {
    if (fixed.has(k)) continue;
    loops.push(k);
    const one = shape.with(k, 1);
    const times = Math.max(1, Math.min(at(region, k), Math.floor(free / tileOf(one).bytes)));
    shape = shape.with(k, tileOf(shape.with(k, times)).bytes <= free ? times : 1);
  }
  const last = loops.at(-1);
  return { ...tileOf(shape), loops, step: last === undefined ? 1 : at(shape, last) };
}

/** Source of the rules that PyPTO documents for writes. */
const pages = "hicann/pypto docs/zh/api/operation/pypto-scatter_.md at 883e7df (2026-08-22)";

/** Returns the carrying dims that break the order of points: one that is cut, and one outside it whose tile has more than one point. */
function orderFault({
  scatter,
  tile,
  carrying,
}: ScatterTiling): { readonly cut: number; readonly outer: number } | undefined {
  const { map } = scatter;
  if (isOrderFree(map.write, outputOf(scatter).type.dtype)) return undefined;
  for (const cut of carrying) {
    if (at(tile, cut) >= at(map.domain, cut)) continue;
    const outer = carrying.find((d) => d < cut && at(tile, d) > 1);
    if (outer !== undefined) return { cut, outer };
  }
  return undefined;
}

/** Returns the diagnostics that refuse a scatter under a schedule; empty where it is legal. */
export function scatterRefusals(tiling: ScatterTiling): Diagnostic[] {
  const { scatter, target, residency, tile, schedule, bytes } = tiling;
  const { map, opSpan: span } = scatter;
  const { dtype } = outputOf(scatter).type;
  const { combine } = map.write;
  if (
    residency === "gm" &&
    combine !== "set" &&
    targetFacts[target.kind].vectorUnit &&
    !isOrderFree(map.write, dtype)
  ) {
    const message = `residency gm: ${combine} of ${dtype} takes points in order, and stores to global memory have none`;
    return [error("TC403", message, { span, hint: "--residency ub" })];
  }
  const fault = orderFault(tiling);
  if (fault !== undefined) {
    const { cut, outer } = fault;
    const message =
      `point-order: tile[${cut}] = ${at(tile, cut)} cuts dim ${cut} of ${at(map.domain, cut)}, and tile[${outer}] = ${at(tile, outer)} ` +
      `points of dim ${outer} outside it: a tile would take a point before an earlier one`;
    const nearest = inOrder(tiling);
    return [
      error("TC301", message, {
        span,
        notes: [
          "points that write one element are taken in row-major order of the domain",
          `source: ${pages}`,
        ],
        hint: `--tile ${nearest.join(",")}, or duplicates = unique`,
        data: { rule: "point-order", cut, outer, nearest },
      }),
    ];
  }
  if (bytes <= schedule.ubBytes) return [];
  const entries = [...tiling.tiles, ...(tiling.copy === undefined ? [] : [tiling.copy])];
  const sum = entries.map((entry) => entry.bytes).join(" + ");
  const smallest = smallestTile(tiling);
  const out = residency === "ub" && combine === "set" ? ["--residency gm"] : [];
  const hint = [...(smallest === undefined ? [] : [`--tile ${smallest.join(",")}`]), ...out].join(", or ");
  return [
    error(
      smallest === undefined ? "TC402" : "TC401",
      `tile ${formatShape(tile)} needs ${sum} = ${bytes} B > ${schedule.ubBytes} B of unified buffer`,
      {
        span,
        notes: entries.map(
          (entry) => `%${entry.name} ${formatShape(entry.shape)} of ${entry.dtype}: ${entry.bytes} B`,
        ),
        ...(hint === "" ? {} : { hint }),
        data: { bytes, budget: schedule.ubBytes, residency: formatEntry(residency) },
      },
    ),
  ];
}

/** Returns the tile with one point along each carrying dim outside of the innermost that it cuts. */
function inOrder({ scatter, tile, carrying }: ScatterTiling): Shape {
  const cut = Math.max(...carrying.filter((d) => at(tile, d) < at(scatter.map.domain, d)));
  return tile.map((entry, d) => (carrying.includes(d) && d < cut ? 1 : entry));
}

/** Returns the schedule with another tile. */
const withTile = ({ scatter, schedule, target }: ScatterTiling, tile: Shape): ScatterTiling =>
  tileScatter(scatter, { ...schedule, tile }, target);

const fits = ({ bytes, schedule }: ScatterTiling): boolean => bytes <= schedule.ubBytes;

/** Returns the largest tile from this one that fits, by halves of what takes most; undefined where none does. */
export function smallestTile(from: ScatterTiling): Shape | undefined {
  let tiling = from;
  const { map } = from.scatter;
  const isFree = isOrderFree(map.write, outputOf(from.scatter).type.dtype);
  while (!fits(tiling)) {
    const { tile, tasks, carrying } = tiling;
    const halved = (d: number): Shape => tile.with(d, Math.ceil(at(tile, d) / 2));
    const serial = tile.findIndex((entry, d) => {
      if (entry === 1 || tasks.has(d)) return false;
      // Outer carrying dims are cut to single points before an inner one is cut.
      return (
        isFree || !carrying.includes(d) || carrying.every((outer) => outer >= d || at(tile, outer) === 1)
      );
    });
    const ofTask = tile.findIndex((entry, d) => entry > 1 && tasks.has(d));
    const writtenAlone = tiling.tiles.find(({ operand }) => operand === tiling.scatter.operands.length - 1);
    const isWide = (writtenAlone?.bytes ?? 0) * 2 > tiling.schedule.ubBytes;
    const next = isWide && ofTask !== -1 ? ofTask : serial !== -1 ? serial : ofTask;
    if (next === -1) return undefined;
    tiling = withTile(tiling, halved(next));
  }
  return tiling.tile;
}

/** Returns the base of a scatter: an input, or bits. */
export const baseOf = (scatter: AccessFunc): Operand | string =>
  baseFill(scatter.map.write) ?? inputOf(scatter, gatheredTable);
