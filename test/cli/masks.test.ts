/** Boolean masks on the command line: files of them are compiled as gathers by positions. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readNpy, writeNpy } from "../../src/formats/npy.js";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("masks");
const file = (name: string, contents: Uint8Array): string => {
  writeFileSync(join(folder, name), contents);
  return join(folder, name);
};
const bools = (shape: readonly number[], values: readonly number[]): Uint8Array =>
  writeNpy({ type: { dtype: "bool", shape }, bytes: Uint8Array.from(values) });
const longs = (shape: readonly number[], values: readonly number[]): Uint8Array =>
  writeNpy({
    type: { dtype: "i64", shape },
    bytes: new Uint8Array(BigInt64Array.from(values, BigInt).buffer),
  });

/** x counts from 0: `np.arange(24).reshape(2, 3, 4)`. */
const x = file(
  "x.npy",
  writeNpy({
    type: { dtype: "i32", shape: [2, 3, 4] },
    bytes: new Uint8Array(Int32Array.from({ length: 24 }, (_, k) => k).buffer),
  }),
);
const mask = file("mask.npy", bools([2, 3], [0, 1, 0, 1, 0, 1]));
const last = file("last.npy", longs([3], [3, 0, -1]));

const index = (subscript: string, ...indices: readonly string[]): string[] => [
  ...["--op", "numpy.index", "--data", "i32[2,3,4]", "--subscript", subscript],
  ...indices.flatMap((type) => ["--indices", type]),
];
const tilec = (...args: string[]) => runHere(args, folder);
const output = (): number[] => {
  const { bytes } = readNpy(readFileSync(join(folder, "y.npy")), "y.npy");
  return [...new Int32Array(Uint8Array.from(bytes).buffer)];
};
const data = ["--input", `x=${x}`, "--out", "output=y.npy", "--backend", "reference,sim"];

describe("a boolean mask", () => {
  it.each([
    ["as the type's file", index("i0", mask), []],
    ["as the input's file", index("i0", "bool[2,3]"), ["--input", `i0=${mask}`]],
    ["as the input's file, by its role", index("i0", "bool[2,3]"), ["--input", `indices=${mask}`]],
  ])("%s is a gather by positions", async (_, described, inputs) => {
    const { status, stderr } = await tilec("run", ...described, ...inputs, ...data);
    expect(status, stderr).toBe(0);
    // x[mask]
    expect(output()).toEqual([4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23]);
  });

  it("stands beside arrays, which keep their names as inputs", async () => {
    const inputs = ["--input", `i0=${mask}`, "--input", `i1=${last}`];
    const described = index("i0, i1", "bool[2,3]", "i64[3]");
    const { status, stderr } = await tilec("run", ...described, ...inputs, ...data);
    expect(status, stderr).toBe(0);
    // x[mask, [3, 0, -1]]
    expect(output()).toEqual([7, 12, 23]);
  });

  it("is known to every command, and no seed draws it", async () => {
    const { status, stdout } = await tilec("compile", "--emit", "source", ...index("i0", mask));
    expect(status).toBe(0);
    expect(stdout).toContain("%i0: tensor<3xi64>, %i1: tensor<3xi64>");
    expect(stdout).toContain('subscript = "i0, i1"');
    const run = await tilec("run", ...index("i0", mask), "--seed", "3", "--json");
    expect(run.status).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({
      inputs: "x at random, seed 3 and i0 of the flags and i1 of the flags",
    });
  });

  it("of run time is refused with the way out", async () => {
    const { status, stderr } = await tilec("compile", ...index("i0", "bool[2,3]"));
    expect(status).toBe(1);
    expect(stderr).toContain("TC104");
    expect(stderr).toContain("i0 is a boolean mask, and the shape of the output depends on its values");
    expect(stderr).toContain("numpy.flatnonzero(i0)");
  });

  it("that does not fit is refused with the extents", async () => {
    const short = file("short.npy", bools([2, 2], [1, 1, 1, 1]));
    const { status, stderr } = await tilec("compile", ...index("i0", short));
    expect(status).toBe(1);
    expect(stderr).toContain("TC103");
    expect(stderr).toContain("of mask i0 [2, 2] has 2 elements, and dim 1 of x has 3");
  });

  it("of a case runs on the backends", async () => {
    const path = fileURLToPath(new URL("../formats/inputs/bool-mask.json", import.meta.url));
    const check = await tilec("check", path, "--backend", "reference,sim", "--json");
    expect(JSON.parse(check.stdout)).toMatchObject({ summary: { passed: 2, failed: 0 } });
    const { status } = await tilec("run", path, "--out", "output=y.npy");
    expect(status).toBe(0);
    const { bytes } = readNpy(readFileSync(join(folder, "y.npy")), "y.npy");
    expect([...new Float32Array(Uint8Array.from(bytes).buffer)]).toEqual([0, 1, 2, 3, 8, 9, 10, 11]);
  });
});
