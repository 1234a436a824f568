/** `node scripts/models.js PACKAGE`: the rows of the table in docs/onnx.md, of a package that is a folder. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { packageFile } from "../../src/device/package-files.js";
import {
  initializer,
  input,
  model,
  named,
  node,
  onnxTypes,
  output,
  raw,
  text,
} from "../support/onnx-bytes.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("package");

/** A gather that its reader does the work of, one of a dim that is open, and a node that is not compiled. */
const three = model([
  ...node("Gather", ["table", "ids"], ["rows"], named("rows")),
  ...node("Gather", ["rows", "first"], ["some"], named("some")),
  ...node("Gather", ["open", "first"], ["later"], named("later")),
  ...node("Compress", ["table", "flags"], ["press"], named("press")),
  ...text(2, "g"),
  ...input("table", onnxTypes.f32, [40, 4]),
  ...input("ids", onnxTypes.i32, [3]),
  ...input("open", onnxTypes.f32, ["rows", 4]),
  ...input("flags", onnxTypes.bool, [40]),
  ...initializer("i64", [2], raw([0, 2]), "first"),
  ...["some", "later", "press"].flatMap((name) => output(name, onnxTypes.f32)),
]);
const none = model([
  ...node("Relu", ["table"], ["y"]),
  ...text(2, "g"),
  ...input("table", onnxTypes.f32, [40, 4]),
  ...output("y", onnxTypes.f32),
]);
writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "made", version: "1.2.3" }));
for (const [file, contents] of [
  ["a.onnx", three],
  ["deep/again.onnx", three],
  ["deep/b.onnx", none],
] as const) {
  mkdirSync(join(folder, "deep"), { recursive: true });
  writeFileSync(join(folder, file), contents);
}

const rows = (...flags: readonly string[]) => {
  const words = [packageFile("scripts/models.js"), folder, ...flags];
  const { stdout, stderr, status } = spawnSync(process.execPath, words, { encoding: "utf8" });
  const cells = stdout.split("\n").flatMap((line) =>
    line === ""
      ? []
      : [
          line
            .split("|")
            .slice(1, -2)
            .map((cell) => cell.trim()),
        ],
  );
  return { cells, stderr, status };
};

it("counts what becomes of each gather, and a model that is there twice once", () => {
  const { cells, stderr, status } = rows();
  expect(status, stderr).toBe(0);
  // Package, model, bound, gathers, compiled, folded, refused, open.
  expect(cells).toEqual([
    ["`made` 1.2.3", "`a.onnx`", "nothing", "4", "1", "1", "1", "1"],
    ["`made` 1.2.3", "`b.onnx`", "nothing", "0", "0", "0", "0", "0"],
  ]);
  expect(stderr).toContain("deep/again.onnx is a.onnx");
});

it("binds the dims of one model", () => {
  expect(rows("--model", "a.onnx", "--bind", "rows=6").cells).toEqual([
    ["`made` 1.2.3", "`a.onnx`", "`--bind rows=6`", "4", "2", "1", "1", "0"],
  ]);
});

it("says that there is no model", () => {
  const { status, stderr } = rows("--model", "c.onnx");
  expect(status).toBe(1);
  expect(stderr).toContain("made 1.2.3 holds no c.onnx");
});
