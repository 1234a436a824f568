/** tilec targets fit: figures from a user's own runs, in the form of msprof's op_summary. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cyclesOf, targets, type Target } from "../../ir/index.js";
import { compile, onnx } from "../../src/index.js";
import { parseTargetFile } from "../../src/formats/target-file.js";
import { fittedFigures } from "../../src/validation/fit.js";
import { fitRuns, type EmittedKernel } from "../../src/validation/fit-runs.js";
import { parseProfile } from "../../src/validation/profiled-runs.js";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const target = targets.ascendA2;
const folder = scratchFolder("fit");

const program = `func @rows(%data: tensor<5000x32xf32>, %indices: tensor<4096xi32>) -> tensor<4096x32xf32> schedule {tile = [43, 32], residency = gm, buffers = 2} {
  %y = onnx.gather %data, %indices {axis = 0}
  return %y
}
`;

/** Short rows, which issue decides, and many elements, whose index values V works at repeat by repeat. */
const rows = onnx.gather({ data: ["f32", [5000, 32]], indices: ["i32", [4096]], axis: 0 });
const elements = onnx.gather({ data: ["f32", [4096]], indices: ["i32", [1 << 20]], axis: 0 });
const kernelOf = (func: typeof rows, options: object): EmittedKernel => {
  const kernel = compile(func, { target, ...options });
  return { program: func.name, entryPoint: kernel.pto().entryPoint, tile: kernel.tile };
};

describe("a profile", () => {
  const text = readFileSync(new URL("./inputs/op_summary.csv", import.meta.url), "utf8");

  it("is read by the names of its columns: launches of one kernel together, cells without a value left out", () => {
    expect(parseProfile(text, "op_summary.csv")).toEqual([
      {
        name: "tilec_kernel_rows",
        launches: 3,
        blocks: 48,
        microseconds: { task: 4.5, cores: 2, MTE2: 1.5, S: 0.5 },
      },
      { name: 'aclnn "Add", fused', launches: 1, microseconds: { task: 9.25 } },
    ]);
  });

  it.each([
    ["", "op_summary.csv is empty"],
    ["Name,Duration\nx,1\n", "no column Op Name"],
    ["Op Name,OP Type\nx,y\n", "no column with a time: Task Duration(us), aiv_time(us)"],
    ["Op Name,Task Duration(us)\nx\n", "line 2 has 1 fields, and the first line 2"],
    ["Op Name,Task Duration(us)\nx,fast\n", "line 2, Task Duration(us): fast is no number from 0 to 2^53"],
    ["Op Name,Task Duration(us)\nx,-1\n", "-1 is no number from 0 to 2^53"],
    ["Op Name,Task Duration(us)\nx,0x10\n", "0x10 is no number from 0 to 2^53"],
    ["Op Name,Task Duration(us)\nx,1e300\n", "1e300 is no number from 0 to 2^53"],
    ["Op Name,Task Duration(us)\nx,Infinity\n", "Infinity is no number from 0 to 2^53"],
    ["Op Name,Block Dim,Task Duration(us)\nx,1.5,1\n", "Block Dim: 1.5 is no whole number from 0 to 2^53"],
    ['Op Name,Task Duration(us)\n"x,1\n', "a quote does not end"],
    ["Op Name,Block Dim,Task Duration(us)\nx,4,1\nx,8,1\n", "x ran on 4 and on 8 blocks"],
  ])("that is none is TC019: %j", (wrong, said) => {
    expect(() => parseProfile(wrong, "op_summary.csv")).toThrow(said);
    expect(() => parseProfile(wrong, "op_summary.csv")).toThrow("TC019");
  });
});

describe("a fit to runs", () => {
  const kernels = [
    kernelOf(rows, { tile: [43, 32], residency: "gm", buffers: 2 }),
    kernelOf(elements, { residency: "ub" }),
  ];
  const listed = (real: Target, names = kernels.map(({ entryPoint }) => entryPoint)): string =>
    [
      "Op Name,Block Dim,Task Duration(us),aiv_time(us)",
      ...kernels.map(({ tile }, k) => {
        const { cycles, cores } = cyclesOf(tile, real);
        return `${names[k] ?? ""},${cores},${cycles / real.clockMhz + 7},${cycles / real.clockMhz}`;
      }),
    ].join("\n");

  it("finds the figures of the machine that ran, each from the runs that it decides", () => {
    const real = { ...target, loadIssueCycles: 29, stepRepeatCycles: 1.4 };
    const [first, second] = kernels.map(({ entryPoint }) => entryPoint);
    const names = [first!, `${second!}_elements`];
    const own = [kernels[0]!, { ...kernels[1]!, entryPoint: names[1]! }];
    const fit = fitRuns(target, own, parseProfile(listed(real, names), "own.csv"), "own.csv");
    const found = Object.fromEntries(
      fit.figures.map(({ figure, value, rows: ids }) => [figure, [value, ids]]),
    );
    expect(Object.keys(found).sort()).toEqual(["loadIssueCycles", "stepRepeatCycles"]);
    for (const figure of ["loadIssueCycles", "stepRepeatCycles"] as const) {
      expect(Math.abs(fit.target[figure] / real[figure] - 1)).toBeLessThan(0.02);
      expect(fit.target.sources[figure]).toMatchObject({ kind: "board", source: "own runs, own.csv" });
      const [low, high] = fit.target.sources[figure].range!;
      expect(low).toBeLessThan(real[figure]);
      expect(high).toBeGreaterThan(real[figure]);
    }
    expect(fit.mean.before).toBeGreaterThan(1.1);
    expect(fit.mean.after).toBeLessThan(1.01);
    expect(fit.target.scalarCycles).toBe(target.scalarCycles);
  });

  it("refuses a profile of other kernels, and one that ran on other blocks", () => {
    const of = (text: string) => () =>
      fitRuns(target, kernels.slice(0, 1), parseProfile(text, "own.csv"), "own.csv");
    expect(of("Op Name,aiv_time(us)\nAdd,1\n")).toThrow("no Op Name is tilec_kernel_gather; it lists Add");
    expect(of("Op Name,Block Dim,aiv_time(us)\ntilec_kernel_gather,20,1\n")).toThrow("ran on 20 blocks");
    expect(of("Op Name,aiv_time(us)\n")).toThrow("it lists none");
    expect(of("Op Name,aiv_time(us),aiv_time(us)\ntilec_kernel_gather,1,2\n")).toThrow(
      "more than one column aiv_time(us), aiv_time(us)",
    );
  });

  it("proposes whole numbers alone of bytes", () => {
    const factorOf = ({ sectorBytes }: Target): number => sectorBytes / 90.37;
    const [fitted] = fittedFigures(target, [{ figure: "sectorBytes", rows: [{ id: "own", factorOf }] }]);
    expect(fitted).toMatchObject({ figure: "sectorBytes", value: 90 });
  });

  it("refuses two programs of one kernel name, and one program twice", () => {
    const fitted = (own: readonly EmittedKernel[]) => () =>
      fitRuns(target, own, parseProfile(listed(target), "own.csv"), "own.csv");
    const named = (program: string, kernel: EmittedKernel | undefined) => ({ ...kernel!, program });
    expect(fitted([named("a.tir", kernels[0]), named("b.tir", kernels[1])])).toThrow(
      /TC019.*a\.tir and b\.tir have one kernel name, tilec_kernel_gather/,
    );
    expect(fitted([named("a.tir", kernels[0]), named("a.tir", kernels[0])])).toThrow(
      /TC019.*a\.tir and a\.tir have one kernel name/,
    );
  });

  it.each([
    ["Task Duration(us),aiv_time(us)", ",0,N/A", "no run of tilec_kernel_gather has a time"],
    ["aiv_time(us)", ",N/A", "no run of tilec_kernel_gather has a time"],
    ["aiv_time(us)", ",", "no run of tilec_kernel_gather has a time"],
    [
      "aiv_scalar_time(us)",
      ",0.5",
      "the cost model predicts none of its times, which are tilec_kernel_gather:scalar",
    ],
  ])("refuses runs without a time to fit to: %s%s", (columns, cells, said) => {
    const profile = parseProfile(`Op Name,${columns}\ntilec_kernel_gather${cells}\n`, "own.csv");
    const fitted = () => fitRuns(target, kernels.slice(0, 1), profile, "own.csv");
    expect(fitted).toThrow(said);
    expect(fitted).toThrow("TC019");
  });

  it("has a mean of the times that the clock has: none of a scalar unit that it leaves idle", () => {
    const text = "Op Name,aiv_time(us),aiv_scalar_time(us)\ntilec_kernel_gather,4,0.5\n";
    const { mean, runs } = fitRuns(target, kernels.slice(0, 1), parseProfile(text, "own.csv"), "own.csv");
    expect(runs.find(({ id }) => id.endsWith(":scalar"))).toMatchObject({ before: 0, after: 0 });
    expect(Number.isFinite(mean.before) && Number.isFinite(mean.after)).toBe(true);
  });

  it("is a target file by the command, which compiles", async () => {
    const [file, csv, out] = ["rows.tir", "op_summary.csv", "own.json"].map((name) => join(folder, name));
    writeFileSync(file!, program);
    const kernel = kernelOf(rows, { tile: [43, 32], residency: "gm", buffers: 2 });
    const real = { ...target, loadIssueCycles: 29 };
    const { cycles, cores } = cyclesOf(kernel.tile, real);
    writeFileSync(
      csv!,
      `Op Name,Block Dim,aiv_time(us)\ntilec_kernel_rows,${cores},${cycles / real.clockMhz}\nAdd,8,2\n`,
    );
    const said = await runHere(["targets", "fit", file!, "--from", csv!, "--out", out!]);
    expect(said.stderr).toBe("");
    expect(said.status).toBe(0);
    expect(said.stdout).toContain("operators of others, left out: 1");
    const own = parseTargetFile(readFileSync(out!, "utf8"), out!);
    expect(own.name).toBe("ascend-a2-own");
    expect(Math.abs(own.loadIssueCycles / 29 - 1)).toBeLessThan(0.02);
    const again = await runHere(["explain", file!, "--target", out!]);
    expect(again.status).toBe(0);
    const { status, stdout } = await runHere(["targets", "fit", file!, "--from", csv!, "--json"]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      command: "targets fit",
      figures: [{ figure: "loadIssueCycles", was: target.loadIssueCycles, rows: ["tilec_kernel_rows:aiv"] }],
      others: ["Add"],
    });
    const twice = await runHere(["targets", "fit", file!, file!, "--from", csv!]);
    expect(twice.status).toBe(1);
    expect(twice.stderr).toContain(`@rows of ${file!} and @rows of ${file!} have one kernel name`);
    const refused = await runHere(["targets", "fit", file!, "--from", join(folder, "none.csv")]);
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toContain("error[TC0");
    const gpu = await runHere(["targets", "fit", file!, "--from", csv!, "--target", "webgpu"]);
    expect(gpu.status).toBe(2);
  });
});
