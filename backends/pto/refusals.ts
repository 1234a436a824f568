/** Diagnostics for programs that no PTO-ISA kernel can express. */
import { error, type Diagnostic } from "../../ir/diagnostic.js";
import { gatheredTable, isMove, isRead, type AccessMap } from "../../ir/access.js";
import { inputsOf, type TileFunc } from "../../ir/func.js";
import { rangeOf } from "../../ir/intervals/range.js";
import { constant, equalLinear, index as indexForm, sub, type Linear } from "../../ir/linear.js";
import { neverNegative } from "../../ir/intervals/loop-bounds.js";
import type { Target } from "../../ir/target.js";
import { statementsOf } from "../../ir/task/index.js";
import { printLinear, printStmtHead } from "../../ir/text/print.js";
import type { GatherStmt, Stmt, SyncStmt, UbBuffer } from "../../ir/tile.js";
import { elementCount } from "../../ir/types.js";
import type { GatherPlan } from "../plan/gather.js";
import { ascendAnswer, computesValues } from "../ascend-answer.js";
import { comparedForms } from "../compared-forms.js";
import { eventsOfProgram } from "./events.js";
import { missingType, type Word } from "./words.js";

/**
 * Returns a list with the error (TC505) that PTO-ISA supports only Ascend targets. The target is not checked.
 */
export const notForPto = (func: TileFunc, target: Target): Diagnostic[] => [
  error("TC505", `PTO-ISA is for Ascend targets; this program is for ${target.name}`, {
    span: func.span,
    hint: "compile it for ascend-a2, ascend-a3 or ascend-950",
  }),
];

/**
 * Returns a list with an error (TC505) if PTO-ISA kernels cannot express a gather. The list is empty for a
 * supported gather and without a gather.
 */
export function beyondForm(func: TileFunc, stmt: GatherStmt | undefined): Diagnostic[] {
  if (stmt === undefined) return [];
  const what = isMove(stmt.map) ? strange(stmt.map) : beyondRows(func, stmt);
  if (what === undefined) return [];
  return [
    error("TC505", `a kernel for PTO-ISA has no form for ${what}`, {
      span: stmt.span,
      notes: [printStmtHead(stmt)],
      hint: isMove(stmt.map) ? "run it on reference, sim or webgpu" : computesValues,
    }),
  ];
}

/**
 * Returns a text on what prevents a gather that computes values from being a PTO-ISA kernel; undefined for a
 * supported gather.
 */
function beyondRows(func: TileFunc, { map, chunk }: GatherStmt): string | undefined {
  const answer = ascendAnswer(map, inputsOf(func));
  if (!answer.ok) return answer.refused;
  return chunk === undefined
    ? undefined
    : "a sum that is carried from chunk to chunk: take all reduction elements at once";
}

/**
 * Returns the text of the first feature of an access map that PTO-ISA kernels cannot express; undefined if
 * there is none.
 */
function strange(map: AccessMap): string | undefined {
  const { indices, fill } = map;
  if (indices.some(({ value }) => isRead(value) && value.table === gatheredTable))
    return "an index value that is read from the data";
  if (indices.some(({ excluded }) => excluded !== undefined))
    return "an index value that leaves out an element";
  return fill === undefined ? undefined : `an element outside with other bits than zeros, ${fill}`;
}

/**
 * Returns the error for the first element type, buffer or region that PTO-ISA instructions do not accept; an
 * empty list if all are accepted. The code is TC202 for a missing address, else TC505.
 */
export function misfits(
  func: TileFunc,
  buffers: ReadonlyMap<string, UbBuffer>,
  gather: GatherStmt | undefined,
): Diagnostic[] {
  for (const { name, type } of func.operands) {
    const lacking = missingType(type.dtype);
    if (lacking === undefined) continue;
    return [
      error("TC505", `${lacking.missing}, and %${name} holds them`, {
        span: func.span,
        hint: lacking.instead,
      }),
    ];
  }
  const unplaced = [...buffers.values()].filter((buffer) => buffer.addresses === undefined);
  if (unplaced.length > 0) {
    const names = unplaced.map(({ name }) => `%${name}`).join(", ");
    return [error("TC202", `${names} has no address`, { span: func.span, hint: "run allocate-ub" })];
  }
  if (gather === undefined) return [];
  if (!buffers.has(gather.to.buffer))
    return [refused(gather, `%${gather.to.buffer} is gathered in global memory; PTO-ISA gathers in UB`)];
  const shifted = [...gather.from, gather.to].find(
    ({ buffer, offsets }) =>
      buffers.has(buffer) && !offsets.every((offset) => equalLinear(offset, constant(0))),
  );
  return shifted === undefined
    ? []
    : [refused(gather, `the region of %${shifted.buffer} starts inside its tile`)];
}

const refused = (
  stmt: Stmt,
  message: string,
  hint = "write the statement as lower-to-tile does, or run it on sim",
): Diagnostic => error("TC505", message, { span: stmt.span, notes: [printStmtHead(stmt)], hint });

/** Words, and values of int32_t, stay below this. */
const limit = 2 ** 31;

/**
 * Returns an error (TC505) for each statement with an offset, size or loop variable that may exceed int32_t.
 * The last increment of a loop variable counts too.
 */
export const beyondInt32 = (func: TileFunc): Diagnostic[] =>
  statementsOf(func).flatMap(({ stmt, loops }) => {
    const wrong = comparedForms(stmt).find((form) => {
      const fits = (side: Linear): boolean => neverNegative(side, loops).kind === "holds";
      return !fits({ ...form, at: form.at + limit }) || !fits(sub(constant(limit - 1), form));
    });
    return wrong === undefined
      ? []
      : [refused(stmt, `${printLinear(wrong)} may leave the int32_t of a kernel`)];
  });

/** Index values, and sums of them, stay this near to 0: a kernel holds them as int64_t. */
const int64Limit = 2 ** 62;

/**
 * Returns a list with an error (TC505) if an index value, sum or data address may exceed int64_t; else an
 * empty list.
 */
export function beyondInt64({ stmt, indexSteps, addresses, ranges }: GatherPlan): Diagnostic[] {
  const magnitude = (form: Linear): number =>
    form.terms.reduce((sum, { by, of }) => {
      const [least, max] = rangeOf({ at: 0, terms: [{ by: 1, of }] }, ranges);
      const inside = of.kind === "div" || of.kind === "mod" ? magnitude(of.of) : 0;
      return Math.max(inside, sum + Math.abs(by) * Math.max(Math.abs(least), Math.abs(max)));
    }, Math.abs(form.at));
  const wrong = [
    ...indexSteps.flatMap(({ form, index, rule }) => [
      form,
      ...(rule === undefined ? [indexForm(index)] : []),
    ]),
    addresses.data,
  ].find((form) => magnitude(form) >= int64Limit);
  if (wrong === undefined) return [];
  const names = indexSteps.map(({ index }) => `s${index}`);
  const message = `${printLinear(wrong, names)} may leave the int64_t of a kernel`;
  return [refused(stmt, message, "use smaller factors, or bound each index value; or run it on sim")];
}

/**
 * Returns an error (TC505) for each operand with more words (C++ elements) than an `int` can count. PTO-ISA
 * takes strides and offsets in global memory as `int`.
 */
export const beyondWords = (func: TileFunc, words: (name: string) => Word): Diagnostic[] =>
  func.operands.flatMap(({ name, type }) => {
    const count = elementCount(type.shape) * words(name).each;
    if (count < limit) return [];
    const message = `%${name} is ${count} words of ${words(name).name}, and offsets stay below ${limit}`;
    return [
      error("TC505", message, { span: func.span, hint: "split the tensor", data: { words: count, limit } }),
    ];
  });

/**
 * Returns the error (TC505) for a sync whose pair of hardware pipes (instruction queues) needs `ids` event
 * ids, more than available.
 */
export const tooManyEvents = (sync: SyncStmt, ids: number): Diagnostic =>
  error("TC505", `sync ${sync.from} -> ${sync.to} needs ${ids} event ids; ${eventsOfProgram} are free`, {
    span: sync.span,
    hint: "wait once for several statements: insert-sync writes one sync where one is enough",
    data: { ids, free: eventsOfProgram },
  });

interface Spill {
  readonly peak: number;
  readonly end: number;
  readonly budget: number;
  readonly adds: readonly { readonly name: string; readonly bytes: number }[];
}

/** Returns the error (TC401) for a kernel that needs more bytes of unified buffer than the budget. */
export const spilled = (func: TileFunc, target: Target, { peak, end, budget, adds }: Spill): Diagnostic =>
  error("TC401", `the kernel needs ${end} B of unified buffer, over ${budget} B (target ${target.name})`, {
    span: func.span,
    notes: [`the program's buffers end at ${peak}`, ...adds.map(({ name, bytes }) => `${name} ${bytes} B`)],
    hint: "place the buffers one after the other, as allocate-ub does, or use a smaller tile",
    data: { bytes: end, budget },
  });
