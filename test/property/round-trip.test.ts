import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  equalModule,
  parseModule,
  printModule,
  type Func,
  type Level,
  type TensorType,
} from "../../ir/index.js";
import { program, targets, tryCompile, type ProgramDescription } from "../../src/index.js";
import { scheduledGather } from "../support/arbitrary.js";
import { corpus } from "../support/name-trials.js";
import { runs } from "../support/runs.js";

const roundTrip = (func: Func): void => {
  const text = printModule({ funcs: [func] });
  const { module, diagnostics } = parseModule(text, "printed.tir");
  expect(diagnostics).toEqual([]);
  expect(equalModule(module, { funcs: [func] }), text).toBe(true);
  expect(printModule(module)).toBe(text);
};

const f32 = (...shape: number[]): TensorType => ({ dtype: "f32", shape });
const i32 = (...shape: number[]): TensorType => ({ dtype: "i32", shape });

/** Bags of no place, of one and of several, whose ends are index values of their own, and sums. */
const bags = [0, 1, 3].flatMap((places) =>
  [1, 2, 5].flatMap((offsets): readonly ProgramDescription[] => {
    const bag = { op: "torch.embedding_bag", data: f32(3, 2), indices: i32(places) };
    return [
      { ...bag, others: [i32(offsets)], attrs: {} },
      { ...bag, others: [i32(offsets)], attrs: { include_last_offset: 1, padding_idx: -1 } },
      { ...bag, others: [i32(offsets), f32(places)], attrs: { mode: "sum" } },
    ];
  }),
);

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

  it("says the index values and the reads of every operator in their order", () => {
    const all = [targets.ascendA2, targets.webgpu, targets.cpu];
    const seen = new Map<string, number>();
    const some = corpus.filter(({ func }) => {
      const own = func.level === "source" ? func.op : func.level;
      seen.set(own, (seen.get(own) ?? 0) + 1);
      return seen.get(own)! <= 8;
    });
    const programs = [...some, ...bags.map((bag) => ({ func: program(bag), sizes: {} }))];
    const compiled = programs.flatMap(({ func, sizes }, k) => {
      const result = tryCompile(func, { bind: sizes, target: all[k % all.length]! });
      return result.ok ? [result.kernel] : [];
    });
    expect(compiled.length).toBeGreaterThan(0.8 * programs.length);
    for (const { source, access, tile } of compiled)
      for (const func of [source, access, tile]) if (func !== undefined) roundTrip(func);
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
