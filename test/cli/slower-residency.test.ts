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

const tile = [8, 16];
const few = [
  "--op",
  "gather",
  "--data",
  "f32[2000,64]",
  "--indices",
  "i32[64]",
  "--axis",
  "0",
  "--tile",
  "8,16",
];

it.each([["compile"], ["explain"], ["tune", "--budget", "2"]])(
  "%s names the flag, which is followed once it is given",
  async (...command) => {
    const said = (await runHere([...command, ...few])).stderr;
    const [, gm, less, ub] =
      /hint\[TC907\]: residency gm: estimated ([\d,]+) cycles, (\d+) % fewer than the ([\d,]+) of ub, the default of ascend-a2/.exec(
        said.replaceAll(/(?<=\d),(?=\d{3})/g, ""),
      ) ?? [];
    const program = onnx.gather({ data: ["f32", [2000, 64]], indices: ["i32", [64]], axis: 0 });
    // explain advises the tile that is best there, the other commands keep the one that is stated.
    const [, flags = "", stated] =
      /= hint: (--residency gm --tile (\S+).*)/.exec(said.slice(said.indexOf("TC907"))) ?? [];
    expect(stated === "8,16").toBe(command[0] !== "explain");
    const open = few.slice(0, few.indexOf("--tile"));
    const followed = await runHere(["explain", ...open, ...flags.split(" "), "--json"]);
    const { cycles } = JSON.parse(followed.stdout) as { readonly cycles: number };
    if (stated === "8,16") expect(cycles).toBe(cyclesUnder(program, "gm", tile));
    const named = [cyclesUnder(program, "ub", tile), cycles];
    expect([Number(ub), Number(gm)]).toEqual(named);
    expect(Number(less)).toBe(Math.round(100 - (100 * Number(gm)) / Number(ub)));
    expect(said).toContain("= hint: --residency gm");
    for (const residency of ["gm", "ub"])
      expect((await runHere([...command, ...few, "--residency", residency])).stderr).not.toContain("TC907");
  },
);

it("speaks of a stated tile where both residencies are legal and the default takes over 1.1 times the cycles", () => {
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
      // Without a tile the clock has taken the faster one.
      const slower = tile !== undefined && ub !== undefined && gm !== undefined && ub > 1.1 * gm;
      expect(residencyHint(program, options).map(({ code }) => code)).toEqual(slower ? ["TC907"] : []);
    }),
    { numRuns: runs(60) },
  );
});
