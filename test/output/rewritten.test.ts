/** tilec writes over what it wrote, whatever the format, and over nothing else unless it is told to. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { writeNpy } from "../../src/formats/npy.js";
import { latin1, mayReplace, outputFormats } from "../../src/output/mark.js";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("rewritten");
const gather = ["--op", "gather", "--data", "f32[8,8]", "--indices", "i32[4]"];
const rows = [...gather, "--residency", "gm", "--target", "ascend-a2"];
const tilec = (...args: readonly string[]) => runHere(args, folder);
const at = (name: string): string => join(folder, name);

/** Command lines that write, each with its file. */
const outputs: readonly (readonly [file: string, args: readonly string[]])[] = [
  ...["source", "access", "tile", "plan", "moves", "wat", "wgsl", "pto", "pypto", "module-cpu"].map(
    (emit) => [`k-${emit}.js`, ["compile", ...rows, "--emit", emit, "--out", `k-${emit}.js`]] as const,
  ),
  ["page.html", ["compile", ...gather, "--diff-page", "page.html"]],
  ["kernels/index.js", ["compile", "two.tir", "--emit", "module-cpu", "--out", "kernels"]],
  ["dump/gather.01-source.tir", ["compile", ...gather, "--emit", "all", "--dump-dir", "dump"]],
  [
    "passes/gather.01-canonicalize-access.tir",
    ["opt", ...gather, "--pass", "canonicalize-access", "--dump-dir", "passes"],
  ],
  ["o.npy", ["run", ...gather, "--seed", "1", "--out", "output=o.npy"]],
  [
    "s.json",
    [
      "run",
      "--op",
      "gather",
      "--data",
      "string[3]",
      "--indices",
      "i64[2]",
      "--seed",
      "1",
      "--out",
      "output=s.json",
    ],
  ],
  ["t.json", ["run", ...gather, "--seed", "1", "--trace", "t.json"]],
  ["t.html", ["run", ...gather, "--seed", "1", "--trace", "t.html"]],
  ["h.html", ["tune", ...gather, "--budget", "2", "--html", "h.html"]],
  ["h.svg", ["tune", ...gather, "--budget", "2", "--svg", "h.svg"]],
  ["h.csv", ["tune", ...gather, "--budget", "2", "--csv", "h.csv"]],
  ["w.html", ["tune", ...gather, "--budget", "2", "--sweep", "cores=1,2", "--html", "w.html"]],
  ["w.svg", ["tune", ...gather, "--budget", "2", "--sweep", "cores=1,2", "--svg", "w.svg"]],
  ["w.csv", ["tune", ...gather, "--budget", "2", "--sweep", "cores=1,2", "--csv", "w.csv"]],
  ["d.html", ["diff", "one.tir", "other.tir", "--html", "d.html"]],
  ["pin.tir", ["records", "pin", "r.jsonl", "--out", "pin.tir"]],
  ["merged.jsonl", ["records", "merge", "r.jsonl", "--out", "merged.jsonl"]],
  ["values/c.sim.npy", ["check", "c.json", "--backend", "sim", "--dump", "values"]],
];

beforeAll(async () => {
  const source = (name: string): string =>
    `func @${name}(%x: tensor<8x8xf32>, %i: tensor<4xi32>) -> tensor<4x8xf32> {\n  %y = onnx.gather %x, %i\n  return %y\n}\n`;
  writeFileSync(at("two.tir"), source("f") + source("g"));
  writeFileSync(at("one.tir"), source("f"));
  writeFileSync(
    at("other.tir"),
    source("f").replace("onnx.gather %x, %i", "onnx.gather %x, %i {oob = clamp}"),
  );
  const tensor = (dtype: string, values: readonly number[]) => ({ dtype, shape: [values.length], values });
  const test = {
    id: "c",
    dialect: "onnx",
    op: "gather",
    data: tensor("f32", [1, 2]),
    indices: tensor("i32", [1]),
  };
  writeFileSync(at("c.json"), JSON.stringify({ ...test, expect: "ok" }));
  expect((await tilec("tune", ...gather, "--budget", "2", "--records", "r.jsonl")).status).toBe(0);
});

const codeOf = (args: readonly string[]): number => (args[0] === "diff" ? 1 : 0);

const foreign: readonly (readonly [what: string, contents: Buffer])[] = [
  ["notes", Buffer.from("my notes\n")],
  ["a JSON document of another schema", Buffer.from('{"schema": "mine", "schema_version": 1}')],
  ["a text whose second line is a mark", Buffer.from("x\n// tilec\n<!-- tilec -->\n# tilec\n;; tilec\n")],
  ["a test that runs tilec", Buffer.from("// RUN: tilec explain %s\n")],
  ["a word that begins so", Buffer.from("// tilec-notes\n")],
  ["a model", Buffer.from([8, 7, 18, 3, 0, 255])],
];

it.each(Object.entries(outputFormats))("no other file is taken for one of the format %s", (_name, format) => {
  for (const [what, contents] of foreign)
    expect([what, mayReplace(format, latin1(contents))]).toEqual([what, false]);
});

const cases = outputs.map(([file, args], k) => {
  const [what = "", contents = Buffer.of()] = foreign[k % foreign.length] ?? [];
  return { file, args, what, contents };
});

it.each(cases)("$file is written over itself, and over $what only with --force", async (test) => {
  const { file, args, contents } = test;
  const written = async (...flags: readonly string[]): Promise<void> => {
    const { status, stderr } = await tilec(...args, ...flags);
    expect([status, stderr.includes("TC010")], stderr).toEqual([codeOf(args), false]);
    expect(statSync(at(file)).size).toBeGreaterThan(0);
  };
  await written();
  writeFileSync(at(file), contents);
  const { status, stderr } = await tilec(...args);
  expect(stderr).toContain(`error[TC010]: cannot write over ${file}: tilec did not write it`);
  expect(stderr).toContain("--force");
  expect(status).toBe(1);
  expect(readFileSync(at(file))).toEqual(contents);
  await written("--force");
  expect(readFileSync(at(file))).not.toEqual(contents);
  await written();
});

it("an empty file is written over", async () => {
  writeFileSync(at("empty.tir"), "");
  expect((await tilec("compile", ...gather, "--out", "empty.tir")).status).toBe(0);
  expect(statSync(at("empty.tir")).size).toBeGreaterThan(0);
});

it("an array of numpy's is no program, and stays", async () => {
  const array = writeNpy({ type: { dtype: "f32", shape: [1] }, bytes: new Uint8Array(4) });
  writeFileSync(at("a.npy"), array);
  const { status, stderr } = await tilec("compile", ...gather, "--out", "a.npy");
  expect([status, stderr.includes("cannot write over a.npy")]).toEqual([1, true]);
  expect(new Uint8Array(readFileSync(at("a.npy")))).toEqual(array);
});

it("a table is tilec's by its header alone", async () => {
  writeFileSync(at("own.csv"), "cores,best,price\n1,2,3\n");
  const { status } = await tilec("tune", ...gather, "--budget", "2", "--csv", "own.csv");
  expect([status, readFileSync(at("own.csv"), "utf8")]).toEqual([1, "cores,best,price\n1,2,3\n"]);
});

it("nothing but the outputs is left in the folders", () => {
  const all = readdirSync(folder, { recursive: true, encoding: "utf8" });
  expect(all.filter((name) => name.includes(".tilec-"))).toEqual([]);
});

describe("--csv without a file", () => {
  it("prints the candidates in place of the report", async () => {
    const { stdout } = await tilec("tune", ...gather, "--budget", "2", "--csv");
    expect(stdout).toMatch(/^task,candidate,status,/);
    await tilec("tune", ...gather, "--budget", "2", "--csv", "same.csv");
    expect(stdout.trimEnd()).toBe(readFileSync(at("same.csv"), "utf8").trimEnd());
  });

  it("says where it has taken the program for its file, and leaves it", async () => {
    const before = readFileSync(at("one.tir"));
    const { status, stderr } = await tilec("tune", "--csv", "one.tir");
    expect([status, stderr.includes("tilec tune one.tir --csv")]).toEqual([2, true]);
    expect(readFileSync(at("one.tir"))).toEqual(before);
  });
});

describe("a folder", () => {
  it.each([
    ["of a file is not made", ["compile", ...gather, "--out", "none/x.tir"], "none"],
    [
      "above another one is not made",
      ["compile", ...gather, "--emit", "all", "--dump-dir", "none/deep"],
      "none",
    ],
    ["above that of a test's outputs is not made", ["check", "c.json", "--dump", "none/deep"], "none"],
  ])("%s; the hint makes it", async (_what, args, missing) => {
    const { status, stderr } = await tilec(...args);
    expect([status, existsSync(at(missing))], stderr).toEqual([1, false]);
    expect(stderr).toContain("error[TC010]");
    expect(stderr).toContain(`there is no folder ${missing}`);
    expect(stderr).toContain(`hint: mkdir -p ${missing}`);
    mkdirSync(at(missing));
    expect((await tilec(...args)).status).toBe(0);
    const made = readdirSync(at(missing), { recursive: true });
    expect(made.length).toBeGreaterThan(0);
    rmSync(at(missing), { recursive: true });
  });

  it("that holds one file of somebody else's gets the others", async () => {
    mkdirSync(at("mixed"));
    writeFileSync(at("mixed/gather.03-tile.tir"), "mine");
    const { status, stdout } = await tilec("compile", ...rows, "--emit", "all", "--dump-dir", "mixed");
    expect(status).toBe(1);
    expect(stdout.trim().split("\n")).toHaveLength(9);
    expect(readFileSync(at("mixed/gather.03-tile.tir"), "utf8")).toBe("mine");
  });

  it.runIf(existsSync("/proc/self"))("of a file system that makes none is told, once", async () => {
    const { status, stderr } = await tilec("compile", ...gather, "--emit", "all", "--dump-dir", "/proc/x");
    expect(status).toBe(1);
    expect(stderr.match(/error\[TC010\]: cannot make \/proc\/x: /g)).toHaveLength(1);
  });
});

it("a program that was printed is the same under its mark", async () => {
  const printed = (await tilec("compile", ...gather, "--emit", "source")).stdout;
  await tilec("compile", ...gather, "--emit", "source", "--out", "marked.tir");
  const hash = (text: string): string => createHash("sha256").update(text.trimEnd()).digest("hex");
  expect(hash((await tilec("fmt", "marked.tir")).stdout.replace(/^.*\n/, ""))).toBe(hash(printed));
});
