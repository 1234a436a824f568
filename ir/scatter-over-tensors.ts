/** The scatter of a tile program over whole tensors: the one that its tiles together are. */
import { formsOf, mapForms, type AccessMap } from "./access.js";
import { overTensor } from "./addressing.js";
import { operandNamed, type TileFunc } from "./func.js";
import {
  add,
  constant,
  equalLinear,
  isConstant,
  iv,
  loopVariables,
  min,
  sub,
  type Linear,
} from "./linear.js";
import { statementsOf, type Located } from "./task/index.js";
import { firstTable, type ForStmt, type Region, type ScatterStmt } from "./tile.js";
import { at } from "./types.js";

/**
 * Returns the map over whole tensors of the scatter of a tile program. Undefined for a program without one, and where its tiles, one
 * after another, are not the points of the domain in order: a program written by hand may take some points, or take them otherwise.
 */
export function scatterOverTensors(func: TileFunc): AccessMap | undefined {
  const all = statementsOf(func);
  const scatter = all.find((located): located is Located<ScatterStmt> => located.stmt.op === "scatter");
  if (scatter === undefined || !isInOrder(scatter)) return undefined;
  const { stmt } = scatter;
  const first = firstTable(stmt, func.operands.length - 1);
  const offsetsOf = (table: number): readonly Linear[] | undefined => {
    const region = table === func.operands.length - 1 ? stmt.to : at(stmt.from, table - first);
    return offsetsIn(func, all, region);
  };
  const starts = func.operands.map((_, table) => (table < first ? [] : offsetsOf(table)));
  if (starts.includes(undefined)) return undefined;
  const placed = (form: Linear): Linear => overTensor(form, stmt.origin);
  const map = mapForms(stmt.map, placed, ({ table, at: coords }) =>
    coords.map((coord, k) => add(placed(coord), starts[table]?.[k] ?? constant(0))),
  );
  return formsOf(map).some((form) => loopVariables(form).size > 0) ? undefined : map;
}

/** Returns where a region starts in its tensor: the one that its tile was loaded from, or is stored to. Undefined for several. */
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

/** True if the loops around a scatter cut its domain to tiles, each dim once, and those that are serial run in the order of their dims. */
function isInOrder({ stmt, loops }: Located<ScatterStmt>): boolean {
  const cut = stmt.map.domain.map((extent, d) => loopOf(stmt, d, extent, loops));
  if (cut.includes("none")) return false;
  const depths = cut.flatMap((loop) => (loop === "whole" || loop === "none" ? [] : [loops.indexOf(loop)]));
  const serial = depths.filter((depth) => at(loops, depth).mode === "serial");
  return (
    new Set(depths).size === loops.length &&
    depths.length === loops.length &&
    serial.every((depth, k) => k === 0 || depth > at(serial, k - 1))
  );
}

/** Returns the loop whose iterations are the tiles along a dim. */
function loopOf(
  { origin, sizes }: ScatterStmt,
  d: number,
  extent: number,
  loops: readonly ForStmt[],
): ForStmt | "whole" | "none" {
  const [first, size] = [at(origin, d), at(sizes, d)];
  const isNumber = (form: Linear, value: number): boolean => isConstant(form) && form.at === value;
  if (isNumber(first, 0) && isNumber(size, extent)) return "whole";
  const loop = loops.find((one) => equalLinear(first, iv(one.iv)));
  if (loop === undefined || !isNumber(loop.lower, 0) || !isNumber(loop.upper, extent)) return "none";
  const { step } = loop;
  const isTile =
    extent % step === 0
      ? isNumber(size, step)
      : equalLinear(size, min(constant(step), sub(constant(extent), first)));
  return isTile ? loop : "none";
}
