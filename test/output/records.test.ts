/** Files of records grow by whole lines, and no other file does. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const main = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));
const folder = scratchFolder("records");
const at = (name: string): string => join(folder, name);
const gather = ["--op", "gather", "--data", "f32[64,80]", "--indices", "i32[32]"];
const tilec = (...args: readonly string[]) => runHere(args, folder);
const search = (file: string, ...flags: readonly string[]) =>
  tilec("tune", ...gather, "--budget", "3", "--records", file, ...flags);
let records = "";

beforeAll(async () => {
  expect((await search("r.jsonl")).status).toBe(0);
  records = readFileSync(at("r.jsonl"), "utf8");
});

it.each([
  ["notes", "my notes\n"],
  ["notes without an end", "my notes"],
  ["a JSON document", '{"schema": 1, "best": 2}\n'],
  ["a broken JSON document", '{"name": "mine", '],
  ["lines of another program", '{"level":"info","msg":"x"}\n{"level":"info","msg":"y"}\n'],
  ["a program of tilec's", "// tilec compile\nfunc @f"],
  ["a model", Buffer.from([8, 7, 18, 3, 0, 255, 10, 123, 34])],
])("nothing is appended to %s, with --force neither", async (_what, contents) => {
  writeFileSync(at("x"), contents);
  for (const flags of [[], ["--force"], ["--resume"]]) {
    const { status, stdout, stderr } = await search("x", ...flags);
    expect(stderr).toMatch(
      /^error\[TC010\]: cannot append to x: it has no records\n {3}= hint: name another file/,
    );
    expect([status, stdout]).toEqual([1, ""]);
    expect(readFileSync(at("x"))).toEqual(Buffer.from(contents));
  }
  const family = ["--op", "gather", "--data", "f32[64,80]", "--indices", "i32[32]", "--sizes", "N=1"];
  expect((await tilec("tune", ...family, "--records", "x")).status).not.toBe(0);
  expect(readFileSync(at("x"))).toEqual(Buffer.from(contents));
});

/** The records of a file, and its lines that are none. */
function partsOf(text: string): { readonly whole: number; readonly torn: readonly string[] } {
  const lines = text.split("\n").filter((line) => line !== "");
  const torn = lines.filter((line) => {
    try {
      return typeof (JSON.parse(line) as { record?: unknown }).record !== "string";
    } catch {
      return true;
    }
  });
  return { whole: lines.length - torn.length, torn };
}

describe("a file whose writer was stopped", () => {
  it.each([
    ["in the middle of the last line", (text: string) => text.slice(0, -20), 1],
    ["before the end of the last line", (text: string) => text.slice(0, -1), 0],
    ["in the first line", (text: string) => text.slice(0, 100), 1],
    ["twice", (text: string) => `${text.slice(0, -30)}\n${text.slice(0, -40)}`, 2],
    ["before the first byte", () => "", 0],
  ])("%s goes on in a line of its own", async (_what, cut, torn) => {
    const left = cut(records);
    writeFileSync(at("cut.jsonl"), left);
    const before = partsOf(left);
    const { status, stderr } = await search("cut.jsonl");
    expect(status, stderr).toBe(0);
    const said =
      { 0: "", 1: "1 line that was torn is skipped", 2: "2 lines that were torn are skipped" }[torn] ?? "?";
    expect(stderr).toContain(said);
    expect(stderr.includes("torn")).toBe(torn > 0);
    const after = readFileSync(at("cut.jsonl"), "utf8");
    expect(after.startsWith(left)).toBe(true);
    expect(partsOf(after).torn).toEqual(before.torn);
    expect(partsOf(after).whole).toBe(before.whole + partsOf(records).whole);
  });
});

it("records of before, whose fields are in the order of the alphabet, are records", async () => {
  const sorted = records
    .trimEnd()
    .split("\n")
    .map((line) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line) as object).sort())));
  writeFileSync(at("old.jsonl"), `${sorted.join("\n")}\n`);
  expect((await search("old.jsonl")).status).toBe(0);
  expect((await tilec("records", "best", "old.jsonl")).stdout).toBe(
    (await tilec("records", "best", "r.jsonl")).stdout,
  );
});

it.each([
  ["empty", ""],
  ["of blank lines", "\n\n"],
  ["binary", Buffer.from(Array.from({ length: 3000 }, (_, k) => (k * 7919) % 256))],
  ["torn from the first line on", '{"record":"task","ta'],
])("a file that is %s is an error to whoever reads it", async (_what, contents) => {
  writeFileSync(at("none.jsonl"), contents);
  for (const args of [
    ["records", "best", "none.jsonl"],
    ["records", "merge", "r.jsonl", "none.jsonl"],
    ["records", "export", "--to", "csv", "none.jsonl"],
    ["records", "pin", "none.jsonl"],
    ["records", "add", "none.jsonl", "--candidate", "a", "--device", "d", "--ns", "1"],
    ["compile", ...gather, "--records", "none.jsonl"],
  ]) {
    const { status, stdout, stderr } = await tilec(...args);
    expect(stderr, args.join(" ")).toMatch(/^error\[TC016\]: none\.jsonl has no record\n {3}= hint: /);
    expect([status, stdout]).toEqual([1, ""]);
  }
});

it("three processes append to one file at once", async () => {
  const budget = 40;
  const searches = ["32", "48", "64"].map((rows) =>
    spawn(
      process.execPath,
      [
        main,
        "tune",
        "--op",
        "gather",
        "--data",
        "f32[64,80]",
        "--indices",
        `i32[${rows}]`,
        "--budget",
        String(budget),
        "--records",
        "shared.jsonl",
      ],
      { cwd: folder, stdio: "ignore" },
    ),
  );
  const codes = await Promise.all(searches.map(async (child) => (await once(child, "exit")) as [number]));
  expect(codes.map(([code]) => code)).toEqual([0, 0, 0]);
  const { torn } = partsOf(readFileSync(at("shared.jsonl"), "utf8"));
  expect(torn).toEqual([]);
  const { tasks } = JSON.parse((await tilec("records", "best", "shared.jsonl", "--json")).stdout) as {
    tasks: unknown[];
  };
  expect(tasks).toHaveLength(3);
  const candidates = readFileSync(at("shared.jsonl"), "utf8").match(/^\{"record":"candidate"/gm);
  expect(candidates?.length).toBeGreaterThanOrEqual(3 * budget);
});
