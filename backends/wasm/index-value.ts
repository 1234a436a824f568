/** An index value as it stands, before any policy. */
import type { Linear } from "../../ir/linear.js";
import type { IndexRule } from "../../ir/policy.js";
import type { CodeBuilder, IntegerLocals, LocalId } from "./code.js";
import type { WasmContext } from "./context.js";
import { int128Constant } from "./int128.js";

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
 * Returns the WebAssembly locals that hold the exact value of a loaded index. An unsigned value without an
 * out-of-range rule is extended: 4 bytes to 64 bits, 8 bytes to 128 bits. All other values keep their local.
 */
export function asRead(
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
