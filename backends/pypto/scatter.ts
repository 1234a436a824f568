/**
 * pypto: a scatter and its schedule as a call of PyPTO's operator that writes.
 *
 * Sources, in hicann/pypto at 883e7df (2026-08-22): docs/zh/api/operation, the pages of scatter_update,
 * scatter_, index_add_, index_add__ub and index_put_, and the programs of python/tests/st/operation/vector
 * (test_scatterupdate_onboard.py and its neighbours), whose views these have.
 */
import { isOrderFree, isRead, type AccessMap, type Read } from "../../ir/access.js";
import { canonicalMap } from "../../ir/canonical-map.js";
import { defined } from "../../ir/defined.js";
import { CompileError, error } from "../../ir/diagnostic.js";
import { equalFunc } from "../../ir/equal.js";
import { inputOf, inputsOf, outputOf, isInPlace, type AccessFunc } from "../../ir/func.js";
import { indicesOf, soleAtom, type Linear } from "../../ir/linear.js";
import { accessMap } from "../../ir/operator.js";
import { resolveSource } from "../../ir/ops/registry.js";
import { isResolved } from "../../ir/schedule-entries.js";
import type { ResolvedSchedule } from "../../ir/schedule.js";
import type { Target } from "../../ir/target.js";
import {
  anyLegal,
  frameworkMemory,
  judge,
  nearestLegal,
  suggestionText,
  Tiling,
  unequalBlocks,
} from "../../ir/tiling/index.js";
import { dataResidency } from "../../ir/tiling/residency.js";
import { at, invariant, isInteger, type Shape, type TensorType } from "../../ir/types.js";
import type { Expression } from "../../ir/values/expression.js";
import { numberOf } from "../../ir/values/index.js";
import { emitLoops, maxTileEntries, programText, viewText, type KernelBody, type ViewOf } from "./program.js";
import { pythonFloat } from "./python-float.js";

/** Operators of PyPTO that write, each in place and as a copy. */
const writeOps = ["scatter_update", "scatter", "index_add", "index_add_ub", "index_put_"] as const;
type WriteOp = (typeof writeOps)[number];

/** Call of an operator of PyPTO that writes, with the attributes that it has here. */
interface WriteCall {
  readonly op: WriteOp;
  /** Name in PyPTO: `scatter_` in place, `scatter` as a copy. */
  readonly name: string;
  /** Dim of the input that the index names. Absent: the operator states none. */
  readonly dim?: number;
  /** Number that is written, or that updates are multiplied by. Absent: none. */
  readonly number?: number;
}

const pageOf = (name: string): string =>
  `hicann/pypto docs/zh/api/operation/pypto-${name.replace("index_add_ub", "index_add__ub")}.md at 883e7df`;

/** Returns a scatter as the operator of a PyPTO call, whose rules then hold for its tiles. */
const calledAs = (scatter: AccessFunc, { op }: WriteCall): AccessFunc => ({
  ...scatter,
  framework: "pypto",
  frameworkOp: { name: op },
});

/** Returns the value of the first number in an expression, from the left; undefined if there is none. */
function numberIn(value: Expression): number | undefined {
  switch (value.kind) {
    case "read":
      return undefined;
    case "number":
      return numberOf(value.type, value.bits);
    case "cast":
    case "reduce":
      return numberIn(value.of);
    case "op":
      return numberIn(value.of[0]) ?? numberIn(value.of[1]);
  }
}

/**
 * Returns the PyPTO calls that may express a scatter, judged by its written coordinates, its reads, and
 * whether it writes in place. A call that the program's framework operator names comes first.
 */
function callsFor(scatter: AccessFunc, inPlace: boolean): readonly WriteCall[] {
  const { write, value, reads } = scatter.map;
  const number = numberIn(value);
  const given = defined({ number });
  const dims = write.at.flatMap((coord, k) => (indicesOf(coord).length > 0 ? [k] : []));
  const suffix = inPlace ? "_" : "";
  const adds = dims.flatMap((dim): readonly WriteCall[] => [
    { op: "index_add", name: `index_add${suffix}`, dim, ...given },
    { op: "index_add_ub", name: inPlace ? "index_add__ub" : "index_add_ub", dim, ...given },
  ]);
  const calls: readonly WriteCall[] = [
    ...(inPlace ? [{ op: "scatter_update", name: "scatter_update" } as const] : []),
    ...dims.map((dim) => ({ op: "scatter", name: `scatter${suffix}`, dim, ...given }) as const),
    ...(reads.length > 0 ? adds : []),
    ...(inPlace ? [{ op: "index_put_", name: "index_put_" } as const] : []),
  ];
  const named = scatter.frameworkOp?.name;
  return [...calls.filter(({ name }) => name === named), ...calls.filter(({ name }) => name !== named)];
}

/** Words of PyPTO for combinations, where scatter has them. */
const reductions = { set: "none", add: "add", mul: "multiply" } as const;

/**
 * Returns the source operator of a PyPTO call, or the diagnostics if the operator does not accept the types
 * `inputs`.
 */
function sourceOf(call: WriteCall, { map }: AccessFunc, inputs: readonly TensorType[], target?: Target) {
  const { op, dim, number } = call;
  const { combine } = map.write;
  const reduce = combine === "min" || combine === "max" ? "none" : reductions[combine];
  // PyPTO's index_add__ub is index_add_ub in place: its types and shapes are the same.
  const attrs = {
    scatter_update: {},
    scatter: {
      dim: dim ?? 0,
      reduce,
      ...(map.reads.length === 0 && number !== undefined ? { src: number } : {}),
    },
    index_add: { dim: dim ?? 0, alpha: number ?? 1 },
    index_add_ub: { dim: dim ?? 0, alpha: number ?? 1 },
    index_put_: { accumulate: combine === "add" ? 1 : 0 },
  }[op];
  return resolveSource({ op: `pypto.${op}`, attrs, inputs, target });
}

/**
 * True if a scatter writes the same elements as the map `other`, apart from policies and duplicates. With
 * `values` true, the written values must be the same too.
 */
function writesAs(scatter: AccessFunc, other: AccessMap, values: boolean): boolean {
  const plain = (map: AccessMap): AccessMap => {
    const { duplicates: _, ...write } = map.write;
    const indices = map.indices.map(({ value, extent }) => ({
      value,
      outOfRange: "error" as const,
      extent: extent ?? 0,
    }));
    return canonicalMap({
      ...map,
      indices,
      write,
      ...(values ? {} : { value: { kind: "number", type: "u32", bits: 0 } as const }),
    });
  };
  return equalFunc({ ...scatter, map: plain(scatter.map) }, { ...scatter, map: plain(other) });
}

/**
 * Returns the PyPTO call that expresses a scatter. Throws a CompileError: TC505 if PyPTO has no such
 * operator, TC1xx if the operator does not accept the element types.
 */
function callOf(scatter: AccessFunc, target: Target): WriteCall {
  const { map, span } = scatter;
  const types = inputsOf(scatter).map(({ type }) => type);
  const indices = new Set(map.indices.flatMap(({ value }) => (isRead(value) ? [value.table] : [])));
  // Types that each operator takes, so that the places are compared first.
  const stand = types.map(({ shape }, k) => ({ shape, dtype: indices.has(k) ? "i32" : "f32" }) as const);
  const isPlaced = (call: WriteCall): boolean => {
    const placed = sourceOf(call, scatter, stand);
    return placed.ok && writesAs(scatter, accessMap(placed.resolved.operator, "illegal", "error"), false);
  };
  for (const call of callsFor(scatter, isInPlace(scatter))) {
    if (!isPlaced(call)) continue;
    const typed = sourceOf(call, scatter, types, target);
    if (!typed.ok) throw new CompileError(typed.diagnostics);
    if (writesAs(scatter, accessMap(typed.resolved.operator, "illegal", "error"), true)) return call;
  }
  const { combine, base } = map.write;
  const what =
    combine === "min" || combine === "max"
      ? `PyPTO combines by add and multiply, and this scatter by ${combine}`
      : base !== undefined && "fill" in base
        ? "PyPTO's operators write into an input, and this scatter starts from a fill"
        : `PyPTO has no operator that writes as @${scatter.name} does: it has ${writeOps.join(", ")}`;
  const inPlace = isInPlace(scatter) ? undefined : callsFor(scatter, true).find(isPlaced);
  const hint =
    inPlace === undefined
      ? "write along one dim, or rows by their slots, as these operators do; reference, sim and webgpu run it as it is"
      : `${inPlace.name} writes in place: declare %${inputOf(scatter, 0).name} inout`;
  throw new CompileError([
    error("TC505", what, {
      span,
      notes: [pageOf("scatter_"), pageOf("scatter_update"), pageOf("index_put_")],
      hint,
    }),
  ]);
}

/**
 * Returns the PyPTO program (Python text) of a scatter with a complete schedule. Throws a CompileError: TC505
 * if no PyPTO operator expresses the scatter, its policies, view and tile; TC1xx if the operator does not
 * accept the element types.
 */
export function emitPyptoScatter(scatter: AccessFunc, target: Target): string {
  const { map, schedule, span } = scatter;
  invariant(isResolved(schedule), "the schedule of a kernel is chosen");
  const number = numberIn(map.value);
  if (number !== undefined && !Number.isFinite(number))
    throw new CompileError([
      error("TC505", `PyPTO's operators take finite numbers, and this program has ${number}`, {
        span,
        notes: [pageOf("scatter_")],
        hint: "write a finite number, or the elements of a tensor",
      }),
    ]);
  const call = callOf(scatter, target);
  const fault =
    sizeFault(scatter, call) ??
    policyFault(map, call) ??
    tileRankFault(schedule) ??
    memoryFault(scatter, schedule, call, target) ??
    tileFault(scatter, call) ??
    viewFault(scatter, call) ??
    ruleFault(scatter, schedule, call, target);
  if (fault !== undefined) {
    const { message, hint } = fault;
    throw new CompileError([error("TC505", message, { span, hint, notes: [pageOf(call.name)] })]);
  }
  return programText(scatter, target, notesOf(scatter, call), (kernel) => {
    const { out } = kernel;
    out.line(`pypto.set_vec_tile_shapes(${schedule.tile.join(", ")})`);
    // Slots are taken in the order of the index: the loops over it ascend, whatever the order of the
    // schedule.
    const order = call.op === "scatter_update" ? [...map.domain.keys()] : schedule.order;
    const views = order.filter((d) => at(schedule.view, d) < at(map.domain, d));
    emitLoops(out, { extents: map.domain, view: schedule.view, views }, (sizes) => {
      emitCall(kernel, { scatter, call, views, sizes });
    });
  });
}

/** Emits the call for one view, and the copy of its result into the output. */
function emitCall({ out, names, pieces }: KernelBody, viewed: ViewedScatter): void {
  const { scatter, call } = viewed;
  const operands = inputsOf(scatter);
  const views = operands.map((_, table) => pieceOf(viewed, table));
  const inputs = views.map((view, table) => {
    if (isFullView(view, at(operands, table).type.shape)) return at(names, table);
    out.line(`${at(pieces, table)} = ${viewText(at(names, table), view)}`);
    return at(pieces, table);
  });
  const [input = "", ...others] = inputs;
  const base = at(names, 0);
  const text = `pypto.${call.name}(${[input, ...argumentsOf(scatter, call, others)].join(", ")})`;
  const output = at(names, names.length - 1);
  const offsets = at(views, 0).offsets.join(", ");
  if (call.op === "scatter_update") out.line(`${base}[:] = ${text}`);
  else if (isInPlace(scatter)) {
    out.line(text);
    if (input !== base) out.line(`pypto.assemble(${input}, [${offsets}], ${base})`);
  } else if (input === base) out.line(`${output}[:] = ${text}`);
  else {
    const piece = at(pieces, pieces.length - 1);
    out.line(`${piece} = ${text}`);
    out.line(`pypto.assemble(${piece}, [${offsets}], ${output})`);
  }
}

/** True if a view is all of a tensor of shape `full`. */
const isFullView = ({ shape, valid }: ViewOf, full: Shape): boolean =>
  shape.every((extent, k) => extent === full[k] && valid[k] === String(extent));

/**
 * Returns the arguments that follow the first input in a PyPTO call, as Python text. `others`: Python names
 * of the other inputs.
 */
function argumentsOf(
  { map }: AccessFunc,
  { op, dim, number }: WriteCall,
  others: readonly string[],
): readonly string[] {
  const { combine } = map.write;
  switch (op) {
    case "scatter_update":
      return ["-2", ...others];
    case "scatter": {
      const reduce = combine === "add" || combine === "mul" ? [`reduce="${reductions[combine]}"`] : [];
      const source = map.reads.length === 0 && number !== undefined ? [pythonFloat(number)] : [];
      return [String(dim), ...others, ...source, ...reduce];
    }
    case "index_add":
    case "index_add_ub":
      return [String(dim), ...others, ...(number === undefined ? [] : [`alpha=${number}`])];
    case "index_put_": {
      const indices = others.slice(0, -1);
      const values = others.slice(-1);
      return [
        `(${indices.join(", ")}${indices.length === 1 ? "," : ""})`,
        ...values,
        ...(combine === "add" ? ["True"] : []),
      ];
    }
  }
}

/**
 * Returns the comment lines on conditions that PyPTO does not check, and on cases in which PyPTO's bits may
 * differ from the program's.
 */
function notesOf({ map, operands }: AccessFunc, { op, name, number }: WriteCall): readonly string[] {
  const { dtype } = outputOf({ operands }).type;
  const { write, indices } = map;
  const [extent = 0] = indices.flatMap((index) => index.extent ?? []);
  return [
    op === "scatter_update"
      ? `slots are below ${extent}: PyPTO skips negative ones, and checks no other`
      : `indices are inside the dims that they name: PyPTO checks none, and counts none from the end`,
    ...(isOrderFree(write, dtype)
      ? []
      : [
          `bits are those of the program where no two points write one element: PyPTO states no order (pypto-${name}.md)`,
        ]),
    ...(write.combine !== "set" && isInteger(dtype)
      ? [`bits are those of the program where no ${write.combine} leaves ${dtype}: PyPTO states no overflow`]
      : []),
    ...(number !== undefined && map.reads.length > 0 && !isInteger(dtype)
      ? ["PyPTO states no rounding of source * alpha: its bits may differ there"]
      : []),
  ];
}

/** Reason that PyPTO refuses a schedule, and the way out. */
interface Fault {
  readonly message: string;
  readonly hint: string;
}

/**
 * Returns the domain dim (field `dim`) and the divisor (field `by`) of a coordinate that is the quotient of a
 * dim. A coordinate that is the dim itself has divisor 1. Undefined for all other coordinates.
 */
function followed(coord: Linear): { readonly dim: number; readonly by: number } | undefined {
  const only = soleAtom(coord);
  if (only?.kind === "dim") return { dim: only.dim, by: 1 };
  if (only?.kind !== "div") return undefined;
  const inner = soleAtom(only.of);
  return inner?.kind === "dim" ? { dim: inner.dim, by: only.by } : undefined;
}

/**
 * Returns the coordinates at which a scatter accesses input `table`: those of the write for the base (input
 * 0), else those of the first read. Empty if the input is not read.
 */
function coordsOf({ map }: AccessFunc, table: number): readonly Linear[] {
  if (table === 0) return map.write.at;
  const read = [
    ...map.reads,
    ...map.indices.flatMap(({ value }): readonly Read[] => (isRead(value) ? [value] : [])),
  ];
  return read.find((one) => one.table === table)?.at ?? [];
}

/**
 * Returns the reason why a PyPTO call does not accept the program's sizes: a dynamic size, or an empty
 * tensor. Undefined if the call accepts the sizes.
 */
function sizeFault({ name, symbolic, operands }: AccessFunc, call: WriteCall): Fault | undefined {
  if (symbolic !== undefined)
    return {
      message: `a PyPTO program states its shapes, and @${name} leaves sizes open`,
      hint: "give each size: --sizes n=8",
    };
  if (operands.some(({ type }) => type.shape.includes(0)))
    return {
      message: `pypto.${call.name} takes no empty tensors`,
      hint: "nothing is left to write: run it on reference, sim or webgpu",
    };
  return undefined;
}

/**
 * Returns the reason why a PyPTO call does not accept the policies of the index values or of duplicates.
 * Undefined if the call accepts the policies.
 */
function policyFault({ indices, write }: AccessMap, { op, name }: WriteCall): Fault | undefined {
  const skips = op === "scatter_update";
  for (const { outOfRange, excluded } of indices) {
    if (excluded !== undefined)
      return {
        message: `pypto.${name} leaves out no index value, and this program leaves out ${excluded}`,
        hint: "write without but",
      };
    if (outOfRange !== "error" && outOfRange !== "unchecked" && !(skips && outOfRange === "skip"))
      return {
        message: `pypto.${name} takes indices inside their extent, and this program says oob = ${outOfRange}`,
        hint: `oob = ${skips ? "skip, " : ""}error or unchecked, for indices that are inside`,
      };
  }
  if (write.duplicates === "error")
    return {
      message: `pypto.${name} reports no duplicates, and this program says duplicates = error`,
      hint: "duplicates = last, or unique where no two points write one element",
    };
  return undefined;
}

/**
 * Returns the reason why PyPTO does not accept the number of entries of the schedule's tile; undefined if
 * PyPTO accepts it.
 */
function tileRankFault({ tile }: ResolvedSchedule): Fault | undefined {
  if (tile.length <= maxTileEntries) return undefined;
  return {
    message: `the tile has ${tile.length} entries, and set_vec_tile_shapes takes at most ${maxTileEntries}`,
    hint: "merge dims that the index does not name, by a reshape before it",
  };
}

/**
 * Returns the reason why a PyPTO call does not accept the memory of the schedule's input, with a hint.
 * Undefined if the call accepts the memory.
 */
function memoryFault(
  scatter: AccessFunc,
  schedule: ResolvedSchedule,
  call: WriteCall,
  target: Target,
): Fault | undefined {
  const called = calledAs(scatter, call);
  const [memory, residency] = [frameworkMemory(called), dataResidency(scatter, schedule)];
  if (memory === undefined || memory === residency) return undefined;
  const named = { ub: "UB", gm: "global memory" } as const;
  const hasTile = anyLegal(new Tiling(called, { ...schedule, residency: memory }, target));
  return {
    message: `pypto.${call.name} has its input in ${named[memory]}, and this program has it in ${named[residency]}`,
    hint: hasTile
      ? `compile it with --residency ${memory}`
      : `PyPTO has no legal tile for it in ${named[memory]}; --emit pto writes it in ${named[residency]}`,
  };
}

/**
 * Returns the reason why a PyPTO call does not accept the schedule's tile, with a hint. Undefined if the call
 * accepts the tile.
 */
function tileFault({ schedule, map, operands }: AccessFunc, call: WriteCall): Fault | undefined {
  // PyPTO's code takes the dim of index_add_ub whole, whatever the tile says.
  if (!isResolved(schedule) || call.op !== "scatter" || call.dim === undefined) return undefined;
  const { dim } = call;
  const required = Math.max(at(outputOf({ operands }).type.shape, dim), at(map.domain, dim));
  if (at(schedule.tile, dim) >= required) return undefined;
  return {
    message: `pypto.${call.name} takes dim ${dim} of input and index whole, ${required} elements, and tile[${dim}] is ${at(schedule.tile, dim)}`,
    hint: `--tile ${schedule.tile.map((entry, d) => (d === dim ? required : entry)).join()}`,
  };
}

/**
 * Returns the first tiling rule of a PyPTO operator that the schedule breaks, with the nearest legal schedule
 * as hint; undefined if the operator accepts the schedule. The scatter may be of another framework, or of
 * none, whose rules are fewer.
 */
function ruleFault(
  scatter: AccessFunc,
  schedule: ResolvedSchedule,
  call: WriteCall,
  target: Target,
): Fault | undefined {
  const tiling = new Tiling(calledAs(scatter, call), schedule, target);
  const broken = judge(tiling).find(({ pass }) => !pass);
  if (broken === undefined) return undefined;
  const [nearest] = nearestLegal(tiling);
  return {
    message: `pypto.${call.name} breaks rule ${broken.rule}: ${broken.detail}`,
    hint:
      nearest === undefined
        ? "run it on reference, sim or webgpu"
        : suggestionText(schedule, nearest.schedule),
  };
}

/**
 * Returns the reason why a PyPTO call does not accept the schedule's view, with a hint. Undefined if the call
 * accepts the view.
 */
function viewFault(scatter: AccessFunc, call: WriteCall): Fault | undefined {
  const { schedule, map } = scatter;
  if (!isResolved(schedule)) return undefined;
  const { view } = schedule;
  const uncut = (d: number): string =>
    `--view ${map.domain.map((extent, k) => (k === d ? Math.max(extent, at(view, k)) : at(view, k))).join()}`;
  for (const [d, extent] of map.domain.entries()) {
    const step = at(view, d);
    if (step >= extent) continue;
    const cut = `view[${d}] = ${step} cuts ${extent}`;
    const isNamed = call.dim === d;
    const refused = (why: string, hint = uncut(d)): Fault => ({
      message: `${cut}, and pypto.${call.name} ${why}`,
      hint,
    });
    switch (call.op) {
      case "scatter":
      case "index_add_ub": {
        if (isNamed) return refused("takes the dim that the index names whole");
        const blocks = unequalBlocks(scatter, view);
        if (blocks?.dim === d) {
          const { output, index, outputBlocks, indexBlocks } = blocks;
          return refused(
            `takes as many blocks of input as of index: ${outputBlocks} of ${output}, ${indexBlocks} of ${index}`,
          );
        }
        break;
      }
      case "index_add":
        if (!isNamed) return refused("has views along the dim that the index names alone");
        if (!isInPlace(scatter))
          return refused(
            "copies its input in each view",
            `${uncut(d)}, or index_add_, which writes in place`,
          );
        break;
      case "index_put_":
        if (d > 0) return refused("has views along dim 0 of values alone");
        break;
      // Its rules are those of every schedule.
      case "scatter_update":
        break;
    }
  }
  return undefined;
}

interface ViewedScatter {
  readonly scatter: AccessFunc;
  readonly call: WriteCall;
  /** Dims of the domain that a loop walks. */
  readonly views: Shape;
  /** Size of a view along each dim of the domain. */
  readonly sizes: readonly string[];
}

/**
 * Returns the part of input `table` that one view uses. In a call of PyPTO's `scatter`, the parts of all
 * inputs have equal declared extents, except along the call's dim. A tile then splits every part into the
 * same number of blocks.
 */
function pieceOf({ scatter, call, views, sizes }: ViewedScatter, table: number): ViewOf {
  const { map, schedule } = scatter;
  invariant(isResolved(schedule), "the schedule of a kernel is chosen");
  const { shape } = at(inputsOf(scatter), table).type;
  const input = at(inputsOf(scatter), 0).type.shape;
  const isBase = table === 0;
  const holdsInput = frameworkMemory(calledAs(scatter, call)) === "ub";
  const dims = coordsOf(scatter, table).map((coord) => followed(coord));
  const along = dims.map((one) => {
    if (one === undefined || (isBase && !holdsInput)) return undefined;
    return { ...one, isCut: views.includes(one.dim), view: at(schedule.view, one.dim) };
  });
  const quotient = (text: string, by: number): string => (by === 1 ? text : `${text} // ${by}`);
  const variable = (d: number, by: number): string => quotient(`v${d}`, by);
  return {
    shape: along.map((one, k) => {
      if (one?.isCut === true) return one.view / one.by;
      // The index of scatter may be shorter than the input, and src longer than the index.
      if (one !== undefined && call.op === "scatter" && !isBase)
        return one.dim === call.dim ? at(map.domain, one.dim) : at(input, one.dim);
      return at(shape, k);
    }),
    offsets: along.map((one) => (one?.isCut === true ? variable(one.dim, one.by) : "0")),
    valid: along.map((one, k) => {
      if (one === undefined) return String(at(shape, k));
      if (!isBase) {
        const size = at(sizes, one.dim);
        return /^\d+$/.test(size) ? String(Number(size) / one.by) : quotient(size, one.by);
      }
      const extent = at(shape, k);
      if (!one.isCut) return String(extent);
      return extent % one.view === 0 ? String(one.view) : `pypto.min(${one.view}, ${extent} - v${one.dim})`;
    }),
  };
}
