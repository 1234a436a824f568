/** An index value as it stands, before any policy. */
import type { Linear } from "../../ir/linear.js";
import type { IndexRule } from "../../ir/policy.js";
import type { CodeBuilder, IntegerLocals, LocalId } from "./code.js";
import type { WasmContext } from "./context.js";
import { int128Constant } from "./int128.js";

/** Returns what holds the exact sum of a form of a point. */
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
 * Returns what holds a value that was read: in the width of its table where a rule bounds it, else exact,
 * with its sign.
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
