/**
 * The rules of a tile program, one function each, in the order they are checked.
 *
 * T1 a name is defined once, before its use, in a scope that holds it. T6 allocs stand at the top. T14 a row
 * of a UB buffer is whole elements, and holds those of the innermost dim. T4 parallel loops are a perfect
 * nest around everything else, and no loop is around nothing. T5 loads fill UB from inputs, stores empty it
 * into the output, the gather writes the output or what a store takes there; element types agree. T3 regions
 * have their buffer's rank and stay inside it, whatever the iteration; one of packed elements in rows that
 * fill their bytes starts at one. T2 a UB buffer has one writer. T8 there is one gather, unless the output is
 * empty. T9 the schedule leaves a core and a unified buffer. T7 a gather reads each input, in gm or from a
 * tile loaded before it in a body around it, and its origins are where those of the indices start. T10 an
 * operand that follows output dims has no more elements along its own than the tile reads. T11 full load: the
 * region of an operand contains the image of every coordinate that reads it; an index value alone, and a
 * number, count from the start of the tensor, and so does the region. T12 the gather reads what its load
 * filled. T13 every element of the output is written once. T15 the terms of an element are taken in by one
 * task, in order: a run has all of them, or those of an iteration of a serial loop over all, the innermost
 * one, into tiles of its own, and r goes on from run to run.
 */
import {
  countsElements,
  followedDims,
  formsOf,
  gatheredTable,
  isRead,
  mapForms,
  readsOf,
  spanOver,
  reductionDim,
} from "../access.js";
import type { Diagnostic } from "../diagnostic.js";
import { inputOf, inputsOf, operandNamed, outputOf, type Operand, type TileFunc } from "../func.js";
import {
  add,
  constant,
  dim,
  dimsOf,
  equalLinear,
  evaluate,
  isConstant,
  iv,
  loopVariables,
  min,
  indicesOf,
  soleAtom,
  sub,
  substitute,
  type Linear,
} from "../linear.js";
import { isEmptyReduction, rangesOf, reductionLength } from "../intervals/intervals.js";
import { neverNegative, type Judgement } from "../intervals/loop-bounds.js";
import { rangeOf, residue } from "../intervals/range.js";
import { mapOverTensors, tensorPlace } from "../addressing.js";
import { loopsMoving } from "../iteration.js";
import { isParam, typeOfBuffer, ubAccesses, ubBuffers, fullBuffers } from "../regions.js";
import { taskOfTile, tensorRegion } from "../task/index.js";
import { statementsOf, type Located } from "../task/statements.js";
import { printLinear, printRegion } from "../text/print.js";
import {
  firstTable,
  isComputation,
  regionsOf,
  formsOfStmt,
  walkedSizes,
  type ForStmt,
  type GatherStmt,
  type ReductionChunk,
  type Region,
  type ScatterStmt,
  type UbBuffer,
} from "../tile.js";
import {
  at,
  bytesFor,
  bytesOf,
  elementCount,
  elementsInByte,
  isPacked,
  rowsFillBytes,
  type DType,
  type Shape,
  type Span,
  type TensorType,
} from "../types.js";
import { reductionsIn, typeOf } from "../values/expression.js";
import { wordsOfSum } from "../values/ops.js";
import { broken } from "./broken.js";
import { uncovered } from "./coverage.js";
import { verifyMap } from "./map-rules.js";
import { widthFault } from "./value-rules.js";

interface Program {
  readonly func: TileFunc;
  readonly all: readonly Located[];
  readonly buffers: ReadonlyMap<string, UbBuffer>;
}

type Rule = (program: Program) => readonly Diagnostic[];

/** Rules of names and forms come first: the rest reads regions, and stops where those are wrong. */
const stages = (): readonly (readonly Rule[])[] => [
  [reductionOfOneTask],
  [
    namesOnce,
    variablesInScope,
    namesDefined,
    allocsAtTop,
    rowsOfElements,
    perfectNest,
    loopsHold,
    targetsCores,
  ],
  [spaces, elementTypes, ranksOfRegions, mapRules],
  [insideBuffers, byteAlignedRegions, oneWriter, oneGather],
  [readsInputs],
  [elementsInOrder],
  [followedSizes, fullLoad, readsLoaded, coverage, indicesOfNothing],
];

/**
 * Returns the diagnostics of the rules that a tile program breaks; an empty list for a valid program. Rules
 * are checked in groups, and the checks stop after the first group with a broken rule.
 */
export function verifyTile(func: TileFunc): Diagnostic[] {
  const program: Program = { func, all: statementsOf(func), buffers: ubBuffers(func) };
  for (const rules of stages()) {
    const diagnostics = rules.flatMap((rule) => rule(program));
    if (diagnostics.length > 0) return diagnostics;
  }
  return [];
}

const spanOf = ({ stmt }: Located): Span | undefined => stmt.span;

/**
 * Returns a diagnostic (rule T1) for each buffer name or loop variable of a tile program that is defined more
 * than once.
 */
function namesOnce({ func, all }: Program): Diagnostic[] {
  const names = new Set(func.operands.map((operand) => operand.name));
  return all.flatMap(({ stmt, loops }) => {
    if (stmt.op === "alloc") {
      const { name } = stmt.buffer;
      if (names.has(name)) return [broken("T1", `%${name} is defined twice`, stmt.span)];
      names.add(name);
    }
    if (stmt.op === "for" && loops.some((loop) => loop.iv === stmt.iv))
      return [broken("T1", `%${stmt.iv} is defined twice`, stmt.span)];
    return [];
  });
}

/**
 * Returns a diagnostic (rule T1) for each statement of a tile program that uses a loop variable outside the
 * variable's loop.
 */
function variablesInScope({ all }: Program): Diagnostic[] {
  return all.flatMap(({ stmt, loops }) => {
    const unknown = firstUnknown(formsOfStmt(stmt), loops);
    return unknown === undefined
      ? []
      : [broken("T1", `loop variable %${unknown} is not in scope`, stmt.span)];
  });
}

/**
 * Returns the first variable in `forms` that is not the variable of a loop in `loops`; undefined if there is
 * none.
 */
function firstUnknown(forms: readonly Linear[], loops: readonly ForStmt[]): string | undefined {
  for (const form of forms)
    for (const name of loopVariables(form)) if (!loops.some((loop) => loop.iv === name)) return name;
  return undefined;
}

/**
 * Returns a diagnostic for each wrong buffer name in a statement. A region's buffer must be an operand or a
 * defined buffer (rule T1). A tile must be in the unified buffer (rule T5).
 */
function namesDefined({ func, all, buffers }: Program): Diagnostic[] {
  return all.flatMap(({ stmt }) => [
    ...regionsOf(stmt).flatMap(({ buffer }) =>
      isParam(func, buffer) || buffers.has(buffer)
        ? []
        : [broken("T1", `%${buffer} is not defined`, stmt.span)],
    ),
    ...fullBuffers(stmt).flatMap((name) =>
      buffers.has(name) ? [] : [broken("T5", `%${name} is not a buffer in UB`, stmt.span)],
    ),
  ]);
}

const allocsAtTop: Rule = ({ all }) =>
  all.flatMap(({ stmt, loops }) =>
    stmt.op === "alloc" && loops.length > 0
      ? [broken("T6", `%${stmt.buffer.name} is allocated inside a loop`, stmt.span)]
      : [],
  );

const rowsOfElements: Rule = ({ all }) =>
  all.flatMap(({ stmt }) => {
    if (stmt.op !== "alloc") return [];
    const { name, dtype, shape, rowBytes } = stmt.buffer;
    const size = isPacked(dtype) ? 1 : bytesOf(dtype);
    const needed = bytesFor(shape[shape.length - 1] ?? 1, dtype);
    if (rowBytes % size !== 0)
      return [
        broken("T14", `row ${rowBytes} of %${name} is no multiple of the ${size} B of ${dtype}`, stmt.span),
      ];
    return rowBytes < needed
      ? [broken("T14", `row ${rowBytes} of %${name} is shorter than its ${needed} B`, stmt.span)]
      : [];
  });

/** Refuses parallel loops outside a perfect nest: they leave undecided which statements each task runs. */
const perfectNest: Rule = ({ all }) =>
  all.flatMap(({ stmt, loops, body }) => {
    if (stmt.op !== "for" || stmt.mode !== "parallel") return [];
    if (loops.some((loop) => loop.mode === "serial"))
      return [broken("T4", `parallel loop %${stmt.iv} inside a serial one`, stmt.span)];
    const sibling = body.find((other) => other !== stmt && other.op !== "alloc");
    return sibling === undefined
      ? []
      : [broken("T4", `parallel loop %${stmt.iv} is not the only statement of its body`, stmt.span)];
  });

/** Refuses loops without statements: they would count to their end, however far, and do nothing. */
const loopsHold: Rule = ({ all }) =>
  all.flatMap(({ stmt }) =>
    stmt.op === "for" && stmt.body.length === 0
      ? [broken("T4", `loop %${stmt.iv} has an empty body`, stmt.span, { hint: "leave the loop out" })]
      : [],
  );

/**
 * Returns a diagnostic (rule T9) if the schedule has a negative number of UB bytes or no core; else an empty
 * list.
 */
function targetsCores({ func }: Program): Diagnostic[] {
  const { ubBytes = 0, cores = 1 } = func.schedule;
  if (ubBytes >= 0 && cores >= 1) return [];
  return [
    broken(
      "T9",
      `ub_bytes = ${ubBytes} must be 0 or more, and cores = ${cores} must be 1 or more`,
      func.span,
    ),
  ];
}

/**
 * Returns a diagnostic (rule T5) for each statement that reads or writes the wrong memory. A load reads
 * global memory, a store writes the output, and a gather or scatter writes the output or a tile.
 */
function spaces({ func, all }: Program): Diagnostic[] {
  const output = outputOf(func).name;
  return all.flatMap(({ stmt }) => {
    const report = (message: string): Diagnostic[] => [broken("T5", message, stmt.span)];
    if (stmt.op === "store" && stmt.to.buffer !== output)
      return report(`a store writes %${output}, not %${stmt.to.buffer}`);
    if (stmt.op === "load" && !isParam(func, stmt.from.buffer))
      return report(`a load reads global memory, and %${stmt.from.buffer} is in ub`);
    if (stmt.op === "load" && stmt.from.buffer === output)
      return report(`a load reads an input, not %${output}`);
    if (isComputation(stmt) && isParam(func, stmt.to.buffer) && stmt.to.buffer !== output)
      return report(`a ${stmt.op} writes %${output} or a UB tile, not %${stmt.to.buffer}`);
    return [];
  });
}

/**
 * Returns a diagnostic (rule T5) for each pair of element types that differ. A pair is the source and
 * destination of a load or store, or a region of a gather or scatter and the region's operand.
 */
function elementTypes({ func, all, buffers }: Program): Diagnostic[] {
  const dtype = (name: string) => typeOfBuffer(func, buffers, name)?.dtype;
  const differ = (a: string, b: string, span: Span | undefined): Diagnostic[] =>
    dtype(a) === dtype(b)
      ? []
      : [broken("T5", `%${a} holds ${String(dtype(a))} and %${b} ${String(dtype(b))}`, span)];
  return all.flatMap(({ stmt }) => {
    if (stmt.op === "load") return differ(stmt.from.buffer, stmt.to, stmt.span);
    if (stmt.op === "store") return differ(stmt.to.buffer, stmt.from, stmt.span);
    if (!isComputation(stmt)) return [];
    const first = stmt.op === "scatter" ? firstTable(stmt, inputsOf(func).length) : 0;
    return [
      ...stmt.from.flatMap(({ buffer }, k) => differ(inputOf(func, first + k).name, buffer, stmt.span)),
      ...differ(outputOf(func).name, stmt.to.buffer, stmt.span),
    ];
  });
}

/**
 * Returns a diagnostic (rule T3) for each region whose rank differs from the rank of the region's buffer. A
 * load or store whose region and tile differ in rank is also reported.
 */
function ranksOfRegions({ func, all, buffers }: Program): Diagnostic[] {
  return all.flatMap(({ stmt }) => {
    const faults = regionsOf(stmt).flatMap((region) => {
      const rank = typeOfBuffer(func, buffers, region.buffer)?.shape.length ?? 0;
      if (region.offsets.length === rank) return [];
      const message = `${printRegion(region)} has ${region.offsets.length} dims; %${region.buffer} has ${rank}`;
      return [broken("T3", message, stmt.span)];
    });
    const [region, ub] =
      stmt.op === "load"
        ? [stmt.from, stmt.to]
        : stmt.op === "store"
          ? [stmt.to, stmt.from]
          : [undefined, ""];
    const rank = buffers.get(ub)?.shape.length;
    if (region === undefined || rank === region.sizes.length) return faults;
    const message = `%${ub} has rank ${String(rank)}, ${printRegion(region)} has ${region.sizes.length}`;
    return [...faults, broken("T3", message, stmt.span)];
  });
}

/**
 * Refuses (TC304) a region of packed elements that starts inside a byte although its rows fill bytes. Regions
 * are copied by bytes.
 */
const byteAlignedRegions: Rule = ({ func, all, buffers }) =>
  all.flatMap(({ stmt, loops }) =>
    regionsOf(stmt).flatMap((region) => {
      const type = typeOfBuffer(func, buffers, region.buffer);
      const offset = region.offsets.at(-1);
      if (type === undefined || offset === undefined || !rowsFillBytes(type)) return [];
      const each = elementsInByte(type.dtype);
      if (each === 1 || residue(offset, each, loops) === 0) return [];
      const message = `${printRegion(region)} starts inside a byte: ${each} elements of ${type.dtype} share one`;
      const hint = `start it at a multiple of ${each}`;
      return [broken("T3", message, stmt.span, { code: "TC304", hint })];
    }),
  );

const mapRules: Rule = ({ func, all }) =>
  all.flatMap(({ stmt }) => {
    if (stmt.op === "scatter") return scatterRanks(stmt, func);
    if (stmt.op !== "gather") return [];
    const ranks =
      stmt.map.reads.every(({ table, at: coords }) => coords.length === stmt.from[table]?.sizes.length) &&
      stmt.map.domain.length === stmt.to.sizes.length &&
      stmt.from.length === inputsOf(func).length;
    if (!ranks) return [broken("A1", "the map's ranks are not those of the gather's operands", stmt.span)];
    const origins = stmt.origins.every((origin, k) => origin.length === stmt.from[k + 1]?.sizes.length);
    if (!origins || stmt.origins.length !== stmt.from.length - 1)
      return [broken("A5", "origin has another rank than indices", stmt.span)];
    return verifyMap(stmt.map, func, stmt.span, "regions");
  });

/**
 * Returns the diagnostics of a scatter statement; an empty list for a valid statement. Wrong ranks (rule A1)
 * are reported alone; a statement with valid ranks is checked with {@link verifyMap}.
 */
function scatterRanks(stmt: ScatterStmt, func: TileFunc): Diagnostic[] {
  const { map, sizes, origin, from, span } = stmt;
  const first = firstTable(stmt, inputsOf(func).length);
  const unread = [...map.reads, ...map.indices.flatMap(({ value }) => (isRead(value) ? [value] : []))].find(
    ({ table }) => from[table - first] === undefined,
  );
  if (unread !== undefined)
    return [
      broken("A1", `%${inputOf(func, unread.table).name} is read, and the scatter has no region of it`, span),
    ];
  if ([sizes, origin].some((list) => list.length !== map.domain.length))
    return [broken("A1", "sizes, domain and origin of a scatter have one number for each dim", span)];
  return verifyMap(map, func, span, "regions");
}

/**
 * Returns a list with the diagnostic of rule `rule` if a judgement is `fails` or `unproved`; an empty list
 * for `holds`. `message`: returns the message, given the checked value in a failing iteration.
 */
function against(
  judgement: Judgement,
  rule: string,
  message: (value?: number) => string,
  span: Span | undefined,
): Diagnostic[] {
  switch (judgement.kind) {
    case "holds":
      return [];
    case "fails": {
      const where = [...judgement.env].map(([name, value]) => `%${name} = ${value}`).join(", ");
      return [broken(rule, `${message(judgement.value)}${where === "" ? "" : ` at ${where}`}`, span)];
    }
    case "unproved":
      return [broken(rule, `it cannot be shown otherwise: ${message()}`, span)];
  }
}

/**
 * Returns a diagnostic (rule T3) for each region that may extend beyond the region's buffer in some
 * iteration. A load or store whose region may be larger than the tile is also reported.
 */
function insideBuffers({ func, all, buffers }: Program): Diagnostic[] {
  return all.flatMap((located) => {
    const { stmt, loops } = located;
    const inside = regionsOf(stmt).flatMap((region) => {
      const shape = typeOfBuffer(func, buffers, region.buffer)?.shape ?? [];
      const [first] = shape.flatMap((extent, k) => outside(region, k, extent, located));
      return first === undefined ? [] : [first];
    });
    if (stmt.op !== "load" && stmt.op !== "store") return inside;
    const [region, ub] = stmt.op === "load" ? [stmt.from, stmt.to] : [stmt.to, stmt.from];
    const shape = buffers.get(ub)?.shape ?? [];
    const fits = region.sizes.flatMap((size, k) => {
      const slack = sub(constant(at(shape, k)), size);
      const message = (): string =>
        `${printRegion(region)} has ${printLinear(size)} elements along dim ${k}; %${ub} holds ${at(shape, k)}`;
      return against(neverNegative(slack, loops), "T3", message, stmt.span);
    });
    return [...inside, ...fits];
  });
}

/**
 * Returns a diagnostic (rule T3) if a region may extend beyond the region's buffer along dim `k` in some
 * iteration; else an empty list. `extent`: the buffer's extent along dim `k`, in elements.
 */
function outside(region: Region, k: number, extent: number, { stmt, loops }: Located): Diagnostic[] {
  const [offset, size] = [at(region.offsets, k), at(region.sizes, k)];
  const shown = (form: Linear, env?: ReadonlyMap<string, number>): string =>
    env !== undefined && [...loopVariables(form)].every((name) => env.has(name))
      ? String(evaluate(form, env))
      : printLinear(form);
  for (const form of [offset, size, sub(constant(extent), add(offset, size))]) {
    const judgement = neverNegative(form, loops);
    if (judgement.kind === "holds") continue;
    const env = judgement.kind === "fails" ? judgement.env : undefined;
    const message = (): string =>
      `${printRegion(region)} leaves dim ${k} of ${extent}: offset ${shown(offset, env)}, size ${shown(size, env)}`;
    return against(judgement, "T3", message, stmt.span);
  }
  return [];
}

/**
 * Returns a diagnostic (rule T2) for each buffer in the unified buffer (UB) that is not written by exactly
 * one statement.
 */
function oneWriter({ func, all, buffers }: Program): Diagnostic[] {
  const writers = new Map<string, number>();
  for (const { stmt } of all) {
    for (const { buffer, write, updates } of ubAccesses(stmt, func, buffers))
      if (write && updates !== true) writers.set(buffer.name, (writers.get(buffer.name) ?? 0) + 1);
  }
  return [...buffers.keys()].flatMap((name) => {
    const count = writers.get(name) ?? 0;
    return count === 1 ? [] : [broken("T2", `%${name} has ${count} writers; a UB buffer has one`, func.span)];
  });
}

/**
 * Returns a diagnostic (rule T8) if a tile program does not have exactly one gather or scatter; else an empty
 * list. A program with an empty output may also have none.
 */
function oneGather({ func, all }: Program): Diagnostic[] {
  const gathers = all.filter(({ stmt }) => isComputation(stmt)).length;
  const wanted = elementCount(outputOf(func).type.shape) === 0 ? [0, 1] : [1];
  return wanted.includes(gathers)
    ? []
    : [broken("T8", `the program has ${gathers} gathers; it takes one`, func.span)];
}

/**
 * Returns the diagnostics (rule T7) for the operands and origins of a gather statement; an empty list if all
 * are valid. Operand k must be input k, in global memory or in a loaded tile.
 */
function readsInputs({ func }: Program): Diagnostic[] {
  const task = taskOfTile(func);
  if (task.gather === undefined) return [];
  const { stmt } = task.gather;
  return stmt.from.flatMap((region, table) => {
    const input = inputOf(func, table).name;
    const source = tensorRegion(task, region);
    if (source.buffer !== input) {
      const message = `operand ${table} of a gather is %${input}, or a tile loaded from it before, in a body around it; %${region.buffer} is neither`;
      return [broken("T7", message, stmt.span)];
    }
    if (table === gatheredTable) return [];
    const start = startOf(region, source.loaded);
    return start.every((offset, k) => equalLinear(offset, at(at(stmt.origins, table - 1), k)))
      ? []
      : [broken("T7", `origin is not where %${region.buffer} starts in the index tensor`, stmt.span)];
  });
}

/** Returns the coordinates in its tensor at which a gather's region starts. */
const startOf = (region: Region, loaded: Region | undefined): Linear[] =>
  region.offsets.map((offset, k) => (loaded === undefined ? offset : add(at(loaded.offsets, k), offset)));

/**
 * Returns a diagnostic (rule T10) for each region of a gather that is larger along some dim than the part
 * that the tile reads; an empty list if there is none.
 */
function followedSizes({ func }: Program): Diagnostic[] {
  const { gather } = taskOfTile(func);
  if (gather === undefined) return [];
  const { stmt, loops } = gather;
  const { map, from } = stmt;
  const walked = [...loops, ...tileLoops(stmt)];
  return from.flatMap((region, table) =>
    followedDims(map, table).flatMap((followed, k) => {
      if (followed === undefined) return [];
      // A framework may cut the data by the tile where the output ends earlier; terms it takes in whole.
      const inReduction = dimsOf(followed.form).includes(reductionDim(map));
      if (table === gatheredTable && !isParam(func, region.buffer) && !inReduction) return [];
      const read = spanOver(followed, walkedSizes(stmt));
      const slack = sub(read, at(region.sizes, k));
      if (neverNegative(slack, walked).kind === "holds") return [];
      const dims = [...new Set(dimsOf(followed.form))].map((d) => `d${d}`).join(" and ");
      const message = `${shownDim(region, k)}, which follows ${dims}; the tile reads ${printLinear(read)} of them`;
      return [broken("T10", message, stmt.span)];
    }),
  );
}

/**
 * Returns a diagnostic (rule T11) for each coordinate that may lie outside the region that a gather reads.
 * The code is TC301 if the coordinate depends on index values.
 */
function fullLoad({ func }: Program): Diagnostic[] {
  const task = taskOfTile(func);
  if (task.gather === undefined) return [];
  const { stmt, loops } = task.gather;
  const { map, from } = stmt;
  const sizes = walkedSizes(stmt);
  const inputs = inputsOf(func);
  const values = indexLoops(
    stmt,
    inputs.map(({ type }) => type),
  );
  // Without a value there is no iteration at all, whichever coordinate it is in.
  const around = [
    ...loops,
    ...tileLoops(stmt),
    ...values.filter(({ upper }) => isConstant(upper) && upper.at <= 0),
  ];
  return from.flatMap((region, table) => {
    const start = startOf(region, tensorRegion(task, region).loaded);
    const read = { stmt, sizes, region, start, input: at(inputs, table), around, values };
    return readsOf(map, table).flatMap((coords) =>
      coords.flatMap((coord, k) => judgeCoordinate(read, coord, k)),
    );
  });
}

/** Region of an input that a gather reads, with the loops over which its coordinates vary. */
interface RegionRead {
  readonly stmt: GatherStmt;
  /** Sizes of the dims that coordinates depend on. */
  readonly sizes: readonly Linear[];
  readonly region: Region;
  /** Coordinates in the input at which the region starts. */
  readonly start: readonly Linear[];
  readonly input: Operand;
  readonly around: readonly ForStmt[];
  /** Loops over the values of each index operand. */
  readonly values: readonly ForStmt[];
}

/**
 * Returns a diagnostic (rule T11) if a coordinate along dim `k` of an input may lie outside the region that a
 * gather reads; else an empty list.
 */
function judgeCoordinate(
  { stmt, sizes, region, start, input: { name, type }, around, values }: RegionRead,
  coord: Linear,
  k: number,
): Diagnostic[] {
  const { map, span } = stmt;
  const indices = indicesOf(coord);
  // A bound of 0 leaves no index value, and so no coordinate.
  if (indices.some((s) => at(map.indices, s).extent === 0) || isEmptyReduction(coord, map)) return [];
  const size = at(region.sizes, k);
  const only = soleAtom(coord);
  const ofSegment =
    only?.kind === "dim" && only.dim === reductionDim(map) && map.reduced?.segment !== undefined;
  // As long as the tile along its dim.
  if (only?.kind === "dim" && !ofSegment && equalLinear(at(sizes, only.dim), size)) return [];
  const counted = isConstant(coord) || only?.kind === "index" || ofSegment;
  const offset = at(start, k);
  const isShifted = counted && !(isConstant(offset) && offset.at === 0);
  const walked = [...around, ...[...new Set(indices)].map((s) => at(values, s))];
  const form = substituteLoops(coord);
  const inside = [form, sub(sub(size, constant(1)), form)];
  if (!isShifted && inside.every((side) => neverNegative(side, walked).kind === "holds")) return [];
  const inRange = shownRange(stmt, coord, rangeOf(form, { loops: walked }));
  const message = isShifted
    ? `${printRegion(region)} starts at ${printLinear(offset)} along dim ${k} of %${name}; it must hold ${inRange}, from 0`
    : `${shownDim(region, k)} of %${name}; it must hold ${inRange}`;
  if (indices.length === 0 && !ofSegment) return [broken("T11", message, span)];
  const hint = `read dim ${k} of %${name} whole: offset 0, size ${at(type.shape, k)}`;
  return [broken("T11", `full load: ${message}`, span, { code: "TC301", hint })];
}

/** Replaces dims and index operands by the variables of {@link tileLoops} and {@link indexLoops}. */
const substituteLoops = (coord: Linear): Linear =>
  substitute(coord, (of) =>
    of.kind === "dim" ? iv(dimName(of.dim)) : of.kind === "index" ? iv(indexName(of.index)) : undefined,
  );

/**
 * Formats the elements that a region must hold for a coordinate, which takes values from `least` to `max`.
 */
function shownRange(stmt: GatherStmt, coord: Linear, [least, max]: readonly [number, number]): string {
  if (isConstant(coord)) return `coordinate ${coord.at}`;
  if (soleAtom(coord)?.kind === "index") return `the ${max + 1} elements that an index may name`;
  return `the coordinate ${printLinear(coord, indexNames(stmt), reductionDim(stmt.map))}, ${least} to ${max}`;
}

/** Formats the extent of a region along a dim: `%a[0][2] has 2 elements along dim 0`. */
const shownDim = (region: Region, k: number): string =>
  `${printRegion(region)} has ${printLinear(at(region.sizes, k))} elements along dim ${k}`;

// No text can spell these.
const dimName = (d: number): string => `d.${d}`;
const indexName = (s: number): string => `s.${s}`;
const indexNames = ({ map }: GatherStmt): readonly string[] => map.indices.map((_, s) => `s${s}`);

/**
 * Returns the dims of a tile as loops over it, and behind them that of the terms of a run; those of a bag
 * stand anywhere.
 */
const tileLoops = (stmt: GatherStmt): ForStmt[] => {
  const { map } = stmt;
  const sizes =
    map.reduced?.segment === undefined
      ? walkedSizes(stmt)
      : [...stmt.to.sizes, constant(reductionLength(map))];
  return sizes.map((size, d) => walk(dimName(d), constant(0), size));
};

/** Returns a loop for each index value, over the values that it may have. */
const indexLoops = ({ map, to }: GatherStmt, inputs: readonly TensorType[]): ForStmt[] =>
  rangesOf(
    map,
    inputs,
    to.sizes.map(() => 1),
  ).indices.map(([least, max], s) => walk(indexName(s), constant(least), constant(max + 1)));

const walk = (name: string, lower: Linear, upper: Linear): ForStmt => ({
  op: "for",
  iv: name,
  lower,
  upper,
  step: 1,
  mode: "serial",
  body: [],
});

/**
 * Returns a diagnostic (rule T12) for each region of a gather that includes elements that no load has filled.
 */
function readsLoaded({ func }: Program): Diagnostic[] {
  const task = taskOfTile(func);
  if (task.gather === undefined) return [];
  const { stmt, loops } = task.gather;
  return stmt.from.flatMap((region) => {
    const { loaded } = tensorRegion(task, region);
    if (loaded === undefined) return [];
    return region.sizes.flatMap((size, k) => {
      const end = add(at(region.offsets, k), size);
      const message = (): string =>
        `${printRegion(region)} ends at ${printLinear(end)} along dim ${k}; its load filled ${printLinear(at(loaded.sizes, k))}`;
      return against(neverNegative(sub(at(loaded.sizes, k), end), loops), "T12", message, stmt.span);
    });
  });
}

/**
 * Returns a diagnostic (rule T13) if some element of a gather's output is not written exactly once; else an
 * empty list. The rule does not apply to a scatter.
 */
function coverage({ func, all }: Program): Diagnostic[] {
  const { gather, store } = taskOfTile(func);
  const stores = all.filter(({ stmt }) => stmt.op === "store");
  const { name, type } = outputOf(func);
  if (gather === undefined || elementCount(type.shape) === 0) return [];
  const { stmt } = gather;
  const report = (message: string, span: Span | undefined): Diagnostic[] => [broken("T13", message, span)];
  if (operandNamed(func, stmt.to.buffer) !== undefined) {
    const [extra] = stores;
    if (extra !== undefined) return report(`%${name} is written by the gather and by a store`, spanOf(extra));
    // The last run of a gather's terms writes.
    const loops = isCarried(gather) ? gather.loops.slice(0, -1) : gather.loops;
    return uncovered(stmt.to, { ...gather, loops }, type.shape).flatMap((message) =>
      report(message, stmt.span),
    );
  }
  const apart = store !== undefined && !isCarried(gather) && store.loops.length !== gather.loops.length;
  if (store === undefined || stores.length !== 1 || apart) {
    return report(`%${stmt.to.buffer} is stored once, in the gather's body and behind it`, stmt.span);
  }
  const { to } = store.stmt;
  const allRead =
    stmt.to.offsets.every((offset) => isConstant(offset) && offset.at === 0) &&
    stmt.to.sizes.every((size, d) => equalLinear(size, at(to.sizes, d)));
  if (!allRead)
    return report(
      `the store takes another region of %${stmt.to.buffer} than the gather wrote`,
      store.stmt.span,
    );
  return uncovered(to, store, type.shape).flatMap((message) => report(message, stmt.span));
}

/** Judges the index values of an empty output in the whole tensors: it has no tasks to judge regions in. */
function indicesOfNothing({ func }: Program): readonly Diagnostic[] {
  if (elementCount(outputOf(func).type.shape) > 0) return [];
  const task = taskOfTile(func);
  const map = mapOverTensors(func, task);
  return map === undefined ? [] : verifyMap(map, func, task.gather?.stmt.span);
}

/**
 * True if the innermost loop around a gather iterates over chunks of the reduction elements. Partial results
 * are then carried from one iteration to the next.
 */
function isCarried({
  stmt: { chunk },
  loops,
}: { readonly stmt: GatherStmt } & Pick<Located, "loops">): boolean {
  const loop = loops.at(-1);
  return chunk !== undefined && loop !== undefined && loopsMoving([chunk.from, chunk.to], [loop]).length > 0;
}

const printedChunk = ({ from, to, of }: ReductionChunk): string =>
  `part ${printLinear(from)} to ${printLinear(to)} of ${of}`;

/** Terms that several tasks take in would have to be merged, in an order that differs from run to run. */
const reductionOfOneTask: Rule = ({ all }) =>
  all.flatMap(({ stmt, loops }) => {
    if (stmt.op !== "gather" || stmt.chunk === undefined) return [];
    const { chunk, span } = stmt;
    const among = loops.find(
      ({ iv: name, mode }) => mode === "parallel" && loopVariables(chunk.from).has(name),
    );
    if (among === undefined) return [];
    const message = `${printedChunk(chunk)} splits the reduction elements of an output element among tasks, by loop %${among.iv}`;
    const hint = `make loop %${among.iv} serial, and put it inside the loops over the output`;
    return [broken("T15", message, span, { code: "TC301", hint })];
  });

/**
 * True if a tile is large enough for a region in every iteration. The tile's outer extents must equal
 * `leading`, and the remaining extents must be at least `sizes`. All are in elements.
 */
const hasAddresses = (
  { shape }: UbBuffer,
  leading: Shape,
  sizes: readonly Linear[],
  loops: readonly ForStmt[],
): boolean =>
  shape.length === leading.length + sizes.length &&
  leading.every((extent, d) => at(shape, d) === extent) &&
  sizes.every(
    (size, d) => neverNegative(sub(constant(at(shape, leading.length + d)), size), loops).kind === "holds",
  );

/**
 * True if each chunk of reduction elements starts at the end of the previous chunk in every operand of the
 * gather. `variable`: the variable of the loop over chunks.
 */
function goesOn(func: TileFunc, stmt: GatherStmt, variable: string): boolean {
  const { map, chunk, from, to } = stmt;
  const task = taskOfTile(func);
  const first = chunk === undefined || map.reduced?.segment !== undefined ? constant(0) : chunk.from;
  const overAll = (form: Linear): Linear =>
    substitute(form, (of) =>
      of.kind === "dim" && of.dim === reductionDim(map) ? sub(dim(of.dim), first) : undefined,
    );
  const fullMap = mapForms(map, overAll, ({ table, at: coords }) => {
    const { offsets } = tensorPlace(func, task, at([...from, to], table));
    return coords.map((coord, k) => add(overAll(coord), at(offsets, k)));
  });
  return !formsOf(fullMap).some((form) => loopVariables(form).has(variable));
}

/**
 * Returns the diagnostics (rule T15) for a gather that combines its reduction elements in chunks; an empty
 * list if the gather is valid or has no chunks. T15: one task combines all elements in order, and the buffers
 * for partial results have the right types and sizes.
 */
function elementsInOrder(program: Program): Diagnostic[] {
  const { func } = program;
  const { gather } = taskOfTile(func);
  const chunk = gather?.stmt.chunk;
  if (gather === undefined || chunk === undefined) return [];
  const { map, span } = gather.stmt;
  const disorder = faultOfChunk(func, gather, chunk);
  if (disorder !== undefined) return [broken("T15", disorder, span)];
  const reads = map.reads.map(({ table }) => inputOf(func, table).type.dtype);
  const [reduction] = reductionsIn(map.value);
  // The map has the terms of a run.
  const wide = widthFault(map.value, reads, chunk.of);
  if (wide !== undefined) return [broken(wide.rule, wide.message, span, wide)];
  const words = wordsOfSum(reduction?.how ?? "fold");
  const dtype = words > 1 ? "u32" : typeOf(reduction ?? map.value, reads);
  return chunk.into.flatMap((name, k) => {
    // The second tile counts the elements.
    const partial: PartialResult = k === 0 ? { dtype, words } : { dtype: "u32", words: 1 };
    const message = faultOfPartialTile(program, gather, name, partial);
    return message === undefined ? [] : [broken("T15", message, span)];
  });
}

/**
 * Returns the reason why the chunks of a gather are not combined in order, each once; undefined if they are.
 */
function faultOfChunk(
  func: TileFunc,
  { stmt, loops }: Located<GatherStmt>,
  chunk: ReductionChunk,
): string | undefined {
  const { map } = stmt;
  if (map.reduced === undefined) return "the gather has a chunk and no reduction";
  const innermost = loops.at(-1);
  const loop = innermost !== undefined && isOfIteration(chunk, innermost) ? innermost : undefined;
  const runs = printedChunk(chunk);
  if (loop === undefined && !isFullReduction(chunk))
    return `${runs} is neither all reduction elements nor those of one iteration of the innermost loop, in order from 0`;
  const max = loop === undefined ? chunk.of : Math.min(loop.step, chunk.of);
  if (map.reduced.max !== max)
    return `${runs} has ${max} reduction elements, and the map has ${map.reduced.max}`;
  if (loop !== undefined && !goesOn(func, stmt, loop.iv))
    return `a coordinate of ${runs} does not continue where the previous chunk ended`;
  const wanted = countsElements(map) ? 2 : 1;
  return chunk.into.length === wanted
    ? undefined
    : `the number of tiles for the partial result is ${chunk.into.length}; it must be ${wanted}`;
}

/** True if a chunk contains all reduction elements. */
const isFullReduction = ({ from, to, of }: ReductionChunk): boolean =>
  equalLinear(from, constant(0)) && equalLinear(to, constant(of));

/**
 * True if a chunk contains the reduction elements of one iteration of a serial loop, which steps over all
 * elements from 0.
 */
const isOfIteration = (
  { from, to, of }: ReductionChunk,
  { mode, lower, upper, iv: name, step }: ForStmt,
): boolean =>
  mode === "serial" &&
  equalLinear(lower, constant(0)) &&
  equalLinear(upper, constant(of)) &&
  equalLinear(from, iv(name)) &&
  equalLinear(to, min(add(iv(name), constant(step)), constant(of)));

/**
 * Partial result of a reduction, as a tile holds it: `words` elements for each element of the output tile.
 */
interface PartialResult {
  readonly dtype: DType;
  readonly words: number;
}

/**
 * Returns the reason why buffer `name` cannot hold the partial result of a gather: another use, or a wrong
 * type or size. Undefined if it can.
 */
function faultOfPartialTile(
  { func, all, buffers }: Program,
  { stmt, loops }: Located<GatherStmt>,
  name: string,
  { dtype, words }: PartialResult,
): string | undefined {
  const hasOtherUser = all.some(
    ({ stmt: other }) =>
      other !== stmt && ubAccesses(other, func, buffers).some((access) => access.buffer.name === name),
  );
  if (hasOtherUser || stmt.to.buffer === name)
    return `%${name} holds the partial result of a reduction, and another statement uses it`;
  const buffer = buffers.get(name);
  const leading = words > 1 ? [words] : [];
  if (buffer?.dtype === dtype && buffer.buffers === 1 && hasAddresses(buffer, leading, stmt.to.sizes, loops))
    return undefined;
  const wordsText = words > 1 ? `${words} elements` : "one element";
  return `%${name} is not a single tile of ${dtype} with ${wordsText} for each element of the output tile`;
}
