import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  add,
  constant,
  dim,
  div,
  evaluate,
  index,
  iterations,
  iv,
  min,
  mod,
  neverNegative,
  parseModule,
  rangeOf,
  scale,
  sub,
  verifyStructure,
  type ForStmt,
  type Linear,
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

  it("hold at every point of dims and index values, of quotients and remainders too", () => {
    const rounded = fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 5 }));
    const round = (form: Linear, rounds: readonly (readonly [boolean, number])[]): Linear =>
      rounds.reduce((of, [quotient, by]) => (quotient ? div(of, by) : mod(of, by)), form);
    const term = fc
      .tuple(
        fc.constantFrom(dim(0), dim(1), index(0)),
        fc.constantFrom(1, -1, 3),
        fc.array(rounded, { maxLength: 3 }),
      )
      .map(([atom, by, rounds]) => scale(round(scale(atom, 2), rounds), by));
    fc.assert(
      fc.property(fc.array(term, { maxLength: 4 }), fc.integer({ min: -3, max: 3 }), (terms, offset) => {
        const form = terms.reduce(add, constant(offset));
        const ranges = {
          dims: [
            [0, 4],
            [0, 2],
          ],
          indices: [[-2, 3]],
        } as const;
        const [least, most] = rangeOf(form, ranges);
        const values: number[] = [];
        for (let a = 0; a <= 4; a++)
          for (let b = 0; b <= 2; b++)
            for (let s = -2; s <= 3; s++)
              values.push(evaluate(form, new Map(), { dims: [a, b], indices: [s] }));
        expect(least).toBeLessThanOrEqual(Math.min(...values));
        expect(most).toBeGreaterThanOrEqual(Math.max(...values));
        if (terms.length === 1 && terms[0]!.terms.every(({ of }) => of.kind !== "div" && of.kind !== "mod"))
          expect([least, most]).toEqual([Math.min(...values), Math.max(...values)]);
      }),
      { numRuns: 500 },
    );
  });

  it("of 200 nested remainders are found in as many steps, not in 2^200", () => {
    const nested = Array.from({ length: 200 }, (_, k) => 1000 - k).reduce(mod, dim(0));
    expect(rangeOf(nested, { dims: [[0, 5000]] })).toEqual([0, 800]);
  });

  it("of a sum of 60 minima are found at once, as the sum of their bounds", () => {
    const loop: ForStmt = {
      ...{ op: "for", iv: "t", lower: constant(0), upper: constant(8), step: 3 },
      ...{ mode: "serial", body: [] },
    };
    const minima = Array.from({ length: 60 }, (_, k) => min(constant(k), sub(constant(10 + k), iv("t"))));
    const sum = (60 * 59) / 2;
    expect(rangeOf(minima.reduce(add), { loops: [loop] })).toEqual([sum, sum]);
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
