/** The scatter of a tile program over whole tensors: the one that its tiles together are. */
import { formsOf, isOrderFree, mapForms, type AccessMap } from "./access.js";
import { overTensor } from "./addressing.js";
import { operandNamed, outputOf, type TileFunc } from "./func.js";
import { residue } from "./intervals/range.js";
import { add, constant, equalLinear, isConstant, iv, loopVariables, sub, type Linear } from "./linear.js";
import { domainOver, type Symbolic } from "./symbols/symbols.js";
import { statementsOf, type Located } from "./task/index.js";
import { carryingDims, orderFault, type TiledPoints } from "./tiling/point-order.js";
import { firstTable, type ForStmt, type Region, type ScatterStmt } from "./tile.js";
import { at } from "./types.js";

/**
 * Returns the access map of a scatter's tile program in coordinates of the whole tensors, not of the tiles.
 * Undefined if the program has no scatter, or if its tiles may give another result than the map.
 */
export function scatterOverTensors(func: TileFunc): AccessMap | undefined {
  const map = scatterInIteration(func);
  const scatter = scatterIn(statementsOf(func));
  if (map === undefined || scatter === undefined) return undefined;
  const around = loopsAround(scatter, func.symbolic);
  if (around === undefined) return undefined;
  const isDynamic = formsOf(map).some((form) => loopVariables(form).size > 0);
  return isDynamic || !isInOrder({ map, operands: func.operands }, around, scatter.loops) ? undefined : map;
}

/**
 * Returns the access map of a program's scatter in coordinates of the whole tensors. Loop variables remain
 * where the coordinates of a point depend on the tile that has the point. Undefined if the program has no
 * scatter, or if a tile in the unified buffer (UB) has parts of a tensor from several loads.
 */
export function scatterInIteration(func: TileFunc): AccessMap | undefined {
  const all = statementsOf(func);
  const stmt = scatterIn(all)?.stmt;
  if (stmt === undefined) return undefined;
  const first = firstTable(stmt, func.operands.length - 1);
  const offsetsOf = (table: number): readonly Linear[] | undefined => {
    const region = table === func.operands.length - 1 ? stmt.to : at(stmt.from, table - first);
    return offsetsIn(func, all, region);
  };
  const starts = func.operands.map((_, table) => (table < first ? [] : offsetsOf(table)));
  if (starts.includes(undefined)) return undefined;
  const placed = (form: Linear): Linear => overTensor(form, stmt.origin);
  return mapForms(stmt.map, placed, ({ table, at: coords }) =>
    coords.map((coord, k) => add(placed(coord), starts[table]?.[k] ?? constant(0))),
  );
}

const scatterIn = (all: readonly Located[]): Located<ScatterStmt> | undefined =>
  all.find((located): located is Located<ScatterStmt> => located.stmt.op === "scatter");

/**
 * Returns the offsets, in elements along each dim, of a region within its operand. For a region of a UB tile,
 * the offsets of the tile's load or store are added. Undefined if the tile has no load or store, or several
 * with different offsets.
 */
function offsetsIn(func: TileFunc, all: readonly Located[], region: Region): readonly Linear[] | undefined {
  if (operandNamed(func, region.buffer) !== undefined) return region.offsets;
  const copied = all.flatMap(({ stmt }): readonly Region[] => {
    if (stmt.op === "load" && stmt.to === region.buffer) return [stmt.from];
    return stmt.op === "store" && stmt.from === region.buffer ? [stmt.to] : [];
  });
  const [tensor, ...others] = copied;
  const isOne = others.every(({ offsets }) =>
    offsets.every((offset, k) => equalLinear(offset, at(tensor?.offsets ?? [], k))),
  );
  return tensor === undefined || !isOne
    ? undefined
    : region.offsets.map((offset, k) => add(at(tensor.offsets, k), offset));
}

/**
 * Returns the loops that split each dim of a scatter's domain into tiles, outermost first. Undefined if the
 * tiles do not partition the domain. `symbolic`: dynamic sizes, each with a loop around the statement.
 */
function loopsAround(
  { stmt, loops }: Located<ScatterStmt>,
  symbolic: Symbolic | undefined,
): readonly (readonly ForStmt[])[] | undefined {
  const extents = domainOver(stmt.map.domain, symbolic?.domain);
  const around = stmt.map.domain.map((max, d) => {
    const first = at(stmt.origin, d);
    const isMax = (form: Linear): boolean => isConstant(form) && form.at === max;
    return loopsAlong(
      { first, end: add(first, at(stmt.sizes, d)) },
      { extent: at(extents, d), isMax },
      loops,
    );
  });
  const used = around.flatMap((along) => along ?? []);
  const ofTiles = loops.length - (symbolic?.symbols.length ?? 0);
  const isOnce = used.length === ofTiles && new Set(used).size === ofTiles;
  return isOnce && around.every((along) => along !== undefined) ? around : undefined;
}

/** True if a scatter gives the same result tile by tile as point by point in the order of the domain. */
function isInOrder(
  scatter: TiledPoints["scatter"],
  around: readonly (readonly ForStmt[])[],
  loops: readonly ForStmt[],
): boolean {
  const { domain, write } = scatter.map;
  if (isOrderFree(write, outputOf(scatter).type.dtype)) return true;
  const carrying = carryingDims(scatter.map);
  const tile = domain.map((extent, d) => Math.min(extent, at(around, d).at(-1)?.step ?? extent));
  const depths = carrying.flatMap((d) => at(around, d).map((loop) => loops.indexOf(loop)));
  return (
    depths.every((depth, k) => k === 0 || depth > at(depths, k - 1)) &&
    orderFault({ scatter, tile, carrying }) === undefined
  );
}

/** Extent of a dim of a domain, which may be dynamic. */
interface FullDim {
  readonly extent: Linear;
  /** True if a form is the maximum extent: a tile of that size ends with the dim. */
  readonly isMax: (form: Linear) => boolean;
}

/** Piece of a dim of a domain. */
interface Piece {
  readonly first: Linear;
  readonly end: Linear;
}

/**
 * Returns the loops that split a dim into ranges, outermost first. Undefined if the ranges, in order, do not
 * make up the whole dim. The first parameter has the bounds of one iteration's range.
 */
function loopsAlong(
  { first, end }: Piece,
  { extent, isMax }: FullDim,
  loops: readonly ForStmt[],
): readonly ForStmt[] | undefined {
  const ends = sidesOf(end);
  if (equalLinear(first, constant(0)) && isSame(ends, [extent, ...ends.filter(isMax)])) return [];
  const depth = loops.findIndex((one) => equalLinear(first, iv(one.iv)));
  const loop = loops[depth];
  if (loop === undefined) return undefined;
  const { lower, upper, step } = loop;
  const next = add(first, constant(step));
  // Every piece is whole, and its end states no limit.
  const isEven = residue(sub(upper, lower), step, loops.slice(0, depth)) === 0;
  const isCut = isSame(ends, [next, ...sidesOf(upper)]) || (isEven && isSame(ends, [next]));
  const outer = isCut
    ? loopsAlong({ first: lower, end: upper }, { extent, isMax }, loops.slice(0, depth))
    : undefined;
  return outer === undefined ? undefined : [...outer, loop];
}

/** True if two lists have the same forms, each once or more often. */
const isSame = (some: readonly Linear[], others: readonly Linear[]): boolean => {
  const isIn = (list: readonly Linear[]) => (form: Linear) => list.some((one) => equalLinear(one, form));
  return some.every(isIn(others)) && others.every(isIn(some));
};

/** Returns forms whose least is a form. One with several minima stays as it is. */
function sidesOf(form: Linear): readonly Linear[] {
  const [least, ...others] = form.terms.filter(({ of }) => of.kind === "min");
  if (least?.of.kind !== "min" || least.by !== 1 || others.length > 0) return [form];
  const rest: Linear = { at: form.at, terms: form.terms.filter((term) => term !== least) };
  return least.of.of.flatMap((side) => sidesOf(add(rest, side)));
}
