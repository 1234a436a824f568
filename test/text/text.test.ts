import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { spawnSync } from "node:child_process";
import { clockVersion, fileCheck, parseChecks, runTextTest, vacuousChecks } from "../../src/testing/index.js";
import { root } from "../support/root.js";

const folder = fileURLToPath(new URL(".", import.meta.url));

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
    ["// CHECK-EMPTY:", "CHECK-EMPTY comes first"],
    ["// CHECK: a\n// CHECK-EMPTY: b", "CHECK-EMPTY looks for an empty line, and has a text"],
  ])("%j", (source, message) => {
    expect(messages(source)).toContain(message);
  });
});

const quiet = { run: () => ({ output: "alpha\n", exitCode: 0 }) };
const good = "// RUN: tilec compile %s\n// CHECK: alpha\n";

describe("a comment that looks like a directive and is none", () => {
  it.each([
    "// CHECK-NXET: alpha",
    "// CHEKC: alpha",
    "// CHECK_NOT: alpha",
    "// CHECK NOT: alpha",
    "// CHECK-COUNT-0: alpha",
    "// CHECK-COUNT: alpha",
    "// CHECKED by hand",
    "// CHECK",
    "func @f() {} // CHEK: alpha",
    "// error[TC301] alpha",
    "//RUN: tilec compile %s",
    "// RUM: tilec compile %s",
    "// RUN : tilec compile %s",
    "// RUN: compile %s",
  ])("is an error beside a good line: %s", (slip) => {
    const says = expect.stringContaining("looks like a directive") as unknown;
    expect(runTextTest(`${good}${slip}\n`, "t.tir", quiet)).toEqual([{ line: 3, message: says }]);
    expect(runTextTest(`${good}${slip}\n`.replaceAll("\n", "\r\n"), "t.tir", quiet)).toEqual([
      { line: 3, message: says },
    ]);
  });

  it.each([
    "// a remark: CHECKED by hand",
    "// Checks the tail: it is masked",
    "// Row: the first",
    "// Note: none",
    "// Check: this is prose",
    'func @f(%x: tensor<1xf32>) target("a//CHECK it")',
    "// see https://example.org/CHECK",
  ])("stays a comment: %s", (comment) => {
    expect(runTextTest(`${good}${comment}\n`, "t.tir", quiet)).toEqual([]);
  });
});

describe("a RUN line", () => {
  const commands = (source: string, file: string): (readonly string[])[] => {
    const seen: (readonly string[])[] = [];
    const run = (args: readonly string[]) => {
      seen.push(args);
      return { output: "alpha\r\nbeta\r\n", exitCode: 0 };
    };
    expect(runTextTest(source, file, { run })).toEqual([]);
    return seen;
  };

  it("knows the file, its folder and a temporary file; --load is from the folder", () => {
    const source = [
      "// RUN: tilec opt --load ./mine.js --load=other.js %s -o %t.json",
      "// RUN: tilec opt %S/beside.tir %t.json",
      "// CHECK: alpha",
      "// CHECK-NEXT: beta",
    ].join("\r\n");
    const [first, second] = commands(source, "/tests/a.tir");
    const temporary = first?.[6] ?? "";
    expect(first).toEqual([
      "opt",
      "--load",
      "/tests/mine.js",
      "--load=/tests/other.js",
      "/tests/a.tir",
      "-o",
      temporary,
    ]);
    expect(second).toEqual(["opt", "/tests/beside.tir", temporary]);
    expect(temporary).toMatch(/a\.tir\.tmp\.json$/);
  });

  it("that must fail is checked by stdout and by stderr", () => {
    const source = `// RUN: not tilec explain %s
// CHECK: FAIL  full-load-tile
// CHECK: nearest legal
func @g(%x: tensor<3x5xf32>, %i: tensor<3x4xi32>) -> tensor<3x4xf32> schedule {tile = [2, 4]} {
  %y = pypto.gather %x, %i {dim = 0}
  return %y
}
`;
    const folder = mkdtempSync(join(tmpdir(), "tilec-text-"));
    writeFileSync(join(folder, "g.tir"), source);
    expect(runTextTest(source, join(folder, "g.tir"))).toEqual([]);
    const twice = source.replace("// CHECK: nearest legal", "// CHECK: TC301");
    writeFileSync(
      join(folder, "g.tir"),
      twice.replace("explain", "compile").replace("FAIL  full-load-tile", "error"),
    );
    expect(
      runTextTest(
        twice.replace("explain", "compile").replace("FAIL  full-load-tile", "error"),
        join(folder, "g.tir"),
      ),
    ).toEqual([]);
    rmSync(folder, { recursive: true });
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
    ["whatever ends the lines", "// CHECK: alpha 1\r\n// CHECK-NEXT: beta 2\r\n"],
    ["empty", "// CHECK: beta 2\n// CHECK-EMPTY:\n// CHECK-NEXT: func"],
    ["count", "// CHECK-COUNT-2: alpha\n// CHECK-NEXT: beta 3"],
    ["any order", "// CHECK-DAG: func\n// CHECK-DAG: beta 2\n// CHECK-DAG: alpha 1\n// CHECK: alpha 3"],
    ["any order, without overlaps", "// CHECK-DAG: alpha\n// CHECK-DAG: alpha\n// CHECK-NEXT: beta 3"],
    ["any order, with captures", "// CHECK-DAG: beta [[N:3]]\n// CHECK-DAG: alpha [[N]]"],
    ["any order around a not", "// CHECK-DAG: beta 2\n// CHECK-NOT: gamma\n// CHECK-DAG: alpha"],
    ["capture", "// CHECK-LABEL: func @g\n// CHECK: alpha [[N:\\d]]\n// CHECK: beta [[N]]"],
  ])("hold: %s", (_what, source) => {
    expect(check(source)).toBeUndefined();
  });

  it.each(["clock: 4", "clock 4:", '"clock": 4', "(cost model 4)"])(
    "say that %s pins another clock, whichever of the checks fails",
    (pin) => {
      const own = pin.replace("4", String(clockVersion));
      const says = (line: string, cycles: number): string | undefined =>
        fileCheck(`${own}\n${cycles} cycles\n`, parseChecks(`// CHECK-DAG: ${line}\n// CHECK-DAG: 7 cycles`))
          ?.message;
      const pinned = `is pinned under clock 4, and this is clock ${clockVersion}: take its figures again; not found`;
      expect(says(pin, 7)).toContain(pinned);
      expect(says(pin, 9)).toContain(pinned);
      expect(says(own, 9)).toMatch(/^not found .*: 7 cycles/);
      expect(says(own, 7)).toBeUndefined();
    },
  );

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
    ["too few", "// CHECK-COUNT-3: alpha", 1, /not found 3 times from line 1/],
    ["not empty", "// CHECK: alpha 1\n// CHECK-EMPTY:", 2, /found on line 3 of the output, not on the next/],
    ["no empty line", "// CHECK: func\n// CHECK-EMPTY:", 2, /no line of the output from line 4 on is empty/],
    ["one for two in any order", "// CHECK-DAG: gamma\n// CHECK: alpha", 1, /not found/],
    [
      "any order, three of two",
      "// CHECK-DAG: alpha\n// CHECK-DAG: alpha\n// CHECK-DAG: alpha",
      3,
      /not found/,
    ],
    ["a match behind a group", "// CHECK-DAG: func\n// CHECK-DAG: alpha\n// CHECK: beta 2", 3, /not found/],
    [
      "groups in another order around a not",
      "// CHECK-DAG: func\n// CHECK-NOT: gamma\n// CHECK-DAG: beta 2",
      3,
      /not found/,
    ],
    [
      "forbidden between groups",
      "// CHECK-DAG: alpha 1\n// CHECK-NOT: beta 2\n// CHECK-DAG: func",
      2,
      /found on line 2/,
    ],
    ["another capture", "// CHECK: alpha [[N:\\d]]\n// CHECK: beta [[N]]", 2, /not found/],
  ])("fail: %s", (_what, source, line, message) => {
    expect(check(source)).toMatchObject({ line, message: expect.stringMatching(message) });
  });
});
