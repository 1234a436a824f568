/**
 * Well-formedness of the access and tile levels. The language's contract, in the order it is checked.
 *
 * Access: A1 one result per data dim. A2 every output dim is followed by data or indices. A3 no two data dims follow
 * the same output dim. A4 a direct dim's output extent does not exceed the data extent. A5 index coordinates match the
 * rank and extents of indices, the same dims in every result. A6 at least one result is indirect. A7 output and data
 * have one element type; indices are integers. A8 paired dims are gather dims with an output dim of their own number.
 *
 * Tile: T1 a name is defined once, before its use, in a scope that holds it. T2 a UB buffer has one writer. T3 regions
 * have their buffer's rank and stay inside it, whatever the iteration. T4 parallel loops are outermost. T5 loads fill
 * UB, stores empty it, and the gather writes the output or what a store writes there. T6 allocs stand at the top. T7 a
 * gather's origin is where its indices start in the index tensor. T8 there is one gather, unless the output is empty.
 * T9 the schedule leaves a core and a unified buffer. T10 operands of
 * a gather have the sizes of the output dims they follow. T15 the writer of a UB buffer stands before its readers.
 */
import { dataFollows, gatherAccesses, gatherDims, indexDims, type AccessMap } from "../access.js";
import { error, type Diagnostic } from "../diagnostic.js";
import { add, constant, equalExpr, evaluate, loopVariables, type IndexExpr } from "../expr.js";
import type { AccessFunc, Func, TileFunc } from "../func.js";
import { printRegion } from "../text/print.js";
import type { ForStmt, GatherStmt, Region, Stmt } from "../tile.js";
import { at, elementCount, isIndexDType, type Shape, type Span } from "../types.js";
import { isParam, ubAccesses, ubBuffers } from "./accesses.js";

export function verifyStructure(func: Func): Diagnostic[] {
  const names = [func.data.name, func.indices.name, func.output.name];
  if (new Set(names).size !== names.length) {
    return [broken("T1", `a name is defined twice among %${names.join(", %")}`, func.span)];
  }
  switch (func.level) {
    case "source":
      return [];
    case "access":
      return verifyAccess(func);
    case "tile":
      return verifyTile(func);
  }
}

const broken = (rule: string, message: string, span: Span | undefined): Diagnostic =>
  error("TC201", `${rule}: ${message}`, { span, data: { rule } });

function verifyAccess(func: AccessFunc): Diagnostic[] {
  const found: Diagnostic[] = [];
  const report = (rule: string, message: string): void => {
    found.push(broken(rule, message, func.opSpan));
  };
  verifyMap(func.map, func, report);
  const follows = dataFollows(func.map);
  for (const dim of func.paired) {
    if (!gatherDims(func.map).includes(dim) || dim >= func.map.outRank || follows.has(dim)) {
      report("A8", `dim ${dim} is no gather dim with an output dim of its own`);
    }
  }
  return found;
}

/** A1 to A7: the map against the tensors of the function. */
function verifyMap(map: AccessMap, func: Func, report: (rule: string, message: string) => void): void {
  const [data, indices, output] = [func.data.type, func.indices.type, func.output.type];
  if (map.results.length !== data.shape.length) {
    report("A1", `${map.results.length} results for data of rank ${data.shape.length}`);
    return;
  }
  if (map.outRank !== output.shape.length) {
    report("A1", `the map has ${map.outRank} output dims and the output rank ${output.shape.length}`);
    return;
  }
  const coords = indexDims(map);
  const used = new Set([
    ...map.results.flatMap((r) => (r.kind === "direct" ? [r.dim] : [])),
    ...coords.flatMap((dim) => (dim === undefined ? [] : [dim])),
  ]);
  output.shape.forEach((_, d) => {
    if (!used.has(d)) report("A2", `nothing follows output dim ${d}`);
  });
  const followed = new Set<number>();
  map.results.forEach((result, k) => {
    if (result.kind !== "direct") return;
    if (followed.has(result.dim)) report("A3", `two data dims follow output dim ${result.dim}`);
    followed.add(result.dim);
    const [extent, limit] = [at(output.shape, result.dim), at(data.shape, k)];
    if (extent > limit)
      report("A4", `output dim ${result.dim} has ${extent} elements, data dim ${k} only ${limit}`);
  });
  const indirect = gatherAccesses(map).map(({ access }) => access);
  const short = indirect.find((result) => result.at.length !== indices.shape.length);
  if (short !== undefined) {
    report("A5", `${short.at.length} index coordinates for indices of rank ${indices.shape.length}`);
    return;
  }
  for (const result of indirect) {
    result.at.forEach((coord, k) => {
      const extent = at(indices.shape, k);
      if (coord.kind === "component") {
        if (coord.value < 0 || coord.value >= extent) report("A5", `component ${coord.value} of ${extent}`);
        if (at(coords, k) !== undefined) report("A5", `coordinate ${k} differs between results`);
      } else {
        if (at(output.shape, coord.dim) !== extent) {
          report(
            "A5",
            `d${coord.dim} has ${at(output.shape, coord.dim)} elements, indices dim ${k} has ${extent}`,
          );
        }
        if (at(coords, k) !== coord.dim) report("A5", `coordinate ${k} differs between results`);
      }
    });
  }
  if (gatherDims(map).length === 0)
    report("A6", "no data dim is read through an index: a slice, not a gather");
  if (data.dtype !== output.dtype) report("A7", `data is ${data.dtype} and output ${output.dtype}`);
  if (!isIndexDType(indices.dtype)) report("A7", `indices are ${indices.dtype}`);
}

/** An operand whose region does not cover what the output's region asks of it. */
function mismatched({ map, data, indices, to }: GatherStmt): string | undefined {
  const size = (dim: number): IndexExpr | undefined => to.sizes[dim];
  const differs = (region: Region, k: number, dim: number): boolean => {
    const [own, asked] = [region.sizes[k], size(dim)];
    return own !== undefined && asked !== undefined && !equalExpr(own, asked);
  };
  for (const [k, access] of map.results.entries()) {
    if (access.kind === "direct" && differs(data, k, access.dim)) {
      return `dim ${k} of ${printRegion(data)} follows d${access.dim} and has another size`;
    }
  }
  for (const [k, dim] of indexDims(map).entries()) {
    if (dim !== undefined && differs(indices, k, dim)) {
      return `dim ${k} of ${printRegion(indices)} follows d${dim} and has another size`;
    }
  }
  return undefined;
}

interface Scope {
  readonly loops: readonly ForStmt[];
  readonly serial: boolean;
}

function verifyTile(func: TileFunc): Diagnostic[] {
  const found: Diagnostic[] = [];
  const report = (rule: string, message: string, span: Span | undefined): void => {
    found.push(broken(rule, message, span));
  };
  const buffers = ubBuffers(func);
  const params = new Map(
    [func.data, func.indices, func.output].map((value) => [value.name, value.type.shape]),
  );
  const writers = new Map<string, number>();
  const loaded = new Map<string, Region>();
  let gathers = 0;
  const names = new Set(params.keys());
  for (const stmt of func.body) {
    if (stmt.op !== "alloc") continue;
    if (names.has(stmt.buffer.name)) report("T1", `%${stmt.buffer.name} is defined twice`, stmt.span);
    names.add(stmt.buffer.name);
  }
  const shapeOf = (name: string): Shape | undefined => params.get(name) ?? buffers.get(name)?.shape;

  const region = (r: Region, scope: Scope, span: Span | undefined): void => {
    const shape = shapeOf(r.buffer);
    if (shape === undefined) {
      report("T1", `%${r.buffer} is not defined`, span);
      return;
    }
    if (r.offsets.length !== shape.length) {
      report("T3", `${printRegion(r)} has ${r.offsets.length} dims; %${r.buffer} has ${shape.length}`, span);
      return;
    }
    shape.forEach((extent, k) => {
      const [offset, size] = [at(r.offsets, k), at(r.sizes, k)];
      for (const env of corners([offset, size], scope.loops)) {
        const [o, s] = [evaluate(offset, env), evaluate(size, env)];
        if (o < 0 || s < 0 || o + s > extent) {
          report("T3", `${printRegion(r)} leaves dim ${k} of ${extent}: offset ${o}, size ${s}`, span);
          return;
        }
      }
    });
  };
  const inScope = (exprs: readonly IndexExpr[], scope: Scope, span: Span | undefined): boolean => {
    const known = new Set(scope.loops.map((loop) => loop.iv));
    const unknown = exprs.flatMap((expr) => [...loopVariables(expr)]).find((name) => !known.has(name));
    if (unknown !== undefined) report("T1", `loop variable %${unknown} is not in scope`, span);
    return unknown === undefined;
  };
  const regionsOf = (stmt: Stmt): readonly Region[] => {
    if (stmt.op === "load") return [stmt.from];
    if (stmt.op === "store") return [stmt.to];
    return stmt.op === "gather" ? [stmt.data, stmt.indices, stmt.to] : [];
  };

  const visit = (body: readonly Stmt[], scope: Scope): void => {
    for (const stmt of body) {
      if (stmt.op === "gather") gathers++;
      if (stmt.op === "for") {
        if (scope.loops.some((loop) => loop.iv === stmt.iv))
          report("T1", `%${stmt.iv} is defined twice`, stmt.span);
        if (stmt.mode === "parallel" && scope.serial) {
          report("T4", `parallel loop %${stmt.iv} inside a serial one`, stmt.span);
        }
        if (!inScope([stmt.lower, stmt.upper], scope, stmt.span)) continue;
        visit(stmt.body, { loops: [...scope.loops, stmt], serial: scope.serial || stmt.mode === "serial" });
        continue;
      }
      if (stmt.op === "alloc") {
        if (scope.loops.length > 0)
          report("T6", `%${stmt.buffer.name} is allocated inside a loop`, stmt.span);
        continue;
      }
      const regions = regionsOf(stmt);
      if (
        !inScope(
          regions.flatMap((r) => [...r.offsets, ...r.sizes]),
          scope,
          stmt.span,
        )
      )
        continue;
      for (const r of regions) region(r, scope, stmt.span);
      const named =
        stmt.op === "load"
          ? [stmt.to]
          : stmt.op === "store"
            ? [stmt.from]
            : stmt.op === "gather" && stmt.scratch !== undefined
              ? [stmt.scratch]
              : [];
      const missing = named.find((name) => !buffers.has(name));
      if (missing !== undefined) {
        report("T5", `%${missing} is no UB buffer`, stmt.span);
        continue;
      }
      if (regions.some((r) => shapeOf(r.buffer) === undefined)) continue;
      for (const { buffer, write } of ubAccesses(stmt, func)) {
        const before = writers.get(buffer.name);
        if (write) writers.set(buffer.name, (before ?? 0) + 1);
        else if (before === undefined)
          report("T15", `%${buffer.name} is read before anything writes it`, stmt.span);
      }
      if (stmt.op === "load") loaded.set(stmt.to, stmt.from);
      if (stmt.op === "load") fits(stmt.from, stmt.to, stmt.span, scope);
      if (stmt.op === "store") fits(stmt.to, stmt.from, stmt.span, scope);
      if (stmt.op === "store" && stmt.to.buffer !== func.output.name) {
        report("T5", `a store writes %${func.output.name}, not %${stmt.to.buffer}`, stmt.span);
      }
      if (stmt.op === "load" && !isParam(func, stmt.from.buffer)) {
        report("T5", `a load reads global memory, and %${stmt.from.buffer} is in ub`, stmt.span);
      }
      if (stmt.op === "gather") {
        if (isParam(func, stmt.to.buffer) && stmt.to.buffer !== func.output.name) {
          report(
            "T5",
            `a gather writes %${func.output.name} or a UB tile, not %${stmt.to.buffer}`,
            stmt.span,
          );
        }
        if (stmt.map.results.length !== stmt.data.sizes.length || stmt.map.outRank !== stmt.to.sizes.length) {
          report("A1", "the map's ranks are not those of the gather's operands", stmt.span);
        }
        const other = mismatched(stmt);
        if (other !== undefined) report("T10", other, stmt.span);
        verifyMap(stmt.map, func, (rule, message) => {
          report(rule, message, stmt.span);
        });
        if (stmt.origin.length !== stmt.indices.sizes.length)
          report("A5", "origin has another rank than indices", stmt.span);
        else {
          inScope(stmt.origin, scope, stmt.span);
          const start = isParam(func, stmt.indices.buffer)
            ? stmt.indices.offsets
            : stmt.indices.offsets.map((offset, k) =>
                add(loaded.get(stmt.indices.buffer)?.offsets[k] ?? constant(0), offset),
              );
          if (!start.every((offset, k) => equalExpr(offset, at(stmt.origin, k))))
            report("T7", `origin is not where %${stmt.indices.buffer} starts in the index tensor`, stmt.span);
        }
      }
    }
  };
  /** A transfer fills or empties a UB tile from its origin. */
  const fits = (r: Region, ub: string, span: Span | undefined, scope: Scope): void => {
    const shape = buffers.get(ub)?.shape ?? [];
    if (shape.length !== r.sizes.length) {
      report("T3", `%${ub} has rank ${shape.length}, ${printRegion(r)} has ${r.sizes.length}`, span);
      return;
    }
    r.sizes.forEach((size, k) => {
      for (const env of corners([size], scope.loops)) {
        const s = evaluate(size, env);
        if (s > at(shape, k)) {
          report(
            "T3",
            `${printRegion(r)} has ${s} elements along dim ${k}; %${ub} holds ${at(shape, k)}`,
            span,
          );
          return;
        }
      }
    });
  };
  visit(func.body, { loops: [], serial: false });
  const { ubBytes = 0, cores = 1 } = func.schedule;
  if (ubBytes < 0 || cores < 1)
    report("T9", `ub_bytes = ${ubBytes} and cores = ${cores} make no core`, func.span);
  const wanted = elementCount(func.output.type.shape) === 0 ? [0, 1] : [1];
  if (!wanted.includes(gathers)) report("T8", `the program has ${gathers} gathers; it takes one`, func.span);
  for (const name of buffers.keys()) {
    const count = writers.get(name) ?? 0;
    if (count !== 1) report("T2", `%${name} has ${count} writers; a UB buffer has one`, func.span);
  }
  return found;
}

/**
 * The first and last iterations of the loops that the expressions mention. Offsets and sizes are monotone in every
 * loop variable, so their extremes lie there.
 */
function* corners(
  exprs: readonly IndexExpr[],
  loops: readonly ForStmt[],
): Generator<ReadonlyMap<string, number>> {
  const needed = new Set(exprs.flatMap((expr) => [...loopVariables(expr)]));
  // A tile loop's bounds mention its view loop.
  for (const loop of [...loops].reverse()) {
    if (!needed.has(loop.iv)) continue;
    for (const name of [...loopVariables(loop.lower), ...loopVariables(loop.upper)]) needed.add(name);
  }
  const relevant = loops.filter((loop) => needed.has(loop.iv));
  yield* expand(relevant, 0, new Map());
}

function* expand(
  loops: readonly ForStmt[],
  k: number,
  env: ReadonlyMap<string, number>,
): Generator<ReadonlyMap<string, number>> {
  const loop = loops[k];
  if (loop === undefined) {
    yield env;
    return;
  }
  const [lower, upper] = [evaluate(loop.lower, env), evaluate(loop.upper, env)];
  if (upper <= lower) return;
  const last = lower + Math.floor((upper - 1 - lower) / loop.step) * loop.step;
  for (const value of new Set([lower, last]))
    yield* expand(loops, k + 1, new Map([...env, [loop.iv, value]]));
}
