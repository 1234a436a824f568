/** Programs of other projects whose operands are called as words of generated code, and inputs by such names on the command line. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { DType } from "../../ir/index.js";
import { packageFile } from "../../src/device/package-files.js";
import { readNpy, writeNpy } from "../../src/formats/npy.js";
import { requireGpu } from "../support/gpu.js";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("names");

let backends = "reference,sim";
beforeAll(async () => {
  if ((await requireGpu()) !== undefined) backends = "reference,sim,webgpu";
});

type Values = Float32Array | Int32Array | BigInt64Array;
const file = (name: string, dtype: DType, shape: readonly number[], values: Values): string => {
  const path = join(folder, `${name}.npy`);
  writeFileSync(path, writeNpy({ type: { dtype, shape }, bytes: new Uint8Array(values.buffer) }));
  return path;
};
const rows = [0, 3, 6, 1, 2];
/** `np.arange(28).reshape(7, 4)`, and `100 * np.arange(7)`. */
const table = Float32Array.from({ length: 28 }, (_, k) => k);
const hundreds = Float32Array.from({ length: 7 }, (_, k) => 100 * k);
const w = file("w", "f32", [7, 4], table);
const x = file("x", "i32", [5], Int32Array.from(rows));
const b = file("b", "f32", [7], hundreds);
/** `w[x]`, and `w[x] + b[x][:, None]`. */
const picked = rows.flatMap((row) => [0, 1, 2, 3].map((column) => 4 * row + column));
const added = rows.flatMap((row) => [0, 1, 2, 3].map((column) => 4 * row + column + 100 * row));

const program = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const rowsOf = (
  t: string,
  i: string,
): string => `func @f(%${t}: tensor<7x4xf32>, %${i}: tensor<5xi32>) -> tensor<5x4xf32> {
  %y = access.gather %${t}, %${i} (d0, d1) -> (%${i}[d0], d1) {oob = error}
  return %y
}
`;
const sumOf = (
  t: string,
  i: string,
  o: string,
): string => `func @f(%${t}: tensor<7x4xf32>, %${i}: tensor<5xi32>, %${o}: tensor<7xf32>) -> tensor<5x4xf32> {
  %y = access.gather %${t}, %${i}, %${o} (d0, d1) let s = error(%${i}[d0] in 7) yield %${t}[s, d1] + %${o}[s] {oob = error}
  return %y
}
`;

/** The output of a run on every backend, whose bits agree. */
async function output(path: string, inputs: Readonly<Record<string, string>>, ...flags: string[]) {
  const out = join(folder, "y.npy");
  const given = Object.entries(inputs).flatMap(([name, own]) => ["--input", `${name}=${own}`]);
  const ran = await runHere([
    "run",
    path,
    ...given,
    "--out",
    `output=${out}`,
    "--backend",
    backends,
    ...flags,
  ]);
  expect(ran.status, ran.stderr).toBe(0);
  return [...new Float32Array(Uint8Array.from(readNpy(readFileSync(out), out).bytes).buffer)];
}

describe("a program of a report", () => {
  it("whose table is called read", async () => {
    expect(await output(packageFile("test/cli/inputs/name-read.tir"), { read: w, x })).toEqual(picked);
  });

  it("whose index table is called output", async () => {
    expect(await output(packageFile("test/cli/inputs/name-output.tir"), { w, output: x, b })).toEqual(added);
  });

  it("whose indices are called status, in a model, alone and folded", async () => {
    const model = packageFile("test/cli/inputs/status.onnx");
    const status = file("status", "i64", [5], BigInt64Array.from(rows, BigInt));
    const column = file("column", "f32", [7, 1], hundreds);
    expect(await output(model, { data: w, indices: status }, "--func", "g")).toEqual(picked);
    expect(await output(model, { w, status, b: column }, "--func", "g_folded")).toEqual(added);
    const listed = await runHere(["run", model, "--seed", "1", "--backend", backends]);
    expect(listed.stdout.match(/the same bits/g)).toHaveLength(2);
    expect((await runHere(["plan", model])).stdout).toContain("1 compiled, 2 folded, 0 refused, 0 open");
  });
});

describe("an input by its name", () => {
  it.each([
    ["of every object", "__proto__", "constructor", "toString"],
    ["of digits", "0", "1", "2"],
    ["of another role", "indices", "data", "output"],
    ["of a word of reports", "sum", "terms", "scratch"],
  ])("may be a name %s", async (_, t, i, o) => {
    const path = program("three.tir", sumOf(t, i, o));
    expect(
      await output(
        path,
        Object.fromEntries([
          [t, w],
          [i, x],
          [o, b],
        ]),
      ),
    ).toEqual(added);
  });

  it("that no file states is said to be missing, whatever objects have", async () => {
    const path = program("missing.tir", sumOf("w", "constructor", "toString"));
    const { status, stderr } = await runHere(["run", path, "--input", `w=${w}`]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("error[TC702]: constructor has no value")]);
  });

  it("is its role's where another input has that name", async () => {
    const path = program("swapped.tir", rowsOf("indices", "data"));
    expect(await output(path, { data: w, indices: x })).toEqual(picked);
    const other = program("alias.tir", rowsOf("output", "status"));
    expect(await output(other, { output: w, status: x })).toEqual(picked);
    const twice = await runHere(["run", other, "--input", `data=${w}`, "--input", `output=${w}`]);
    expect(twice.stderr).toContain("--input data and --input output name the same operand");
  });

  it("of digits stands in a schedule, of a flag and of a text, which parses back", async () => {
    const path = program("digits.tir", sumOf("0", "1", "2"));
    const flags = ["--target", "ascend-a2", "--residency", "0=ub,2=gm", "--tile", "5,4"];
    const { status, stdout, stderr } = await runHere(["compile", path, ...flags, "--emit", "access"]);
    expect(status, stderr).toBe(0);
    expect(stdout).toContain("residency = {%0 = ub, %2 = gm}");
    expect(stdout).toContain("%0_tile = [7, 4]");
    expect((await runHere(["fmt", "--check", program("printed.tir", stdout)])).status).toBe(0);
  });
});
