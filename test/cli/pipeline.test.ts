import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("pipeline");
writeFileSync(
  join(folder, "mine.mjs"),
  `/** Passes as a user writes them, without a package. */
export const reversed = {
  name: "reverse-order",
  summary: "turns the loops round",
  requires: ["scheduled"],
  ensures: ["scheduled"],
  run: (func) => ({ ...func, schedule: { ...func.schedule, order: [...func.schedule.order].reverse() } }),
};
const withoutSyncs = (body) =>
  body.flatMap((stmt) =>
    stmt.op === "sync" ? [] : [stmt.op === "for" ? { ...stmt, body: withoutSyncs(stmt.body) } : stmt],
  );
export const forgetful = {
  name: "forgetful",
  summary: "drops every sync",
  requires: ["synchronized"],
  ensures: ["synchronized"],
  run: (func) => ({ ...func, body: withoutSyncs(func.body) }),
};
export const crash = {
  name: "crash",
  summary: "throws",
  requires: [],
  ensures: [],
  run() {
    throw new RangeError("no such loop");
  },
};
`,
);
writeFileSync(join(folder, "broken.mjs"), "export const a = 1;\n\nconst b = undefined.x;\n");
writeFileSync(
  join(folder, "two.mjs"),
  'export const a = { name: "fit-ub", requires: [], ensures: [], run: (f) => f };\n',
);

const gather = [
  ...["--op", "gather_elements", "--data", "f32[64,80]", "--indices", "i32[64,80]", "--axis", "0"],
  ...["--tile", "64,8", "--target", "ascend-a2"],
];
const load = ["--load", "./mine.mjs"];
const turned = [...load, "--pipeline", "default, reverse-order after select-tile"];

/** What a command prints on stdout. Fails where it does not end with 0. */
async function out(...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await runHere(args, folder);
  expect(status, stderr).toBe(0);
  return stdout;
}

describe("a pipeline with a pass of the user's", () => {
  it("compiles what the flag for that order compiles", async () => {
    const [own, plain] = [await out("compile", ...gather), await out("compile", ...gather, "--order", "0,1")];
    expect(own).not.toBe(plain);
    expect(await out("compile", ...gather, ...turned)).toBe(plain);
    expect(await out("opt", ...gather, ...load, "--pass", "default, reverse-order after select-tile")).toBe(
      plain,
    );
    expect(
      await out("opt", ...gather, ...load, "--pipeline", "default, reverse-order after select-tile"),
    ).toBe(plain);
  });

  it("is timed, and printed before and after", async () => {
    const { stderr, stdout } = await runHere(
      ["compile", ...gather, ...turned, "--time-passes", "--print-after", "reverse-order"],
      folder,
    );
    expect(stderr).toMatch(/^reverse-order +[\d.]+ ms$/m);
    expect(stdout).toContain("// after reverse-order\n");
  });

  it("is explained under the schedule that runs, without others that it did not make", async () => {
    const text = await out("explain", ...gather, ...turned);
    expect(text).toMatch(/^passes {4}canonicalize-access, select-tile, reverse-order, /m);
    expect(text).toMatch(/^schedule .*order = \[0, 1\]/m);
    const plain = await out("explain", ...gather, "--order", "0,1");
    const figures = /^(?:estimated| {2}total| {2}data) .*$/gm;
    expect(text.match(figures)).toEqual(plain.match(figures));
    expect(plain).toContain("other schedules, estimated cycles");
    expect(text).not.toContain("other schedules, estimated cycles");
  });

  it("is explained by the program that runs where no schedule says what was left out", async () => {
    // Tiles along dim 0 read one tile of the data in a serial loop: without hoisting it is loaded for each.
    const rows = [
      "--op",
      "gather",
      "--data",
      "f32[256,4096]",
      "--indices",
      "i32[512]",
      "--target",
      "ascend-a2",
    ];
    const serial = [...rows, "--tile", "64,64", "--order", "1,0", "--json"];
    const hoisted = JSON.parse(await out("explain", ...serial)) as Explained;
    const pipeline = ["--pipeline", "default, no hoist-loads"];
    const repeated = JSON.parse(await out("explain", ...serial, ...pipeline)) as Explained;
    const { report } = JSON.parse(
      await out("run", ...serial, ...pipeline, "--seed", "1", "--backend", "sim"),
    ) as { report: { bytesRead: number; bytesWritten: number; timing: { cycles: number } } };
    expect(repeated.traffic.bytes).toBe(report.bytesRead + report.bytesWritten);
    expect(repeated.cycles).toBe(report.timing.cycles);
    // 512 / 64 = 8 tiles, so that the data of 256 x 4096 f32 is loaded 8 times in place of once.
    expect(repeated.traffic.bytes - hoisted.traffic.bytes).toBe(7 * 256 * 4096 * 4);
  });

  it("runs on every backend with the same bits", async () => {
    expect(await out("run", ...gather, ...turned, "--seed", "1", "--backend", "sim,reference")).toContain(
      "sim, reference: the same bits",
    );
  });

  it("is in RUN lines, whose words are quoted, and in check", async () => {
    const text = [
      '// RUN: tilec compile --load ./mine.mjs --pipeline "default, reverse-order after select-tile" %s',
      "// RUN: tilec compile --load ./mine.mjs --pipeline 'default, reverse-order after select-tile' %s",
      "// CHECK: order = [0, 1]",
      "func @f(%x: tensor<64x80xf32>, %i: tensor<64x80xi32>) -> tensor<64x80xf32> {",
      "  %y = onnx.gather_elements %x, %i {axis = 0}",
      "  return %y",
      "}",
      "",
    ].join("\n");
    writeFileSync(join(folder, "turned.tir"), text);
    expect(await out("check", "turned.tir")).toContain("1 passed");
    const tensor = (shape: readonly number[], values: readonly number[]) => ({ dtype: "i32", shape, values });
    const one = {
      ...{ id: "one", op: "gather", dialect: "onnx", expect: "ok" },
      ...{ data: tensor([3], [10, 20, 30]), indices: tensor([2], [2, 0]), output: tensor([2], [30, 10]) },
    };
    writeFileSync(join(folder, "one.json"), JSON.stringify([one]));
    expect(await out("check", "one.json", ...turned)).toContain("2 passed");
    const { status, stdout } = await runHere(
      ["check", "one.json", ...load, "--pipeline", "default, crash"],
      folder,
    );
    expect(status).toBe(1);
    expect(stdout).toContain("after crash of ./mine.mjs: it crashed: no such loop");
    expect(stdout).not.toContain("a bug in tilec");
  });
});

describe("a search", () => {
  const open = ["--op", "gather_elements", "--data", "f32[64,80]", "--indices", "i32[64,80]", "--axis", "0"];
  const searched = [...open, "--target", "ascend-a2"];
  type Line = Readonly<Record<string, unknown>> & {
    readonly record: string;
    readonly pipeline: { readonly passes: string; readonly hash: string };
    readonly schedule: { readonly order: readonly number[] };
    readonly given: { readonly order: readonly number[] };
  };
  const linesOf = (file: string): readonly Line[] =>
    readFileSync(join(folder, file), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);

  it("shows and records the schedules that ran, and compile makes the best again from the one that was chosen", async () => {
    const records = ["--records", "own.jsonl"];
    const text = await out("tune", ...searched, ...turned, "--budget", "6", ...records);
    expect(text).toContain("passes  canonicalize-access, select-tile, reverse-order, ");
    const lines = linesOf("own.jsonl");
    const candidates = lines.filter(({ record }) => record === "candidate");
    expect(candidates).toHaveLength(6);
    for (const { schedule, given } of candidates) expect([...given.order].reverse()).toEqual(schedule.order);
    const best = /^best {4}(.*)$/m.exec(text)?.[1] ?? "";
    expect(best).toContain("order = [0, 1]");
    expect(await out("records", "best", "own.jsonl")).toContain(best);
    const compiled = await runHere(["compile", ...searched, ...turned, ...records, "--strict"], folder);
    expect(compiled.stderr).toContain("the schedule of own.jsonl, found by cycles");
    expect(compiled.stdout).toContain(`schedule {${best}}`);
  });

  it("of another text of the pass, or of the built-in pipeline, is another task", async () => {
    const text = readFileSync(join(folder, "mine.mjs"), "utf8");
    writeFileSync(join(folder, "later.mjs"), `${text}// another version\n`);
    const later = ["--load", "./later.mjs", "--pipeline", "default, reverse-order after select-tile"];
    await out("tune", ...searched, ...later, "--budget", "2", "--records", "later.jsonl");
    await out("tune", ...searched, ...turned, "--budget", "2", "--records", "now.jsonl");
    const [[one], [other]] = [linesOf("later.jsonl"), linesOf("now.jsonl")];
    expect(one?.pipeline.passes).toBe(other?.pipeline.passes);
    expect(one?.pipeline.hash).not.toBe(other?.pipeline.hash);
    for (const flags of [later, []]) {
      const args = ["compile", ...searched, ...flags, "--records", "now.jsonl", "--strict"];
      const { status, stderr } = await runHere(args, folder);
      expect([status, stderr.includes("error[TC017]")]).toEqual([1, true]);
    }
    const pinned = await runHere(["records", "pin", "now.jsonl"], folder);
    expect([pinned.status, pinned.stderr.includes("error[TC016]")]).toEqual([1, true]);
  });

  it("has the figures of the program that runs", async () => {
    const rows = [
      "--op",
      "gather",
      "--data",
      "f32[256,4096]",
      "--indices",
      "i32[512]",
      "--target",
      "ascend-a2",
    ];
    const pipeline = ["--pipeline", "default, no hoist-loads"];
    const stated = [...rows, "--tile", "64,64", "--order", "1,0", ...pipeline];
    await out("tune", ...stated, "--residency", "ub", "--buffers", "1", "--records", "rows.jsonl");
    const candidate = linesOf("rows.jsonl").find(({ record }) => record === "candidate");
    const { report } = JSON.parse(
      await out("run", ...stated, "--residency", "ub", "--buffers", "1", "--seed", "1", "--json"),
    ) as { report: { bytesRead: number; bytesWritten: number; timing: { cycles: number } } };
    expect(candidate?.["bytes"]).toBe(report.bytesRead + report.bytesWritten);
    expect(candidate?.["cycles"]).toBe(report.timing.cycles);
  });
});

interface Explained {
  readonly cycles: number;
  readonly traffic: { readonly bytes: number };
}

describe("bad input", () => {
  it("a pass that breaks the program is its author's: exit code 1 with the file and the rule", async () => {
    const { status, stderr } = await runHere(
      ["compile", ...gather, ...load, "--pipeline", "default, forgetful"],
      folder,
    );
    expect(status).toBe(1);
    expect(stderr).toContain("error[TC203]: after forgetful of ./mine.mjs: nothing orders ");
    expect(stderr).not.toContain("bug in tilec");
  });

  it("a pass that throws is named with its file and the frame", async () => {
    const { status, stderr } = await runHere(
      ["run", ...gather, ...load, "--seed", "1", "--pipeline", "default, crash"],
      folder,
    );
    expect(status).toBe(1);
    expect(stderr).toContain("error[TC201]: after crash of ./mine.mjs: it crashed: no such loop");
    expect(stderr).toMatch(/= note: at .*mine\.mjs:\d+/);
  });

  it.each([
    [["--pipeline", "default, mine"], '--pipeline "default, mine": there is no pass mine'],
    [["--pipeline", "select-tile after"], "select-tile after is not an entry of a pipeline"],
    [load, "--load ./mine.mjs needs --pipeline: the default pipeline does not run its passes"],
    [["--load", "./absent.mjs", "--pipeline", "default"], "--load ./absent.mjs: "],
    // Zeros without an end, for the loader of modules too.
    [["--load", "/dev/zero", "--pipeline", "default"], "--load /dev/zero: the path is not a regular file"],
    [["--load", ".", "--pipeline", "default"], "--load .: the path is not a regular file"],
    [
      ["--load", "./broken.mjs", "--pipeline", "default"],
      "--load ./broken.mjs: line 3: Cannot read properties of undefined",
    ],
    [["--load", "./two.mjs", "--pipeline", "default"], "./two.mjs: there are two passes of the name fit-ub"],
  ])("%j is exit code 2", async (flags, said) => {
    const { status, stderr } = await runHere(["compile", ...gather, ...flags], folder);
    expect(stderr).toContain(`error[TC701]: `);
    expect(stderr).toContain(said);
    expect(status).toBe(2);
  });

  it("--pass beside --pipeline is one too many", async () => {
    const { status, stderr } = await runHere(
      ["opt", ...gather, "--pass", "default", "--pipeline", "default"],
      folder,
    );
    expect([status, stderr.includes("--pass cannot be used with --pipeline")]).toEqual([2, true]);
  });
});
