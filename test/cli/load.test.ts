import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CompileError, parseModule, printModule } from "../../ir/index.js";
import { loadProgram, loadPrograms } from "../../src/cli/load.js";

const good = (id: string) => ({
  id,
  op: "gather",
  dialect: "onnx",
  data: { dtype: "f32", shape: [4], fill: { seed: 1, min: 0, max: 1 } },
  indices: { dtype: "i32", shape: [2], values: [3, 0] },
  expect: "ok",
});

it("a malformed case beside the chosen one does not keep it from running", () => {
  const file = join(mkdtempSync(join(tmpdir(), "tilec-load-")), "c.json");
  writeFileSync(file, JSON.stringify([good("a"), { ...good("b"), tiles: [1] }, good("c")]));
  const { func, inputs } = loadProgram(file, { case: "c" });
  expect(func.level === "source" && func.op).toBe("onnx.gather");
  expect([...new Int32Array(inputs?.["indices"]?.().bytes.slice().buffer ?? new ArrayBuffer())]).toEqual([
    3, 0,
  ]);
  expect(loadPrograms(file, {}).map((loaded) => loaded.func.name)).toEqual(["a", "c"]);
  expect(() => loadProgram(file, { case: "b" })).toThrow('case 1 (b): unknown field "tiles"');
  expect(() => loadProgram(file, { case: "d" })).toThrow("has no case d");
});

it("the programs of a case file print as one module that parses, and --case takes their ids", () => {
  const ids = ["onnx/a", 'x"y', "é", "onnx.a", "a b".repeat(80), "2"];
  const file = join(mkdtempSync(join(tmpdir(), "tilec-load-")), "c.json");
  writeFileSync(file, JSON.stringify(ids.map(good)));
  const funcs = loadPrograms(file, {}).map(({ func }) => func);
  expect(funcs).toHaveLength(ids.length);
  expect(parseModule(printModule({ funcs }), "printed.tir").diagnostics).toEqual([]);
  let hint: string | undefined;
  try {
    loadProgram(file, {});
  } catch (thrown) {
    hint = thrown instanceof CompileError ? thrown.diagnostics[0]?.hint : String(thrown);
  }
  expect(hint).toBe(`choose one with --case: ${ids.join(", ")}`);
  for (const id of ids) expect(loadProgram(file, { case: id }).func.name).toBe("main");
});
