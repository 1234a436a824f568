import { spawnSync } from "node:child_process";
import { readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DType, ProgramDescription, TensorType, tryProgram } from "../../src/index.js";
import { readNpy, writeNpy } from "../../src/formats/index.js";
import { emitEdited, errorsIn, type Edit, type SourceError } from "../support/edited-sources.js";
import { PackedProject } from "../support/packed.js";
import { smallestPrograms } from "./support-matrix.js";
import { root } from "../support/root.js";
import { scratchFolder } from "../support/scratch-folder.js";

const page = readFileSync(`${root}docs/extending.md`, "utf8");

/** Each block of a language with the file that its fence names, and the output that the page shows below it. */
const snippets = [...page.matchAll(/^```ts ?(\S*)\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```)?/gm)].map(
  ([, file = "", code = "", output], k) => ({ file: file || `snippet-${k}.ts`, code, output }),
);
const ours = (file: string): boolean => file.includes("/");
const users = snippets.filter(({ file }) => !ours(file));
/** The suite of the page: cases and texts. */
const suite = [...page.matchAll(/^```(?:json|tir) (suite\S+)\n([\s\S]*?)^```/gm)].map(
  ([, file = "", code = ""]) => ({ file, code }),
);
const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
  .flatMap(([, text = ""]) => text.replaceAll("\\\n", " ").trim().split("\n"))
  .map((line) => [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word).slice(2));

describe("the page, in a project that has the package installed", () => {
  let project: PackedProject;
  beforeAll(() => {
    project = new PackedProject();
    for (const { file, code } of [...users, ...suite]) project.write(file, code);
  });
  afterAll(() => {
    project.remove();
  });

  it("has snippets that compile", async () => {
    expect(users.length).toBeGreaterThan(7);
    expect(await project.compile(users.map(({ file }) => file))).toBe("");
  });

  it.each(users)("$file prints what the page says", ({ file, output }) => {
    const { stdout, stderr } = project.node(file.replace(".ts", ".js"));
    expect(stderr).toBe("");
    expect(stdout).toBe(output ?? "");
  });

  it("has commands that do what they say", () => {
    expect(commands.length).toBe(10);
    expect(suite.length).toBe(3);
    for (const ending of ["ts", "js"]) rmSync(join(project.folder, `tilec.config.${ending}`));
    for (const command of commands) {
      // From its section on, the page's project has a config.
      if (command.includes("mine") || command[0] === "check") {
        project.link("jiti");
        project.write("tilec.config.ts", code("tilec.config.ts"));
      }
      const { status, stdout, stderr } = project.tilec(...command);
      // Two pipelines differ on the page, which is what exit code 1 says.
      expect(status, stderr).toBe(command[0] === "diff" ? 1 : 0);
      expect(stdout === "" && !command.includes("--rows")).toBe(false);
    }
  });

  it("compares an own selection of tiles with the default over fifty gathers, as the list does", () => {
    const read = (file: string): string[] =>
      readFileSync(join(project.folder, file), "utf8").trimEnd().split("\n");
    const [, ...compared] = read("compare.csv").map((line) => line.split(","));
    expect(compared).toHaveLength(50);
    for (const [k, file] of ["default.csv", "own.csv"].entries()) {
      const [head = "", ...rows] = read(file);
      const column = head.split(",").indexOf("cycles");
      expect(rows).toHaveLength(50);
      const cells = (row: string): string[] => row.replaceAll(/"(?:[^"]|"")*"/g, "quoted").split(",");
      expect(rows.map((row) => cells(row)[column])).toEqual(compared.map((row) => row[k + 1]));
    }
    expect(compared.filter(([, own, mine]) => own !== mine).length).toBeGreaterThan(0);
    expect(
      read("compare.svg")
        .join("\n")
        .match(/<circle /g),
    ).toHaveLength(50);
  });
});

/** The files that the first table below a sentence lists. */
function listed(after: string): readonly string[] {
  const start = page.indexOf(after);
  expect(start, after).toBeGreaterThan(-1);
  const [table = ""] = /(?:^\|.*\n)+/m.exec(page.slice(start)) ?? [];
  return [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, file = ""]) => file).sort();
}

const code = (file: string): string => snippets.find((snippet) => snippet.file === file)?.code ?? "";

/** `Schedule` with another member, and the table of entries with another row. */
const withMember = (member: string): Edit => ({
  file: "ir/schedule.ts",
  find: "readonly cores?: number;",
  put: `readonly cores?: number;\n${member}`,
});
const withRow = (row: string): Edit => ({
  file: "ir/schedule-entries.ts",
  find: "  tile: {",
  put: `${row}\n  tile: {`,
});

/** The table of element types with another row. */
const withType = (row: string): Edit => ({
  file: "ir/element-types.ts",
  find: "elementTypes = {",
  put: `elementTypes = {\n${row}`,
});

/** What each part of the page adds, the words by which an error speaks of it, and the sentence before its list. */
const additions: readonly { what: string; words: RegExp; after: string; edits: readonly Edit[] }[] = [
  {
    what: "a kind of gather",
    words: /"gather_window"/,
    after: "a new member of `Operator`",
    edits: [
      {
        file: "ir/operator.ts",
        find: "Operator =",
        put: 'Operator = | { readonly op: "gather_window"; readonly axis: number; readonly data: Shape; readonly indices: Shape }',
      },
    ],
  },
  {
    what: "a tile statement",
    words: /ReverseStmt|"reverse"|'reverse'/,
    after: "A statement is a member of `Stmt`",
    edits: [
      { file: "ir/tile.ts", find: "| SyncStmt;", put: `| SyncStmt | ReverseStmt;\n${code("ir/tile.ts")}` },
    ],
  },
  {
    what: "a schedule entry",
    words: /'bankOrder'/,
    after: "An entry of a schedule is a member of `Schedule`",
    edits: [withMember(code("ir/schedule.ts").replace("gmOrder", "bankOrder"))],
  },
  {
    what: "a schedule entry that searches choose",
    words: /'unroll'/,
    after: "For a searched\nentry without a default",
    edits: [
      withMember("readonly unroll?: number;"),
      withRow('unroll: { form: "count", argument: "n", help: "copies of the body", searched: true },'),
    ],
  },
  {
    what: "an element type",
    words: /'f8e4m3b'/,
    after: "An element type is a row of `elementTypes`",
    edits: [withType(code("ir/element-types.ts").replace("f8e3m4", "f8e4m3b"))],
  },
  {
    what: "a kind of target",
    words: /["']dsp["']/,
    after: "a member of `TargetKind`",
    edits: [{ file: "ir/target.ts", find: '| "cpu";', put: '| "cpu" | "dsp";' }],
  },
  {
    what: "a policy",
    words: /["']mirror/,
    after: "a member of `Outside`",
    edits: [
      { file: "ir/access.ts", find: '"unchecked"]', put: '"unchecked", "mirror"]' },
      { file: "ir/policy.ts", find: 'wrap: "remainder",', put: 'wrap: "remainder", mirror: "mirrored",' },
      { file: "ir/policy.ts", find: '| "remainder";', put: '| "remainder" | "mirrored";' },
    ],
  },
];

/** The files that the page lists for an element type, with what each needs. */
const typeEdits: readonly Edit[] = [
  { file: "backends/pto/words.ts", find: "u8: i8,", put: "u8: i8, f8e3m4: i8," },
  { file: "backends/pypto/type-names.ts", find: "f64: ", put: "f8e3m4: undefined, f64: " },
  {
    file: "src/formats/numbers.ts",
    find: "f64: {",
    put: "f8e3m4: { round: (value) => value, read: (view, place) => view.getUint8(place), write: () => undefined }, f64: {",
  },
];

/** The operator, the schedule entry and the element type of the page, with all that they need. */
const complete: readonly Edit[] = [
  { file: "ir/ops/mindspore.ts", put: code("ir/ops/mindspore.ts") },
  { file: "ir/ops/registry.ts", find: "registered = [", put: "registered = [\n  mindsporeGatherElements," },
  {
    file: "ir/ops/registry.ts",
    find: "import ",
    put: 'import { mindsporeGatherElements } from "./mindspore.js";\nimport ',
  },
  withMember(code("ir/schedule.ts")),
  withRow(code("ir/schedule-entries.ts")),
  withType(code("ir/element-types.ts")),
  ...typeEdits,
];

describe("the lists of the page, on sources with every addition at once", () => {
  let errors: readonly SourceError[];
  beforeAll(() => {
    errors = errorsIn([...additions.flatMap(({ edits }) => edits), ...complete]);
  });

  it.each(additions)("$what is missed where the page says, and nowhere else", ({ words, after }) => {
    const files = errors.flatMap(({ file, message }) => (words.test(message) ? [file] : []));
    expect([...new Set(files)].sort()).toEqual(listed(after));
  });

  it("nothing else is wrong", () => {
    expect(errors.filter(({ message }) => !additions.some(({ words }) => words.test(message)))).toEqual([]);
  });
});

describe("the operator, the schedule entry and the element type of the page, in the sources", () => {
  const folder = scratchFolder("extended");
  const tilec = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(folder, "dist/src/cli/main.js"), ...args], { encoding: "utf8" });
  beforeAll(() => {
    emitEdited(complete, join(folder, "dist"));
    writeFileSync(join(folder, "package.json"), readFileSync(`${root}package.json`));
    symlinkSync(realpathSync(`${root}node_modules`), join(folder, "node_modules"), "dir");
  });

  it("the operator runs by its name once its two files are edited", () => {
    expect(listed("Two files make it")).toEqual(["ir/ops/mindspore.ts", "ir/ops/registry.ts"]);
    const file = (name: string): string => join(folder, `${name}.npy`);
    const data = Float32Array.from({ length: 12 }, (_, k) => k);
    const indices = BigInt64Array.of(3n, 0n, -1n, 1n, 2n, 0n);
    const write = (name: string, type: TensorType, values: Float32Array | BigInt64Array): void => {
      writeFileSync(file(name), writeNpy({ type, bytes: new Uint8Array(values.buffer) }));
    };
    write("data", { dtype: "f32", shape: [4, 3] }, data);
    write("indices", { dtype: "i64", shape: [2, 3] }, indices);
    const operator = ["--op", "mindspore.gather_elements", "--data", "f32[4,3]", "--indices", "i64[2,3]"];
    const inputs = ["--input", `data=${file("data")}`, "--input", `indices=${file("indices")}`];
    const args = ["run", ...operator, "--axis", "0", ...inputs, "--out", `output=${file("output")}`];
    const { status, stderr } = tilec(...args, "--backend", "reference,sim");
    expect(status, stderr).toBe(0);
    const output = readNpy(new Uint8Array(readFileSync(file("output"))), "output.npy");
    expect([...new Float32Array(output.bytes.slice().buffer)]).toEqual([9, 1, 11, 3, 7, 2]);
  });

  it("the entry has a flag, a default, a name in texts and a field in cases", () => {
    const gather = ["--op", "gather", "--data", "f32[4,3]", "--indices", "i32[2]", "--axis", "0"];
    expect(tilec("explain", ...gather).stdout).toContain("gm_order = rows");
    expect(tilec("explain", ...gather, "--gm-order", "columns").stdout).toContain("gm_order = columns");
    expect(tilec("explain", ...gather, "--gm-order", "rings").stderr).toContain(
      "Allowed choices are rows, columns",
    );
    const text = tilec("compile", ...gather, "--gm-order", "columns").stdout;
    writeFileSync(join(folder, "program.tir"), text);
    expect(tilec("compile", join(folder, "program.tir")).stdout).toBe(text);
    expect(text).toContain("gm_order = columns");
    const tensors = {
      data: { dtype: "f32", shape: [4, 3], fill: { seed: 1, min: 0, max: 9 } },
      indices: { dtype: "i32", shape: [2], values: [3, 0] },
    };
    const test = { id: "a", op: "gather", dialect: "onnx", ...tensors, gmOrder: "columns", expect: "ok" };
    writeFileSync(join(folder, "case.json"), JSON.stringify([test]));
    const { status, stdout } = tilec("check", join(folder, "case.json"), "--backend", "reference,sim");
    expect(status, stdout).toBe(0);
  });

  it("the type is in texts and files, and its bits are moved", () => {
    expect(typeEdits.map(({ file }) => file)).toEqual(listed("An element type is a row of `elementTypes`"));
    const text = `func @f(%x: tensor<4x3xf8e3m4>, %i: tensor<2xi32>) -> tensor<2x3xf8e3m4> {
  %y = access.gather %x, %i (d0, d1) -> (error(%i[d0]), d1) {oob = error}
  return %y
}
`;
    const file = (name: string): string => join(folder, `type-${name}`);
    writeFileSync(file("f.tir"), text);
    const bytes = Uint8Array.from({ length: 12 }, (_, k) => 0xf0 + k);
    writeFileSync(file("x.npy"), writeNpy({ type: { dtype: "u8", shape: [4, 3] }, bytes }));
    const indices = new Uint8Array(Int32Array.of(3, 1).buffer);
    writeFileSync(file("i.npy"), writeNpy({ type: { dtype: "i32", shape: [2] }, bytes: indices }));
    const inputs = ["--input", `data=${file("x.npy")}`, "--input", `indices=${file("i.npy")}`];
    const args = ["run", file("f.tir"), ...inputs, "--out", `output=${file("y.npy")}`];
    const { status, stdout, stderr } = tilec(...args, "--backend", "reference,sim");
    expect(status, stderr).toBe(0);
    expect(stdout).toContain("2x3xf8e3m4");
    const { type, bytes: found } = readNpy(new Uint8Array(readFileSync(file("y.npy"))), "y.npy");
    expect([type.dtype, ...found]).toEqual(["u8", 0xf9, 0xfa, 0xfb, 0xf3, 0xf4, 0xf5]);
  });

  it("every operator refuses the type", async () => {
    const extended = (await import(join(folder, "dist/src/index.js"))) as {
      readonly tryProgram: typeof tryProgram;
    };
    const codes = (dtype: string) =>
      [
        ...smallestPrograms(dtype as DType),
        {
          op: "mindspore.gather_elements",
          attrs: {},
          data: { dtype, shape: [2] },
          indices: { dtype: "i32", shape: [2] },
        },
      ].map((description) => {
        // The types of these sources have neither the operator nor the type.
        const result = extended.tryProgram(description as ProgramDescription);
        return [description.op, result.ok ? "taken" : result.diagnostics[0]?.code];
      });
    expect(codes("f32").filter(([, code]) => code !== "taken")).toEqual([
      ["onnx.gather_block_quantized", "TC104"],
    ]);
    expect(codes("f8e3m4").filter(([, code]) => code !== "TC104")).toEqual([]);
    const flags = ["--op", "gather", "--data", "f8e3m4[4,3]", "--indices", "i32[2]"];
    expect(tilec("explain", ...flags).stderr).toContain("TC104");
  });
});
