import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { spawnSync } from "node:child_process";
import { fileCheck, parseChecks, runTextTest, vacuousChecks } from "../../src/testing/index.js";

const folder = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../../", import.meta.url));

const run = (args: readonly string[]): { output: string; exitCode: number } => {
  const result = spawnSync(process.execPath, [`${root}dist/src/cli/main.js`, ...args], { encoding: "utf8" });
  return { output: result.status === 0 ? result.stdout : result.stderr, exitCode: result.status ?? 3 };
};

describe("text tests", () => {
  it.each(readdirSync(folder).filter((name) => name.endsWith(".tir")))("%s", (name) => {
    expect(runTextTest(readFileSync(folder + name, "utf8"), folder + name, { run })).toEqual([]);
  });
});

describe("a text test that cannot fail is an error", () => {
  const messages = (source: string): string[] =>
    vacuousChecks(parseChecks(source)).map((failure) => failure.message);

  it.each([
    ["a file without checks", "func @f() {}", /tests nothing/],
    ["a RUN line without a CHECK", "// RUN: tilec compile %s", /cannot fail/],
  ])("%s", (_what, source, message) => {
    expect(runTextTest(source, "t.tir", { run: () => ({ output: "", exitCode: 0 }) })[0]?.message).toMatch(
      message,
    );
  });

  it.each([
    ["// CHECK:", "CHECK looks for nothing"],
    ["// CHECK: [[X:a]]\n// CHECK: [[X:b]]", "[[X]] is captured twice: the second use cannot fail"],
    ["// CHECK: [[X]]", "[[X]] is used before it is captured"],
    ["// CHECK-LABEL: f\n// CHECK-LABEL: g\n// CHECK: h", "a label without a check under it"],
    ["// CHECK-NOT: a", "CHECK-NOT needs a CHECK around it to say where"],
    ["// CHECK-NEXT: a", "CHECK-NEXT comes first"],
  ])("%j", (source, message) => {
    expect(messages(source)).toContain(message);
  });
});

describe("checks", () => {
  const output = "alpha 1\nbeta 2\n\nfunc @g\nalpha 3\nbeta 3\n";
  const check = (source: string) => fileCheck(output, parseChecks(source));

  it.each([
    ["in order", "// CHECK: alpha\n// CHECK: beta\n// CHECK: alpha"],
    ["next", "// CHECK: alpha 1\n// CHECK-NEXT: beta"],
    ["same", "// CHECK: alpha\n// CHECK-SAME: 1"],
    ["not", "// CHECK: beta 2\n// CHECK-NOT: beta\n// CHECK: alpha 3"],
    ["regex", "// CHECK: beta {{[0-9]$}}"],
    ["capture", "// CHECK-LABEL: func @g\n// CHECK: alpha [[N:\\d]]\n// CHECK: beta [[N]]"],
  ])("hold: %s", (_what, source) => {
    expect(check(source)).toBeUndefined();
  });

  it.each([
    ["out of order", "// CHECK: beta\n// CHECK: alpha 1", 2, /not found from line 2/],
    ["not next", "// CHECK: alpha 1\n// CHECK-NEXT: alpha 3", 2, /not on the next line/],
    ["not same", "// CHECK: alpha 1\n// CHECK-SAME: 2", 2, /not on line 1/],
    ["forbidden", "// CHECK: alpha 1\n// CHECK-NOT: beta\n// CHECK: alpha 3", 2, /found on line 2/],
    [
      "outside the label's part",
      "// CHECK: alpha 1\n// CHECK: alpha 3\n// CHECK-LABEL: func @g\n// CHECK: beta",
      2,
      /not found/,
    ],
    ["another capture", "// CHECK: alpha [[N:\\d]]\n// CHECK: beta [[N]]", 2, /not found/],
  ])("fail: %s", (_what, source, line, message) => {
    expect(check(source)).toMatchObject({ line, message: expect.stringMatching(message) });
  });
});
