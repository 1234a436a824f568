/** Scatters on the command line: each backend has memory of its own, and what a run says holds. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readNpy, writeNpy } from "../../src/formats/npy.js";
import { compile } from "../../src/index.js";
import { scheduleFlags, tiledExtents } from "../../src/report/schedule-flags.js";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";
import { parsed } from "../support/parsed.js";

const folder = scratchFolder("scatter");
const at = (name: string): string => join(folder, name);
const text = (name: string, lines: string): string => {
  writeFileSync(at(name), lines);
  return at(name);
};
const inPlace = (name: string, combine: string): string =>
  text(
    name,
    `func @f(%x: inout tensor<4xi32>, %i: tensor<2xi32>, %u: tensor<2xi32>) -> tensor<4xi32> {
  %y = access.scatter %x, %i, %u (d0 < 2) -> (%i[d0]) yield %u[d0] {oob = error, combine = ${combine}}
  return %y
}
`,
  );
const tensor = (name: string, ...values: readonly number[]): string => {
  const bytes = new Uint8Array(Int32Array.from(values).buffer);
  writeFileSync(at(name), writeNpy({ type: { dtype: "i32", shape: [values.length] }, bytes }));
  return at(name);
};
const both = ["--backend", "reference,sim", "--executor", "checked"] as const;

describe("run of a program that writes in place", () => {
  it("gives each backend memory of its own, and writes no input file", async () => {
    const add = inPlace("add.tir", "add");
    const [x, i, u] = [tensor("x.npy", 10, 20, 30, 40), tensor("i.npy", 1, 3), tensor("u.npy", 1, 2)];
    const before = readFileSync(x);
    const inputs = ["--input", `x=${x}`, "--input", `i=${i}`, "--input", `u=${u}`];
    const { status, stdout } = await runHere([
      "run",
      add,
      ...both,
      ...inputs,
      ...["--against", add, "--out", `output=${at("y.npy")}`],
    ]);
    expect([status, stdout]).toEqual([0, expect.stringContaining("the same bits")]);
    const { bytes } = readNpy(readFileSync(at("y.npy")), "y.npy");
    expect([...new Int32Array(bytes.slice().buffer)]).toEqual([10, 21, 30, 42]);
    expect(readFileSync(x)).toEqual(before);
  });

  it("tells one operation from another", async () => {
    const [add, mul] = [inPlace("add.tir", "add"), inPlace("mul.tir", "mul")];
    const { status, stderr } = await runHere(["run", add, ...both, "--against", mul, "--seed", "3"]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("TC610")]);
  });
});

describe("run of a scatter in tiles", () => {
  it("names a bad index that counts from a dim which the tile cuts", async () => {
    const sum = text(
      "sum.tir",
      `func @f(%x: tensor<8xi32>, %i: tensor<1xi32>, %u: tensor<4xi32>) -> tensor<8xi32> {
  %y = access.scatter %x, %i, %u (d0 < 4) -> (error(%i[0] + d0 in 8)) yield %u[d0] {oob = error, duplicates = last}
  return %y
}
`,
    );
    const inputs = [
      ["x", tensor("x8.npy", 0, 0, 0, 0, 0, 0, 0, 0)],
      ["i", tensor("i1.npy", 6)],
      ["u", tensor("u4.npy", 1, 2, 3, 4)],
    ].flatMap(([name, file]) => ["--input", `${String(name)}=${String(file)}`]);
    for (const tile of ["1", "2", "4"]) {
      const { status, stdout } = await runHere(["run", sum, ...both, ...inputs, "--tile", tile]);
      expect([status, stdout], tile).toEqual([0, expect.stringMatching(/the same TC601: .* 8 /)]);
    }
  });

  it("says nothing of the bits of Ascend cores, which no backend prints scatters for", async () => {
    const cast = text(
      "cast.tir",
      `func @f(%x: tensor<2xi32>, %i: tensor<6xi32>, %u: tensor<6xf32>) -> tensor<2xi32> {
  %y = access.scatter %x, %i, %u (d0 < 6) -> (%i[d0]) yield i32(%u[d0]) {oob = error, duplicates = last}
  return %y
}
`,
    );
    const { status, stdout, stderr } = await runHere([
      "run",
      cast,
      ...both,
      "--seed",
      "1",
      "--residency",
      "ub",
    ]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("the same bits");
    expect(stdout).not.toContain("Ascend cores");
  });

  it("names policies for a bad index that the operator takes", async () => {
    const types = ["--data", "f32[4]", "--indices", "i32[1]", "--indices", "f32[1]"];
    const bad = ["--input", `indices=${tensor("bad.npy", 9)}`, "--backend", "reference", "--seed", "1"];
    const given = ["--op", "onnx.scatter_elements", ...types, ...bad];
    const { status, stderr } = await runHere(["run", ...given]);
    expect([status, stderr]).toEqual([1, expect.stringContaining("--oob clamp, wrap or skip")]);
    for (const policy of ["clamp", "wrap", "skip"])
      expect((await runHere(["run", ...given, "--oob", policy])).status, policy).toBe(0);
  });
});

describe("a scatter for WebGPU", () => {
  it("is explained, printed, and counted lane by lane", async () => {
    const add = inPlace("printed.tir", "add");
    const explained = await runHere(["explain", add, "--target", "webgpu"]);
    expect(explained).toMatchObject({ status: 0, stderr: "" });
    const { rules } = JSON.parse(
      (await runHere(["explain", add, "--target", "webgpu", "--json"])).stdout,
    ) as { readonly rules: readonly { readonly rule: string; readonly detail: string }[] };
    expect(rules.find(({ rule }) => rule === "storage-buffers")?.detail).toBe(
      "3 inputs, the status of index errors: 4 <= 8 (maxStorageBuffersPerShaderStage)",
    );
    const emit = (what: string) => runHere(["compile", add, "--target", "webgpu", "--emit", what]);
    expect((await emit("wgsl")).stdout).toContain("atomicAdd(&gm_x[to]");
    expect((await emit("moves")).stdout).toContain("writing add");
    expect((await emit("module")).stdout).toContain("export const create");
    const counted = await emit("gpu-stats");
    expect([counted.status, counted.stderr]).toEqual([0, ""]);
    expect(counted.stdout).toMatch(/atomic/);
  });
});

describe("run of a program that is too large", () => {
  const large = (name: string, [inputs, output]: readonly [string, string], op: string): string =>
    text(name, `func @f(${inputs}) -> tensor<${output}> {\n  %y = access.${op}\n  return %y\n}\n`);
  const rows = "4000000x512xf32";

  it.each([
    [
      "a gather",
      [`%x: tensor<1000x512xf32>, %i: tensor<4000000xi32>`, rows] as const,
      "gather %x, %i (d0, d1) -> (%i[d0], d1) {oob = error}",
      "output",
    ],
    [
      "a scatter",
      [`%x: tensor<1000x512xf32>, %i: tensor<4000000xi32>, %u: tensor<${rows}>`, "1000x512xf32"] as const,
      "scatter %x, %i, %u (d0 < 4000000, d1 < 512) -> (%i[d0], d1) yield %u[d0, d1] {oob = error, duplicates = last}",
      "u",
    ],
  ])("names the bytes of %s before it draws anything", async (what, types, op, key) => {
    const file = large(`large-${what.replace(" ", "-")}.tir`, types, op);
    const { status, stderr } = await runHere(["run", file, "--seed", "1", "--residency", "gm"]);
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(
        `TC502]: ${key}, ${rows}, takes 8192000000 B, more than the 4294967296 B of one array`,
      ),
    ]);
  });
});

describe("run against a program that cannot define the output", () => {
  const rows = (name: string, n: string, dim = ""): string =>
    text(
      name,
      `${dim}func @g(%x: tensor<8x4xf32>, %i: tensor<${n}xi32>) -> tensor<${n}x4xf32> {
  %y = access.gather %x, %i (d0, d1) -> (%i[d0], d1) {oob = error}
  return %y
}
`,
    );

  it.each([
    ["a symbol without a size", () => rows("open.tir", "N", "dim N <= 64\n"), /TC107.*N of @g has no size/],
    ["more index values", () => rows("more.tir", "64"), /TC702.*no definition of @g/],
    ["fewer index values", () => rows("fewer.tir", "2"), /TC702.*no definition of @g/],
  ])("refuses %s", async (_, definition, message) => {
    const good = rows("good.tir", "4");
    const { status, stderr } = await runHere(["run", good, "--against", definition(), "--seed", "1"]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(stderr).not.toContain("internal error");
  });
});

describe("a scatter whose promise is broken", () => {
  it("ends the run on every list of backends, as that of a gather does", async () => {
    const unchecked = text(
      "unchecked.tir",
      `func @f(%x: tensor<4xi32>, %i: tensor<2xi32>, %u: tensor<2xi32>) -> tensor<4xi32> {
  %y = access.scatter %x, %i, %u (d0 < 2) -> (%i[d0]) yield %u[d0] {oob = unchecked, duplicates = last}
  return %y
}
`,
    );
    const inputs = ["--seed", "1", "--input", `i=${tensor("outside.npy", 1, 9)}`];
    const { status, stdout, stderr } = await runHere([
      "run",
      unchecked,
      ...["--backend", "reference,sim", "--executor", "fast"],
      ...inputs,
    ]);
    expect([status, stdout, stderr]).toEqual([1, "", expect.stringMatching(/error\[TC601\]: .*9/)]);
  });
});

describe("a scatter on the command line", () => {
  it.each([
    ["onnx.scatter_elements", ["i32[2]"], "updates by another --indices"],
    ["pypto.scatter_update", ["i32[2]"], "src by another --indices"],
    ["stablehlo.scatter", ["i32[2]"], "updates by another --indices"],
  ])("of %s names the flag of an input that is forgotten", async (op, indices, hint) => {
    const given = indices.flatMap((type) => ["--indices", type]);
    const { status, stderr } = await runHere(["explain", "--op", op, "--data", "f32[4]", ...given]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(`hint: give ${hint}`)]);
  });

  it("names an input of another type by its key, where two have the same role", async () => {
    const rows = (name: string, points: number): string =>
      text(
        name,
        `func @f(%x: tensor<8xi32>, %slots: tensor<2xi32>, %rows: tensor<${points}xi32>) -> tensor<8xi32> {
  %y = access.scatter %x, %slots, %rows (d0 < 2) -> (%slots[d0]) yield %rows[d0] {oob = error, duplicates = last}
  return %y
}
`,
      );
    const { stderr } = await runHere(["run", rows("2.tir", 2), "--against", rows("3.tir", 3), "--seed", "1"]);
    expect(stderr).toContain("@f is no definition of @f: rows is 3xi32 there and 2xi32 here");
  });

  it("has no flag for a view of the full domain, which is the default", () => {
    const func =
      parsed(`func @f(%x: tensor<4096x64xf32>, %i: tensor<512xi32>, %u: tensor<512x64xf32>) -> tensor<4096x64xf32> {
  %y = access.scatter %x, %i, %u (d0 < 512, d1 < 64) -> (%i[d0], d1) yield %u[d0, d1] {oob = error, combine = add}
  return %y
}
`);
    const kernel = compile(func, { target: "ascend-a2" });
    expect(kernel.tile.schedule).toMatchObject({ view: [512, 64] });
    const flags = scheduleFlags(kernel.tile.schedule, tiledExtents(kernel), { buffers: 1 });
    expect(flags).toContain("--tile");
    expect(flags).not.toContain("--view");
  });

  it("names inout where PyPTO has the operator in place alone", async () => {
    const update = (inout: string): string =>
      text(
        `update${inout.trim()}.tir`,
        `func @f(%x: ${inout}tensor<128x64xf32>, %i: tensor<16xi32>, %u: tensor<16x64xf32>) -> tensor<128x64xf32> {
  %y = access.scatter %x, %i, %u (d0 < 16, d1 < 64) -> (%i[d0], d1) yield %u[d0, d1] {oob = error, duplicates = last}
  return %y
}
`,
      );
    const emit = (file: string) => runHere(["compile", file, "--target", "ascend-a2", "--emit", "pypto"]);
    const { stderr } = await emit(update(""));
    expect(stderr).toContain("hint: index_put_ writes in place: declare %x inout");
    expect((await emit(update("inout "))).stderr).not.toContain("TC505");
  });
});
