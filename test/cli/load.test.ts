import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseModule, printModule } from "../../ir/index.js";
import * as load from "../../src/cli/load.js";
import type { ProgramFlags } from "../../src/cli/options.js";
import { noProject } from "../../src/config/project.js";
import { rejections } from "../support/refusal.js";

const loadProgram = (file: string, flags: ProgramFlags) =>
  load.loadProgram(file, { ...flags, project: noProject });
const loadPrograms = (file: string, flags: ProgramFlags) =>
  load.loadPrograms(file, { ...flags, project: noProject });

const good = (id: string) => ({
  id,
  op: "gather",
  dialect: "onnx",
  data: { dtype: "f32", shape: [4], fill: { seed: 1, min: 0, max: 1 } },
  indices: { dtype: "i32", shape: [2], values: [3, 0] },
  expect: "ok",
});

it("a malformed case beside the chosen one does not keep it from running", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "tilec-load-")), "c.json");
  writeFileSync(file, JSON.stringify([good("a"), { ...good("b"), tiles: [1] }, good("c")]));
  const { func, inputs } = await loadProgram(file, { case: "c" });
  expect(func.level === "source" && func.op).toBe("onnx.gather");
  expect([...new Int32Array(inputs?.["indices"]?.().bytes.slice().buffer ?? new ArrayBuffer())]).toEqual([
    3, 0,
  ]);
  expect((await loadPrograms(file, {})).map((loaded) => loaded.func.name)).toEqual(["a", "c"]);
  await expect(loadProgram(file, { case: "b" })).rejects.toThrow("case 1 (b): a case has no tiles");
  await expect(loadProgram(file, { case: "d" })).rejects.toThrow("has no case with the id d");
  await expect(loadProgram(file, { case: "third" })).rejects.toThrow("hint: ids are a, b, c");
  writeFileSync(file, "[]");
  await expect(loadPrograms(file, {})).rejects.toThrow("error[TC013]: " + file + ": there is no case in it");
});

it("the programs of a case file print as one module that parses, and --case takes their ids", async () => {
  const ids = ["onnx/a", 'x"y', "é", "onnx.a", "a b".repeat(80), "2"];
  const file = join(mkdtempSync(join(tmpdir(), "tilec-load-")), "c.json");
  writeFileSync(file, JSON.stringify(ids.map(good)));
  const funcs = (await loadPrograms(file, {})).map(({ func }) => func);
  expect(funcs).toHaveLength(ids.length);
  expect(parseModule(printModule({ funcs }), "printed.tir").diagnostics).toEqual([]);
  expect((await rejections(() => loadProgram(file, {})))[0]?.hint).toBe(
    `choose one with --case: ${ids.join(", ")}`,
  );
  for (const id of ids) expect((await loadProgram(file, { case: id })).func.name).toBe("main");
});

it("--bind gives sizes to the symbols of a text, and names the symbol that it cannot", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "tilec-load-")), "n.tir");
  const text =
    "dim N <= 9\nfunc @f(%x: tensor<4x2xf32>, %i: tensor<Nxi32>) -> tensor<Nx2xf32> {\n" +
    "  %y = access.gather %x, %i (d0, d1) -> (%i[d0], d1) {oob = error}\n  return %y\n}\n";
  writeFileSync(file, text);
  expect(printModule({ funcs: [(await loadProgram(file, { bind: "N=5" })).func] })).toBe(
    text.replace("dim N <= 9\n", "").replaceAll("N", "5"),
  );
  expect(printModule({ funcs: [(await loadProgram(file, {})).func] })).toBe(text);
  expect(printModule({ funcs: [(await loadProgram(file, { oob: "clamp" })).func] })).toBe(
    text.replace("error", "clamp"),
  );
  await expect(loadProgram(file, { bind: "N=10" })).rejects.toThrow(
    "symbol N is 10, and dim N <= 9 says 0 to 9",
  );
  await expect(loadProgram(file, { bind: "M=1,N=2" })).rejects.toThrow("@f has no symbol M");
  await expect(loadProgram(file, { bind: "N=2x3" })).rejects.toThrow(
    "N is a shape; a symbol takes one number",
  );
  for (const value of ["-1", "1.5", "2xx3", "[2"]) {
    await expect(loadProgram(file, { bind: `N=${value}` })).rejects.toThrow(
      "is neither an extent nor a shape",
    );
  }
});
