import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { equalModule, parseModule, printModule, type Func, type Level } from "../../ir/index.js";
import { tryCompile } from "../../src/index.js";
import { scheduledGather } from "../support/arbitrary.js";
import { runs } from "../support/runs.js";

const roundTrip = (func: Func): void => {
  const text = printModule({ funcs: [func] });
  const { module, diagnostics } = parseModule(text, "printed.tir");
  expect(diagnostics).toEqual([]);
  expect(equalModule(module, { funcs: [func] }), text).toBe(true);
  expect(printModule(module)).toBe(text);
};

describe("text form", () => {
  it("prints, parses and equals at every level and after every pass", () => {
    const seen = new Set<Level>();
    fc.assert(
      fc.property(scheduledGather, ({ random, schedule, target }) => {
        roundTrip({ ...random.func, schedule, target: target.name });
        tryCompile(random.func, {
          ...schedule,
          target,
          afterPass(_pass, _before, after) {
            seen.add(after.level);
            roundTrip(after);
          },
        });
      }),
      { numRuns: runs(400) },
    );
    expect([...seen].sort()).toEqual(["access", "tile"]);
  });

  it("continues from any dump: compiling the parsed access level gives the same tile program", () => {
    fc.assert(
      fc.property(scheduledGather, ({ random, schedule, target }) => {
        const result = tryCompile(random.func, { ...schedule, target });
        if (!result.ok) return;
        const { module } = parseModule(result.kernel.text("access"), "access.tir");
        const again = tryCompile(module.funcs[0]!, { target });
        expect(again.ok && again.kernel.text("tile")).toBe(result.kernel.text("tile"));
      }),
      { numRuns: runs(200) },
    );
  });
});
