/** A search by a pipeline of somebody's own: candidates are what came out of it. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { error, printSchedule, targets, type Func, type Shape } from "../../ir/index.js";
import { definePass, editPipeline, type PassContext } from "../../passes/index.js";
import { compile, gather, gatherElements } from "../../src/index.js";
import { tune } from "../../src/tune/index.js";
import { runHere } from "../support/run-here.js";
import { tunePage } from "../../src/report/index.js";

const op = gather({ data: ["f32", [256, 512]], indices: ["i32", [64]], axis: 0 });
const withPass = (run: (func: Func, context: PassContext) => Func) =>
  editPipeline([
    {
      pass: definePass({ name: "mine", summary: "", requires: ["scheduled"], ensures: ["scheduled"], run }),
      after: "select-tile",
    },
  ]);
const withTile = (tileOf: (tile: Shape) => Shape) =>
  withPass((func) =>
    func.schedule.tile === undefined
      ? func
      : { ...func, schedule: { ...func.schedule, tile: tileOf(func.schedule.tile) } },
  );

describe("a pipeline that overwrites the tile of every candidate", () => {
  it("makes one candidate, which is the default, and says nothing else of it", async () => {
    const passes = withPass((func) => ({
      ...func,
      schedule: {
        ...func.schedule,
        tile: [8, 64],
        order: [0, 1],
        buffers: 1,
        view: [64, 512],
        residency: "ub",
      },
    }));
    const { candidates, best, default: own, verdict, counts, pruned } = await tune(op, { passes, budget: 9 });
    expect(candidates.map(({ schedule }) => schedule.tile)).toEqual([[8, 64]]);
    expect([best, counts.estimated]).toEqual([own, 1]);
    expect(verdict).toBe(`no schedule beats the default, ${own.cycles} cycles`);
    // What was costed is not what was left out.
    expect(counts.pruned).toBe(pruned.length);
    const plain = await tune(op, { budget: 9 });
    expect(plain.candidates).toHaveLength(9);
  });

  it("lists each schedule that comes out once, the best first", async () => {
    const passes = withTile((tile) => [Math.min(16, tile[0] ?? 1), tile[1] ?? 1]);
    const { candidates } = await tune(op, { passes, budget: 60 });
    const shown = candidates.map(({ schedule, cycles }) => `${printSchedule(schedule)} ${cycles}`);
    expect(new Set(shown).size).toBe(shown.length);
    expect(shown.length).toBeLessThan(60);
    expect(candidates.map(({ cycles }) => cycles)).toEqual(
      candidates.map(({ cycles }) => cycles).sort((a, b) => a - b),
    );
  });
});

describe("a pipeline that refuses some candidates", () => {
  const own = compile(op).tile.schedule.tile!;

  it("lists them as such, and does not fail the search", async () => {
    const passes = withPass((func, context) => {
      const { tile = own } = func.schedule;
      if (tile.join() !== own.join()) context.report(error("TC302", "mine takes no such tile"));
      return func;
    });
    const { counts, best, verdict, candidates, default: chosen } = await tune(op, { passes, budget: 6 });
    expect([counts.estimated, counts.error, best]).toEqual([1, 5, chosen]);
    expect(candidates.slice(1).map((candidate) => "reason" in candidate && candidate.reason)).toEqual(
      Array.from({ length: 5 }, () => "mine takes no such tile"),
    );
    expect(verdict).toMatch(/^no schedule beats the default, \d+ cycles$/);
  });

  it("is a warning of the command, which ends well", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tilec-own-"));
    writeFileSync(
      join(folder, "mine.mjs"),
      `export const mine = {
        name: "mine", summary: "", requires: ["scheduled"], ensures: ["scheduled"],
        run(func, context) {
          if (func.schedule.tile.join() !== "${own.join()}")
            context.report({ code: "TC302", severity: "error", message: "mine takes no such tile" });
          return func;
        },
      };`,
    );
    const gathered = ["--op", "gather", "--data", "f32[256,512]", "--indices", "i32[64]"];
    const args = [
      "tune",
      ...gathered,
      "--load",
      "./mine.mjs",
      "--pipeline",
      "default, mine after select-tile",
    ];
    const { status, stdout, stderr } = await runHere([...args, "--budget", "4", "--no-config"], folder);
    expect(stderr).toMatch(
      /^warning\[TC302\]: tile \[\d+, \d+\] is refused by the passes, and \d more: mine takes/m,
    );
    expect([status, stdout]).toEqual([0, expect.stringContaining("no schedule beats the default")]);
    expect(stdout.match(/^(?:best|default) /gm)).toHaveLength(1);
  });
});

it("a refused tile has the bytes and the budget of the rule that refuses it, and so has the page", async () => {
  const wide = gatherElements({ data: ["f32", [1024, 512]], indices: ["i32", [1024, 512]], axis: 0 });
  const result = await tune(wide, { target: targets.ascendA2, budget: 20 });
  const sums = result.refused.flatMap(({ reason, ubBytes, budget }) => {
    const [, needed, allowed] = / (\d+) B > (\d+) B/.exec(reason) ?? [];
    return needed === undefined
      ? []
      : [
          [
            [ubBytes, budget],
            [Number(needed), Number(allowed)],
          ],
        ];
  });
  expect(sums.length).toBeGreaterThan(0);
  for (const [row, stated] of sums) expect(row).toEqual(stated);
  const budgets = new Set(result.refused.map(({ budget }) => budget));
  expect([...budgets].every((budget) => [196_608, 188_416].includes(budget))).toBe(true);
  const page = tunePage(result, { command: "tilec tune", version: "0" });
  expect(page).toContain("UB needed (B)");
});
