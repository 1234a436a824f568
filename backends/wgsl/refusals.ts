/**
 * Diagnostics for programs that no kernel can express: forms that no schedule gives, values beyond u32, rows
 * that start between words, and limits of the device.
 */
import { error, type Diagnostic } from "../../ir/diagnostic.js";
import { keyOf, type TileFunc } from "../../ir/func.js";
import { rangeOf } from "../../ir/intervals/range.js";
import { constant, largestValue, sub, type Linear } from "../../ir/linear.js";
import { neverNegative } from "../../ir/intervals/loop-bounds.js";
import { statementsOf, type ParallelNest } from "../../ir/task/index.js";
import { printLinear, printStmtHead } from "../../ir/text/print.js";
import { flatten, type Stmt, type UbBuffer } from "../../ir/tile.js";
import { int128Limit } from "../index-walk.js";
import {
  beyondDevice,
  limitNames,
  overLimits,
  storageBuffersOf,
  tooLargeBuffer,
  tooManyBuffers,
  type WgslLimits,
} from "../../ir/wgsl-limits.js";
import { comparedForms } from "../compared-forms.js";
import type { GatherMove } from "./gather-move.js";
import type { WgslBinding } from "./kernel.js";
import { neededLimits, type LimitedKernel } from "./needed-limits.js";

/**
 * Returns one error (TC502) for each parallel loop that cannot become a dim of the workgroup grid. A gather
 * with a region size that has no constant upper bound also gives an error.
 */
export function unknownForms(nest: ParallelNest): Diagnostic[] {
  return flatten(nest.body).flatMap((stmt) => {
    if (stmt.op === "for" && stmt.mode === "parallel") {
      return [refused(stmt, `parallel loop %${stmt.iv} is in no perfect nest of loops with constant trips`)];
    }
    if (stmt.op !== "gather") return [];
    const size = stmt.to.sizes.find((form) => largestValue(form) === undefined);
    return size === undefined
      ? []
      : [refused(stmt, `a region's size ${printLinear(size)} is no constant and no minimum with one`)];
  });
}

const refused = (stmt: Stmt, message: string): Diagnostic =>
  error("TC502", message, {
    span: stmt.span,
    notes: [printStmtHead(stmt)],
    hint: "run it on sim, or write the loops as lower-to-tile does",
  });

const maxU32 = 2 ** 32 - 1;

/**
 * Returns one error (TC502) for each statement in which a loop bound, loop variable, region offset or region
 * size may leave the u32 range. The list is empty if all statements stay in the range.
 */
export const beyondU32 = (func: TileFunc): Diagnostic[] =>
  statementsOf(func).flatMap(({ stmt, loops }) => {
    const wrong = comparedForms(stmt).find((form) => {
      const inside = [form, sub(constant(maxU32), form)];
      return !inside.every((side) => neverNegative(side, loops).kind === "holds") || !literalsFit(form);
    });
    if (wrong === undefined) return [];
    return [refused(stmt, `${printLinear(wrong)} may leave the 32-bit unsigned integers of a kernel`)];
  });

const literalsFit = ({ at: constantTerm, terms }: Linear): boolean =>
  Math.abs(constantTerm) <= maxU32 && terms.every(({ by }) => Math.abs(by) <= maxU32);

/**
 * Returns a list with an error (TC502) if a sum of index values may reach 2^126, the limit of 128-bit
 * arithmetic. The list is empty if no sum can reach the limit.
 */
export function beyondInt128({ stmt, indices, ranges }: GatherMove): Diagnostic[] {
  const beyond = indices.findIndex(({ form }) => {
    const [least, max] = rangeOf(form, ranges);
    return Math.max(-least, max) >= int128Limit;
  });
  return beyond === -1 ? [] : [refused(stmt, `index value ${beyond} may go beyond 2^126`)];
}

/**
 * Returns a list with an error (TC502) if the rows of a staged buffer are not a multiple of 4 bytes. The list
 * is empty if the rows are a multiple of 4 bytes or no buffer is staged.
 */
export function unevenRows(func: TileFunc, staged: UbBuffer | undefined): Diagnostic[] {
  const alloc = flatten(func.body).find((stmt) => stmt.op === "alloc" && stmt.buffer.name === staged?.name);
  if (staged === undefined || alloc === undefined || staged.rowBytes % 4 === 0) return [];
  return [
    error("TC502", `rows of %${staged.name} take ${staged.rowBytes} B, and a kernel's memory is 4 B words`, {
      span: alloc.span,
      notes: [printStmtHead(alloc)],
      hint: "pad its rows to a multiple of 4 B",
      data: { rowBytes: staged.rowBytes },
    }),
  ];
}

/**
 * Returns one error (TC502) for each device limit that a kernel exceeds; a limit of buffer sizes gives one
 * error per buffer. The bindings of `kernel` must be in the order of the operands of `func`.
 */
export function beyondLimits(func: TileFunc, kernel: LimitedKernel, limits: WgslLimits): Diagnostic[] {
  const { span } = func;
  const over = overLimits(neededLimits(kernel), limits);
  const nameOf = (key: string): string | undefined =>
    func.operands.find((operand) => keyOf(operand) === key)?.name;
  const buffers = (): Diagnostic[] =>
    kernel.bindings.flatMap(({ access, name, key, bytes }) =>
      access === "uniform" ? [] : (tooLargeBuffer(nameOf(key) ?? name, bytes, limits, span) ?? []),
    );
  return limitNames.flatMap((name): Diagnostic[] => {
    const value = over[name];
    if (value === undefined) return [];
    const limit = limits[name];
    // A binding that is too large says so of its buffer as well.
    if (name === "maxStorageBufferBindingSize" || name === "maxBufferSize")
      return name === "maxBufferSize" && over.maxStorageBufferBindingSize !== undefined ? [] : buffers();
    if (name === "maxStorageBuffersPerShaderStage") {
      const has = (role: WgslBinding["role"]): boolean => kernel.bindings.some((one) => one.role === role);
      const kinds = { output: has("output"), status: has("status"), owner: has("owner") };
      return [tooManyBuffers(storageBuffersOf(func.operands.length - 1, kinds), limit, span)];
    }
    const data = { bytes: value, limit };
    if (name === "maxComputeWorkgroupStorageSize") {
      const message = `the tile needs ${value} B of workgroup memory, over the device's ${limit} B`;
      const hint = "compile for the device's own target, or use residency gm";
      return [error("TC502", message, { span, hint, data })];
    }
    const message = `the kernel takes ${value}, over the device's ${name} of ${limit}`;
    return [beyondDevice(message, { [name]: value }, "split the program", data, span)];
  });
}

/**
 * Returns the error (TC502) for a program with more tasks than a dispatch can have workgroups. The caller has
 * checked the number of tasks.
 */
export function tooManyTasks(
  func: TileFunc,
  { tasks }: Pick<ParallelNest, "tasks">,
  limits: WgslLimits,
): Diagnostic {
  const limit = limits.maxComputeWorkgroupsPerDimension;
  const message = `the program has ${tasks} tasks, and a dispatch ${limit} x ${limit} workgroups`;
  return error("TC502", message, {
    span: func.span,
    hint: "use a larger tile",
    data: { tasks, limit: limit ** 2 },
  });
}
