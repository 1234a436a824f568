/** An index value to an element of its gather dim, under the policy; the common case is one compare and no branch taken. */
import type { NegativeIndex, OutOfBounds } from "../../ir/access.js";
import { assertNever, type IndexDType } from "../../ir/types.js";
import type { Code, LocalId } from "./code.js";

export interface Resolver {
  readonly extent: number;
  readonly negative: NegativeIndex;
  readonly oob: OutOfBounds;
  readonly dtype: IndexDType;
  /** Pushes the flat position of the index that is resolved now. */
  readonly position: () => void;
  /** The lowest position out of range so far. */
  readonly bad: LocalId;
  /** Set to 1 when the index has no element and reads as zero bits. */
  readonly none: LocalId;
}

/** Whether an index can have no element: under `zero`, and under any policy when the dim has none. */
export const canBeNone = (oob: OutOfBounds, extent: number): boolean => oob === "zero" || extent === 0;

const isWide = (dtype: IndexDType): boolean => dtype === "i64" || dtype === "u64";
const isSigned = (dtype: IndexDType): boolean => dtype === "i32" || dtype === "i64";

/** Pops the address of an index, adds `shift` bytes, and pushes the element it names, below the extent if there is one. */
export function emitResolve(code: Code, resolver: Resolver, shift: number): void {
  const { extent, negative, dtype } = resolver;
  const wide = isWide(dtype);
  const value = code.local("value", wide ? "i64" : "i32");
  const element = code.local("element");
  const fromEnd = negative === "from-end" && isSigned(dtype);
  code.op(wide ? "i64.load" : "i32.load", shift).set(value);
  const fixed = fromEnd ? code.local("fixed", wide ? "i64" : "i32") : value;
  if (fromEnd) {
    // A negative value is all ones above its sign: the mask adds the extent to it and nothing to the others.
    code.get(value).get(value);
    if (wide) {
      code.op("i64.const", 63).op("i64.shr_s").op("i64.const", extent).op("i64.and").op("i64.add");
    } else {
      code.const(31).op("i32.shr_s").const(extent).op("i32.and").op("i32.add");
    }
    code.set(fixed);
  }
  code.get(fixed);
  if (wide) code.op("i32.wrap_i64");
  code.set(element);
  // Unsigned: what is still negative is above every extent.
  if (wide) code.get(fixed).op("i64.const", extent).op("i64.ge_u");
  else code.get(fixed).const(extent).op("i32.ge_u");
  code.if(() => {
    outOfRange(code, resolver, value, element);
  });
  code.get(element);
}

function outOfRange(code: Code, resolver: Resolver, value: LocalId, element: LocalId): void {
  const { extent, oob, dtype, bad, none } = resolver;
  const nothing = (): void => {
    if (canBeNone(oob, extent)) code.const(1).set(none);
    code.const(0).set(element);
  };
  if (extent === 0 && oob !== "error" && oob !== "unchecked") {
    nothing();
    return;
  }
  switch (oob) {
    case "error":
    case "unchecked": {
      const position = code.local("position");
      resolver.position();
      code.op("local.tee", position).get(bad).get(position).get(bad).op("i32.lt_u").op("select").set(bad);
      nothing();
      return;
    }
    case "zero":
      nothing();
      return;
    case "clamp":
      if (!isSigned(dtype)) {
        code.const(extent - 1).set(element);
        return;
      }
      code
        .const(0)
        .const(extent - 1)
        .get(value);
      if (isWide(dtype)) code.op("i64.const", 0).op("i64.lt_s");
      else code.const(0).op("i32.lt_s");
      code.op("select").set(element);
      return;
    case "wrap": {
      const rest = code.local("rest", "i64");
      code.get(value);
      if (!isWide(dtype)) code.op(isSigned(dtype) ? "i64.extend_i32_s" : "i64.extend_i32_u");
      code
        .op("i64.const", extent)
        .op(isSigned(dtype) ? "i64.rem_s" : "i64.rem_u")
        .set(rest);
      // The remainder has the sign of the value: the same mask makes it count from the start.
      code.get(rest).get(rest).op("i64.const", 63).op("i64.shr_s").op("i64.const", extent).op("i64.and");
      code.op("i64.add").op("i32.wrap_i64").set(element);
      return;
    }
    default:
      assertNever(oob);
  }
}
