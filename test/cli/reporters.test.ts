import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { validateXML } from "xmllint-wasm";
import { runHere } from "../support/run-here.js";
import { root } from "../support/root.js";

const main = join(root, "dist/src/cli/main.js");

const gatherOf = (id: string, output: readonly number[], more: object = {}) => ({
  id,
  op: "gather",
  dialect: "onnx",
  data: { dtype: "i32", shape: [3], values: [10, 20, 30] },
  indices: { dtype: "i32", shape: [2], values: [2, 0] },
  output: { dtype: "i32", shape: [2], values: output },
  expect: "ok",
  ...more,
});

/** Lines 2, 3 and 4 hold a case each; the second is wrong. */
const cases = [
  gatherOf("right", [30, 10]),
  gatherOf("wrong <&>\u0007", [30, 11]),
  gatherOf("last", [30, 10]),
];
const caseFile = `[\n${cases.map((test) => JSON.stringify(test)).join(",\n")}\n]\n`;
const textFile = [
  "// RUN: tilec opt --pass canonicalize-access %s",
  "// CHECK: access.gather %x, %i (d0) -> (%i[d9])",
  "func @f(%x: tensor<3xf32>, %i: tensor<2xi32>) -> tensor<2xf32> {",
  "  %y = onnx.gather %x, %i {axis = 0}",
  "  return %y",
  "}",
  "",
].join("\n");

function suite(files: Readonly<Record<string, string>> = { "a.json": caseFile, "b.tir": textFile }): string {
  const folder = mkdtempSync(join(tmpdir(), "tilec-reporters-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

beforeEach(() => {
  vi.stubEnv("CI", undefined);
  vi.stubEnv("TILEC_REQUIRE", undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const check = (folder: string, args: readonly string[]) => runHere(["check", ...args], folder);

const xsd = { fileName: "junit.xsd", contents: readFileSync(new URL("junit.xsd", import.meta.url), "utf8") };

describe("tilec check --reporter", () => {
  it("pretty ends with what ran where and how long", async () => {
    const { stdout, status } = await check(suite(), ["a.json", "--backend", "reference,sim"]);
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /^fail {2}wrong .* sim {2}TC610: output: 1 of 2 elements differ; first at \[1\]: got 10, expected 11/m,
    );
    expect(stdout).toMatch(/^reference +this machine +2 +1 +0 +\d+\.\d\d s/m);
    expect(stdout).toMatch(/^sim +checked executor +2 +1 +0 +\d+\.\d\d s/m);
    expect(stdout).toMatch(/^4 passed, 2 failed, 0 skipped in \d+\.\d\d s$/m);
  });

  it("junit is valid by its schema, whatever stands in names and messages", async () => {
    const { stdout, status } = await check(suite(), [".", "--reporter", "junit", "--backend", "sim"]);
    expect(status).toBe(1);
    const judge = (contents: string) => validateXML({ xml: { fileName: "a.xml", contents }, schema: xsd });
    expect((await judge(stdout)).errors).toEqual([]);
    expect(stdout).toContain('<testsuite name="a.json" tests="3" failures="1" errors="0" skipped="0"');
    expect(stdout).toContain('name="wrong &lt;&amp;&gt;\ufffd" classname="sim"');
    expect((await judge(stdout.replace('failures="1"', 'failures="one"'))).valid).toBe(false);
  });

  it("github points at the file and the line of the case, and of the check", async () => {
    const { stdout, status } = await check(suite(), [".", "--reporter", "github", "--backend", "sim"]);
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /^::error file=a\.json,line=3,title=wrong <&>.* \(sim%2C TC610\)::output: 1 of 2/m,
    );
    expect(stdout).toMatch(/^::error file=b\.tir,line=2,title=b\.tir \(text\)::b\.tir:2: not found/m);
    expect(stdout.match(/^::error/gm)).toHaveLength(2);
  });

  it("json names file, line and time of each result, and each backend's share", async () => {
    const { results, backends } = JSON.parse(
      (await check(suite(), ["a.json", "--reporter", "json"])).stdout,
    ) as {
      results: readonly object[];
      backends: readonly object[];
    };
    expect(results[2]).toMatchObject({
      status: "fail",
      file: "a.json",
      line: 3,
      milliseconds: expect.any(Number),
    });
    expect(backends).toMatchObject([
      { backend: "reference", passed: 2, failed: 1, skipped: 0 },
      { backend: "sim", on: "checked executor", passed: 2, failed: 1, skipped: 0 },
    ]);
  });
});

describe("which tests tilec check runs", () => {
  it("--filter takes ids that contain a text, and refuses one that none contains", async () => {
    expect((await check(suite(), ["a.json", "--filter", "as", "--backend", "sim"])).stdout).toContain(
      "1 passed, 0 failed",
    );
    const none = await check(suite(), ["a.json", "--filter", "rihgt"]);
    expect([none.status, none.stderr]).toEqual([
      1,
      expect.stringMatching(/no id of the 3 tests contains rihgt/),
    ]);
  });

  it("--bail ends with the first that fails", async () => {
    const { stdout } = await check(suite(), ["a.json", "--bail", "--backend", "sim"]);
    expect(stdout).toContain("1 passed, 1 failed, 0 skipped, 1 not run");
  });

  it("--require and TILEC_REQUIRE fail a backend that runs nothing", async () => {
    // No driver's folder, and no package but tilec's: there is no device.
    const args = ["a.json", "--filter", "last", "--backend", "reference,webgpu"];
    const usage = await check(suite(), [...args.slice(0, 3), "--require", "webgpu"]);
    expect([usage.status, usage.stderr]).toEqual([
      2,
      expect.stringMatching(/--require webgpu is not in --backend/),
    ]);
    vi.stubEnv("TILEC_REQUIRE", "webgup");
    const typo = await check(suite(), args);
    expect([typo.status, typo.stderr]).toEqual([
      1,
      expect.stringMatching(/TILEC_REQUIRE names webgup[^]*did you mean webgpu/),
    ]);
  });
});

describe("tilec check --update", () => {
  it("shows what differs, rewrites outputs and CHECK lines, and nothing else", async () => {
    const folder = suite();
    const { stdout, stderr, status } = await check(folder, [".", "--update"]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^-.*"values":\[30,11\]/m);
    expect(stdout).toMatch(/^\+.*"values":\[30,10\]/m);
    expect(stdout).toMatch(/^-\/\/ CHECK: .*d9/m);
    expect(stderr).toMatch(/updated a\.json[^]*updated b\.tir/);
    expect(readFileSync(join(folder, "a.json"), "utf8")).toBe(caseFile.replace("[30,11]", "[30,10]"));
    expect(readFileSync(join(folder, "b.tir"), "utf8").split("\n").toSpliced(1, 1)).toEqual(
      textFile.split("\n").toSpliced(1, 1),
    );
    expect((await check(folder, ["."])).status).toBe(0);
  });

  it.each([
    ["a shape", { dtype: "i32", shape: [2, 2], values: [1, 2, 3, 4] }],
    ["an element type", { dtype: "f32", shape: [2], values: [1, 2] }],
    ["a shape, in bits,", { dtype: "i32", shape: [1, 2], bits: ["1", "2"] }],
  ])("writes the whole output where %s is wrong", async (_, output) => {
    const folder = suite({ "a.json": JSON.stringify([gatherOf("whole", [], { output })]) });
    expect((await check(folder, ["a.json", "--update"])).status).toBe(1);
    expect((await check(folder, ["a.json"])).status).toBe(0);
    const [written] = JSON.parse(readFileSync(join(folder, "a.json"), "utf8")) as { output: object }[];
    expect(Object.keys(written!.output)).toEqual(Object.keys(output));
    expect(written!.output).toMatchObject({ dtype: "i32", shape: [2] });
  });

  it("keeps what a refusal or a fill states", async () => {
    const filled = gatherOf("filled", [], {
      output: { dtype: "i32", shape: [2], fill: { seed: 1, min: 0, max: 5 } },
    });
    const refused = gatherOf("refused", [30, 10], { expect: { error: "index" } });
    const text = JSON.stringify([filled, refused], null, 2);
    const folder = suite({ "a.json": text });
    expect((await check(folder, ["a.json", "--update"])).stderr).toMatch(
      /filled: not updated; it states no output as values/,
    );
    expect(readFileSync(join(folder, "a.json"), "utf8")).toBe(text);
  });

  it("is refused where CI is set", async () => {
    const folder = suite();
    vi.stubEnv("CI", "true");
    const { status, stderr } = await check(folder, [".", "--update"]);
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/--update rewrites tests, and is refused where the variable CI is set/),
    ]);
    expect(readFileSync(join(folder, "a.json"), "utf8")).toBe(caseFile);
  });
});

describe("tilec check --watch", () => {
  it("runs again when a file changes", async () => {
    const folder = suite({ "a.json": caseFile });
    const child = spawn(process.execPath, [main, "check", "a.json", "--watch", "--backend", "sim"], {
      cwd: folder,
    });
    let [out, err] = ["", ""];
    child.stderr.on("data", (text: Buffer) => (err += text.toString()));
    const until = async (found: () => boolean): Promise<void> => {
      while (!found()) await once(child.stdout, "data");
    };
    child.stdout.on("data", (text: Buffer) => (out += text.toString()));
    try {
      await until(() => out.includes("2 passed, 1 failed"));
      while (!err.includes("watching")) await once(child.stderr, "data");
      // The watcher is ready some time after it was made.
      const save = setInterval(() => {
        writeFileSync(join(folder, "a.json"), caseFile.replace("[30,11]", "[30,10]"));
      }, 500);
      await until(() => out.includes("3 passed, 0 failed")).finally(() => {
        clearInterval(save);
      });
    } finally {
      child.kill("SIGKILL");
    }
    expect(out).toContain("3 passed, 0 failed");
  });
});
