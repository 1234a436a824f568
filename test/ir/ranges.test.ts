import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  add,
  boundsOf,
  constant,
  evaluate,
  iterations,
  iv,
  min,
  neverNegative,
  sub,
  type ForStmt,
} from "../../ir/index.js";
import { loopsAndForms } from "../support/loops.js";

describe("bounds of a form over its loops", () => {
  it("hold in every iteration", () => {
    fc.assert(
      fc.property(loopsAndForms(1), ({ loops, forms: [form] }) => {
        const [least, most] = boundsOf(form!, loops);
        for (const env of iterations(loops)) {
          const value = evaluate(form!, env);
          expect(value).toBeGreaterThanOrEqual(least);
          expect(value).toBeLessThanOrEqual(most);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("prove the tail of a long loop, which is too long to be tried", () => {
    const loop: ForStmt = {
      op: "for",
      iv: "t",
      lower: constant(0),
      upper: constant(60_000),
      step: 7,
      mode: "serial",
      body: [],
    };
    const t = iv("t");
    const size = min(constant(7), sub(constant(60_000), t));
    const end = sub(min(add(t, constant(7)), constant(60_000)), t);
    expect(neverNegative(sub(size, end), [loop])).toEqual({ kind: "holds" });
    expect(neverNegative(sub(end, size), [loop])).toEqual({ kind: "holds" });
  });
});
