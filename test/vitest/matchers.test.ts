/** tilec/vitest in a project of its own, installed from the packed tarball: green first, then broken on purpose. */
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PackedProject } from "../support/packed.js";

interface Report {
  readonly success: boolean;
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

let project: PackedProject;
beforeAll(() => {
  project = new PackedProject();
  project.link("vitest");
  project.write(
    "vitest.config.js",
    `export default { test: { setupFiles: ["tilec/vitest"], include: ["*.test.js"] } };`,
  );
});
afterAll(() => {
  project.remove();
});

/** Vitest on one file of the project: each test's state, and what it said. */
function vitest(file: string, env: Readonly<Record<string, string>> = {}, ...args: string[]) {
  const main = join(realpathSync(join(project.folder, "node_modules/vitest")), "vitest.mjs");
  const { CI: _, TILEC_REQUIRE: __, ...around } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, [main, "run", file, "--reporter=json", ...args], {
    cwd: project.folder,
    encoding: "utf8",
    env: { ...around, ...env },
  });
  const start = stdout.indexOf("{");
  if (start < 0) throw new Error(`${stdout}\n${stderr}`);
  const report = JSON.parse(stdout.slice(start)) as Report;
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  return {
    stderr,
    files: report.testResults.map(({ message }) => message).join("\n"),
    states: tests.map(({ title, status }) => [title, status]),
    said: (title: string): string =>
      tests.find((test) => test.title === title)?.failureMessages.join("\n") ?? "",
  };
}

const head = `import { expect, it } from "vitest";
  import { compile, gatherElements, onnx, targets } from "tilec";
  const op = gatherElements({ data: ["f32", [64, 80]], indices: ["i32", [64, 64]], axis: 0 });
  const kernel = compile(op, { target: targets.ascendA2, tile: [64, 32] });
`;

const good = {
  id: "mine/first",
  op: "gather",
  dialect: "onnx",
  data: { dtype: "f32", shape: [3], values: [10, 20, 30] },
  indices: { dtype: "i32", shape: [2], values: [2, 0] },
  output: { dtype: "f32", shape: [2], values: [30, 10] },
  expect: "ok",
};

describe("tilec/vitest", () => {
  it("checks kernels, keeps them as snapshots and runs cases", () => {
    project.write("cases/a.json", JSON.stringify([good, { ...good, id: "mine/second" }]));
    project.write(
      "green.test.js",
      `${head}
      import { describeCases } from "tilec/vitest";
      it("legal", () => { expect(kernel).toBeLegal(); expect(kernel).toFitUb(); expect(kernel).not.toBeRefused(); });
      it("bits", async () => { await expect(kernel).toMatchReference({ backends: ["reference", "sim"] }); });
      it("device", async () => { await expect(kernel).toMatchReference({ backends: ["sim", "webgpu"] }); });
      it("pinned", () => { expect(kernel).toMatchSnapshot(); });
      describeCases("cases", { backends: ["reference", "sim"] });`,
    );
    const first = vitest("green.test.js");
    expect(first.states).toEqual([
      ["legal", "passed"],
      ["bits", "passed"],
      // A project without the optional packages has no device.
      ["device", "skipped"],
      ["pinned", "passed"],
      ["mine/first", "passed"],
      ["mine/second", "passed"],
    ]);
    const again = vitest("green.test.js", { TILEC_REQUIRE: "webgpu" });
    expect(again.states.map(([, state]) => state)).toEqual([
      "passed",
      "passed",
      "failed",
      "passed",
      "passed",
      "passed",
    ]);
    expect(again.said("device")).toMatch(
      /webgpu is required, and there is none: WebGPU in Node needs webgpu/,
    );
    expect(vitest("green.test.js", { TILEC_REQUIRE: "webgpux" }).said("device")).toMatch(
      /TILEC_REQUIRE names webgpux/,
    );
  });

  it("skips a test once its other assertions ran, with the reason on stderr, and fails it where one does not hold", () => {
    project.write(
      "skips.test.js",
      `${head}
      it("later", async () => {
        await expect(kernel).toMatchReference({ backends: ["sim", "webgpu"] });
        expect(kernel).toMoveAtMost({ bytes: 1 });
      });
      it("all hold", async () => {
        await expect(kernel).toMatchReference({ backends: ["sim", "webgpu"] });
        expect(kernel).toFitUb();
      });
      it("not compiled", () => {
        const cut = () => compile(op, { target: targets.ascendA2, tile: [16, 64] });
        expect(cut).not.toMoveAtMost({ bytes: 1 });
      });`,
    );
    const { states, said, stderr } = vitest("skips.test.js");
    expect(states).toEqual([
      ["later", "failed"],
      ["all hold", "skipped"],
      ["not compiled", "failed"],
    ]);
    expect(said("later")).toMatch(/moves 49152 B/);
    expect(said("not compiled")).toMatch(/it does not compile/);
    expect(stderr).toMatch(/SKIPPED: webgpu: WebGPU in Node needs webgpu/);
  });

  it("says what is wrong, in ten ways of going wrong", () => {
    const [wrongBit, misspelt, noExpectation] = [
      { ...good, id: "wrong-bit", output: { ...good.output, values: [30, 11] } },
      { ...good, id: "misspelt", tiles: [2] },
      { ...good, id: "no-expectation", expect: undefined },
    ];
    project.write("broken/cases.json", JSON.stringify([wrongBit, misspelt, noExpectation]));
    project.write(
      "broken/bad.tir",
      "func @f(%x: tensor<3xf32>, %i: tensor<2xi32>) -> tensor<2xf32> {\n  %y = onnx.gathr %x, %i {axis = 0}\n  return %y\n}\n",
    );
    project.write(
      "__snapshots__/broken.test.js.snap",
      "// Vitest Snapshot v1\n\nexports[`stale snapshot 1`] = `tile [64, 16]`;\n",
    );
    project.write(
      "broken.test.js",
      `${head}
      import { describeCases } from "tilec/vitest";
      const cut = () => compile(op, { target: targets.ascendA2, tile: [16, 64] });
      it("wrong tile", () => { expect(cut).toBeLegal(); });
      it("over budget", () => {
        const wide = gatherElements({ data: ["f32", [4096, 1024]], indices: ["i32", [4096, 1024]], axis: 0 });
        expect(() => compile(wide, { tile: [4096, 1024] })).toFitUb();
      });
      it("more bytes", () => { expect(kernel).toMoveAtMost({ bytes: 49000 }); });
      it("missing device", async () => {
        await expect(kernel).toMatchReference({ backends: ["webgpu"], require: ["webgpu"] });
      });
      it("stale snapshot", () => { expect(kernel).toMatchSnapshot(); });
      it("unknown target", () => { expect(() => compile({ ...op, target: "ascend-a22" })).toBeLegal(); });
      describeCases("broken");`,
    );
    const { states, said, files } = vitest("broken.test.js", { CI: "true" });
    expect(
      states.map(([, state]) => state),
      files,
    ).toEqual(Array.from({ length: 10 }, () => "failed"));
    expect(said("wrong tile")).toMatch(/TC301.*tile\[0\] = 16 must equal view\[0\] = 64[^]*hint: /);
    expect(said("over budget")).toMatch(/TC402[^]*over 196608 B by 196672 B[^]*hint: --profile pages/);
    expect(said("more bytes")).toMatch(
      /@gather_elements moves 49152 B, 152 B more than 49000 B; data 16384 B/,
    );
    expect(said("missing device")).toMatch(
      /webgpu is required, and there is none: WebGPU in Node needs webgpu/,
    );
    expect(said("stale snapshot")).toMatch(/Snapshot `stale snapshot 1` mismatched/);
    expect(said("unknown target")).toMatch(/TC501.*unknown target ascend-a22[^]*one of /);
    expect(said("wrong-bit")).toMatch(
      /1 of 2 elements differ; first at \[1\]: got 10 \(0x41200000\), expected 11 \(0x41300000\); indices\[1\] = 0; produced by tile \[\d\]/,
    );
    expect(said("misspelt")).toMatch(/TC013: .*a case has no tiles; did you mean tile\?/);
    expect(said("no-expectation")).toMatch(/TC013: .*expect/);
    expect(said("broken/bad.tir")).toMatch(/bad\.tir:2: .*TC003.*onnx\.gathr/);
  });

  it("is typed by the one import", async () => {
    project.write(
      "typed.ts",
      `import { expect } from "vitest";
       import { compile, gatherElements } from "tilec";
       import "tilec/vitest";
       const op = gatherElements({ data: ["f32", [8, 4]], indices: ["i32", [8, 4]], axis: 0 });
       const kernel = compile(op);
       expect(kernel).toBeRefused("full-load");
       expect(kernel).not.toMoveAtMost({ bytes: 4, ratio: 1.5 });
       export const done: Promise<void> = expect(kernel).toPreserve(op, { backends: ["sim"] });
       expect(kernel).toTakeExactly({ cycles: 1, clock: 4 });
       expect(kernel).not.toMoveExactly({ bytes: 4 });
       // @ts-expect-error: a ratio is no whole number
       expect(kernel).toMoveExactly({ ratio: 1 });
       // @ts-expect-error: no category of refusals
       expect(kernel).toBeRefused("full-lod");
       // @ts-expect-error: no limit
       expect(kernel).toTakeAtMost({ cycle: 1 });
      `,
    );
    expect(await project.compile(["typed.ts"])).toBe("");
  });
});
