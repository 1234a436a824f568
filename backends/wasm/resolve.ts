/** An index value to an element of its gather dim, under its rule; the common case is one compare and no branch taken. */
import type { IndexBytes, IndexRule } from "../../ir/policy.js";
import { assertNever } from "../../ir/types.js";
import type { Code, LocalId } from "./code.js";
import type { PlainOp } from "./instructions.js";

export interface Resolver {
  readonly rule: IndexRule;
  /** Pushes the number of the output element that is written now; absent where no bad index is reported. */
  readonly position?: () => void;
  /** The lowest number of an output element whose index is out of range, so far. */
  readonly bad: LocalId;
  /** Set to 1 when the index has no element and reads as zero bits. */
  readonly none: LocalId;
}

const whole = { 4: "i32.load", 8: "i64.load" } as const;
/** Bring a value of a width to 32 or 64 bits. */
const indexLoads = {
  signed: { 1: "i32.load8_s", 2: "i32.load16_s", ...whole },
  unsigned: { 1: "i32.load8_s", 2: "i32.load16_u", ...whole },
} as const satisfies Readonly<Record<string, Readonly<Record<IndexBytes, PlainOp>>>>;

/** Pops the address of an index, adds `shift` bytes, and pushes the element it names, below the extent if there is one. */
export function emitResolve(code: Code, resolver: Resolver, shift: number): void {
  const { below, fromEnd, bytes, signed } = resolver.rule;
  const wide = bytes === 8;
  const value = code.local("value", wide ? "i64" : "i32");
  const element = code.local("element");
  code.op(indexLoads[signed ? "signed" : "unsigned"][bytes], shift).set(value);
  const fixed = fromEnd === undefined ? value : code.local("fixed", wide ? "i64" : "i32");
  if (fromEnd !== undefined) {
    // A negative value is all ones above its sign: the mask adds the extent to it and nothing to the others.
    code.get(value).get(value);
    if (wide) {
      code.op("i64.const", 63).op("i64.shr_s").op("i64.const", fromEnd).op("i64.and").op("i64.add");
    } else {
      code.const(31).op("i32.shr_s").const(fromEnd).op("i32.and").op("i32.add");
    }
    code.set(fixed);
  }
  code.get(fixed);
  if (wide) code.op("i32.wrap_i64");
  code.set(element);
  // Unsigned: what is still negative is above every extent.
  if (wide) code.get(fixed).op("i64.const", below).op("i64.ge_u");
  else code.get(fixed).const(below).op("i32.ge_u");
  code.if(() => {
    outOfRange(code, resolver, value, element);
  });
  code.get(element);
}

function outOfRange(code: Code, resolver: Resolver, value: LocalId, element: LocalId): void {
  const { rule, bad, none } = resolver;
  const { below, signed } = rule;
  const wide = rule.bytes === 8;
  const nothing = (): void => {
    if (rule.mayBeNone) code.const(1).set(none);
    code.const(0).set(element);
  };
  switch (rule.outside) {
    case "report":
    case "promised":
      if (resolver.position !== undefined) {
        const position = code.local("position");
        resolver.position();
        code.op("local.tee", position).get(bad).get(position).get(bad).op("i32.lt_u").op("select").set(bad);
      }
      nothing();
      return;
    case "none":
      nothing();
      return;
    case "nearest":
      if (below === 0) {
        nothing();
        return;
      }
      if (!signed) {
        code.const(below - 1).set(element);
        return;
      }
      code
        .const(0)
        .const(below - 1)
        .get(value);
      if (wide) code.op("i64.const", 0).op("i64.lt_s");
      else code.const(0).op("i32.lt_s");
      code.op("select").set(element);
      return;
    case "remainder": {
      if (below === 0) {
        nothing();
        return;
      }
      const rest = code.local("rest", "i64");
      code.get(value);
      if (!wide) code.op(signed ? "i64.extend_i32_s" : "i64.extend_i32_u");
      code
        .op("i64.const", below)
        .op(signed ? "i64.rem_s" : "i64.rem_u")
        .set(rest);
      // The remainder has the sign of the value: the same mask makes it count from the start.
      code.get(rest).get(rest).op("i64.const", 63).op("i64.shr_s").op("i64.const", below).op("i64.and");
      code.op("i64.add").op("i32.wrap_i64").set(element);
      return;
    }
    default:
      assertNever(rule.outside);
  }
}
