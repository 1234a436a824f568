import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileNames } from "../../src/formats/file-names.js";
import { readNpy } from "../../src/formats/npy.js";
import { PackedProject } from "../support/packed.js";
import { runHere } from "../support/run-here.js";

interface Document {
  readonly results: readonly {
    id: string;
    backend: string;
    status: string;
    code?: string;
    message?: string;
  }[];
  readonly summary: { passed: number; failed: number; skipped: number };
}

async function check(...args: readonly string[]) {
  const { status, stdout } = await runHere(["check", ...args, "--json"]);
  return { status, document: JSON.parse(stdout) as Document };
}

/** A new folder with these files, JSON where they are no text. */
function folderOf(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), "tilec-check-"));
  for (const [name, contents] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), typeof contents === "string" ? contents : JSON.stringify(contents));
  }
  return folder;
}

const good = (id: unknown, values = [10, 20, 30]) => ({
  id,
  op: "gather",
  dialect: "onnx",
  data: { dtype: "i32", shape: [3], values },
  indices: { dtype: "i32", shape: [2], values: [2, 0] },
  output: { dtype: "i32", shape: [2], values: [values[2], values[0]] },
  expect: "ok",
});

describe("tilec check", () => {
  it("tests a file once that several paths name or contain", async () => {
    const folder = folderOf({
      "a.json": [good("first"), good("second")],
      "b.tir": "// RUN: none\n",
      "c.json": "{",
    });
    const [a, b] = [join(folder, "a.json"), join(folder, "b.tir")];
    const idsOf = async (...paths: readonly string[]): Promise<readonly string[]> => {
      const { document } = await check(...paths, "--backend", "sim");
      return document.results.map(({ id }) => id);
    };
    const cases = ["first", "second"];
    expect(await idsOf(a, a)).toEqual(cases);
    expect(await idsOf(a, `${folder}/./a.json`, b, b)).toEqual([...cases, b]);
    expect(await idsOf(folder, a)).toEqual(await idsOf(folder));
    expect(await idsOf(b, folder)).toEqual([b, ...cases, join(folder, "c.json")]);
  });

  it("runs every case that it can, and each that it cannot is one failed result", async () => {
    const folder = folderOf({
      "a.json": [good("first"), good(undefined), { ...good("typo"), tiles: [1] }, good("\0"), good("last")],
      "b.json": "{",
      "c/d.json": { schema: 1, cases: [good("x".repeat(400)), good("twice"), good("twice")] },
      "e.onnx": "not a model",
      "f.tir": "func g",
      "notes.md": "no test",
    });
    symlinkSync("nowhere", join(folder, "dangling"));
    symlinkSync("nowhere.json", join(folder, "dangling.json"));
    symlinkSync("itself", join(folder, "itself"));
    symlinkSync("..", join(folder, "c/up"));
    const { status, document } = await check(folder, join(folder, "none.json"), "--backend", "sim");
    expect(status).toBe(1);
    const place = (name: string): string => join(folder, name);
    expect(document.results.map(({ id, status: s, code }) => [id, s, code])).toEqual([
      ["first", "pass", undefined],
      [`${place("a.json")}: case 1`, "fail", "TC013"],
      ["typo", "fail", "TC013"],
      ["\0", "pass", undefined],
      ["last", "pass", undefined],
      [place("b.json"), "fail", "TC013"],
      ["x".repeat(400), "pass", undefined],
      ["twice", "pass", undefined],
      ["twice", "fail", "TC013"],
      [place("c/up"), "fail", "TC010"],
      [place("dangling"), "fail", "TC010"],
      [place("dangling.json"), "fail", "TC010"],
      [place("e.onnx"), "fail", "TC014"],
      [place("f.tir"), "fail", undefined],
      [place("itself"), "fail", "TC010"],
      [place("none.json"), "fail", "TC010"],
    ]);
    const said = (id: string) => document.results.find((result) => result.id === place(id))?.message;
    expect(said("c/up")).toContain(`leads back to`);
    expect(said("itself")).toContain("go round in circles");
    expect(said("none.json")).toContain("no such file");
    expect(document.summary).toEqual({ passed: 5, failed: 11, skipped: 0 });
  });

  it("waits for no pipe that lies in a folder", () => {
    const folder = folderOf({ "a.json": [good("first")] });
    expect(spawnSync("mkfifo", [join(folder, "b.json")]).status).toBe(0);
    // A process that can be ended: reading the pipe would stop this one for good.
    const { status, stdout } = spawnSync(
      process.execPath,
      ["dist/src/cli/main.js", "check", folder, "--backend", "sim"],
      { encoding: "utf8", timeout: 60_000 },
    );
    expect([status, stdout]).toEqual([0, expect.stringContaining("1 passed, 0 failed, 0 skipped")]);
  });

  it("a fill beyond memory and a value beyond its type end neither the run nor the process", async () => {
    const fill = { seed: 1, min: 0, max: 1 };
    const huge = { ...good("huge"), data: { dtype: "f64", shape: [2 ** 31 - 1], fill }, output: undefined };
    const half = { ...good("half"), indices: { dtype: "i32", shape: [2], fill: { ...fill, min: 0.5 } } };
    const file = join(
      folderOf({ "a.json": [huge, half, good("beyond", [2 ** 32, 0, 0]), good("last")] }),
      "a.json",
    );
    const { status, document } = await check(file, "--backend", "reference,sim");
    expect(status).toBe(1);
    expect(document.summary).toEqual({ passed: 2, failed: 6, skipped: 0 });
    const messages = document.results
      .filter(({ backend }) => backend === "sim")
      .map(({ message }) => message);
    expect(messages[0]).toContain("takes 17179869176 B, more than the 4294967296 B of one array");
    expect(messages[1]).toContain("fill from 0.5 to 1: i32 takes whole numbers");
    expect(messages[2]).toContain("element 0: 4294967296 is no i32");
    expect(messages[3]).toBeUndefined();
  });

  it("--dump keeps inside its folder and writes a file for each output, whatever the ids", async () => {
    const ids = ["a/b", "a_b", "../../up", "\0", "x".repeat(400), `${"x".repeat(400)}y`, "\\"];
    const cases = ids.map((id, k) => good(id, [k, k, k]));
    const inner = folderOf({});
    const dump = join(inner, "dump");
    const { status, document } = await check(
      join(folderOf({ "a.json": cases }), "a.json"),
      ...["--backend", "sim", "--dump", dump],
    );
    expect([status, document.summary.passed]).toEqual([0, ids.length]);
    expect(readdirSync(inner)).toEqual(["dump"]);
    const first = (name: string): number | undefined =>
      new Int32Array(readNpy(new Uint8Array(readFileSync(join(dump, name))), name).bytes.buffer)[0];
    expect(first("a_b.sim.npy")).toBe(0);
    expect(readdirSync(dump).map(first).sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });
});

describe("a backend that skips all its tests", () => {
  // A project without the optional packages has no device.
  const project = new PackedProject();
  const suite = folderOf({ "a.json": [good("first"), good("second")] });
  const withoutDevice = (ci: string | undefined, ...args: string[]) => {
    const { CI: _, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        join(project.folder, "node_modules/tilec/dist/src/cli/main.js"),
        "check",
        join(suite, "a.json"),
        ...args,
      ],
      { cwd: project.folder, encoding: "utf8", env: ci === undefined ? env : { ...env, CI: ci } },
    );
    return { status, stdout, stderr };
  };
  const why =
    /nothing ran on webgpu, 2 skipped: WebGPU in Node needs webgpu, which is not installed; npm install webgpu/;

  it.each(["true", "1"])("fails the run where nobody looks on, CI=%s, and says why", (ci) => {
    const { status, stdout, stderr } = withoutDevice(ci, "--backend", "sim,webgpu");
    expect(stderr).toMatch(/^error\[TC703\]: /);
    expect(stderr).toMatch(why);
    expect(stdout).toContain("2 passed, 0 failed, 2 skipped");
    expect(status).toBe(1);
    const { document } = {
      document: JSON.parse(withoutDevice(ci, "--backend", "webgpu", "--json").stdout) as object,
    };
    expect(document).toMatchObject({
      summary: { passed: 0, failed: 0, skipped: 2 },
      diagnostics: [{ code: "TC703", severity: "error", message: expect.stringMatching(why) }],
    });
  });

  it.each([undefined, "false"])("is a warning to somebody at a desk, CI=%s", (ci) => {
    const { status, stderr } = withoutDevice(ci, "--backend", "sim,webgpu");
    expect(stderr).toMatch(/^warning\[TC703\]: /);
    expect(stderr).toMatch(why);
    expect(status).toBe(0);
  });

  it("is none where no test is for a backend, or none was asked to run there", () => {
    expect(withoutDevice("true", "--backend", "reference,sim")).toMatchObject({ status: 0, stderr: "" });
    const { status } = withoutDevice("true", "--backend", "sim,webgpu", "--shard", "3/3");
    expect(status).toBe(0);
  });
});

describe("names of dumped files", () => {
  it("are the ids with / as _", () => {
    expect(fileNames(["seed/pypto 2x3", "a.b"])).toEqual(["seed_pypto 2x3", "a.b"]);
  });

  it("are names that Windows holds and tells apart", () => {
    const ids = ["a:b", 'c<>"|?*', "CON", "con.x", "x", "X", "Lpt1", "console", "é", "e\u0301"];
    expect(fileNames(ids)).toEqual([
      "a_b",
      "c______",
      "_CON",
      "_con.x",
      "x",
      "X~2",
      "_Lpt1",
      "console",
      "é",
      "e\u0301~2",
    ]);
  });

  it("differ for every test and fit a file system", () => {
    const ids = [
      "a/b",
      "a_b",
      "a/b",
      "a_b~2",
      "é".repeat(150),
      "é".repeat(151),
      "\n",
      "\u007f",
      "\ud800",
      "_",
    ];
    const names = fileNames(ids);
    expect(new Set(names).size).toBe(ids.length);
    for (const name of names) {
      expect(new TextEncoder().encode(`${name}.reference.json`).length).toBeLessThan(255);
      expect(name).toMatch(/^[^\p{Cc}\p{Cs}/\\]+$/u);
    }
  });
});
