import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("all");
const gather = [
  "--op",
  "gather",
  "--data",
  "f32[64,80]",
  "--indices",
  "i32[32]",
  "--target",
  "ascend-a2",
  "--residency",
  "gm",
];
const tilec = (...args: readonly string[]) => runHere(["compile", ...args], folder);

it("--emit all writes what each --emit prints, in files that sort from the highest level to the texts", async () => {
  const { status, stdout } = await tilec(...gather, "--emit", "all", "--dump-dir", "out");
  expect(status).toBe(0);
  const files = readdirSync(join(folder, "out")).sort();
  const emits = ["source", "access", "tile", "plan", "moves", "wat", "wgsl", "gpu-stats", "pto", "pypto"];
  expect(files.map((file) => file.replace(/^gather\.\d\d-|\.\w+$/g, ""))).toEqual(emits);
  expect(stdout.trim().split("\n")).toEqual(files.map((file) => join("out", file)));
  for (const [k, emit] of emits.entries()) {
    const { stdout: printed } = await tilec(...gather, "--emit", emit);
    const [mark = "", ...text] = readFileSync(join(folder, "out", files[k] ?? ""), "utf8").split("\n");
    // The C++ and the Python text carry it anyway.
    const written = printed.startsWith(mark) ? [mark, ...text] : text;
    expect(mark).toMatch(/^(?:\/\/|;;|#) tilec /);
    expect(written.join("\n").trimEnd()).toBe(printed.trimEnd());
  }
});

it("a text that a program does not have is told, and the others are written", async () => {
  writeFileSync(join(folder, "tile.tir"), (await tilec(...gather)).stdout);
  const { status, stdout, stderr } = await tilec("tile.tir", "--emit", "all", "--dump-dir", "tile", "--json");
  expect(status, stderr).toBe(0);
  const { files } = JSON.parse(stdout) as { files: readonly { emit: string; file?: string }[] };
  expect(files.filter(({ file }) => file === undefined).map(({ emit }) => emit)).toEqual([
    "source",
    "access",
    "wgsl",
    "gpu-stats",
    "pypto",
  ]);
});

it("a tile program for an Ascend core has no WGSL, and the hint compiles its source with the same pipeline", async () => {
  writeFileSync(join(folder, "tile.tir"), (await tilec(...gather)).stdout);
  const refused = await tilec("tile.tir", "--emit", "wgsl", "--pipeline", "default, no hoist-loads");
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain("error[TC502]: @gather is a tile program for ascend-a2");
  const [, command = ""] = /tilec compile (SOURCE\.tir .*)$/m.exec(refused.stderr) ?? [];
  writeFileSync(join(folder, "SOURCE.tir"), (await tilec(...gather, "--emit", "source")).stdout);
  const words = [...command.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
  const { status, stdout, stderr } = await tilec(...words);
  expect(status, stderr).toBe(0);
  expect(stdout).toContain("@compute");
});

it.each([[["--emit", "all"]], [["--dump-dir", "out"]]])("%j alone is exit code 2", async (flags) => {
  const { status, stderr } = await tilec(...gather, ...flags);
  expect([status, stderr.includes("--emit all --dump-dir out")]).toEqual([2, true]);
});
