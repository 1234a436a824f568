/** docs/testing.md in a project that has the tarball and vitest: what a reader would type is green. */
import { spawnSync } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PackedProject } from "../support/packed.js";

const page = readFileSync(new URL("../../docs/testing.md", import.meta.url), "utf8");
const files = [...page.matchAll(/^```(?:js|ts|json) (\S+)\n([\s\S]*?)^```/gm)].map(
  ([, name = "", text = ""]) => ({
    name,
    text,
  }),
);
const { CI: _, TILEC_REQUIRE: __, ...env } = process.env;

describe("the page's project", () => {
  let project: PackedProject;
  beforeAll(() => {
    project = new PackedProject();
    project.link("vitest");
    // As `npm init -y` of npm 11 writes it.
    project.write("package.json", JSON.stringify({ type: "commonjs" }));
    for (const { name, text } of files) project.write(name, text);
  });
  afterAll(() => {
    project.remove();
  });

  it("has the files of the page", () => {
    expect(files.map(({ name }) => name)).toEqual([
      "vitest.config.js",
      "kernel.test.ts",
      "cases/first.json",
      "kernel.node.mjs",
    ]);
  });

  it("is green in vitest, the device apart", () => {
    const main = join(realpathSync(join(project.folder, "node_modules/vitest")), "vitest.mjs");
    const { stdout, stderr, status } = spawnSync(process.execPath, [main, "run"], {
      cwd: project.folder,
      encoding: "utf8",
      env,
    });
    expect(status, stdout + stderr).toBe(0);
    expect(stdout).toMatch(/4 passed.*1 skipped/);
  });

  it("pins figures that hold: one in a hundred lower, each of them fails", () => {
    project.write(
      "slack.js",
      `import { appendFileSync } from "node:fs";
      import { expect } from "vitest";
      import { assertThat } from "tilec/testing";
      const tight = (name, scaled) => function (kernel, limit) {
        assertThat(kernel)[name](limit);
        for (const own of limit === undefined ? [] : scaled(limit)) {
          assertThat(kernel).not[name](own);
          appendFileSync("tight.txt", name + " ");
        }
        return { pass: true, message: () => name };
      };
      const each = (limits) => ["bytes", "ratio", "cycles"].flatMap((name) =>
        limits[name] === undefined ? [] : [{ [name]: limits[name] / 1.01 }]);
      expect.extend({
        toFitUb: tight("toFitUb", (bytes) => [bytes / 1.01]),
        toMoveAtMost: tight("toMoveAtMost", each),
        toTakeAtMost: tight("toTakeAtMost", each),
      });`,
    );
    project.write(
      "slack.config.js",
      `export default { test: { setupFiles: ["tilec/vitest", "./slack.js"] } };`,
    );
    const main = join(realpathSync(join(project.folder, "node_modules/vitest")), "vitest.mjs");
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      [main, "run", "--config", "slack.config.js"],
      {
        cwd: project.folder,
        encoding: "utf8",
        env,
      },
    );
    expect(status, stdout + stderr).toBe(0);
    expect(readFileSync(join(project.folder, "tight.txt"), "utf8")).toBe("toMoveAtMost toTakeAtMost ");
  });

  it("is green in node:test", () => {
    const { stdout, status } = spawnSync(
      process.execPath,
      ["--test", "--test-reporter=tap", "kernel.node.mjs"],
      { cwd: project.folder, encoding: "utf8", env },
    );
    expect(status, stdout).toBe(0);
    expect(stdout).toMatch(/^# pass 2$/m);
  });
});
