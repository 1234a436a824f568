import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../support/root.js";

const { scripts } = JSON.parse(readFileSync(resolve(root, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};
/** Scripts that measure. Those of tables are one program, which docs:tables names. */
const benchmarks = Object.entries(scripts).flatMap(([name, command]) => {
  const [, file] = /^node (dist\/bench\/\S+\.js)$/.exec(command) ?? [];
  return file === undefined ? [] : [[name, file] as const];
});

const run = (file: string, flag: string) =>
  spawnSync(process.execPath, [resolve(root, file), flag], { encoding: "utf8" });

describe("the flags of a benchmark", () => {
  it.each(benchmarks)("%s prints them for --help", (name, file) => {
    const { status, stdout, stderr } = run(file, "--help");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^npm run ${name} -- \\[flags\\]\n`));
  });

  it.each(benchmarks)("%s refuses an unknown one, and says how they are listed", (name, file) => {
    const { status, stdout, stderr } = run(file, "--nope");
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toBe(`error: Unknown option '--nope'\n  hint: npm run ${name} -- --help\n`);
  });
});
