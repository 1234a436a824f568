/** A config file: found upward or named, its parts in every command, and what is wrong with one. */
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Backend } from "../../src/backends/index.js";
import { compile, gather as gatherOf, targets } from "../../src/index.js";
import { byteCount, outputOf } from "../../ir/index.js";
import { assertThat, caseTests, type CaseOptions } from "../../src/testing/index.js";
import { targetFile } from "../../src/formats/index.js";
import { runHere, type Ran } from "../support/run-here.js";

/** A folder with these files. Modules are loaded once in a process: each test has folders of its own. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "tilec-config-")));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const small = { value: 16384, kind: "assumption", source: "a core that does not exist" };
const { figures, ...rest } = targetFile(targets.ascendA2);
const core = (name: string): string =>
  JSON.stringify({ ...rest, name, figures: { ...figures, ubBytes: small, ubSafeBytes: small } });

/** A pass, and a backend that gives zeros, as users write them without a package. */
const parts = `
export const reversed = {
  name: "reverse-order",
  summary: "turns the loops round",
  requires: ["scheduled"],
  ensures: ["scheduled"],
  run: (func) => ({ ...func, schedule: { ...func.schedule, order: [...func.schedule.order].reverse() } }),
};
const backend = (bytesOf) => ({
  name: "some",
  prepare: ({ tile }) => ({ run: async () => ({ output: bytesOf(tile) }), release() {} }),
});
export const zeros = backend(() => new Uint8Array(8));
export const short = backend(() => new Uint8Array(7));
export const crash = backend(() => undefined.x);
export const bare = { name: "bare", prepare: () => ({ run: async () => ({ output: new Uint8Array(8) }) }) };
/** Gives zeros, and leaves them in its inputs. */
export const greedy = {
  name: "greedy",
  prepare: () => ({
    async run(inputs) {
      for (const { bytes } of Object.values(inputs)) bytes.fill(0);
      return { output: new Uint8Array(8) };
    },
    release() {},
  }),
};
`;
const config = `import { reversed, zeros, short, crash, bare, greedy } from "./parts.mjs";
export default {
  passes: [reversed],
  pipeline: "default, reverse-order after select-tile",
  targets: ["./core.json"],
  backends: { zeros, short, crash, bare, greedy },
};
`;
const project = (): string =>
  folderWith({
    "tilec.config.mjs": config,
    "parts.mjs": parts,
    "core.json": core("small-core"),
    "in/a.txt": "",
  });

const gather = ["--op", "gather_elements", "--data", "f32[64,80]", "--indices", "i32[64,80]", "--axis", "0"];
const tile = ["--tile", "64,8", "--target", "ascend-a2"];
const two = ["--op", "gather", "--data", "f32[4]", "--indices", "i32[2]", "--seed", "1"];

/** What a command prints on stdout. Fails where it does not end with 0. */
async function out(folder: string, ...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await runHere(args, folder);
  expect(status, stdout + stderr).toBe(0);
  return stdout;
}

const json = async (folder: string, ...args: readonly string[]): Promise<Record<string, unknown>> =>
  JSON.parse(await out(folder, ...args, "--json")) as Record<string, unknown>;

describe("a config", () => {
  it("gives commands its pipeline, from its folder and below, unless they say another or none", async () => {
    const folder = project();
    const plain = await out(folder, "compile", ...gather, ...tile, "--no-config");
    const turned = await out(folder, "compile", ...gather, ...tile, "--order", "0,1", "--no-config");
    expect(turned).not.toBe(plain);
    for (const here of [folder, join(folder, "in")])
      expect(await out(here, "compile", ...gather, ...tile)).toBe(turned);
    expect(
      await out(tmpdir(), "compile", ...gather, ...tile, "--config", join(folder, "tilec.config.mjs")),
    ).toBe(turned);
    expect(await out(folder, "compile", ...gather, ...tile, "--pipeline", "default")).toBe(plain);
    expect(
      await out(folder, "opt", ...gather, ...tile, "--pass", "default, reverse-order after select-tile"),
    ).toBe(turned);
  });

  it("is named by explain --json and check --json", async () => {
    const folder = project();
    expect(await json(folder, "explain", ...gather, ...tile)).toMatchObject({ config: "tilec.config.mjs" });
    const below = await json(join(folder, "in"), "explain", ...gather, ...tile);
    expect(below).toMatchObject({ config: "../tilec.config.mjs" });
    expect(await json(folder, "explain", ...gather, ...tile, "--no-config")).not.toHaveProperty("config");
    writeFileSync(join(folder, "case.json"), JSON.stringify([test("small-core")]));
    expect(await json(folder, "check", "case.json")).toMatchObject({ config: "tilec.config.mjs" });
    expect(await json(folder, "check", "case.json", "--config", "./tilec.config.mjs")).toMatchObject({
      config: "./tilec.config.mjs",
    });
  });

  it("has targets for --target, case files, RUN lines and the list of targets", async () => {
    const folder = project();
    expect(await json(folder, "explain", ...gather, "--target", "small-core")).toMatchObject({
      footprint: { budget: 16384 },
    });
    expect(await out(folder, "targets")).toMatch(/^small-core +16,384/m);
    expect(await json(folder, "targets", "small-core")).toMatchObject({ name: "small-core" });
    writeFileSync(join(folder, "case.json"), JSON.stringify([test("small-core")]));
    expect(await json(folder, "check", "case.json")).toMatchObject({ summary: { passed: 2, failed: 0 } });
    const unknown = await runHere(["check", "case.json", "--no-config"], folder);
    expect([unknown.status, unknown.stdout]).toEqual([
      1,
      expect.stringContaining("unknown target small-core"),
    ]);
  });

  it("has backends for run and check, which say where wrong bits come from", async () => {
    const folder = project();
    const run = await runHere(["run", ...two, "--backend", "reference,zeros"], folder);
    expect(run.status).toBe(1);
    expect(run.stderr).toMatch(/TC610[^]*zeros is backends\.zeros of tilec\.config\.mjs/);
    // What it does to its inputs is its own: the reference reads them as they were.
    const greedy = await runHere(["run", ...two, "--backend", "greedy,reference"], folder);
    expect([greedy.status, greedy.stderr]).toEqual([1, expect.stringContaining("TC610")]);
    writeFileSync(join(folder, "case.json"), JSON.stringify([test("ascend-a2")]));
    const check = await runHere(["check", "case.json", "--backend", "sim,zeros"], folder);
    expect(check.status).toBe(1);
    expect(check.stdout).toContain("zeros is backends.zeros of tilec.config.mjs");
    expect((await runHere(["run", ...two, "--backend", "zeros", "--no-config"], folder)).status).toBe(2);
  });

  it.each([
    [
      "short",
      /TC611[^]*short gives a Uint8Array of 7 bytes as its output[^]*short is backends\.short of tilec/,
    ],
    ["bare", /TC611[^]*bare prepares .*, without run and release[^]*bare is backends\.bare/],
    ["crash", /TC611[^]*crash crashed: [^]*reading 'x'[^]*crash is backends\.crash of tilec\.config\.mjs/],
  ])("names the backend %s that breaks its contract", async (name, message) => {
    const { status, stderr } = await runHere(["run", ...two, "--backend", name], project());
    expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
  });

  it.each([
    ["undefined", "TC201", "it returned undefined, and a pass returns a function"],
    ["{ ...func, level: 'galaxy' }", "TC201", "it returned [object Object], and a pass returns a function"],
    ["{ ...func, operands: [] }", "TC201", "its result cannot be read: "],
    [
      "{ ...func, schedule: { ...func.schedule, order: [0, 0] } }",
      "TC303",
      "order [0, 0] is no permutation of the 2 output dims",
    ],
  ])("tells of a pass that returns %s, with exit code 1", async (result, code, message) => {
    const mine = `{ name: "mine", summary: "", requires: ["scheduled"], ensures: ["scheduled"], run: (func) => (${result}) }`;
    const pipeline = "default, mine after select-tile";
    const text = `export default { passes: [${mine}], pipeline: "${pipeline}" };\n`;
    const { status, stderr } = await runHere(
      ["compile", ...gather, ...tile],
      folderWith({ "tilec.config.mjs": text }),
    );
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining(`error[${code}]: after mine of tilec.config.mjs: ${message}`),
    ]);
  });

  it("may be TypeScript, whatever package.json says", async () => {
    const folder = folderWith({
      "package.json": '{ "type": "commonjs" }',
      "tilec.config.ts": `import { own } from "./own.ts";\nexport default { pipeline: own };\n`,
      "own.ts": 'export const own: string = "default, no hoist-loads";\n',
    });
    expect(await out(folder, "compile", ...gather, ...tile)).toBe(
      await out(
        folder,
        "compile",
        ...gather,
        ...tile,
        "--no-config",
        "--pipeline",
        "default, no hoist-loads",
      ),
    );
  });

  it("may be JSON, with built-in passes and target files", async () => {
    const folder = folderWith({
      "conf/tilec.config.json": '{ "pipeline": "default, no hoist-loads", "targets": ["../core.json"] }',
      "core.json": core("far-core"),
    });
    expect(
      await out(join(folder, "conf"), "compile", ...gather, "--tile", "64,8", "--target", "far-core"),
    ).toContain('target("far-core")');
  });

  it("is told where a command leaves its pipeline unread", async () => {
    const { status, stderr } = await runHere(["legal", ...gather, "--target", "ascend-a2"], project());
    expect([status, stderr]).toEqual([
      0,
      expect.stringContaining("the pipeline of tilec.config.mjs is ignored"),
    ]);
  });
});

const test = (target: string) => ({
  id: "mine/first",
  op: "gather",
  dialect: "onnx",
  data: { dtype: "f32", shape: [4], values: [1, 2, 3, 4] },
  indices: { dtype: "i32", shape: [2], values: [3, 0] },
  output: { dtype: "f32", shape: [2], values: [4, 1] },
  target,
  expect: "ok",
});

const named = (text: string) => folderWith({ "tilec.config.mjs": text, "core.json": core("ascend-a2") });

describe("a test", () => {
  const zeros: Backend = {
    name: "zeros",
    prepare: ({ tile }) => ({
      run: () => Promise.resolve({ output: new Uint8Array(byteCount(outputOf(tile).type)) }),
      release: () => undefined,
    }),
  };

  it("compares a backend of its own", async () => {
    const kernel = compile(gatherOf({ data: ["f32", [4]], indices: ["i32", [2]] }));
    await expect(assertThat(kernel).toMatchReference({ backends: ["sim", zeros] })).rejects.toThrow(
      /^zeros: 2 of 2 elements differ/,
    );
  });

  it("runs cases for a target of its own on a backend of its own", async () => {
    const folder = folderWith({ "case.json": JSON.stringify([test("mine")]) });
    const own = { targets: [{ ...targets.ascendA2, name: "mine" }] };
    const run = (options: CaseOptions) => caseTests(join(folder, "case.json"), options)[0]?.run();
    await run(own);
    await expect(run({})).rejects.toThrow("unknown target mine");
    await expect(run({ ...own, backends: [zeros] })).rejects.toThrow(/^mine\/first\nzeros: TC610/);
  });
});

describe("a config that cannot be used", () => {
  const pass = '{ name: "mine", summary: "", requires: [], ensures: [], run: (f) => f }';
  const backend = '{ name: "b", prepare() {} }';

  it.each<readonly [what: string, text: string, message: string]>([
    [
      "a wrong field",
      "export default { pases: [] };",
      "a config has no pases; it has passes, pipeline, profile, operators, targets, backends",
    ],
    ["a promise", 'export default Promise.reject(new Error("later"));', "the default export is a promise"],
    ["a field that throws", "export default {\n get passes() { throw new Error('no'); } };", "line 2: no"],
    ["no object", "export default 3;", "it is 3; it takes a config"],
    ["no default", "export const passes = [];", "the file has no default export"],
    ["a list that is none", "export default { passes: 3 };", "passes is 3; it takes a list of passes"],
    ["no pass", "export default { passes: [{ name: 'a' }] };", "passes[0] is an object; it takes a pass"],
    [
      "two passes of a name",
      `export default { passes: [${pass}, ${pass}] };`,
      "passes: there are two passes of the name mine",
    ],
    [
      "a pass of a built-in name",
      `export default { passes: [${pass.replace("mine", "fit-ub")}] };`,
      "passes: there are two passes of the name fit-ub",
    ],
    [
      "a bad pipeline",
      'export default { pipeline: "default, mine" };',
      'pipeline "default, mine": there is no pass mine',
    ],
    [
      "a target that is none",
      "export default { targets: [{ name: 'a' }] };",
      "targets[0] lacks targets[0].kind",
    ],
    [
      "a target's name",
      "export default { targets: ['ascend-a2'] };",
      'targets[0] is "ascend-a2"; it takes a target, or the path of a target file (.json)',
    ],
    [
      "a target file that is missing",
      "export default { targets: ['./none.json'] };",
      "targets[0]: cannot read",
    ],
    [
      "a target of a built-in name",
      "export default { targets: ['./core.json'] };",
      "targets[0] is named ascend-a2, the name of a built-in target",
    ],
    [
      "a backend that is none",
      "export default { backends: { mine: 3 } };",
      "backends.mine is 3; it takes a backend",
    ],
    [
      "a backend of a built-in name",
      `export default { backends: { sim: ${backend} } };`,
      "backends.sim has the name of a built-in backend",
    ],
    [
      "a backend that no list can name",
      `export default { backends: { "a,b": ${backend} } };`,
      'backends: "a,b" must be a word',
    ],
    [
      "a module that throws",
      "export const a = 1;\n\nconst b = undefined.x;\n",
      "line 3: Cannot read properties of undefined",
    ],
    ["a syntax error", "export const a = 1;\nconst = 2;\n", "line 2: "],
  ])("%s", async (_, text, message) => {
    const folder = named(text);
    const { status, stderr } = await runHere(["compile", ...gather, ...tile], folder);
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining(`error[TC018]: tilec.config.mjs: ${message}`),
    ]);
    // Nothing of it remains: the command runs without it.
    expect((await runHere(["compile", ...gather, ...tile, "--no-config"], folder)).status).toBe(0);
  });

  it.each<readonly [what: string, text: string, message: string, place: string]>([
    ["a wrong field", '{\n  "pases": []\n}', "a config has no pases", ":2:12"],
    ["a wrong entry", '{\n  "targets": [\n    "a.json",\n    3\n  ]\n}', "targets[1] is 3", ":4:5"],
    ["no JSON", '{\n  "targets": [,]\n}', "not JSON: ValueExpected", ":2:15"],
    ["nothing", "", "not JSON", ":1:1"],
    ["a pass, which is code", '{ "passes": ["a"] }', 'passes[0] is "a"; it takes a pass', ":1:14"],
  ])("%s in JSON has its line", async (_, text, message, place) => {
    const folder = folderWith({ "tilec.config.json": text });
    const { status, stderr }: Ran = await runHere(["compile", ...gather, ...tile], folder);
    expect([status, stderr]).toEqual([2, expect.stringContaining(`tilec.config.json: ${message}`)]);
    expect(stderr).toContain(`tilec.config.json${place}`);
  });

  it("is refused where a folder has two, and where the file that is named is missing or of another kind", async () => {
    const folder = folderWith({
      "tilec.config.json": "{}",
      "tilec.config.mjs": "export default {};",
      "a.yaml": "",
    });
    const refused = async (...args: readonly string[]): Promise<string> => {
      const { status, stderr } = await runHere(["compile", ...gather, ...tile, ...args], folder);
      expect(status).toBe(2);
      return stderr;
    };
    expect(await refused()).toMatch(
      /tilec\.config\.mjs: the folder also has tilec\.config\.json; a folder may have one config[^]*--config tilec\.config\.mjs/,
    );
    const path = "\n   = hint: check the path; a relative path starts at the current folder";
    expect(await refused("--config", "none.mjs")).toContain(`none.mjs: the file does not exist${path}`);
    expect(await refused("--config", "none.json")).toContain(`error[TC018]: none.json: no such file${path}`);
    mkdirSync(join(folder, "folder.json"));
    expect(await refused("--config", "folder.json")).toContain("it is a folder\n   = hint: name a file");
    expect(await refused("--config", "a.yaml")).toContain("a config ends in .ts, .js, .mjs or .json");
    await out(folder, "compile", ...gather, ...tile, "--config", "tilec.config.mjs");
  });

  it("does not keep the page of a code from being printed", async () => {
    expect(await out(named("export default 3;"), "explain", "TC018")).toContain("TC018");
  });
});
