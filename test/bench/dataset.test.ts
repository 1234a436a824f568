/** The dataset by its schema, and what its loaders give; the files of `npm run repro` are the same from run to run. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { schedules } from "../../dataset/load.js";
import { parseModule } from "../../ir/index.js";

const linesOf = (name: string): readonly Record<string, unknown>[] =>
  readFileSync(`dataset/${name}`, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("dataset/", () => {
  it("has lines that its schema takes, of programs that parse, in at most 5 MB", () => {
    const validate = new Ajv({ strict: false }).compile(
      JSON.parse(readFileSync("dataset/schema.json", "utf8")) as object,
    );
    const lines = linesOf("schedules.jsonl");
    for (const line of lines) expect([line, validate(line), validate.errors]).toEqual([line, true, null]);
    expect(validate({ ...lines[0], cycles: "many" })).toBe(false);
    expect(new Set(lines.map(({ verdict }) => verdict))).toEqual(new Set(["legal", "refused"]));
    expect(new Set(lines.map(({ clock }) => clock)).size).toBe(1);
    for (const { text } of linesOf("programs.jsonl"))
      expect(parseModule(String(text), "program").diagnostics).toEqual([]);
    const bytes = readdirSync("dataset").reduce((sum, name) => sum + statSync(`dataset/${name}`).size, 0);
    expect(bytes).toBeLessThan(5e6);
  });

  it("is loaded by both loaders", () => {
    const programs = linesOf("programs.jsonl");
    expect(schedules).toHaveLength(linesOf("schedules.jsonl").length);
    expect(schedules.every(({ text }) => typeof text === "string")).toBe(true);
    const { stdout, stderr, status } = spawnSync("python3", ["dataset/load.py"], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout.trim().split(" ").slice(0, 2)).toEqual([String(programs.length), String(schedules.length)]);
  });
});

it("npm run repro gives the same deterministic files twice", () => {
  const folder = mkdtempSync(join(tmpdir(), "tilec-repro-"));
  const made = ["a", "b"].map((name) => {
    const out = join(folder, name);
    const args = ["dist/bench/repro.js", "--only", "deterministic", "--quick", "--out", out];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect(status, stderr).toBe(0);
    const files = readdirSync(join(out, "deterministic")).sort();
    return files.map((file) => [file, readFileSync(join(out, "deterministic", file), "utf8")] as const);
  });
  expect(made[0]?.length).toBeGreaterThan(13);
  expect(made[0]).toEqual(made[1]);
});
