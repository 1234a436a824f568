/** Sweeps over a figure of the target: which values, what stands where nothing is legal, and what more of a figure never does. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { targets, type TargetFigures } from "../../ir/index.js";
import { onnx, tryCompile } from "../../src/index.js";
import { parseSweep } from "../../src/cli/sweep-values.js";
import { sweepPage, sweepSvg } from "../../src/report/sweep.js";
import { sweep } from "../../src/tune/sweep.js";
import { tune } from "../../src/tune/tune.js";
import { longGather, randomGather } from "../support/arbitrary.js";
import { runHere } from "../support/run-here.js";
import { runs } from "../support/runs.js";

const target = targets.ascendA2;
const tall = onnx.gatherElements({ data: ["f32", [1500, 64]], indices: ["i32", [1500, 64]], axis: 0 });

describe("a sweep", () => {
  it("takes both ends and seven values between, each as many times the one before, bytes in whole blocks", () => {
    const { figure, values } = parseSweep("ubBytes=64KiB..512KiB", target);
    expect(figure).toBe("ubBytes");
    // 64 KiB x 8^(k/8), to the nearest 32 B.
    const exact = Array.from({ length: 9 }, (_, k) => 65536 * 8 ** (k / 8));
    expect(values).toEqual(exact.map((value) => 32 * Math.round(value / 32)));
    expect(parseSweep("cores=2..5", target).values).toEqual([2, 3, 4, 5]);
    expect(parseSweep("gmReadBytesPerCycle=432,864", target).values).toEqual([432, 864]);
    for (const wrong of ["cores", "core=1,2", "cores=2..1", "cores=1..2..3", "cores=none", "cores=0,1"])
      expect(() => parseSweep(wrong, target)).toThrow("--sweep");
  });

  it("has at each value what a search on that target has, or nothing with the reason", async () => {
    const found = await sweep(tall, {
      figure: "ubBytes",
      values: [65536, 131072, 196608],
      target,
      budget: 5,
    });
    // 1500 rows of a block, of data, indices and output, are 144000 B.
    for (const point of found.points.slice(0, 2)) {
      expect(point).toMatchObject({ best: null, default: null });
      expect(point.reason).toMatch(
        /^TC402: no tile is legal .*gather dim 0 is 1500; the largest that would fit is \d+$/,
      );
    }
    const alone = await tune(tall, { target: { ...target, ubBytes: 196608 }, budget: 5 });
    expect(found.points[2]).toMatchObject({
      best: { cycles: alone.best.cycles, schedule: alone.best.schedule },
      default: { cycles: alone.default.cycles },
    });
    expect(sweepPage(found)).toContain("<svg");
    expect(sweepSvg(found)).toContain("ubBytes");
    const none = await sweep(tall, { figure: "ubBytes", values: [65536], target, budget: 5 });
    expect([sweepSvg(none), sweepPage(none).includes("TC402")]).toEqual([undefined, true]);
  });

  it("finds no slower best with more UB, bandwidth or cores", async () => {
    const swept: readonly (readonly [keyof TargetFigures, readonly number[]])[] = [
      ["ubBytes", [2048, 8192, 196608]],
      ["gmReadBytesPerCycle", [16, 100, 864]],
      ["loadBytesPerCycle", [8, 64, 128]],
      ["cores", [3, 7, 48]],
    ];
    let judged = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(longGather, randomGather),
        fc.constantFrom(...swept),
        fc.constantFrom(target, targets.ascend950, targets.cpu),
        async ({ func }, [figure, values], own) => {
          // Types that an operator takes on other targets alone are refused before any search.
          const result = tryCompile(func, { target: own });
          fc.pre(result.ok || result.diagnostics.every(({ code }) => code !== "TC104"));
          const { points } = await sweep(func, { figure, values, target: own, budget: 2 });
          const cycles = points.map(({ best }) => best?.cycles ?? Infinity);
          for (let k = 1; k < cycles.length; k++) expect(cycles[k]!).toBeLessThanOrEqual(cycles[k - 1]!);
          judged++;
        },
      ),
      { numRuns: runs(300) },
    );
    expect(judged).toBe(runs(300));
  });

  it("is a table, csv and JSON of the command", async () => {
    const args = [
      "tune",
      "--op",
      "gather",
      "--data",
      "f32[256,64]",
      "--indices",
      "i32[512]",
      "--budget",
      "4",
    ];
    const flags = [...args, "--sweep", "cores=12,24"];
    const { stdout } = await runHere(flags);
    expect(stdout).toMatch(/^cores +cycles +default +tile +residency +buffers$/m);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    const { sweep: points } = JSON.parse((await runHere([...flags, "--json"])).stdout) as {
      readonly sweep: readonly { readonly value: number; readonly best: { readonly cycles: number } }[];
    };
    expect(points.map(({ value }) => value)).toEqual([12, 24]);
    const csv = (await runHere([...flags, "--csv"])).stdout.trim().split("\n");
    expect(csv[0]).toBe("cores,residency,tile,view,order,buffers,cycles,default_cost,reason");
    expect(csv.slice(1).map((line) => Number(line.split(",").at(-3)))).toEqual(
      points.map(({ best }) => best.cycles),
    );
    expect((await runHere([...flags, "--records", "x.jsonl"])).stderr).toContain(
      "cannot be used with --sweep, which searches by estimated cycles",
    );
    expect((await runHere([...flags, "--cores", "4"])).stderr).toContain("a schedule that fixes cores");
  });
});
