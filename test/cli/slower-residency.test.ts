/** TC907 of commands: where the default residency is slower than the other by more than a tenth, and nowhere else. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { defined, cyclesOf, targets, type Func } from "../../ir/index.js";
import { residencyHint } from "../../src/api/slower-residency.js";
import { onnx, tryCompile } from "../../src/index.js";
import { runHere } from "../support/run-here.js";
import { runs } from "../support/runs.js";

const target = targets.ascendA2;
const cyclesUnder = (program: Func, residency: "ub" | "gm", tile?: readonly number[]): number | undefined => {
  const compiled = tryCompile(program, { target, residency, ...defined({ tile }) });
  return compiled.ok ? cyclesOf(compiled.kernel.tile, target).cycles : undefined;
};

const few = ["--op", "gather", "--data", "f32[2000,64]", "--indices", "i32[64]", "--axis", "0"];

it.each([["compile"], ["explain"], ["legal"], ["tune", "--budget", "2"]])(
  "%s names the flag, which is followed once it is given",
  async (...command) => {
    const said = (await runHere([...command, ...few])).stderr;
    const [, ub, gm] =
      /hint\[TC907\]: residency ub, the default of ascend-a2, is estimated at (\d+) cycles; gm at (\d+)/.exec(
        said,
      ) ?? [];
    const program = onnx.gather({ data: ["f32", [2000, 64]], indices: ["i32", [64]], axis: 0 });
    expect([Number(ub), Number(gm)]).toEqual([cyclesUnder(program, "ub"), cyclesUnder(program, "gm")]);
    expect(said).toContain("= hint: --residency gm");
    for (const residency of ["gm", "ub"])
      expect((await runHere([...command, ...few, "--residency", residency])).stderr).not.toContain("TC907");
  },
);

it("speaks where both residencies are legal and the default takes over 1.1 times the cycles, with a tile or without", () => {
  const gathers = fc.record({
    rows: fc.integer({ min: 1, max: 3000 }),
    columns: fc.integer({ min: 1, max: 100 }),
    count: fc.integer({ min: 1, max: 3000 }),
    tile: fc.option(fc.tuple(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: 64 })), {
      nil: undefined,
    }),
  });
  fc.assert(
    fc.property(gathers, ({ rows, columns, count, tile: wanted }) => {
      const program = onnx.gather({ data: ["f32", [rows, columns]], indices: ["i32", [count]], axis: 0 });
      const tile = wanted && [Math.min(count, wanted[0]), Math.min(columns, wanted[1])];
      const options = { target, ...defined({ tile }) };
      const [ub, gm] = (["ub", "gm"] as const).map((residency) => cyclesUnder(program, residency, tile));
      const slower = ub !== undefined && gm !== undefined && ub > 1.1 * gm;
      expect(residencyHint(program, options).map(({ code }) => code)).toEqual(slower ? ["TC907"] : []);
    }),
    { numRuns: runs(60) },
  );
});
