/**
 * An index value to an element of its gather dim, under its rule; the common case is one compare and no
 * branch taken.
 */
import type { IndexBytes, IndexRule } from "../../ir/policy.js";
import { assertNever } from "../../ir/types.js";
import type { WasmAmount, CodeBuilder, IntegerLocals, LocalId } from "./code.js";
import type { PlainOp } from "./instructions.js";

/**
 * Extent of an index operand, and the number that is added to negative index values, in emitted code. Dynamic
 * sizes give locals instead of constants.
 */
export interface RuleBounds {
  readonly extent: WasmAmount;
  readonly wrapNegativeBy?: WasmAmount;
}

/**
 * Input of {@link emitResolved}: the out-of-range rule of an index value, its bounds in the emitted code, and
 * functions that emit the handling of a value out of range.
 */
export interface Resolver {
  readonly rule: IndexRule;
  /** Extent, and the number added to negative values, as constants or WebAssembly locals. */
  readonly bounds: RuleBounds;
  /**
   * Emits code that pushes the row-major position of the current output element; absent if nothing is
   * reported.
   */
  readonly position?: () => void;
  /** Local that holds the lowest position so far of an output element with an index out of range. */
  readonly bad: LocalId;
  /** Emits the code for an index value that selects no element. */
  readonly nothing: () => void;
}

/** Index value in one local, or two for 128 bits, with functions that emit operations on the value. */
export interface IndexValue {
  readonly local: IntegerLocals;
  /** Returns the value after a negative value is counted from the end. */
  readonly counted: (wrapNegativeBy: WasmAmount) => IndexValue;
  /** Emits code that pushes the value's low 32 bits. */
  readonly low: () => void;
  /** Emits code that pushes 1 if the value is outside [0, extent), else 0. */
  readonly outside: (extent: WasmAmount) => void;
  readonly isNegative: () => void;
  /** Pushes the remainder, never negative, as an i32. */
  readonly remainder: (by: WasmAmount) => void;
}

/**
 * Returns an integer in one local as an {@link IndexValue}, with functions that emit operations on the
 * integer. `signed`: true if the value may be negative.
 */
export function localValue(code: CodeBuilder, value: LocalId, signed: boolean): IndexValue {
  const type = code.typeOf(value);
  const wide = type === "i64";
  return {
    local: value,
    counted(wrapNegativeBy) {
      const fixed = code.local("fixed", type);
      // A negative value is all ones above its sign: the mask adds the extent to it and nothing to the
      // others.
      code.get(value).get(value);
      code.integer(type, wide ? 63 : 31).op(`${type}.shr_s`);
      code.amount(wrapNegativeBy, type).op(`${type}.and`).op(`${type}.add`).set(fixed);
      return localValue(code, fixed, signed);
    },
    low: () => void code.get(value).convert(type, "i32"),
    // Unsigned: what is negative is above every extent.
    outside: (extent) => void code.get(value).amount(extent, type).op(`${type}.ge_u`),
    isNegative() {
      if (signed) code.get(value).integer(type, 0).op(`${type}.lt_s`);
      else code.const(0);
    },
    remainder(by) {
      const rest = code.local("rest", "i64");
      code.get(value);
      if (!wide) code.op(signed ? "i64.extend_i32_s" : "i64.extend_i32_u");
      code
        .amount(by, "i64")
        .op(signed ? "i64.rem_s" : "i64.rem_u")
        .set(rest);
      // The remainder has the sign of the value: the same mask makes it count from the start.
      code.get(rest).get(rest).op("i64.const", 63).op("i64.shr_s").amount(by, "i64").op("i64.and");
      code.op("i64.add").op("i32.wrap_i64");
    },
  };
}

const load = { 4: "i32.load", 8: "i64.load" } as const;
const indexLoads = {
  signed: { 1: "i32.load8_s", 2: "i32.load16_s", ...load },
  unsigned: { 1: "i32.load8_u", 2: "i32.load16_u", ...load },
} as const satisfies Readonly<Record<string, Readonly<Record<IndexBytes, PlainOp>>>>;

/**
 * Emits code that pops an address and loads the index value `shift` bytes after the address. Returns the new
 * local of the value (32 or 64 bits).
 */
export function loadIndex(
  code: CodeBuilder,
  { bytes, signed }: Pick<IndexRule, "bytes" | "signed">,
  shift = 0,
): LocalId {
  const value = code.local("value", bytes === 8 ? "i64" : "i32");
  code.op(indexLoads[signed ? "signed" : "unsigned"][bytes], shift).set(value);
  return value;
}

/**
 * Emits code that resolves an index value under a rule and pushes the index of the selected element. The
 * pushed index is less than the extent, if the extent is not 0.
 */
export function emitResolved(code: CodeBuilder, resolver: Resolver, value: IndexValue): void {
  const { extent, wrapNegativeBy } = resolver.bounds;
  const element = code.local("element");
  const fixed = wrapNegativeBy === undefined ? value : value.counted(wrapNegativeBy);
  fixed.low();
  code.set(element);
  fixed.outside(extent);
  code.if(() => {
    outOfRange(code, resolver, fixed, element);
  });
  const { excluded } = resolver.rule;
  if (excluded !== undefined) {
    code.get(element).const(excluded).op("i32.eq");
    code.if(resolver.nothing);
  }
  code.get(element);
}

/**
 * Emits the update of `bad`, the lowest row-major position of an output element with an index out of range.
 * `position`: emits code that pushes the current position.
 */
export function reportBad(code: CodeBuilder, bad: LocalId, position: () => void): void {
  const current = code.local("position");
  position();
  code.op("local.tee", current).get(bad).get(current).get(bad).op("i32.lt_u").op("select").set(bad);
}

/**
 * Emits the code for an index value out of range, by the rule's policy. `clamp` and `wrap` set the local
 * `element` to an index in range. All other policies run the code that `nothing` emits and set `element` to 0;
 * `error` and `unchecked` report the output element first.
 */
function outOfRange(
  code: CodeBuilder,
  { rule, bounds, position, bad, nothing }: Resolver,
  value: IndexValue,
  element: LocalId,
): void {
  const { extent } = bounds;
  if (rule.outside === "report" || rule.outside === "promised") {
    if (position !== undefined) reportBad(code, bad, position);
  } else if (rule.extent > 0) {
    switch (rule.outside) {
      case "nearest":
        code.const(0).amount(extent, "i32", -1);
        value.isNegative();
        code.op("select").set(element);
        return;
      case "remainder":
        value.remainder(extent);
        code.set(element);
        return;
      case "none":
        break;
      default:
        assertNever(rule.outside);
    }
  }
  nothing();
  code.const(0).set(element);
}
