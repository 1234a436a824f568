/** The line `try` of an explanation: following it gives what it says. */
import { describe, expect, it } from "vitest";
import { explain, gather, gatherElements, pypto, targets, type CompileOptions } from "../../src/index.js";
import { renderSummary } from "../../src/report/index.js";
import type { Func } from "../../ir/index.js";
import { parseEntry } from "../../src/cli/flag-values.js";
import { scheduleEntries } from "../../ir/schedule-entries.js";
import { parsed } from "../support/parsed.js";

const target = targets.ascendA2;
const columns = pypto.gather({ input: ["f32", [64, 4096]], dim: 0, index: ["i32", [64, 4096]] });
const rows = gather({ data: ["f32", [32000, 128]], indices: ["i32", [1536]], axis: 0 });
const bytes = gatherElements({ data: ["i8", [8, 100]], indices: ["i32", [8, 100]], axis: 0 });
const square = gatherElements({ data: ["f32", [512, 300]], indices: ["i32", [400, 300]], axis: 0 });

/** Schedules as a user types them: refused, slow, and near the best. */
const typed: readonly (readonly [Func, CompileOptions])[] = [
  ...[1024, 240, 64, 8, 1].map((entry) => [columns, { tile: [64, entry] }] as const),
  ...[16, 8].map((entry) => [columns, { tile: [entry, 64] }] as const),
  ...[1, 8, 32, 512].map((entry) => [rows, { tile: [entry, 128], residency: "gm" }] as const),
  [rows, { residency: "ub" }],
  ...[1, 7, 20, 300].map((entry) => [square, { tile: [512, entry] }] as const),
  ...[columns, rows, square, bytes].map((program) => [program, {}] as const),
];

/** Returns the schedule that flags state, over the one that was typed. */
function following(options: CompileOptions, flags: string): CompileOptions {
  const entries = [...flags.matchAll(/--([a-z-]+) (\S+)/g)].map(([, flag = "", text = ""]) => {
    const entry = Object.values(scheduleEntries).find((one) => one.flag === flag);
    if (entry === undefined) throw new Error(`--${flag} is no entry of a schedule`);
    return [entry.key, parseEntry(entry.key, text)] as const;
  });
  return { ...options, ...Object.fromEntries(entries) };
}

describe("what explain says to try", () => {
  const kinds = new Set<string>();
  it.each(typed.map(([program, options], k) => ({ k, program, options })))(
    "helps as it says: $k, $options",
    ({ program, options }) => {
      const before = explain(program, { ...options, target });
      const [, text = ""] = /^try +(.*)$/m.exec(renderSummary(before)) ?? [];
      const [, flags = "", cycles] =
        /^((?:--[a-z-]+ [^\s:]+ ?)+)(?:: about ([\d,]+) cycles)?/.exec(text) ?? [];
      const best = Math.min(
        ...(before.comparison?.alternatives ?? [])
          .filter(({ schedule }) => schedule.ubBytes === before.schedule.ubBytes)
          .map((other) => other.cycles),
      );
      // A hint is taken from the same schedules: none that it names is slower than the step.
      for (const { code, hint } of before.diagnostics) {
        if (!["TC901", "TC902", "TC903", "TC907"].includes(code) || hint === undefined || !before.legal)
          continue;
        const hinted = explain(program, { ...following(options, hint), target });
        expect([code, hinted.legal]).toEqual([code, true]);
        expect(hinted.cycles).toBeLessThanOrEqual(before.comparison?.better?.cycles ?? before.cycles);
      }
      if (flags === "") {
        expect(before.legal).toBe(true);
        kinds.add(text.startsWith("nothing") ? "nothing" : "search");
        // Nothing that the compiler knows is faster, unless the lower bound is near.
        if (!text.startsWith("nothing")) expect(best).toBeGreaterThanOrEqual(before.cycles);
        expect(text).toMatch(
          /^nothing|^tilec tune(?:, without the flags of the schedule)?: at most [\d.]+ times faster/,
        );
        return;
      }
      const after = explain(program, { ...following(options, flags), target });
      kinds.add(before.legal ? "faster" : "legal");
      expect(after.legal).toBe(true);
      if (before.legal) expect(after.cycles).toBe(best);
      if (cycles !== undefined) expect(after.cycles.toLocaleString("en")).toBe(cycles);
    },
  );

  it("keeps the profile where another residency is enough", () => {
    const text = `func @f(%x: inout tensor<64x64xf32>, %i: tensor<8xi32>, %u: tensor<8x64xf32>) -> tensor<64x64xf32> {
  %y = access.scatter %x, %i, %u (d0 < 8, d1 < 64) -> (skip(%i[d0] in 64), d1) yield %u[d0, d1] {oob = error, combine = add}
  return %y
}
`;
    const sums = parsed(text);
    const refused = explain(sums, { residency: "gm", target });
    expect(refused.legal).toBe(false);
    expect(renderSummary(refused)).toMatch(/^try +--residency ub: about/m);
    expect(explain(sums, { residency: "ub", target }).legal).toBe(true);
  });

  it("is each kind of step in these programs", () => {
    expect([...kinds].sort()).toEqual(["faster", "legal", "search"]);
  });
});
