import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  add,
  rangeOf,
  constant,
  evaluate,
  iterations,
  iv,
  min,
  neverNegative,
  parseModule,
  sub,
  verifyStructure,
  type ForStmt,
} from "../../ir/index.js";
import { loopsAndForms } from "../support/loops.js";

describe("bounds of a form over its loops", () => {
  it("hold in every iteration", () => {
    fc.assert(
      fc.property(loopsAndForms(1), ({ loops, forms: [form] }) => {
        const [least, most] = rangeOf(form!, { loops });
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

describe("a proof by trial", () => {
  it("ends where an outer loop runs on around inner ones without iterations", () => {
    const { module } = parseModule(
      `func @f(%x: gm<1xi32>, %i: gm<5xi32>, %y: gm<5xi32>) {
  for %v0 = 0 to 2147483648 step 4 parallel {
    for %t0 = %v0 to min(%v0 + 4, 5) step 1 parallel {
      gather %x[0][1], %i[%t0][1] to %y[%t0][1] (d0) -> (%i[d0]) {oob = zero, origin = [%t0]}
    }
  }
}
`,
      "f.tir",
    );
    const said = verifyStructure(module.funcs[0]!).map(({ message }) => message);
    expect(said.join("\n")).toContain("it cannot be shown that %t0 and 1 cover it");
  }, 20_000);
});
