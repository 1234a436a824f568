/** From the packed tarball alone, in an empty folder: kernels that tilec did not write, and files of Spatter's. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bugNames, commandBugs, rightCommand, rightWgsl, wgslBugs } from "../support/foreign-bugs.js";
import { requireGpu } from "../support/gpu.js";
import { PackedProject } from "../support/packed.js";

let project: PackedProject;
beforeAll(() => {
  project = new PackedProject();
  for (const name of ["webgpu", "@sparticuz/chromium"]) project.link(name);
  // A temporary folder that nothing was written to.
  const temporary = join(project.folder, "tmp");
  mkdirSync(temporary);
  project.env = { ...process.env, TMPDIR: temporary };
});
afterAll(() => {
  project.remove();
});

const page = readFileSync(new URL("../../docs/testing.md", import.meta.url), "utf8");
/** The command of docs/testing.md. */
const [, written = ""] = /^(npx tilec check examples\/foreign[^]*?)^```/m.exec(page) ?? [];
const words = [...written.replaceAll("\\\n", " ").matchAll(/"([^"]*)"|\S+/g)].map(
  ([word, quoted]) => quoted ?? word,
);

const tilec = (...args: readonly string[]) => project.tilec(...args);
const program = "node_modules/tilec/examples/foreign/rows.tir";

/** The exit code, how many draws passed, and the code of the first that did not. */
function resultOf({ status, stdout }: ReturnType<typeof tilec>) {
  const { results, summary } = JSON.parse(stdout) as {
    readonly results: readonly { readonly status: string; readonly code?: string }[];
    readonly summary: { readonly passed: number };
  };
  const code = results.find((result) => result.status === "fail")?.code;
  return { status, code, all: summary.passed === 18 };
}
const passed = { status: 0, code: undefined, all: true };
const failed = (code: string) => ({ status: 1, code, all: false });

describe("a kernel of one's own", () => {
  const judged = (wgsl: string) => {
    project.write("rows.wgsl", wgsl);
    const args = words
      .slice(2)
      .map((word) => (word.endsWith(".tir") ? program : word.endsWith(".wgsl") ? "rows.wgsl" : word));
    return resultOf(tilec(...args, "--bail", "--json"));
  };

  it("in WGSL passes where it is right, and is found where it has a bug", async (context) => {
    if ((await requireGpu()) === undefined) context.skip();
    expect(words.length).toBeGreaterThan(8);
    expect(judged(rightWgsl)).toEqual(passed);
    for (const name of bugNames) {
      const { code, wgsl } = wgslBugs[name];
      expect([name, judged(wgsl)]).toEqual([name, failed(code)]);
    }
  });

  it("as a command passes where it is right, and is found where it has a bug", () => {
    const run = (text: string) => {
      project.write("mine.cjs", text);
      return resultOf(tilec("check", program, "--command", "node mine.cjs", "--bail", "--json"));
    };
    expect(run(rightCommand)).toEqual(passed);
    for (const name of bugNames) expect([name, run(commandBugs[name])]).toEqual([name, failed("TC610")]);
  });
});

it("the lists that docs/lists.md names are in the package", () => {
  const lists = "node_modules/tilec/bench/lists";
  for (const name of ["models.jsonl", "operators.jsonl"]) {
    const { status, stderr } = tilec("explain", "--list", `${lists}/${name}`, "--rows", `${name}.csv`);
    expect([status, stderr]).toEqual([0, expect.stringMatching(/^\d+ programs: /m)]);
  }
  const { status, stdout } = tilec("explain", "--spatter", `${lists}/spatter.json`);
  expect(status).toBe(0);
  expect(stdout.split("\n").length).toBeGreaterThan(20);
});
