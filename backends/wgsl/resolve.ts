/**
 * WGSL functions per gather dim: `resolve_k` gives the element that the index at a position names, or those of the four
 * from there, under the out-of-range policy.
 *
 * No branch stands in the way of an index in range: adapters that run both sides of a branch would pay for it each time.
 * An index out of range, 64-bit ones with any other high word included, comes out as a number of `extent` or above. Under
 * `error` the highest is kept in `worst_k`, and when it tells of one, `report_k` looks for the lowest position of all.
 * `none` marks an index that reads as zero bits.
 */
import type { NegativeIndex, OutOfBounds } from "../../ir/access.js";
import type { IndexDType } from "../../ir/types.js";
import type { Lines } from "./lines.js";

/** What `resolve_k` returns for an index that has no element. */
export const none = "0xffffffffu";

export interface Resolver {
  readonly extent: number;
  readonly negative: NegativeIndex;
  readonly oob: OutOfBounds;
  readonly dtype: IndexDType;
  /** The storage variable of the index tensor, and whether it is read as four words at a time. */
  readonly indices: string;
  readonly vectors: boolean;
}

/** Whether the policy can yield `none`. `error` with no elements has nothing safe to read either. */
export const canBeNone = (oob: OutOfBounds, extent: number): boolean => oob === "zero" || extent === 0;

const isWide = (dtype: IndexDType): boolean => dtype === "i64" || dtype === "u64";
const isSigned = (dtype: IndexDType): boolean => dtype === "i32" || dtype === "i64";

export function emitResolver(out: Lines, resolver: Resolver, k: number): void {
  const { extent, oob, dtype, vectors } = resolver;
  const type = vectors ? "vec4u" : "u32";
  const splat = (value: string): string => (vectors ? `vec4u(${value})` : value);
  const [n, most] = [splat(`${extent}u`), splat(`${Math.max(0, extent - 1)}u`)];
  if (oob === "wrap" && extent > 0) emitWrap(out, resolver, k);
  if (oob === "error") out.line(`var<private> worst_${k}: ${type};`);
  out.block(`fn resolve_${k}(position: u32) -> ${type}`, () => {
    emitLoads(out, resolver);
    if (oob === "unchecked") {
      out.line(`return ${ranged(resolver, splat, false)};`);
      return;
    }
    out.line(`let element = ${ranged(resolver, splat, true)};`);
    if (oob === "error") out.line(`worst_${k} = max(worst_${k}, element);`);
    if (canBeNone(oob, extent)) {
      out.line(
        extent === 0 ? `return ${splat(none)};` : `return select(element, ${splat(none)}, element >= ${n});`,
      );
      return;
    }
    switch (oob) {
      case "error":
      case "zero":
        out.line(`return min(element, ${most});`);
        return;
      case "clamp": {
        const below = `${isWide(dtype) ? "high" : "low"} >= ${splat("0x80000000u")}`;
        const both = vectors ? "&" : "&&";
        const wanted = `select(min(element, ${most}), ${splat("0u")}, (element >= ${n}) ${both} (${below}))`;
        out.line(`return ${isSigned(dtype) ? wanted : `min(element, ${most})`};`);
        return;
      }
      case "wrap":
        emitWrapped(out, resolver, k);
        return;
    }
  });
  out.line("");
  if (oob === "error") emitReport(out, resolver, k);
}

/** The index as an element; out of range it is `extent` or above. */
function ranged(resolver: Resolver, splat: (value: string) => string, checkHigh: boolean): string {
  const { extent, dtype, negative, vectors } = resolver;
  const wide = isWide(dtype);
  const fromEnd = isSigned(dtype) && negative === "from-end";
  const isNegative = wide ? `high == ${splat("0xffffffffu")}` : `low >= ${splat("0x80000000u")}`;
  const element = fromEnd ? `low + select(${splat("0u")}, ${splat(`${extent}u`)}, ${isNegative})` : "low";
  if (!wide || !checkHigh) return element;
  // The high word of an index in range is a sign alone: 0 and, from the end, 2^32 - 1.
  const or = vectors ? "|" : "||";
  const sign = `high == ${splat("0u")}`;
  return `select(${splat(none)}, ${element}, ${fromEnd ? `(${sign}) ${or} (${isNegative})` : sign})`;
}

/** Declares `low`, and `high` of 64-bit indices. */
function emitLoads(out: Lines, { indices, dtype, vectors }: Resolver): void {
  const wide = isWide(dtype);
  if (!vectors) {
    out.line(`let low = ${indices}[${wide ? "2u * " : ""}position];`);
    if (wide) out.line(`let high = ${indices}[2u * position + 1u];`);
    return;
  }
  if (!wide) {
    out.line(`let low = ${indices}[position >> 2u];`);
    return;
  }
  out.line(`let a = ${indices}[position >> 1u];`);
  out.line(`let b = ${indices}[(position >> 1u) + 1u];`);
  out.line("let low = vec4u(a.xz, b.xz);");
  out.line("let high = vec4u(a.yw, b.yw);");
}

/** Records a position whose index is out of range. The lowest is kept, so that the report does not depend on timing. */
function emitReport(out: Lines, resolver: Resolver, k: number): void {
  const { indices, dtype, vectors, extent } = resolver;
  const wide = isWide(dtype);
  out.block(`fn report_${k}(position: u32)`, () => {
    const word = (at: string): string =>
      vectors ? `${indices}[(${at}) >> 2u][(${at}) & 3u]` : `${indices}[${at}]`;
    out.line(`let low = ${word(wide ? "2u * position" : "position")};`);
    if (wide) out.line(`let high = ${word("2u * position + 1u")};`);
    const element = ranged({ ...resolver, vectors: false }, (value) => value, true);
    out.line(`if (${element} >= ${extent}u) { atomicMin(&status[0], position); }`);
  });
  out.line("");
}

/** The test that some index a lane has seen is out of range. */
export const sawWorst = (k: number, extent: number, vectors: boolean): string =>
  vectors ? `any(worst_${k} >= vec4u(${extent}u))` : `worst_${k} >= ${extent}u`;

/** Replaces what is out of range; a loop, because adapters that run both sides of a branch still skip a loop. */
function emitWrapped(out: Lines, { extent, dtype, vectors }: Resolver, k: number): void {
  const high = isWide(dtype);
  out.line("var wrapped = element;");
  const test = vectors ? `any(element >= vec4u(${extent}u))` : `element >= ${extent}u`;
  out.block(`for (var again = ${test}; again; again = false)`, () => {
    if (!vectors) out.line(`wrapped = wrap_${k}(low${high ? ", high" : ""});`);
    else {
      out.block("for (var e = 0u; e < 4u; e++)", () => {
        out.line(`wrapped[e] = wrap_${k}(low[e]${high ? ", high[e]" : ""});`);
      });
    }
  });
  out.line("return wrapped;");
}

/** fn wrap_k: the value modulo the extent, never negative. -v - 1 is ~v, so -v mod n needs no 64-bit negation. */
function emitWrap(out: Lines, { extent, dtype }: Resolver, k: number): void {
  const n = `${extent}u`;
  const wide = isWide(dtype);
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
  out.block(`fn wrap_${k}(low: u32${wide ? ", high: u32" : ""}) -> u32`, () => {
    if (!isSigned(dtype)) {
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
