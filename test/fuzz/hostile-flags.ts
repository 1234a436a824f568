/** Command lines that somebody got wrong: values, words, files and flags that do not go together. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { printModule } from "../../ir/index.js";
import { compile, onnx } from "../../src/index.js";
import { writeNpy } from "../../src/formats/npy.js";
import { targetFile } from "../../src/formats/target-file.js";
import { targets } from "../../ir/index.js";
import type { Draw } from "./mutate.js";

const numbers = [
  "0",
  "1",
  "2",
  "3",
  "-1",
  "-0",
  "+2",
  "1e2",
  "1e999",
  "0x3",
  ".5",
  "NaN",
  "",
  " ",
  "1_0",
  "٣",
];
const large = ["2147483647", "2147483648", "4294967296", "9007199254740993", "99999999999999999999"];
const shapes = [
  "2,2",
  "2,8",
  "[2,8]",
  "2x8",
  "2,,8",
  ",",
  "0,1",
  "-1,8",
  "8",
  "1,2,3",
  "1e1,8",
  "9".repeat(400),
];
const words = [
  "f32",
  "all",
  "constructor",
  "__proto__",
  "toString",
  "strict",
  "gm",
  "auto",
  "tile",
  "-",
  "--",
  "é\u0301",
];
const types = [
  "f32[8,8]",
  "f32",
  "f32[]",
  "i32[4]",
  "i64[2,2]",
  "u8[0,3]",
  "f32[-1,8]",
  "f32[1e3]",
  "f99[3]",
  "f32[8,8",
  "string[3]",
  "c128[2,3]",
  "f32[65536,65536]",
  "f32[99999999999,2]",
  `f32[${Array.from({ length: 9 }, () => 1).join()}]`,
];
const files = [
  "p.tir",
  "tile.tir",
  "two.tir",
  "broken.tir",
  "cases.json",
  "text.json",
  "target.json",
  "model.onnx",
  "d.npy",
  "i.npy",
  "empty",
  "folder",
  "missing.tir",
  "missing/out.npy",
  "loop",
  "dangling.json",
  ".",
  "/dev/null",
  "/dev/full",
  "data=d.npy",
  "indices=i.npy",
  "output=out.npy",
  "output=/dev/full",
  "output=folder",
  "data=",
  "x".repeat(300),
];
const pools = [numbers, numbers, large, shapes, words, types, files];

/** Flags with a value, and what they commonly take. */
const valued: Readonly<Record<string, readonly string[]>> = {
  "--op": ["gather", "gather_elements", "gather_nd", "pypto.gather", "index_select", "onnx.gather"],
  "--dialect": ["onnx", "directml", "pypto"],
  "--data": types,
  "--indices": types,
  "--axis": ["0", "1", "-1"],
  "--batch-dims": ["0", "1"],
  "--oob": ["error", "clamp", "zero", "wrap", "unchecked"],
  "--case": ["one", "two"],
  "--func": ["g", "first"],
  "--target": ["ascend-a2", "ascend-950", "webgpu", "cpu", "target.json"],
  "--tile": shapes,
  "--view": shapes,
  "--profile": ["strict", "pages", "head"],
  "--residency": ["ub", "gm", "auto"],
  "--order": ["0,1", "1,0"],
  "--cores": ["1", "4"],
  "--budget-rule": ["full", "spec"],
  "--ub-bytes": ["64", "4096", "100000000000"],
  "--emit": ["source", "access", "tile", "moves", "wgsl", "wat", "plan"],
  "--print-before": ["all", "fit-ub"],
  "--print-after": ["all", "changed", "fit-ub"],
  "--diff-page": ["page.html"],
  "--pass": ["canonicalize-access", "select-tile,fit-ub", "insert-sync"],
  "--load": ["d.npy", "missing.js"],
  "--dump-dir": ["folder", "p.tir"],
  "--backend": ["sim", "reference", "reference,sim", "sim,sim"],
  "--input": ["data=d.npy", "indices=i.npy"],
  "--out": ["output=out.npy"],
  "--against": ["p.tir", "tile.tir"],
  "--executor": ["checked", "fast"],
  "--threads": ["1", "2", "0"],
  "--seed": ["1", "7"],
  "--trace": ["trace.json", "trace.html", "trace.txt"],
  "--dump": ["dumps", "p.tir"],
  "--shard": ["1/2", "2/2", "0/2", "3/2", "1"],
  "--level": ["head", "documented"],
};
const bare = [
  "--json",
  "--json",
  "--all",
  "--csv",
  "--double-buffer",
  "--time-passes",
  "--no-verify-each",
  "--write",
  "--check",
  "--help",
  "--version",
  "--tlie",
  "-j",
];

const described = ["--op", "gather", "--data", "f32[8,8]", "--indices", "i32[4]"];
const starts: readonly (readonly string[])[] = [
  ...["compile", "explain", "legal", "opt"].flatMap((command) => [
    [command, ...described],
    [command, "p.tir"],
    [command, "tile.tir"],
    [command, "cases.json", "--case", "one"],
    [command, "model.onnx"],
  ]),
  ["run", ...described, "--seed", "1"],
  ["run", "p.tir", "--input", "data=d.npy", "--input", "indices=i.npy"],
  ["run", "tile.tir", "--seed", "1", "--against", "p.tir"],
  ["run", "cases.json", "--case", "one"],
  ["check", "cases.json"],
  ["check", "folder", "two.tir", "model.onnx"],
  ["fmt", "p.tir", "tile.tir"],
  ["targets"],
  ["explain", "TC301"],
  ["help"],
  [],
];

const pick = <T>(list: readonly T[], draw: Draw): T => {
  const found = list[draw(list.length)];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
};

const hostile = (draw: Draw): string => pick(pick(pools, draw), draw);

/** A command line that works, with some of it changed. */
export function hostileFlags(draw: Draw): string[] {
  const line = [...pick(starts, draw)];
  const edits = draw(4);
  for (let k = 0; k < edits; k++) {
    const place = 1 + draw(Math.max(1, line.length - 1));
    switch (draw(8)) {
      case 0:
      case 1:
      case 2: {
        const flag = pick(Object.keys(valued), draw);
        line.push(flag, draw(2) === 0 ? pick(valued[flag] ?? [], draw) : hostile(draw));
        break;
      }
      case 3:
        line.push(pick(bare, draw));
        break;
      case 4:
      case 5:
        if (place < line.length) line[place] = hostile(draw);
        break;
      case 6:
        line.splice(place, 1);
        break;
      default:
        line.splice(place, 0, hostile(draw));
    }
  }
  return line;
}

const program = onnx.gather({ data: ["f32", [8, 8]], indices: ["i32", [4]], axis: 0 });
const source = printModule({ funcs: [{ ...program, name: "g" }] });
const tileText = compile({ ...program, name: "g" }, { tile: [2, 8] }).text("tile");
const tensor = (bytes: number, dtype: "f32" | "i32", shape: readonly number[]): Uint8Array =>
  writeNpy({ type: { dtype, shape }, bytes: new Uint8Array(bytes) });
const oneCase = (id: string) => ({
  id,
  dialect: "onnx",
  op: "gather",
  data: { dtype: "f32", shape: [3], values: [1, 2, 3] },
  indices: { dtype: "i32", shape: [2], values: [2, 0] },
  expect: "ok",
});

/** What the command lines name, in the current folder, which holds nothing else afterwards. `model` is some ONNX model. */
export function layFiles(model: Uint8Array): void {
  for (const name of ["folder", "loop", "dumps", "missing"]) rmSync(name, { recursive: true, force: true });
  mkdirSync("folder");
  symlinkSync("loop", "loop");
  rmSync("dangling.json", { force: true });
  symlinkSync("nowhere.json", "dangling.json");
  const contents: Readonly<Record<string, string | Uint8Array>> = {
    "p.tir": source,
    "tile.tir": tileText,
    "two.tir": source + source.replace("@g", "@h"),
    "broken.tir": source.slice(0, 40),
    "cases.json": JSON.stringify([oneCase("one"), oneCase("two")]),
    "text.json": "[1, 2",
    "target.json": JSON.stringify(targetFile(targets.ascendA2)),
    "model.onnx": model,
    "d.npy": tensor(256, "f32", [8, 8]),
    "i.npy": tensor(16, "i32", [4]),
    empty: "",
    "folder/cases.json": JSON.stringify([oneCase("folder/one")]),
  };
  for (const [name, text] of Object.entries(contents)) writeFileSync(name, text);
}
