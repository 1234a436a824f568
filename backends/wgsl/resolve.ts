/**
 * WGSL functions for each index value: `resolve_k` gives the element that index value k at a position names,
 * or those of the four that the access at a position starts, under the index rule.
 *
 * No branch stands in the way of an index in range: adapters that run both sides of a branch would pay for it
 * each time. An index out of range, 64-bit ones with any other high word included, comes out as a number of
 * the bound or above. Where it is reported, `resolve_k` gives that number, and the caller keeps the lowest
 * place of one. `none` marks an index that reads as zero bits.
 *
 * For adapters in software, elements that are reported are signed numbers 2^31 below what they name, which
 * compare alike: such adapters compare, and choose the least of, signed numbers in half as many instructions.
 * GPUs compare both alike.
 */
import type { IndexRule } from "../../ir/policy.js";
import { assertNever, InternalError } from "../../ir/types.js";
import { extentText, wrapText, lastText } from "./bounds.js";
import type { AccessWords, SharedAccess } from "./gather-move.js";
import type { Lines } from "../lines.js";

/**
 * Index operand for which a kernel has a WGSL function `resolve_k`, where `k` is the field `index`. The
 * function converts an index value to the 0-based position of the selected element.
 */
export interface ReadIndex {
  readonly index: number;
  readonly rule: IndexRule;
  /** True if the values of four neighbouring elements are read and resolved together. */
  readonly four: boolean;
  /** True if results are signed numbers, 2^31 below the position that they stand for. */
  readonly biased: boolean;
  /** 32-bit words of one access. */
  readonly words: AccessWords;
  /** Place of the value in an access that the caller makes; absent where `resolve_k` makes it. */
  readonly shared?: SharedAccess;
}

/** Returns the parameter of `resolve_k`: a position, or the access that holds the value. */
const paramOf = ({ words, shared }: ReadIndex): string =>
  shared === undefined ? "position: u32" : `words: vec${words}u`;

/** WGSL literal that `resolve_k` returns for an index value that selects no element. */
export const none = "0xffffffffu";

/**
 * Emits the WGSL function `resolve_k`, which converts an index value to the 0-based position of the selected
 * element. `indices`: WGSL storage variable with the index values.
 */
export function emitResolver(out: Lines, index: ReadIndex, indices: string): void {
  const { index: number, rule, four } = index;
  const { extent, outside, signed } = rule;
  const wide = rule.bytes === 8;
  const type = four ? "vec4u" : "u32";
  const splat = splatOf(four);
  const [n, max] = [splat(extentText(rule)), splat(lastText(rule))];
  if (outside === "remainder" && extent > 0) emitWrap(out, rule, number);
  const declare = (): void => {
    out.line(`let element = ${checked(index)};`);
  };
  out.block(`fn resolve_${number}(${paramOf(index)}) -> ${type}`, () => {
    if (extent > 0) emitReads(out, index, indices);
    if (extent === 0) {
      out.line(`return ${splat(none)};`);
      return;
    }
    switch (outside) {
      case "promised":
        out.line(`return ${unchecked(index)};`);
        return;
      case "report":
        out.line(`return ${checked(index)};`);
        return;
      case "none":
        declare();
        out.line(`return select(element, ${splat(none)}, element >= ${n});`);
        return;
      case "nearest": {
        declare();
        const negative = `${wide ? "high" : "low"} >= ${splat("0x80000000u")}`;
        const both = four ? "&" : "&&";
        const wanted = `select(min(element, ${max}), ${splat("0u")}, (element >= ${n}) ${both} (${negative}))`;
        out.line(`return ${signed ? wanted : `min(element, ${max})`};`);
        return;
      }
      case "remainder":
        declare();
        emitWrapped(out, index);
        return;
      default:
        assertNever(outside);
    }
  });
  out.line("");
}

/**
 * Returns the WGSL expression of the element that the 128-bit `value` selects under a policy by which each
 * value selects one. `inside`: condition that the value is in range.
 */
export function selectedByWide(
  rule: Pick<IndexRule, "extent" | "dynamic" | "outside">,
  inside: string,
): string {
  switch (rule.outside) {
    case "nearest":
      return `select(select(${lastText(rule)}, 0u, is_negative(value)), value.x, ${inside})`;
    case "remainder":
      return `wrapped_i128(value, ${extentText(rule)})`;
    case "report":
    case "promised":
    case "none":
      throw new InternalError(`a value that is ${rule.outside} can end an element`);
    default:
      return assertNever(rule.outside);
  }
}

/**
 * Emits the WGSL function `resolve_k` for an index operand whose policy reports values out of range. A value
 * out of range yields a number at or above the extent, which must not be 0. If `index.biased` is true,
 * results are signed and 2^31 lower. `indices`: WGSL storage variable with the index values.
 */
export function emitReportedResolver(out: Lines, index: ReadIndex, indices: string): void {
  const { index: number, rule, four, biased } = index;
  const { bytes, wrapNegativeBy } = rule;
  const splat = splatOf(four);
  const type = reportedType(biased, four);
  out.block(`fn resolve_${number}(${paramOf(index)}) -> ${type}`, () => {
    emitReads(out, index, indices);
    if (bytes === 8 || wrapNegativeBy === undefined) {
      out.line(`let element = ${checked(index)};`);
      out.line(`return ${biased ? asSigned("element", four) : "element"};`);
      return;
    }
    if (!biased) {
      out.line(`return ${unchecked(index)};`);
      return;
    }
    out.line(`let element = low ^ ${splat(signBit)};`);
    const values = ["element", `element + ${splat(wrapText(wrapNegativeBy, rule))}`];
    out.line(`return min(${values.map((value) => `bitcast<${signed(four)}>(${value})`).join(", ")});`);
  });
  out.line("");
}

/** Returns the type of one or four elements that are reported. */
const reportedType = (biased: boolean, four: boolean): string =>
  biased ? signed(four) : four ? "vec4u" : "u32";

const signed = (four: boolean): string => (four ? "vec4i" : "i32");

/**
 * Returns the WGSL type of four results of `resolve_k`: `vec4i` for biased results of a policy that reports
 * values out of range, `vec4u` in all other cases. Biased results are signed and 2^31 lower.
 */
export const fourOf = ({ outside }: IndexRule, biased: boolean): string =>
  reportedType(biased && outside === "report", true);

const signBit = "0x80000000u";

/**
 * Returns the WGSL expression that converts an unsigned number to a signed number that is 2^31 lower. `four`:
 * true for a vector of four numbers. `value`: a WGSL name, literal or call.
 */
export const asSigned = (value: string, four: boolean): string =>
  `bitcast<${signed(four)}>(${value} ^ ${splatOf(four)(signBit)})`;

/**
 * Returns the WGSL expression that converts a signed number to an unsigned number that is 2^31 higher.
 * `four`: true for a vector of four numbers.
 */
export const asUnsigned = (value: string, four: boolean): string =>
  `bitcast<${four ? "vec4u" : "u32"}>(${value}) ^ ${splatOf(four)(signBit)}`;

/**
 * Returns a function from the WGSL text of a scalar to the text of a `vec4u` with four equal components. With
 * `four` false, the function returns the scalar unchanged.
 */
export const splatOf =
  (four: boolean) =>
  (value: string): string =>
    four ? `vec4u(${value})` : value;

/**
 * Returns the WGSL expression that converts the low 32-bit word of an index value to the position of the
 * selected element. A negative value in range counts from the end; values out of range are not detected.
 */
function unchecked({ rule, four, biased }: ReadIndex): string {
  const { wrapNegativeBy, bytes } = rule;
  const splat = splatOf(four);
  if (wrapNegativeBy === undefined) return "low";
  const count = splat(wrapText(wrapNegativeBy, rule));
  if (!biased) return `min(low, low + ${count})`;
  return `low + select(${splat("0u")}, ${count}, ${isNegative(bytes === 8, splat)})`;
}

const isNegative = (wide: boolean, splat: (value: string) => string): string =>
  wide ? `high == ${splat("0xffffffffu")}` : `low >= ${splat("0x80000000u")}`;

/**
 * Returns the WGSL expression for the 0-based position of the element that an index value selects. For a
 * value out of range, the expression yields a number that is not below the extent.
 */
function checked(index: ReadIndex): string {
  const { rule, four, biased } = index;
  const splat = splatOf(four);
  const element = unchecked(index);
  if (rule.bytes !== 8) return element;
  // The high word of an index in range is a sign alone: 0 and, from the end, 2^32 - 1.
  const sign = `high == ${splat("0u")}`;
  const either = biased
    ? `(${sign}) ${four ? "|" : "||"} (${isNegative(true, splat)})`
    : `high == ${signOfLow(four)}`;
  return `select(${splat(none)}, ${element}, ${rule.wrapNegativeBy === undefined ? sign : either})`;
}

const signOfLow = (four: boolean): string =>
  four ? "bitcast<vec4u>(bitcast<vec4i>(low) >> vec4u(31u))" : "bitcast<u32>(bitcast<i32>(low) >> 31u)";

/**
 * Returns the WGSL expression for the low 32 bits of the index value at the WGSL variable `position`. A
 * shorter signed value is sign-extended. `indices`: WGSL storage variable with the index values.
 */
export function lowWord({ bytes, signed }: Pick<IndexRule, "bytes" | "signed">, indices: string): string {
  if (bytes >= 4) return `${indices}[${bytes === 8 ? "2u * " : ""}position]`;
  const perWord = 4 / bytes;
  const word = `${indices}[position / ${perWord}u]`;
  const bits = (value: string): string =>
    `extractBits(${value}, position % ${perWord}u * ${8 * bytes}u, ${8 * bytes}u)`;
  return signed ? `bitcast<u32>(${bits(`bitcast<i32>(${word})`)})` : bits(word);
}

/**
 * Emits the WGSL declarations of `low` and, for 64-bit index values, `high`: the low and high 32-bit words of
 * the index values. `indices`: WGSL storage variable with the index values.
 */
function emitReads(out: Lines, { rule, four, words, shared }: ReadIndex, indices: string): void {
  const wide = rule.bytes === 8;
  if (shared !== undefined || (!four && words > 1)) {
    if (shared === undefined) out.line(`let words = ${indices}[position];`);
    const first = (shared?.place ?? 0) * (wide ? 2 : 1);
    const component = (k: number): string => `words.${"xyzw".charAt(k)}`;
    out.line(`let low = ${component(first)};`);
    if (wide) out.line(`let high = ${component(first + 1)};`);
    return;
  }
  if (!four) {
    out.line(`let low = ${lowWord(rule, indices)};`);
    if (wide) out.line(`let high = ${indices}[2u * position + 1u];`);
    return;
  }
  if (!wide) {
    out.line(`let low = ${indices}[position];`);
    return;
  }
  out.line(`let a = ${indices}[position];`);
  out.line(`let b = ${indices}[position + 1u];`);
  out.line("let low = vec4u(a.xz, b.xz);");
  out.line("let high = vec4u(a.yw, b.yw);");
}

/**
 * Emits the end of the WGSL function `resolve_k` for the policy that wraps values around. The code replaces a
 * position out of range by the index value modulo the extent, and returns the position.
 */
function emitWrapped(out: Lines, { index, rule, four }: ReadIndex): void {
  const [wide, n] = [rule.bytes === 8, extentText(rule)];
  out.line("var wrapped = element;");
  const test = four ? `any(element >= vec4u(${n}))` : `element >= ${n}`;
  out.block(`for (var again = ${test}; again; again = false)`, () => {
    if (!four) out.line(`wrapped = wrap_${index}(low${wide ? ", high" : ""});`);
    else {
      out.block("for (var e = 0u; e < 4u; e++)", () => {
        out.line(`wrapped[e] = wrap_${index}(low[e]${wide ? ", high[e]" : ""});`);
      });
    }
  });
  out.line("return wrapped;");
}

/**
 * Emits the WGSL function `wrap_k`, which returns an index value modulo the extent as a non-negative number.
 */
function emitWrap(out: Lines, rule: IndexRule, index: number): void {
  const { signed, bytes } = rule;
  const wide = bytes === 8;
  const n = extentText(rule);
  const magnitude = (low: string, high: string): void => {
    if (!wide) {
      out.line(`let r = ${low} % ${n};`);
      return;
    }
    // (high * 2^32 + low) mod n, one bit at a time: r stays below n < 2^31.
    out.line(`var r = ${high} % ${n};`);
    out.line(`let tail = ${low};`);
    out.block("for (var bit = 0u; bit < 32u; bit++)", () => {
      out.line(`r = (2u * r + ((tail >> (31u - bit)) & 1u)) % ${n};`);
    });
  };
  out.block(`fn wrap_${index}(low: u32${wide ? ", high: u32" : ""}) -> u32`, () => {
    if (!signed) {
      magnitude("low", "high");
      out.line("return r;");
      return;
    }
    out.line(`let negative = (${wide ? "high" : "low"} & 0x80000000u) != 0u;`);
    magnitude("select(low, ~low, negative)", "select(high, ~high, negative)");
    out.line(`return select(r, ${n} - 1u - r, negative);`);
  });
  out.line("");
}
