import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CompileError } from "../../ir/index.js";
import { explain, legalTiles, onnx, pypto, targets, tryCompile } from "../../src/index.js";
import { scheduledGather } from "../support/arbitrary.js";

const budgetRule = fc.constantFrom("full", "spec" as const);

/** What a command says; a CompileError is a no. */
function answer(ask: () => boolean): boolean {
  try {
    return ask();
  } catch (thrown) {
    if (thrown instanceof CompileError) return false;
    throw thrown;
  }
}

describe("the verdicts of the commands", () => {
  it("are one: explain is legal where compile compiles, for views, budget rules and auto too", () => {
    const seen = { legal: 0, refused: 0 };
    fc.assert(
      fc.property(scheduledGather, budgetRule, ({ random, schedule, target }, rule) => {
        const options = { ...schedule, budgetRule: rule, target };
        const compiled = tryCompile(random.func, options);
        const explained = answer(() => explain(random.func, options).legal);
        expect([explained, compiled.ok]).toEqual([compiled.ok, compiled.ok]);
        seen[compiled.ok ? "legal" : "refused"]++;
      }),
      { numRuns: 600 },
    );
    expect(seen.legal).toBeGreaterThan(100);
    expect(seen.refused).toBeGreaterThan(100);
  });

  it("are one: legal has tiles exactly where compile finds one", () => {
    const seen = { some: 0, none: 0 };
    fc.assert(
      fc.property(scheduledGather, budgetRule, ({ random, schedule, target }, rule) => {
        const { tile: _, ...open } = schedule;
        const options = { ...open, budgetRule: rule, target };
        const compiled = tryCompile(random.func, options).ok;
        const legal = answer(() => legalTiles(random.func, options).proof === undefined);
        expect([legal, compiled]).toEqual([compiled, compiled]);
        seen[compiled ? "some" : "none"]++;
      }),
      { numRuns: 300 },
    );
    expect(seen.some).toBeGreaterThan(100);
    expect(seen.none).toBeGreaterThan(20);
  });

  it("keep a view that is too short, and refuse it", () => {
    const func = pypto.gather({ input: ["f32", [64, 80]], index: ["i32", [32, 80]], dim: 0 });
    const options = { target: targets.ascendA2, view: [32, 80] };
    expect(tryCompile(func, options).ok).toBe(false);
    expect(explain(func, options).legal).toBe(false);
    expect(legalTiles(func, options)).toMatchObject({
      count: 0,
      proof: expect.stringContaining("view[0] = 32"),
    });
  });

  it("count the tiles of rows from global memory where auto takes them", () => {
    const func = onnx.gather({ data: ["f32", [50257, 768]], indices: ["i32", [4096]], axis: 0 });
    for (const target of [targets.webgpu, targets.cpu]) {
      const found = legalTiles(func, { target });
      expect(found.count).toBe(4096 * 768);
      expect(tryCompile(func, { target }).ok).toBe(true);
    }
  });

  it("hold the written sum and the padded plan under the rule spec", () => {
    const func = onnx.gather({ data: ["u8", [8, 16]], indices: ["i32", [64]], axis: 0 });
    const open = { target: targets.ascendA2, budgetRule: "spec", ubBytes: 1500 } as const;
    const options = { ...open, tile: [64, 16] };
    const { legal, rules, footprint } = explain(func, options);
    expect(footprint.bytes).toBeLessThanOrEqual(1500);
    expect(footprint.planned).toBeGreaterThan(1500);
    expect(legal).toBe(false);
    expect(rules.map(({ rule, pass }) => [rule, pass])).toContainEqual(["ub-plan", false]);
    expect(tryCompile(func, options).ok).toBe(false);
    expect(tryCompile(func, open).ok).toBe(true);
  });

  it.each([{ view: [3] }, { view: [0, -3] }, { order: [5, 5] }, { cores: -4 }, { ubBytes: -1 }])(
    "of legal come after a look at the schedule: %o",
    (bad) => {
      const func = onnx.gather({ data: ["f32", [4, 8]], indices: ["i32", [6]], axis: 0 });
      expect(() => legalTiles(func, { target: targets.ascendA2, ...bad })).toThrow(CompileError);
    },
  );
});
