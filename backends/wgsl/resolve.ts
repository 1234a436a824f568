/**
 * One WGSL function per gather dim: the element that an index names, under the out-of-range policy.
 *
 * 64-bit indices are two words; the high word decides before the low one is used. `none` marks an index that reads as
 * zero bits. Under `error` the lowest offending position is kept, so that the report does not depend on timing.
 */
import type { NegativeIndex, OutOfBounds } from "../../ir/access.js";
import type { IndexDType } from "../../ir/types.js";
import type { Lines } from "./lines.js";

/** What `resolve_k` returns for an index that has no element. */
export const none = "0xffffffffu";

export interface Resolver {
  readonly name: string;
  readonly extent: number;
  readonly negative: NegativeIndex;
  readonly oob: OutOfBounds;
  readonly dtype: IndexDType;
  /** The storage variable of the index tensor, as words. */
  readonly indices: string;
}

/** Whether the policy can yield `none`. `error` with no elements has nothing safe to read either. */
export const canBeNone = (oob: OutOfBounds, extent: number): boolean => oob === "zero" || extent === 0;

export function emitResolver(out: Lines, resolver: Resolver): void {
  const { name, extent, negative, oob, dtype, indices } = resolver;
  const n = `${extent}u`;
  const wide = dtype === "i64" || dtype === "u64";
  const signed = dtype === "i32" || dtype === "i64";
  out.block(`fn ${name}(position: u32) -> u32`, () => {
    if (wide) {
      out.line(`let low = ${indices}[2u * position];`);
      out.line(`let high = ${indices}[2u * position + 1u];`);
    } else {
      out.line(`let low = ${indices}[position];`);
    }
    if (oob === "unchecked") {
      const fromEnd = signed && negative === "from-end";
      out.line(fromEnd ? `return select(low, low + ${n}, low >= 0x80000000u);` : "return low;");
      return;
    }
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
