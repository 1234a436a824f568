/**
 * WGSL functions per gather dim: `resolve_k` gives the element that the index at a position names, or those of the four
 * from there; `mend_k` applies the out-of-range policy to one that names none.
 *
 * 64-bit indices are two words; the high word decides before the low one is used. `none` marks an index that reads as
 * zero bits. Under `error` the lowest offending position is kept, so that the report does not depend on timing.
 */
import type { NegativeIndex, OutOfBounds } from "../../ir/access.js";
import type { IndexDType } from "../../ir/types.js";
import type { Lines } from "./lines.js";

/** What `mend_k` returns for an index that has no element. */
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

export function emitResolver(out: Lines, resolver: Resolver, k: number): void {
  const { oob, extent } = resolver;
  if (oob !== "unchecked") emitMend(out, resolver, k);
  const type = resolver.vectors ? "vec4u" : "u32";
  const splat = (value: string): string => (resolver.vectors ? `vec4u(${value})` : value);
  const wide = isWide(resolver.dtype);
  const fromEnd = isSigned(resolver.dtype) && resolver.negative === "from-end";
  out.block(`fn resolve_${k}(position: u32) -> ${type}`, () => {
    emitLoads(out, resolver);
    const negative = wide ? `high == ${splat("0xffffffffu")}` : `low >= ${splat("0x80000000u")}`;
    const sum = `low + select(${splat("0u")}, ${splat(`${extent}u`)}, ${negative})`;
    out.line(`var element = ${fromEnd ? sum : "low"};`);
    if (oob !== "unchecked") {
      const any = (test: string): string => (resolver.vectors ? `any(${test})` : test);
      const beyond = any(`element >= ${splat(`${extent}u`)}`);
      // The high word of an index in range is a sign alone: 0 and, from the end, 2^32 - 1.
      const high = fromEnd ? `high + ${splat("1u")} > ${splat("1u")}` : `high != ${splat("0u")}`;
      const wrong = wide ? `${beyond} || ${any(high)}` : beyond;
      out.line("// a loop, because adapters that run both sides of a branch still skip a loop");
      out.block(`for (var mend = ${wrong}; mend; mend = false)`, () => {
        const mended = (part: string): string => `mend_${k}(low${part}, ${wide ? `high${part}, ` : ""}`;
        if (!resolver.vectors) {
          out.line(`element = ${mended("")}position);`);
          return;
        }
        out.block("for (var e = 0u; e < 4u; e++)", () => {
          out.line(`element[e] = ${mended("[e]")}position + e);`);
        });
      });
    }
    out.line("return element;");
  });
  out.line("");
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

const isWide = (dtype: IndexDType): boolean => dtype === "i64" || dtype === "u64";
const isSigned = (dtype: IndexDType): boolean => dtype === "i32" || dtype === "i64";

function emitMend(out: Lines, { extent, negative, oob, dtype }: Resolver, k: number): void {
  const n = `${extent}u`;
  const wide = isWide(dtype);
  const signed = isSigned(dtype);
  out.block(`fn mend_${k}(low: u32, ${wide ? "high: u32, " : ""}position: u32) -> u32`, () => {
    out.line(`if (${wide ? "high == 0u && " : ""}low < ${n}) { return low; }`);
    if (signed && negative === "from-end" && extent > 0) {
      // -extent .. -1 are the highest words; extent is below 2^31, so the sum wraps to the element.
      const high = wide ? "high == 0xffffffffu && " : "";
      out.line(`if (${high}low >= ${wrapped(extent)}) { return low + ${n}; }`);
    }
    switch (oob) {
      case "error":
        out.line("atomicMin(&status[0], position);");
        out.line(extent === 0 ? `return ${none};` : "return 0u;");
        return;
      case "zero":
        out.line(`return ${none};`);
        return;
      case "clamp": {
        const below = `(${wide ? "high" : "low"} & 0x80000000u) != 0u`;
        out.line(signed ? `return select(${extent - 1}u, 0u, ${below});` : `return ${extent - 1}u;`);
        return;
      }
      case "wrap":
        emitWrap(out, n, wide, signed);
        return;
    }
  });
  out.line("");
}

/** 2^32 - extent */
const wrapped = (extent: number): string => `0x${(2 ** 32 - extent).toString(16)}u`;

/** The value modulo the extent, never negative. -v - 1 is ~v, so -v mod n needs no 64-bit negation. */
function emitWrap(out: Lines, n: string, wide: boolean, signed: boolean): void {
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
  if (signed) {
    out.line(`let negative = (${wide ? "high" : "low"} & 0x80000000u) != 0u;`);
    magnitude("select(low, ~low, negative)", "select(high, ~high, negative)");
    out.line(`return select(r, ${n} - 1u - r, negative);`);
  } else {
    magnitude("low", "high");
    out.line("return r;");
  }
}
