/** `--list`: a row for each of many programs, whatever becomes of it. */
import { spawnSync } from "node:child_process";
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { figures } from "../../src/report/figures.js";
import { pyptoDump, type DumpedCall } from "../support/pypto-dump.js";
import { root } from "../support/root.js";
import { runHere, type Ran } from "../support/run-here.js";

const lines = [
  { id: "rows", op: "gather", data: "f32[64,80]", indices: "i32[32]" },
  {
    id: "columns",
    op: "gather_elements",
    data: "f32[64,80]",
    indices: ["i32[64,80]"],
    axis: 0,
    tile: [64, 60],
  },
  { id: "cut", op: "gather_elements", data: "f32[64,80]", indices: "i32[64,80]", axis: 0, tile: "32,60" },
  { op: "gather", data: "f32[64,80]", indices: "i32[32]", "double-buffer": true, target: "ascend-950" },
  { id: "=axis", op: "gather", data: "f32[64,80]", indices: "i32[32]", axis: 7 },
].map((line) => JSON.stringify(line));

/** Two gathers of a graph that PyPTO dumped, at one place. */
const dumped: DumpedCall = {
  ...{ op: "pypto.gather", axis: 1, tile: [1, 160], file: "experts.py", line: 175 },
  types: [
    ["f32", [32, 160]],
    ["i32", [32, 8]],
  ],
};
const dumpText = JSON.stringify(pyptoDump([dumped, { ...dumped, tile: [8, 160] }], "After"));
const dumpPlaces = ["experts.py:175", "experts.py:175 #2"];

/** Lines that cannot be read, and what their rows say. */
const malformed: readonly (readonly [line: string, reason: RegExp])[] = [
  ["{", /^not JSON: /],
  ["[1]", /^a line is an object of flags$/],
  [
    '{"op": "nope", "data": "f32[8]", "indices": "i32[8]"}',
    /no operator nope, and --op nope names no dialect$/,
  ],
  ['{"op": "gather", "dta": "f32[8]", "indices": "i32[8]"}', /^"dta" is not a flag of a program$/],
  ['{"op": "gather", "data": "f32[8]", "indices": {"a": 1}}', /^"indices" must be a string/],
  ['{"op": "gather", "data": "f32[8]", "indices": "i32[8]", "help": true}', /^"help" is not a flag/],
  [
    '{"op": "gather", "data": "f32[8]", "indices": "i32[8]", "dialect": "mine"}',
    /argument 'mine' is invalid/,
  ],
  ['{"op": "gather", "data": "f32[8]", "indices": "i32[8]", "axis": 0, "dim": 0.5}', /--axis|--dim/],
  ['{"op": "gather", "data": "f32[8]"}', /^--op needs --data and --indices$/],
  ['{"id": "rows", "op": "gather", "data": "f32[8]", "indices": "i32[8]"}', /^entry 1 has the same id$/],
  ['{"id": {}, "op": "gather", "data": "f32[8]", "indices": "i32[8]"}', /^id must be a string or a number/],
  ['{"id": null, "op": "gather", "data": "f32[8]", "indices": "i32[8]"}', /^id must be a string or a number/],
  ['{"id": "", "op": "gather", "data": "f32[8]", "indices": "i32[8]"}', /^id is an empty string$/],
  [
    '{"id": 9007199254740993, "op": "gather", "data": "f32[8]", "indices": "i32[8]"}',
    /^id is a number beyond/,
  ],
  ['{"id": 1e999, "op": "gather", "data": "f32[8]", "indices": "i32[8]"}', /^id is a number beyond/],
  ['{"op": "gather", "data": "f32[8]", "indices": "i32[8]"}\0', /^not JSON: /],
  ["[".repeat(100_000), /^not JSON: /],
  ['{"op": "gather", "data": "f32[8]", "indices": "i32[8]", "op": "gather_nd"}', /^"op" is given twice$/],
  [
    '{"op": "gather", "data": "f32[8]", "indices": ["i32[8]"], "o\\u0070": "gather"}',
    /^"op" is given twice$/,
  ],
  ['{"op": "gather", "data": "f32[8]", "indices": "i32[8]", "__proto__": 1}', /^"__proto__" is not a flag/],
  ['{"op": "gather", "data": "f32[8]", "indices": "i32[8]", "axis": null}', /^"axis" must be a string/],
  ['{"op": "gather", "data": "f32[8]", "indices": "i32[8]", "list": "a.jsonl"}', /^"list" is not a flag/],
];

const files = (contents: Readonly<Record<string, string>>): string => {
  const folder = mkdtempSync(join(tmpdir(), "tilec-list-"));
  for (const [name, text] of Object.entries(contents)) writeFileSync(join(folder, name), text);
  return folder;
};
const listed = (text = lines.join("\n")): string => files({ "a.jsonl": text });
const tilec = (folder: string, ...args: readonly string[]): Promise<Ran> => runHere(args, folder);

/** Rows of a command as objects. */
async function rowsOf(
  folder: string,
  ...args: readonly string[]
): Promise<Record<string, string | number>[]> {
  const { stdout } = await tilec(folder, ...args, "--json");
  return stdout
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, string | number>]));
}

describe("explain --list", () => {
  it("has a row for each line, whose figures are those of the program alone", async () => {
    const folder = listed();
    const { stdout, stderr, status } = await tilec(folder, "explain", "--list", "a.jsonl");
    expect([status, stderr]).toEqual([0, "5 programs: 3 legal, 2 refused\n"]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(6);
    const rows = await rowsOf(folder, "explain", "--list", "a.jsonl");
    expect(rows.map(({ id, verdict, code, target }) => [id, verdict, code, target])).toEqual([
      ["rows", "legal", undefined, "ascend-a2"],
      ["columns", "legal", undefined, "ascend-a2"],
      ["cut", "refused", "TC301", "ascend-a2"],
      ["line 4", "legal", undefined, "ascend-950"],
      ["=axis", "refused", "TC101", undefined],
    ]);
    const flags = [
      "--op",
      "gather_elements",
      "--data",
      "f32[64,80]",
      "--indices",
      "i32[64,80]",
      "--axis",
      "0",
    ];
    const alone = await tilec(folder, "explain", ...flags, "--tile", "64,60", "--json");
    const { cycles, footprint, traffic } = JSON.parse(alone.stdout) as {
      readonly cycles: number;
      readonly footprint: { readonly bytes: number };
      readonly traffic: { readonly bytes: number; readonly tasks: number };
    };
    expect(rows[1]).toMatchObject({
      tile: "64x60",
      cycles,
      ub_bytes: footprint.bytes,
      bytes: traffic.bytes,
      tasks: traffic.tasks,
    });
  });

  it("says the same in CSV and in JSON, in columns of the table of figures and in its order", async () => {
    const folder = listed();
    const { stdout } = await tilec(folder, "explain", "--list", "a.jsonl");
    const [head = "", ...rest] = stdout.trimEnd().split("\n");
    const columns = head.split(",");
    const known = Object.keys(figures);
    const own = columns.slice(columns.indexOf("reason") + 1);
    expect(own).toEqual(known.filter((key) => own.includes(key)));
    const rows = await rowsOf(folder, "explain", "--list", "a.jsonl");
    const plain = rest[0]?.split(",") ?? [];
    expect(plain).toEqual(columns.map((key) => String(rows[0]?.[key] ?? "")));
    // A spreadsheet runs what begins so.
    expect(rest[4]).toContain(",'=axis,");
  });

  it("fails for refused programs where --strict is given", async () => {
    expect((await tilec(listed(), "explain", "--list", "a.jsonl", "--strict")).status).toBe(1);
    const legal = listed(lines.slice(0, 2).join("\n"));
    expect((await tilec(legal, "explain", "--list", "a.jsonl", "--strict")).status).toBe(0);
  });

  it.each(malformed)("has a row for the line %s, and fails", async (line, reason) => {
    const folder = listed([lines[0], line, lines[1]].join("\n\n"));
    const { status, stderr } = await tilec(folder, "explain", "--list", "a.jsonl");
    expect([status, /error\[TC\d+\]/.test(stderr)], stderr).toEqual([1, true]);
    const rows = await rowsOf(folder, "explain", "--list", "a.jsonl");
    expect(rows.map(({ verdict }) => verdict)).toEqual(["legal", "malformed", "legal"]);
    expect(rows[1]?.["reason"]).toMatch(reason);
    expect(rows[1]?.["code"]).toBe("TC701");
  });

  it("has a malformed row for a line whose target or file nobody knows", async () => {
    const of = (more: object): string =>
      JSON.stringify({ op: "gather", data: "f32[8]", indices: "i32[8]", ...more });
    const folder = listed([of({ target: "nope" }), of({ target: "nope.json" })].join("\n"));
    expect((await tilec(folder, "explain", "--list", "a.jsonl")).status).toBe(1);
    const rows = await rowsOf(folder, "explain", "--list", "a.jsonl");
    expect(rows.map(({ verdict, code }) => [verdict, code])).toEqual([
      ["malformed", "TC501"],
      ["malformed", "TC010"],
    ]);
  });

  it("reads a byte order mark, lines that end as on Windows, and a line of megabytes", async () => {
    const long = JSON.stringify({ ...(JSON.parse(lines[0] ?? "") as object), id: "x".repeat(4e6) });
    const folder = listed(`\uFEFF${[lines[0], "", long, lines[1]].join("\r\n")}\r\n`);
    const rows = await rowsOf(folder, "explain", "--list", "a.jsonl");
    expect(rows.map(({ id, verdict }) => [String(id).length, verdict])).toEqual([
      [4, "legal"],
      [4e6, "legal"],
      [7, "legal"],
    ]);
  });

  it.each([
    ["an empty file", "a.jsonl", 2, "has no program"],
    ["a file of empty lines", "b.jsonl", 2, "has no program"],
    ["an empty case file", "c.json", 2, "has no program"],
    ["a text without a function", "d.tir", 1, "the text holds no function"],
    ["a folder", "e.jsonl", 1, "it is a folder"],
    ["a file that is not there", "f.jsonl", 1, "no such file"],
  ])("refuses %s", async (_, name, code, said) => {
    const folder = files({ "a.jsonl": "", "b.jsonl": "\n \r\n\n", "c.json": "[]", "d.tir": "" });
    mkdirSync(join(folder, "e.jsonl"));
    const { status, stderr } = await tilec(folder, "explain", "--list", name);
    expect([status, stderr]).toEqual([code, expect.stringContaining(said)]);
  });

  it("counts what certain indices move", async () => {
    const [row] = await rowsOf(listed(), "explain", "--list", "a.jsonl", "--indices-like", "same");
    expect(row).toMatchObject({ distinct_rows: 1, picks: 32 });
  });
});

describe("the programs of a file", () => {
  it("are the functions of a text; what does not parse is malformed", async () => {
    const good = (name: string): string =>
      `func @${name}(%d: tensor<8x8xf32>, %i: tensor<4xi32>) -> tensor<4x8xf32> {\n  %y = onnx.gather %d, %i\n  return %y\n}\n`;
    const folder = files({ "a.tir": `${good("one")}func @bad(%d)\n${good("two")}` });
    const rows = await rowsOf(folder, "run", "--list", "a.tir", "--seed", "3");
    expect(rows.map(({ id, verdict, seed }) => [id, verdict, seed])).toEqual([
      ["one", "same", 3],
      ["two", "same", 3],
      ["line 5", "malformed", undefined],
    ]);
    expect((await tilec(folder, "run", "--list", "a.tir", "--seed", "3")).status).toBe(1);
  });

  it("are named once in a message", async () => {
    const folder = files({ "c.json": "[{}]" });
    const { stderr } = await tilec(folder, "explain", "--list", "c.json");
    expect(stderr).toMatch(/^error\[TC013\]: c\.json: case 0: a case lacks id/m);
  });

  it("are the gathers of a graph that PyPTO dumped, by their places", async () => {
    const folder = files({ "dump.json": dumpText });
    const rows = await rowsOf(folder, "explain", "--list", "dump.json", "--target", "ascend-a2");
    expect(rows.map(({ id, op, verdict }) => [id, op, verdict])).toEqual(
      dumpPlaces.map((place) => [place, "pypto.gather", "legal"]),
    );
    expect(rows[0]?.["output"]).toBe("32x8xf32");
    const drawn = await rowsOf(folder, "run", "--list", "dump.json", "--seed", "1");
    expect(drawn.map(({ verdict }) => verdict)).toEqual(["same", "same"]);
  });

  it("are the cases of a case file with their inputs, and the gathers of a model", async () => {
    const folder = files({});
    copyFileSync(resolve("test/conformance/cases/seed.json"), join(folder, "cases.json"));
    copyFileSync(resolve("test/cli/inputs/one-bad-of-three.onnx"), join(folder, "m.onnx"));
    const cases = await rowsOf(folder, "run", "--list", "cases.json");
    expect(cases.length).toBeGreaterThan(5);
    expect(cases.filter(({ verdict }) => verdict === "same").length).toBeGreaterThan(3);
    expect(cases.some(({ seed, verdict }) => verdict === "same" && seed === undefined)).toBe(true);
    const gathers = await rowsOf(folder, "explain", "--list", "m.onnx");
    expect(gathers.map(({ id, verdict }) => [id, verdict])).toEqual([
      ["a", "legal"],
      ["y", "legal"],
      ["b", "legal"],
    ]);
    copyFileSync(resolve("test/formats/inputs/dynamic-gather.mlir"), join(folder, "m.mlir"));
    const [only] = await rowsOf(folder, "explain", "--list", "m.mlir");
    expect(only).toMatchObject({ id: "main", verdict: "refused", code: "TC003" });
    expect((await tilec(folder, "explain", "--list", "m.mlir")).status).toBe(0);
  });
});

describe("the standard input", () => {
  const main = join(root, "dist/src/cli/main.js");
  const piped = (input: string) =>
    spawnSync(process.execPath, [main, "explain", "--list", "-", "--json"], { input, encoding: "utf8" });

  it.each([
    ["JSON Lines", lines.join("\n"), ["rows", "columns", "cut", "line 4", "=axis"]],
    [
      "a string",
      "func @one(%d: tensor<8x8xf32>, %i: tensor<4xi32>) -> tensor<4x8xf32> {\n  %y = onnx.gather %d, %i\n  return %y\n}\n",
      ["one"],
    ],
    ["a graph of PyPTO's", dumpText, dumpPlaces],
  ])("holds %s", (_, input, ids) => {
    const { stdout, status, stderr } = piped(input);
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly id: string });
    expect([status, rows.map(({ id }) => id)], stderr).toEqual([0, ids]);
  });

  it("that is empty fails", () => {
    expect(piped("").status).toBe(1);
  });
});

describe("run --list", () => {
  it("draws by the seed", async () => {
    const bits = async (seed: string): Promise<unknown> =>
      (await rowsOf(listed(lines[0]), "run", "--list", "a.jsonl", "--seed", seed))[0]?.["bits"];
    expect(await bits("1")).toBe(await bits("1"));
    expect(await bits("1")).not.toBe(await bits("2"));
  });

  it("fails where backends differ, and says which element", async () => {
    const backend = `const zeros = { name: "zeros", prepare: () => ({ run: async () => ({ output: new Uint8Array(32 * 80 * 4) }), release() {} }) };
export default { backends: { zeros } };`;
    const folder = files({ "a.jsonl": lines.join("\n"), "tilec.config.mjs": backend });
    const { status, stderr } = await tilec(folder, "run", "--list", "a.jsonl", "--backend", "sim,zeros");
    expect(status).toBe(1);
    expect(stderr).toMatch(/TC610\]: rows: /);
    const rows = await rowsOf(folder, "run", "--list", "a.jsonl", "--backend", "sim,zeros");
    expect(rows[0]).toMatchObject({ verdict: "different", code: "TC610" });
  });
});

describe("tune --list", () => {
  it("has the best schedule of each program, and the default's cycles over its own", async () => {
    const rows = await rowsOf(listed(), "tune", "--list", "a.jsonl", "--budget", "8");
    const [first] = rows;
    expect(first?.["gain"]).toBeGreaterThanOrEqual(1);
    expect(Number(first?.["cycles"]) * Number(first?.["gain"])).toBeCloseTo(Number(first?.["default_cost"]));
    expect(rows.map(({ verdict }) => verdict)).toEqual(["legal", "legal", "refused", "legal", "refused"]);
  });
});

describe("the file of --rows", () => {
  it("is written over where tilec wrote it, and another only with --force", async () => {
    const folder = listed();
    const explain = ["explain", "--list", "a.jsonl", "--rows"] as const;
    for (const name of ["r.csv", "r.jsonl"]) {
      expect((await tilec(folder, ...explain, name)).status).toBe(0);
      const first = readFileSync(join(folder, name), "utf8");
      expect((await tilec(folder, ...explain, name)).status).toBe(0);
      expect(readFileSync(join(folder, name), "utf8")).toBe(first);
      writeFileSync(join(folder, name), "mine\n");
      const refused = await tilec(folder, ...explain, name);
      expect([refused.status, refused.stderr.includes("TC010")]).toEqual([1, true]);
      expect(readFileSync(join(folder, name), "utf8")).toBe("mine\n");
      expect((await tilec(folder, ...explain, name, "--force")).status).toBe(0);
      expect(readFileSync(join(folder, name), "utf8")).toBe(first);
    }
    expect((await tilec(folder, ...explain, "a.jsonl")).stderr).toContain("this command reads it");
    expect((await tilec(folder, ...explain, "r.txt")).status).toBe(2);
  });

  it.each(["r.csv", "r.jsonl"])("goes on in %s: rows of before stay, others are made again", async (name) => {
    const folder = listed();
    const explain = ["explain", "--list", "a.jsonl", "--rows", name] as const;
    await tilec(folder, ...explain);
    const whole = readFileSync(join(folder, name), "utf8");
    const edited = (text: string): string => text.replace(/(?<=[,"])\d+x\d+(?=[,"])/, "7x7");
    // The tile of a row that is kept is not made again; a row without its end and those of another key are.
    const kept = whole.split("\n").filter((line) => !line.includes("columns"));
    writeFileSync(join(folder, name), edited(kept.join("\n")).slice(0, -5));
    const { status } = await tilec(folder, ...explain, "--resume");
    expect(status).toBe(0);
    expect(readFileSync(join(folder, name), "utf8")).toBe(edited(whole));
    const key = /[\da-f]{16}/.exec(whole)?.[0] ?? "";
    writeFileSync(join(folder, name), edited(whole).replace(key, "0".repeat(16)));
    await tilec(folder, ...explain, "--resume");
    expect(readFileSync(join(folder, name), "utf8")).toBe(whole);
    appendFileSync(join(folder, name), "\n\n");
    await tilec(folder, ...explain, "--resume", "--target", "ascend-950");
    expect(readFileSync(join(folder, name), "utf8")).not.toContain("ascend-a2");
  });

  it("is made again by other settings of the command", async () => {
    const folder = listed(lines[0]);
    const run = async (seed: string): Promise<string> => {
      await tilec(folder, "run", "--list", "a.jsonl", "--rows", "r.csv", "--resume", "--seed", seed);
      return readFileSync(join(folder, "r.csv"), "utf8");
    };
    const first = await run("1");
    expect(await run("2")).not.toBe(first);
    expect(await run("1")).toBe(first);
  });

  it.each([
    ["r.csv", ["tune", "--budget", "2"]],
    ["r.jsonl", ["tune", "--budget", "2"]],
    ["r.csv", ["run", "--seed", "1"]],
    ["r.jsonl", ["run", "--seed", "1"]],
  ])("is left where --resume would go on in %s with rows of %j", async (name, [command = "", ...more]) => {
    const folder = listed(lines[0]);
    await tilec(folder, command, "--list", "a.jsonl", "--rows", name, ...more);
    const before = readFileSync(join(folder, name), "utf8");
    const { status, stderr } = await tilec(
      folder,
      "explain",
      "--list",
      "a.jsonl",
      "--rows",
      name,
      "--resume",
    );
    expect([status, stderr]).toEqual([2, expect.stringContaining("it holds rows of another command")]);
    expect(readFileSync(join(folder, name), "utf8")).toBe(before);
  });

  it("begins anew where --resume finds a header that was torn, and drops empty lines", async () => {
    const folder = listed(lines[0]);
    const explain = ["explain", "--list", "a.jsonl", "--rows", "r.csv", "--resume"] as const;
    await tilec(folder, ...explain);
    const whole = readFileSync(join(folder, "r.csv"), "utf8");
    for (const torn of ["", whole.replace(/\n.*/s, "\n"), `${whole}\n\n`]) {
      writeFileSync(join(folder, "r.csv"), torn);
      expect((await tilec(folder, ...explain)).status).toBe(0);
      expect(readFileSync(join(folder, "r.csv"), "utf8")).toBe(whole);
    }
  });

  it("has its header alone where a part of --shard has no program", async () => {
    const { stdout, stderr, status } = await tilec(
      listed(lines[0]),
      ...["explain", "--list", "a.jsonl", "--shard", "2/2"],
    );
    expect([status, stderr, stdout.split("\n").length]).toEqual([0, "0 programs\n", 2]);
  });

  it("has the parts of --shard, which together are the whole", async () => {
    const folder = listed();
    const rows = await rowsOf(folder, "explain", "--list", "a.jsonl");
    const odd = await rowsOf(folder, "explain", "--list", "a.jsonl", "--shard", "1/2");
    const even = await rowsOf(folder, "explain", "--list", "a.jsonl", "--shard", "2/2");
    expect([odd.length, even.length]).toEqual([3, 2]);
    expect(rows.map((_, k) => (k % 2 === 0 ? odd : even)[Math.floor(k / 2)])).toEqual(rows);
  });

  it("and its flags are refused where they say nothing", async () => {
    const folder = listed();
    const wrong: readonly (readonly string[])[] = [
      ["explain", "a.tir", "--list", "a.jsonl"],
      ["explain", "--list", "a.jsonl", "--compare", "default"],
      ["explain", "--list", "a.jsonl", "--resume"],
      ["explain", "--op", "gather", "--data", "f32[8]", "--indices", "i32[8]", "--rows", "r.csv"],
      ["run", "--op", "gather", "--data", "f32[8]", "--indices", "i32[8]", "--strict"],
      ["run", "--list", "a.jsonl", "--backend", "none"],
      ["run", "--list", "a.jsonl", "--seed", "x"],
      ["tune", "--list", "a.jsonl", "--html", "h.html"],
      ["tune", "--list", "a.jsonl", "--budget", "0"],
      ["explain", "--list", "a.jsonl", "--rows", "r.csv", "--json"],
      ...["3/2", "0/3", "4/3", "-1/3", "1/0", "1.5/3", "a/b", "1", ""].map((shard) => [
        ...["explain", "--list", "a.jsonl", "--shard", shard],
      ]),
    ];
    for (const args of wrong) expect([(await tilec(folder, ...args)).status, args]).toEqual([2, args]);
  });
});
