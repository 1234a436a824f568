/** Operators of a config in every command: flags, texts, case files, searches and their records, and what is wrong with one. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { operatorsWith } from "../../ir/index.js";
import { completions } from "../../src/lsp/completions.js";
import { roll } from "../support/roll.js";

const root = new URL("../../dist/", import.meta.url);
const main = fileURLToPath(new URL("src/cli/main.js", root));
/** The operator as a module that imports the package. */
const module = ts
  .transpileModule(readFileSync(new URL("../support/roll.ts", import.meta.url), "utf8"), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  })
  .outputText.replace("../../ir/index.js", new URL("ir/index.js", root).href);

/** A folder whose config is `export default` of an expression over the operator `roll`. */
function folderWith(config: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "tilec-operators-")));
  const all = {
    "roll.mjs": module,
    "tilec.config.mjs": `import { roll } from "./roll.mjs";\nexport default ${config};\n`,
    ...files,
  };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text);
  return folder;
}

function tilec(cwd: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { cwd, encoding: "utf8" });
  return { status, stdout, stderr };
}
const types = ["--data", "f32[2,4]", "--indices", "i32[2]"];
const text = (shifts: number, comment = ""): string =>
  `func @roll(%data: tensor<2x4xf32>, %indices: tensor<${shifts}xi32>) -> tensor<2x4xf32> {
  %output = mine.roll %data, %indices {turns = 1}${comment}
  return %output
}
`;
const entry = (id: string, more: object) => ({
  id,
  op: "roll",
  dialect: "mine",
  inputs: {
    data: { dtype: "f32", shape: [2, 4], values: [0, 1, 2, 3, 4, 5, 6, 7] },
    shifts: { dtype: "i32", shape: [2], values: [0, 2] },
  },
  output: { dtype: "f32", shape: [2, 4], values: [1, 2, 3, 0, 7, 4, 5, 6] },
  expect: "ok",
  ...more,
});

describe("an operator of a config", () => {
  const folder = folderWith("{ operators: [roll] }", {
    "good.tir": `// RUN: tilec opt --pass canonicalize-access %s\n// CHECK: + 1) mod 4\n${text(2)}`,
    "bad.tir": text(3, " // error[TC103]: mine.roll takes a shift for each of 2 rows"),
    "cases.json": JSON.stringify([
      entry("turned", { attributes: { turns: 1 } }),
      entry("as-text", { op: "map", dialect: undefined, tir: text(2).replaceAll("%indices", "%shifts") }),
    ]),
    "wrong.json": JSON.stringify([entry("wrong", { attributes: { turn: 1 } })]),
  });

  it("is named with its dialect or without, and has a flag for its attribute", () => {
    const whole = tilec(
      folder,
      "opt",
      "--op",
      "mine.roll",
      ...types,
      "--turns",
      "1",
      "--pass",
      "canonicalize-access",
    );
    expect(whole.stdout).toContain("(d0, (d1 + error(%indices[d0] in 4) + 1) mod 4)");
    const parted = ["opt", "--op", "roll", "--dialect", "mine", ...types, "--turns", "1", "--pass"];
    expect(tilec(folder, ...parted, "canonicalize-access").stdout).toBe(whole.stdout);
    for (const help of [
      ["help", "op", "mine.roll"],
      ["compile", "--op", "mine.roll", "--help"],
    ])
      expect(tilec(folder, ...help).stdout).toContain("--turns <n>");
    expect(tilec(folder, "compile", "--help").stdout).not.toContain("--turns");
    const other = tilec(folder, "compile", "--op", "onnx.gather", ...types, "--turns", "1");
    expect([other.status, other.stderr]).toEqual([
      2,
      expect.stringContaining("onnx.gather has no attribute --turns"),
    ]);
    const file = tilec(folder, "compile", "good.tir", "--turns", "1");
    expect([file.status, file.stderr]).toEqual([2, expect.stringContaining("--turns needs --op")]);
    const none = tilec(folder, "compile", "--op", "mine.roll", ...types, "--no-config");
    expect([none.status, none.stderr]).toEqual([
      2,
      expect.stringContaining("dialect mine has no operator roll"),
    ]);
  });

  it("is listed by help, and one with the name of a built-in one is told apart from it", () => {
    expect(tilec(folder, "help", "op").stdout).toMatch(/^mine +roll$/m);
    expect(tilec(folder, "help", "op", "--no-config").stdout).not.toContain("roll");
    const twice = folderWith('{ operators: [{ ...roll, name: "mine.gather" }] }');
    const command = ["compile", "--op", "gather", "--emit", "source", ...types];
    const { status, stdout, stderr } = tilec(twice, ...command);
    expect([status, stderr]).toEqual([0, "--op gather is onnx.gather; the config's is --op mine.gather\n"]);
    expect(stdout).toContain("onnx.gather %data");
    const own = tilec(twice, "compile", "--op", "mine.gather", "--turns", "1", "--emit", "source", ...types);
    expect([own.status, own.stderr, own.stdout]).toEqual([
      0,
      "",
      expect.stringContaining("mine.gather %data"),
    ]);
  });

  it("is run, is in case files and texts, whose faults are told, and is completed", () => {
    const { status, stdout, stderr } = tilec(folder, "check", "good.tir", "bad.tir", "cases.json");
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("6 passed, 0 failed");
    const wrong = tilec(folder, "check", "wrong.json");
    expect([wrong.status, wrong.stdout]).toEqual([1, expect.stringContaining("did you mean turns?")]);
    const offered = (before: string) =>
      completions(before, { line: 0, column: before.length }, operatorsWith([roll]))?.options ?? [];
    expect(offered("  %y = mine.r").map(({ label }) => label)).toContain("mine.roll");
    expect(offered("  %y = mine.roll %x, %i {").map(({ label }) => label)).toEqual(["turns = ", "oob = "]);
  });

  it("is searched, and its records are costed again and pinned", () => {
    const search = ["tune", "--op", "mine.roll", ...types, "--target", "ascend-a2", "--records", "r.jsonl"];
    expect(tilec(folder, ...search, "--budget", "5").status).toBe(0);
    const best = tilec(folder, "records", "best", "r.jsonl", "--json");
    expect(JSON.parse(best.stdout)).toMatchObject({ tasks: [{ name: "roll" }] });
    expect(tilec(folder, "records", "pin", "r.jsonl", "--out", "pinned.tir").status).toBe(0);
    expect(readFileSync(join(folder, "pinned.tir"), "utf8")).toContain("mine.roll");
    expect(tilec(folder, "check", "pinned.tir")).toMatchObject({ status: 0 });
    const none = tilec(folder, "records", "best", "r.jsonl", "--no-config");
    expect([none.status, none.stderr]).toEqual([1, expect.stringContaining("unknown operator mine.roll")]);
  });
});

describe("a config with a wrong operator", () => {
  const attribute = (name: string): string =>
    `{ operators: [{ ...roll, attrs: { ${name}: { kind: "int", help: "" } } }] }`;
  it.each([
    ["{ operators: roll }", "operators is an object; it takes a list of operators"],
    ["{ operators: [5] }", "operators[0] is 5; it takes an operator"],
    [
      "{ operators: [{ ...roll, name: 'roll' }] }",
      'operators[0].name is "roll"; it takes two words with a dot',
    ],
    [
      "{ operators: [{ ...roll, inputs: 'ab' }] }",
      'operators[0].inputs is "ab"; it takes the names of its inputs',
    ],
    [
      "{ operators: [{ ...roll, attrs: { k: { kind: 'integer', help: '' } } }] }",
      "operators[0].attrs.k is an object; it takes an object with help and a kind",
    ],
    ["{ operators: [roll, roll] }", "operators[1] is named mine.roll, the name of operators[0]"],
    [
      "{ operators: [{ ...roll, name: 'onnx.gather' }] }",
      "operators[0] is named onnx.gather, the name of a built-in operator",
    ],
    [attribute("tile"), "the flag --tile of attribute tile of mine.roll is a flag of tilec"],
    // Of another command than the one that runs, of all commands, and of none in particular.
    [attribute("reporter"), "the flag --reporter of attribute reporter"],
    [attribute("config"), "the flag --config of attribute config"],
    [attribute("help"), "the flag --help of attribute help"],
  ])("%s is refused with exit code 2, the file and the field", (config, message) => {
    const { status, stdout, stderr } = tilec(folderWith(config), "compile", "--op", "mine.roll", ...types);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(
      `error[TC018]: tilec.config.mjs: ${message.startsWith("the") ? "operators: " : ""}${message}`,
    );
  });

  it.each([
    [
      "{ ...resolved, operator: { ...operator, map: { ...operator.map, indices: [] } } }",
      "TC204]: the map of mine.roll: ",
    ],
    [
      "{ ...resolved, output: [9, 9] }",
      "TC201]: mine.roll: its output is [9, 9], and its operator gives [2, 4]",
    ],
    ["undefined", "TC201]: mine.roll: it resolves to no operator of gather, "],
    ['{ ...resolved, oob: "nah" }', "TC201]: mine.roll: oob is nah, and takes error, "],
    [
      "{ ...resolved, operator: { ...operator, map: { ...operator.map, value: {} } } }",
      "TC201]: the map of mine.roll: it cannot be read: ",
    ],
    [
      "undefined.x",
      "TC201]: mine.roll crashed: Error: line 2: Cannot read properties of undefined (reading 'x')",
    ],
  ])("a resolve that gives %s is exit code 1, with the operator and its file", (result, message) => {
    const resolve = `const resolved = roll.resolve(inputs), { operator } = resolved; return ${result};`;
    const config = `{ operators: [{ ...roll, resolve(inputs) { ${resolve} } }] }`;
    const { status, stderr } = tilec(folderWith(config), "compile", "--op", "mine.roll", ...types);
    expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).toContain("mine.roll is operators[0] of tilec.config.mjs");
  });
});
