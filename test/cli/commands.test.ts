import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readNpy, writeNpy } from "../../src/formats/npy.js";
import { runHere } from "../support/run-here.js";
import { root } from "../support/root.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("cli");
const file = (name: string): string => join(folder, name);

const tilec = (...args: readonly string[]) => runHere(args);

const gather = [
  "--op",
  "gather_elements",
  "--dialect",
  "pypto",
  "--data",
  "f32[64,80]",
  "--indices",
  "i32[32,64]",
];
const schedule = ["--axis", "0", "--target", "ascend-a2", "--tile", "64,64"];

const data = new Float32Array(64 * 80).map((_, k) => k);
const indices = new Int32Array(32 * 64).map((_, k) => (k * 7) % 64);
writeFileSync(
  file("d.npy"),
  writeNpy({ type: { dtype: "f32", shape: [64, 80] }, bytes: new Uint8Array(data.buffer) }),
);
writeFileSync(
  file("i.npy"),
  writeNpy({ type: { dtype: "i32", shape: [32, 64] }, bytes: new Uint8Array(indices.buffer) }),
);
const inputs = ["--input", `data=${file("d.npy")}`, "--input", `indices=${file("i.npy")}`];

it("is a command that the system may execute, as npx needs", () => {
  expect(statSync(join(root, "dist/src/cli/main.js")).mode & 0o111).toBe(0o111);
});

describe("tilec run", () => {
  it("reads .npy inputs, compares backends and writes the output", async () => {
    const args = ["run", ...gather, ...schedule, ...inputs, "--out", `output=${file("o.npy")}`];
    const { status, stdout } = await tilec(...args, "--backend", "reference,sim");
    expect(status).toBe(0);
    expect(stdout).toContain("the same bits");
    const output = readNpy(new Uint8Array(readFileSync(file("o.npy"))), "o.npy");
    expect(output.type).toEqual({ dtype: "f32", shape: [32, 64] });
    const values = new Float32Array(output.bytes.buffer);
    expect([...values]).toEqual([...indices].map((index, k) => data[index * 80 + (k % 64)]));
  });

  it("prints one JSON document with the bytes moved per operand", async () => {
    const { status, stdout } = await tilec("run", ...gather, ...schedule, ...inputs, "--json");
    expect(status).toBe(0);
    const { schema, ok, report } = JSON.parse(stdout) as {
      schema: number;
      ok: boolean;
      report: { operands: Record<string, { bytes: number }>; ubPeak: number };
    };
    expect({ schema, ok }).toEqual({ schema: 1, ok: true });
    expect(report.operands).toMatchObject({
      data: { bytes: 16384 },
      indices: { bytes: 8192 },
      output: { bytes: 8192 },
    });
  });
});

describe("tilec explain", () => {
  const seed = [
    "explain",
    "--op",
    "pypto.gather",
    "--data",
    "i32[3,5]",
    "--indices",
    "i32[3,4]",
    "--axis",
    "0",
  ];

  it("refuses tile [2,4] under strict, naming the rule, the view and the tile", async () => {
    const { status, stdout } = await tilec(...seed, "--tile", "2,4", "--profile", "strict");
    expect(status).toBe(1);
    expect(stdout).toContain("FAIL  full-load-tile  tile[0] = 2 must equal view[0] = 3");
    expect(stdout).toContain("total 288 B of 196,608 B");
    expect(stdout).toContain("--tile 3,4");
  });

  it("accepts it under head, with the bytes of a kernel whose instructions add nothing", async () => {
    const schedule = ["--tile", "2,4", "--profile", "head", "--buffers", "1", "--lowering", "scalar"];
    const { status, stdout } = await tilec(...seed, ...schedule);
    expect(status).toBe(0);
    // Three rows of 32 B of data, and two of indices and output; PyPTO's scratch is none of it.
    expect(stdout).toContain("total 224 B of 196,608 B");
  });

  it("proves that no tile is legal, with the largest gather dim and the way out", async () => {
    const big = [
      "--op",
      "gather_elements",
      "--data",
      "f32[4096,64]",
      "--indices",
      "i32[4096,64]",
      "--axis",
      "0",
    ];
    const { status, stdout } = await tilec("explain", ...big, "--target", "ascend-a2");
    expect(status).toBe(1);
    expect(stdout).toContain("no tile is legal");
    expect(stdout).toContain("that would fit is 2047");
    expect(stdout).toContain("--profile head");
    expect((await tilec("explain", ...big, "--target", "ascend-a2", "--profile", "head")).status).toBe(0);
    const legal = await tilec("legal", ...big, "--target", "ascend-a2");
    expect([legal.status, legal.stdout]).toEqual([1, expect.stringContaining("tilec explain with the same")]);
  });
});

describe("bad input", () => {
  const cases: readonly (readonly [
    what: string,
    args: () => string[],
    status: number,
    code: string,
    says: string,
  ])[] = [
    ["an unknown flag", () => ["run", "--bogus"], 2, "TC701", "--bogus"],
    ["an unknown command", () => ["frobnicate"], 2, "TC701", "frobnicate"],
    ["no program at all", () => ["run"], 2, "TC701", "--op"],
    ["an unknown backend", () => ["run", ...gather, "--axis", "0", "--backend", "cuda"], 2, "TC701", "cuda"],
    [
      "a shape that is none",
      () => ["compile", "--op", "gather", "--data", "f32[a]", "--indices", "i32[2]"],
      2,
      "TC701",
      "f32[a]",
    ],
    [
      "an unknown target",
      () => ["compile", ...gather, "--axis", "0", "--target", "h100"],
      1,
      "TC501",
      "ascend-a2",
    ],
    ["a missing file", () => ["compile", file("none.tir")], 1, "TC010", "no such file"],
    [
      "text that is no program",
      () => {
        writeFileSync(file("bad.tir"), "func @g(%data: tensor<4xf32>,\n  %indices tensor<2xi32>)\n");
        return ["compile", file("bad.tir")];
      },
      1,
      "TC002",
      "bad.tir:2:12",
    ],
    [
      "a binary file as text",
      () => {
        writeFileSync(file("binary.tir"), Buffer.from([0, 255, 1, 2, 3]));
        return ["compile", file("binary.tir")];
      },
      1,
      "TC001",
      "binary.tir:1:1",
    ],
    [
      "a truncated .npy",
      () => {
        writeFileSync(file("short.npy"), readFileSync(file("d.npy")).subarray(0, 1000));
        return ["run", ...gather, ...schedule, "--input", `data=${file("short.npy")}`, ...inputs.slice(2)];
      },
      1,
      "TC011",
      "20480 bytes",
    ],
    [
      "an .npy of another type",
      () => ["run", ...gather, ...schedule, "--input", `data=${file("i.npy")}`, ...inputs.slice(2)],
      1,
      "TC012",
      "32x64xi32",
    ],
    ["an axis out of range", () => ["compile", ...gather, "--axis", "2"], 1, "TC101", "[-2, 1]"],
    [
      "a tile with a zero",
      () => ["compile", ...gather, "--axis", "0", "--tile", "0,64"],
      1,
      "TC302",
      "at least 1",
    ],
    [
      "an index out of range",
      () => {
        const wrong = indices.slice();
        wrong[5] = 64;
        const bytes = new Uint8Array(wrong.buffer);
        writeFileSync(file("wrong.npy"), writeNpy({ type: { dtype: "i32", shape: [32, 64] }, bytes }));
        return [
          "run",
          ...gather,
          ...schedule,
          ...inputs.slice(0, 2),
          "--input",
          `indices=${file("wrong.npy")}`,
        ];
      },
      1,
      "TC601",
      "index 64 at indices[0, 5] is out of range for dim 0 of data, which takes [0, 63]",
    ],
  ];

  it.each(cases)(
    "%s: a code, the place or the numbers, the exit code, no stack",
    async (_what, args, status, code, says) => {
      const result = await tilec(...args());
      expect(result.stderr).toContain(`error[${code}]`);
      expect(result.stderr).toContain(says);
      expect(result.stderr).not.toMatch(/^\s+at /m);
      expect(result.stdout).toBe("");
      expect(result.status).toBe(status);
    },
  );

  it("says the same in one JSON document", async () => {
    const { status, stdout } = await tilec("compile", ...gather, "--axis", "2", "--json");
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ schema: 1, ok: false, diagnostics: [{ code: "TC101" }] });
  });
});

describe("tilec check", () => {
  it("fails with exit code 1 when a case's output differs", async () => {
    const [first] = JSON.parse(readFileSync(join(root, "test/conformance/cases/seed.json"), "utf8")) as {
      output: { values: number[] };
    }[];
    first!.output.values[0] = 99;
    writeFileSync(file("wrong.json"), JSON.stringify([first]));
    const { status, stdout } = await tilec("check", file("wrong.json"), "--json");
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ schema: 1, summary: { passed: 0, failed: 2, skipped: 0 } });
  });

  it("runs ONNX backend-test folders", async () => {
    const { status, stdout } = await tilec("check", join(root, "test/conformance/onnx-node-tests"));
    expect(stdout).toContain("8 passed, 0 failed, 0 skipped");
    expect(status).toBe(0);
  });
});

describe("tilec legal", () => {
  /** Section "consequence" of the tiling rules: rows are dtypes and place of the gather dim. */
  const rows = [
    ["f32", "i32", "not last", 2047, 6140, 1023, 1962, 2644],
    ["f32", "i32", "last", 9824, 49120, 6144, 9416, 12696],
    ["f16", "i32", "not last", 1535, 6137, 767, 1471, 1983],
    ["f16", "i32", "last", 12288, 98192, 8192, 11776, 15872],
    ["f32", "i64", "not last", 1535, 6137, 767, 1471, 1983],
    ["f32", "i64", "last", 6144, 49096, 4096, 5888, 7936],
  ] as const;

  it.each(rows)("gives the largest gather dim of %s / %s, %s", async (dtype, index, place, ...expected) => {
    const shape = place === "last" ? "[64,200000]" : "[200000,64]";
    const axis = place === "last" ? "1" : "0";
    const program = [
      "--op",
      "gather_elements",
      "--data",
      dtype + shape,
      "--indices",
      index + shape,
      "--axis",
      axis,
    ];
    const variants = [
      ["--target", "ascend-a2"],
      ["--target", "ascend-a2", "--profile", "head"],
      ["--target", "ascend-a2", "--double-buffer"],
      ["--target", "ascend-a2", "--ub-bytes", "188416"],
      ["--target", "ascend-950"],
    ];
    const largest: number[] = [];
    for (const flags of variants) {
      const { stdout } = await tilec("legal", ...program, ...flags, "--json");
      const { largestGatherDims } = JSON.parse(stdout) as {
        readonly largestGatherDims: readonly { readonly aligned: number }[];
      };
      largest.push(largestGatherDims[0]!.aligned);
    }
    expect(largest).toEqual(expected);
  });
});
