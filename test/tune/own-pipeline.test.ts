/** A search by a pipeline of somebody's own: candidates are what came out of it. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cyclesOf, error, printSchedule, targets, type Func, type Shape } from "../../ir/index.js";
import { definePass, editPipeline, type PassContext } from "../../passes/index.js";
import { compile, gather, gatherElements } from "../../src/index.js";
import { tune, tuneSizes } from "../../src/tune/index.js";
import { sweep, withFigure } from "../../src/tune/sweep.js";
import { runHere } from "../support/run-here.js";
import { tunePage } from "../../src/report/index.js";
import { parsed } from "../support/parsed.js";

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
    expect(verdict).toBe(`no schedule beats the default, ${own.cycles.toLocaleString("en")} cycles`);
    // What was costed is not what was left out.
    expect(counts.pruned).toBe(pruned.length);
    const plain = await tune(op, { budget: 9 });
    expect(plain.candidates).toHaveLength(9);
  });

  it("lists each schedule that comes out once, the best first", async () => {
    const passes = withTile((tile) => [Math.min(4, tile[0] ?? 1), tile[1] ?? 1]);
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
    expect(verdict).toMatch(/^no schedule beats the default, [\d,]+ cycles$/);
  });

  it("goes on where the default is refused, which is said, and any other tile is the best", async () => {
    const passes = withPass((func, context) => {
      if (func.schedule.tile?.join() === own.join()) context.report(error("TC302", "mine takes no default"));
      return func;
    });
    const result = await tune(op, { passes, budget: 3 });
    const { counts, best, default: refused, beatsDefault, verdict } = result;
    expect(counts).toMatchObject({ estimated: 2, error: 1 });
    expect(refused).toMatchObject({
      status: "error",
      reason: "mine takes no default",
      schedule: { tile: own },
    });
    expect([best.status, beatsDefault]).toEqual(["estimated", true]);
    expect(verdict).toMatch(/^tile = .*: \d+ cycles; the passes refuse the default$/);
    expect(tunePage(result, { command: "tilec tune", version: "0" })).toContain("default, refused");
  });

  it("ends with the default and no figure where all are refused", async () => {
    const passes = withPass((func, context) => {
      context.report(error("TC302", "mine takes nothing"));
      return func;
    });
    const { best, default: refused, counts, verdict, beatsDefault } = await tune(op, { passes, budget: 3 });
    expect(counts).toMatchObject({ estimated: 0, error: 3 });
    expect([best, beatsDefault]).toEqual([refused, false]);
    expect(verdict).toBe("no schedule beats the default, which the passes refuse");
  });

  it("is a warning of the command, which ends well", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tilec-own-"));
    const refusing = (name: string, when: string): string =>
      `export const ${name} = {
        name: "${name}", summary: "", requires: ["scheduled"], ensures: ["scheduled"],
        run(func, context) {
          if (${when})
            context.report({ code: "TC302", severity: "error", message: "mine takes no such tile" });
          return func;
        },
      };`;
    const isDefault = `func.schedule.tile.join() === "${own.join()}"`;
    writeFileSync(
      join(folder, "mine.mjs"),
      refusing("mine", `!(${isDefault})`) + refusing("others", isDefault) + refusing("none", "true"),
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
    const search = (name: string) =>
      runHere(
        [...args.slice(0, -1), `default, ${name} after select-tile`, "--budget", "4", "--no-config"],
        folder,
      );
    const others = await search("others");
    expect(others.stderr).toMatch(
      /^warning\[TC302\]: tile \[\d+, \d+\] is refused by the passes: mine takes/m,
    );
    expect([others.status, others.stdout]).toEqual([
      0,
      expect.stringMatching(
        /the passes refuse the default$[^]*^default .*\n +refused by the passes$[^]*default, refused$/m,
      ),
    ]);
    const none = await search("none");
    expect([none.status, none.stderr]).toEqual([1, expect.stringMatching(/^error\[TC302\]: tile/m)]);
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

describe("a sweep and a family of sizes by a pipeline", () => {
  const passes = withTile((tile) => [Math.min(2, tile[0] ?? 1), ...tile.slice(1)]);

  it("have the figures that the pipeline's programs have, which others than the built-in ones' are", async () => {
    const options = {
      figure: "ubBytes",
      values: [65_536, 196_608],
      target: targets.ascendA2,
      budget: 8,
    } as const;
    const [own, plain] = [await sweep(op, { ...options, passes }), await sweep(op, options)];
    for (const [k, { value, best }] of own.points.entries()) {
      const target = withFigure(targets.ascendA2, "ubBytes", value);
      const kernel = compile(op, { ...best?.schedule, target, passes });
      expect(best?.cycles).toBe(cyclesOf(kernel.tile, target).cycles);
      expect(kernel.tile.schedule.tile?.[0]).toBe(2);
      expect(best?.cycles).toBeGreaterThan(plain.points[k]?.best?.cycles ?? Infinity);
    }
  });

  it("cost each size by the pipeline", async () => {
    const text = `dim N <= 256
func @rows(%e: tensor<512x64xf32>, %i: tensor<Nxi32>) -> tensor<Nx64xf32> schedule {residency = gm} {
  %y = access.gather %e, %i (d0, d1) -> (%i[d0], d1) {oob = error}
  return %y
}
`;
    const func = parsed(text);
    const options = { sizes: { N: [16, 256] }, target: targets.ascendA2, budget: 6 };
    const [own, plain] = [await tuneSizes(func, { ...options, passes }), await tuneSizes(func, options)];
    for (const [k, { size, best }] of own.sizes.entries()) {
      const kernel = compile(func, { ...best.schedule, target: targets.ascendA2, passes, bind: { N: size } });
      expect(best.cycles).toBe(cyclesOf(kernel.tile, targets.ascendA2).cycles);
      expect(best.cycles).toBeGreaterThanOrEqual(plain.sizes[k]?.best.cycles ?? Infinity);
    }
    expect(own.sizes[1]?.best.cycles).toBeGreaterThan(plain.sizes[1]?.best.cycles ?? Infinity);
  });
});
