import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { categoryOf, meanBytes, type Schedule, type Shape, type Target } from "../../ir/index.js";
import { tryCompile } from "../../src/index.js";
import {
  brokenRules,
  judgedOutput,
  leastTiles,
  type JudgedGather,
  type JudgedSchedule,
} from "../oracle/budget.js";
import { scheduledGather, type RandomGather } from "../support/arbitrary.js";
import { operandOf } from "../support/operands.js";
import { runs } from "../support/runs.js";

const judged = (random: RandomGather): JudgedGather => ({
  ...random.gather,
  elementBytes: meanBytes(random.dtype),
  indexBytes: meanBytes(operandOf(random.func, "indices").type.dtype),
  pypto: random.func.op.startsWith("pypto."),
});

/** What the user leaves out: no tile means any that the full-load rule allows under the view. */
function judgedSchedules(
  g: JudgedGather,
  s: Schedule,
  residency: JudgedSchedule["residency"],
): JudgedSchedule[] {
  const output = judgedOutput(g);
  // DirectML's leading ones do not count.
  const own = (shape: Shape | undefined): Shape | undefined => shape?.slice(shape.length - output.length);
  const [tile, view] = [own(s.tile), own(s.view)];
  const profile = s.profile ?? "strict";
  const pinned = profile === "strict" && residency === "ub" && g.op === "gather_elements";
  const longer = Math.max(g.dataShape[g.axis] ?? 1, g.indexShape[g.axis] ?? 1);
  const pins = new Map(pinned ? [[g.axis, view?.[g.axis] ?? longer]] : []);
  const tiles = tile === undefined ? leastTiles(output, pins) : [tile];
  return tiles.map((own) => ({ tile: own, view, profile, residency, buffers: s.buffers ?? 1 }));
}

function expectedCategories(random: RandomGather, s: Schedule, target: Target): string[] {
  const g = judged(random);
  const budget = s.ubBytes ?? target.ubBytes;
  const typed = s.tile !== undefined || s.view !== undefined;
  const loads = g.pypto === true && g.op === "gather_elements" && typed;
  // What PyPTO reads in global memory is loaded by choice, where no residency is stated.
  const rows = g.pypto === true && g.op === "gather" && target.kind === "ascend";
  const choices =
    s.residency === "auto" && !loads
      ? (["ub", rows ? "result" : "gm"] as const)
      : ([s.residency === "gm" ? "gm" : "ub"] as const);
  const found = choices
    .flatMap((residency) => judgedSchedules(g, s, residency))
    .map((tried) => brokenRules(g, tried, target.kind, budget));
  return found.some((broken) => broken.length === 0) ? [] : found.flat();
}

const hasEmptyDims = ({ gather }: RandomGather): boolean =>
  [gather.dataShape, gather.indexShape].some((shape) => shape.includes(0));

describe("the verdict on any gather, target and schedule", () => {
  it("is that of the independent arithmetic, with a suggestion that compiles", () => {
    const counts = { legal: 0, "full-load": 0, "ub-budget": 0, residency: 0, suggested: 0 };
    fc.assert(
      fc.property(scheduledGather, ({ random, schedule, target }) => {
        fc.pre(!hasEmptyDims(random));
        const expected = expectedCategories(random, schedule, target);
        const result = tryCompile(random.func, { ...schedule, target });
        if (result.ok) {
          expect(expected).toEqual([]);
          counts.legal++;
          return;
        }
        const first = result.diagnostics.find((d) => d.severity === "error");
        if (first === undefined) throw new Error("refused without an error");
        const category = categoryOf(first.code);
        if (category === "dtype") {
          // What PyPTO has on the 950 alone.
          expect([random.func.op, random.dtype, target.name]).toEqual([
            "pypto.index_select",
            expect.stringMatching(/^(bool|f8|hif8)/),
            expect.stringMatching(/^ascend-a[23]$/),
          ]);
          return;
        }
        expect(expected, first.message).toContain(category);
        counts[category as keyof typeof counts]++;
        const data = first.data ?? {};
        if (data["nearestTile"] === undefined) return;
        counts.suggested++;
        const again = tryCompile(random.func, {
          ...schedule,
          target,
          tile: data["nearestTile"] as Shape,
          view: data["nearestView"] as Shape,
          profile: data["nearestProfile"] as JudgedSchedule["profile"],
          residency: data["nearestResidency"] as "ub" | "gm",
          order: data["nearestOrder"] as Shape,
          buffers: data["nearestBuffers"] as NonNullable<Schedule["buffers"]>,
        });
        expect(again.ok, first.message).toBe(true);
      }),
      { numRuns: runs(2000) },
    );
    for (const [kind, count] of Object.entries(counts))
      expect([kind, count > runs(20)]).toEqual([kind, true]);
  });
});
