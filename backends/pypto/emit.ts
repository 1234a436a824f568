/**
 * pypto: a gather and its schedule as a Python program for PyPTO's front end.
 *
 * Sources of what the front end accepts: hicann/pypto at 883e7df, docs/zh/api: config/pypto-frontend-jit.md
 * (the decorator, tensors as annotated parameters), config/pypto-set_vec_tile_shapes.md,
 * controlflow/pypto-loop.md, operation/pypto-view.md and pypto-assemble.md, operation/pypto-gather.md,
 * pypto-index_select.md and pypto-experimental-gather_in_ub.md, datatype/DataType.md.
 */
import { inputTile, policyOf, readsOf } from "../../ir/access.js";
import { CompileError, error, type Diagnostic } from "../../ir/diagnostic.js";
import { ofEach, inputOf, inputsOf, outputOf, type AccessFunc } from "../../ir/func.js";
import { greatestCommonDivisor, soleAtom } from "../../ir/linear.js";
import { resolveSource } from "../../ir/ops/registry.js";
import type { Operator } from "../../ir/operator.js";
import { isResolved } from "../../ir/schedule-entries.js";
import type { Target } from "../../ir/target.js";
import { dataResidency } from "../../ir/tiling/residency.js";
import { at, bitsOf, invariant, type Shape } from "../../ir/types.js";
import { ascendAnswer, computesValues, conditionText, type ElementCondition } from "../ascend-answer.js";
import type { Lines } from "../lines.js";
import { emitLoops, maxTileEntries, programText, viewText } from "./program.js";
import { pyptoValue } from "./values.js";

/**
 * Returns the PyPTO program (Python text) of a gather with a complete schedule. Throws a CompileError: TC505
 * if PyPTO cannot express the gather, TC1xx if the operation does not accept the element types.
 */
export function emitPypto(gather: AccessFunc, operator: Operator, target: Target): string {
  const refusals = refusalsOf(gather, operator, target);
  if (refusals.length > 0) throw new CompileError(refusals);
  const axis = "axis" in operator ? operator.axis : 0;
  const { schedule } = gather;
  invariant(isResolved(schedule), "the schedule of a kernel is chosen");
  const call = callOf(operator, axis);
  return gatherText(gather, target, [], {
    begin: `pypto.set_vec_tile_shapes(${schedule.tile.join(", ")})`,
    call: (inputs) => call(inputs),
  });
}

/**
 * Returns the PyPTO program (Python text) of a gather whose output elements are computed. Throws a
 * CompileError: TC505 if PyPTO cannot express the program or may give wrong bits, TC1xx for element types.
 */
export function emitPyptoValue(gather: AccessFunc, target: Target): string {
  const { span, map, operands, schedule } = gather;
  invariant(isResolved(schedule), "the schedule of a kernel is chosen");
  const refuse = (message: string, hint: string): never => {
    throw new CompileError([error("TC505", message, { span, hint })]);
  };
  const answer = ascendAnswer(map, operands);
  if (!answer.ok) return refuse(`PyPTO has no operation with the bits of ${answer.refused}`, computesValues);
  const { shape } = outputOf(gather).type;
  if (shape.includes(0))
    return refuse("PyPTO's operations take no empty tensors", "--emit pto has a form for it");
  const view = shape.map((extent, d) => Math.min(extent, at(schedule.view, d)));
  const uneven = shape.findIndex((extent, d) => extent % at(view, d) !== 0);
  if (uneven >= 0)
    return refuse(
      `pypto.reshape takes fixed shapes, and views of ${at(view, uneven)} leave a part of ${at(shape, uneven)}`,
      `--view ${view.map((entry, d) => greatestCommonDivisor(entry, at(shape, d))).join()}`,
    );
  const value = pyptoValue(gather, view, target);
  if (!value.ok) {
    if (value.diagnostics !== undefined) throw new CompileError(value.diagnostics);
    return refuse(
      `PyPTO's cast, mul, add and sum do not reach ${value.refused}`,
      "--emit pto has a form for it",
    );
  }
  if (dataInUb(gather))
    return refuse(
      "PyPTO's operation reads its data in global memory, and this program has them in UB",
      "compile it with --residency gm; --emit pto takes both",
    );
  return gatherText(gather, target, answer.assumes, {
    begin: `pypto.set_vec_tile_shapes(${schedule.tile.slice(0, shape.length).join(", ")})`,
    call: (inputs, out) => value.write(out, inputs),
  });
}

/** Returns the text of a gather's kernel. `call`: emits the computation of one view of the output. */
function gatherText(
  gather: AccessFunc,
  target: Target,
  assumes: readonly ElementCondition[],
  { begin, call }: { readonly begin: string; readonly call: Loops["call"] },
): string {
  const { schedule } = gather;
  invariant(isResolved(schedule), "the schedule of a kernel is chosen");
  const { shape } = outputOf(gather).type;
  const views = schedule.order.filter((d) => at(schedule.view, d) < at(shape, d));
  const extents = gather.map.indices.flatMap(({ extent }) => extent ?? []);
  const notes = [
    ...(assumes.length === 0
      ? []
      : ["bits are those of the program where each element that index values name is"]),
    ...assumes.map((condition) => `  of ${conditionText(condition)}`),
    `indices are 0 to ${(extents[0] ?? 0) - 1}: PyPTO checks none, and counts none from the end`,
  ];
  return programText(gather, target, notes, ({ out, names, pieces }) => {
    out.line(begin);
    emitViews(out, { gather, view: schedule.view, views, names, viewNames: pieces, call });
  });
}

interface Loops {
  readonly gather: AccessFunc;
  readonly view: Shape;
  /** Output dims that a loop walks, outermost first. */
  readonly views: Shape;
  readonly names: readonly string[];
  /** The names of the operands' parts in a view. */
  readonly viewNames: readonly string[];
  /** Returns the last operation, of the names of the inputs, behind what it writes. */
  readonly call: (inputs: readonly string[], out: Lines) => string;
}

/**
 * Returns a function from the names of a program's inputs to the text of the PyPTO call for an operator.
 * `axis`: gather dim of the data.
 */
function callOf(operator: Operator, axis: number): (inputs: readonly string[]) => string {
  return (inputs) => {
    const [data = "", ...others] = inputs;
    if (operator.op === "mapped")
      return `pypto.experimental.gather_in_ub(${inputs.join(", ")}, ${operator.rowsOfPage ?? 0}, -2)`;
    const name = operator.op === "gather_elements" ? "gather" : "index_select";
    return `pypto.${name}(${data}, ${axis}, ${others.join(", ")})`;
  };
}

/** Emits the loops over the views of the output, and in them the call that computes one view. */
function emitViews(out: Lines, loops: Loops): void {
  const { gather, view, views, names, viewNames, call } = loops;
  const { shape } = outputOf(gather).type;
  const [tensors, tiles] = [ofEach(gather, names), ofEach(gather, viewNames)];
  if (views.length === 0) {
    out.line(`${tensors.output}[:] = ${call(tensors.inputs, out)}`);
    return;
  }
  emitLoops(out, { extents: shape, view, views }, (sizes) => {
    inputsOf(gather).forEach((_, table) => {
      out.line(`${at(viewNames, table)} = ${viewOf(loops, table, sizes)}`);
    });
    out.line(`${tiles.output} = ${call(tiles.inputs, out)}`);
    const offsets = shape.map((_, other) => (views.includes(other) ? `v${other}` : "0"));
    out.line(`pypto.assemble(${tiles.output}, [${offsets.join(", ")}], ${tensors.output})`);
  });
}

/**
 * Returns the PyPTO expression for the part of input `table` that one view of the output reads. `sizes`:
 * extents of the view, as Python expressions.
 */
function viewOf({ gather, view, views, names }: Loops, table: number, sizes: readonly string[]): string {
  const { shape } = inputOf(gather, table).type;
  const extents = outputOf(gather).type.shape;
  const fullTile = inputTile(
    gather.map,
    table,
    [...extents.map((extent, d) => Math.min(extent, at(view, d))), gather.map.reduced?.max ?? 1],
    shape,
  );
  const [coords = []] = readsOf(gather.map, table);
  const along = coords.map((coord) => {
    const only = soleAtom(coord);
    return only?.kind === "dim" && views.includes(only.dim) ? only.dim : undefined;
  });
  return viewText(at(names, table), {
    shape: fullTile,
    offsets: along.map((d) => (d === undefined ? "0" : `v${d}`)),
    valid: along.map((d, k) => (d === undefined ? String(at(fullTile, k)) : at(sizes, d))),
  });
}

const dataInUb = (gather: AccessFunc): boolean => {
  const { schedule } = gather;
  return isResolved(schedule) && dataResidency(gather, schedule) === "ub";
};

/**
 * Returns the errors for a gather that PyPTO cannot express; an empty list for a supported gather. The code
 * is TC1xx for element types, else TC505.
 */
function refusalsOf(gather: AccessFunc, operator: Operator, target: Target): readonly Diagnostic[] {
  const { span } = gather;
  const refuse = (message: string, hint: string): readonly Diagnostic[] => [
    error("TC505", message, { span, hint }),
  ];
  if (operator.op === "gather_nd")
    return refuse(
      "PyPTO has no gather by tuples of indices",
      "gather along one dim, with gather or index_select",
    );
  if (operator.op === "mapped" && operator.rowsOfPage === undefined)
    return refuse(
      "PyPTO has no gather by this access map",
      "gather along one dim, with gather or index_select",
    );
  const policy = policyOf(gather.map);
  if (policy !== "error" && policy !== "unchecked") {
    return refuse(
      `PyPTO takes indices inside their extent, and this program says oob = ${policy}`,
      "oob = error, or unchecked, for indices that are inside",
    );
  }
  const rank = outputOf(gather).type.shape.length;
  if (rank > maxTileEntries) {
    const limitText = `set_vec_tile_shapes takes at most ${maxTileEntries}`;
    return refuse(
      `the tile has ${rank} entries, and ${limitText}`,
      "merge dims that the gather does not depend on, by a reshape before it",
    );
  }
  const inUb = dataInUb(gather)
    ? refuse(
        "PyPTO's operation reads its data in global memory, and this program has them in UB",
        "compile it with --residency gm; --emit pto takes both",
      )
    : [];
  if (operator.op === "mapped") return inUb;
  const [data, indices] = [inputOf(gather, 0).type, inputOf(gather, 1).type];
  // Its head has them in a table of tests alone; its code refuses them.
  if (operator.op === "gather_elements" && bitsOf(data.dtype) === 8)
    return refuse(
      `PyPTO's gather takes no ${data.dtype}: its code has FP32, FP16, BF16, INT32, UINT32, INT16 and UINT16`,
      "gather elements of 2 or 4 bytes, or emit pto",
    );
  const op = operator.op === "gather_elements" ? "pypto.gather" : "pypto.index_select";
  const result = resolveSource({ op, attrs: { dim: operator.axis }, inputs: [data, indices], target });
  if (!result.ok) return result.diagnostics;
  return operator.op === "gather_elements" ? [] : inUb;
}
