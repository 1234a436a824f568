/** An index value, as it stands before any policy, and the element that it names. */
import type { Linear } from "../../ir/linear.js";
import { indexBytes, type IndexRule } from "../../ir/policy.js";
import { isSigned, type DType } from "../../ir/types.js";
import type { IndexStep } from "../index-walk.js";
import type { CodeBuilder, IntegerLocals, LocalId } from "./code.js";
import type { WasmContext } from "./context.js";
import { int128Constant, int128Value } from "./int128.js";
import { emitResolved, loadIndex, localValue, type IndexValue, type Resolver } from "./resolve.js";

/**
 * Emits the exact value of a linear expression in output coordinates and index values. Returns the local of
 * the value, or two locals for 128 bits.
 */
export function emitSum(context: WasmContext, form: Linear): IntegerLocals {
  const { code } = context;
  const width = context.widthOf(form);
  if (width === "i128") return context.int128(form);
  const sum = code.local("sum", width);
  context.value(form, width);
  code.set(sum);
  return sum;
}

/**
 * Emits the value of an index operand: the element that `raw` names by the operand's rule, or `raw` itself
 * without a rule, counted from the end if the operand counts so. `report`: see {@link Resolver}.
 */
export function emitIndexOperand(
  context: WasmContext,
  { index, rule, wrapNegativeBy, dynamic }: IndexStep,
  raw: IntegerLocals,
  report: Pick<Resolver, "nothing" | "position">,
): IntegerLocals {
  const { code } = context;
  const valueOf = (signed: boolean): IndexValue =>
    typeof raw === "number" ? localValue(code, raw, signed) : int128Value(code, raw);
  if (rule === undefined)
    return wrapNegativeBy === undefined
      ? raw
      : valueOf(true).counted(context.number(wrapNegativeBy, dynamic?.wrapNegativeBy)).local;
  const resolver = { rule, bounds: context.bounds(rule), bad: context.bad, ...report };
  emitResolved(code, resolver, valueOf(rule.signed));
  const element = code.local(`at${index}`);
  code.set(element);
  return element;
}

/**
 * Emits code that pops an address and loads the index value of type `dtype`, `shift` bytes after the address.
 * Returns the locals of the exact value.
 */
export function emitRead(
  code: CodeBuilder,
  dtype: DType,
  rule: IndexRule | undefined,
  shift = 0,
): IntegerLocals {
  const format = { bytes: indexBytes(dtype), signed: isSigned(dtype) };
  return asRead(code, loadIndex(code, format, shift), rule, format);
}

/**
 * Returns the WebAssembly locals that hold the exact value of a loaded index. An unsigned value without an
 * out-of-range rule is extended: 4 bytes to 64 bits, 8 bytes to 128 bits. All other values keep their local.
 */
function asRead(
  code: CodeBuilder,
  value: LocalId,
  rule: IndexRule | undefined,
  format: Pick<IndexRule, "bytes" | "signed">,
): IntegerLocals {
  if (rule !== undefined || format.signed || format.bytes < 4) return value;
  if (format.bytes === 8) return { low: value, high: int128Constant(code, 0).high };
  const exact = code.local("exact", "i64");
  code.get(value).op("i64.extend_i32_u").set(exact);
  return exact;
}
