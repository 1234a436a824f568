import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { attributeFlags } from "../../ir/index.js";
import { dashed, flagOf } from "../../src/cli/flag-values.js";
import { readNpy, writeNpy } from "../../src/formats/npy.js";
import { targetFile } from "../../src/formats/target-file.js";
import { targets } from "../../src/index.js";
import { bytes, number, text } from "../support/onnx-bytes.js";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("flags");
const file = (name: string, contents: string | Uint8Array): string => {
  writeFileSync(join(folder, name), contents);
  return join(folder, name);
};

const npyOf = (shape: readonly number[], values: readonly number[]): Uint8Array =>
  writeNpy({ type: { dtype: "i32", shape }, bytes: new Uint8Array(Int32Array.from(values).buffer) });
/** Row k holds k four times. */
const rowNumbers = {
  type: { dtype: "f32", shape: [12, 4] },
  bytes: new Uint8Array(Float32Array.from({ length: 48 }, (_, k) => Math.floor(k / 4)).buffer),
} as const;

const tilec = (...args: string[]) => runHere(args, folder);

const gather = ["--op", "gather", "--data", "f32[8,8]", "--indices", "i32[4]"];
const program = file(
  "p.tir",
  `func @g(%x: tensor<8x8xf32>, %i: tensor<4xi32>) -> tensor<4x8xf32> {
  %y = onnx.gather %x, %i {axis = 0}
  return %y
}
`,
);
const cases = file(
  "cases.json",
  JSON.stringify([
    {
      id: "one",
      dialect: "onnx",
      op: "gather",
      data: { dtype: "f32", shape: [3], values: [1, 2, 3] },
      indices: { dtype: "i32", shape: [1], values: [5] },
      expect: { error: "index" },
    },
  ]),
);
const npy = file("d.npy", writeNpy({ type: { dtype: "f32", shape: [8, 8] }, bytes: new Uint8Array(256) }));
const indices = file("i.npy", writeNpy({ type: { dtype: "i32", shape: [4] }, bytes: new Uint8Array(16) }));

const valueInfo = (name: string, type: number, ...shape: number[]): number[] => [
  ...text(1, name),
  ...bytes(
    2,
    bytes(1, [
      ...number(1, type),
      ...bytes(
        2,
        shape.flatMap((extent) => bytes(1, number(1, extent))),
      ),
    ]),
  ),
];
const node = (name: string): number[] =>
  bytes(1, [
    ...text(1, "x"),
    ...text(1, "i"),
    ...text(2, `${name}_out`),
    ...text(3, name),
    ...text(4, "Gather"),
  ]);
const model = file(
  "two.onnx",
  Uint8Array.from([
    ...number(1, 8),
    ...bytes(8, number(2, 13)),
    ...bytes(7, [
      ...node("first"),
      ...node("second"),
      ...text(2, "graph"),
      ...bytes(11, valueInfo("x", 1, 8, 8)),
      ...bytes(11, valueInfo("i", 6, 4)),
      ...bytes(12, valueInfo("first_out", 1, 4, 8)),
    ]),
  ]),
);

describe("a flag that another one or the file would override is told, with exit code 2", () => {
  it.each([
    [
      "--case beside --op",
      ["run", ...gather, "--seed", "1", "--case", "one"],
      "--case chooses from a program file",
    ],
    ["--func beside --op", ["compile", ...gather, "--func", "g"], "--func chooses from a program file"],
    ["--op beside a file", ["compile", program, "--op", "gather"], "give a program file or --op, not both"],
    [
      "--axis beside a file",
      ["compile", program, "--axis", "1"],
      "--axis needs --op, and cannot be used with ",
    ],
    ["--data beside a file", ["run", program, "--data", "f32[8,8]", "--seed", "1"], "--data needs --op"],
    [
      "--feature-level beside a file",
      ["compile", program, "--feature-level", "2.0"],
      "--feature-level needs --op",
    ],
    ["--level beside a file", ["compile", program, "--level", "head"], "--level needs --op"],
    ["--case beside text", ["compile", program, "--case", "one"], "--case cannot choose from "],
    ["--func beside cases", ["run", cases, "--func", "g"], "--func cannot choose from "],
    [
      "--tile beside a code",
      ["explain", "TC301", "--tile", "2,2"],
      "--tile cannot be used with a diagnostic code",
    ],
    [
      "--seed beside both inputs",
      ["run", ...gather, "--seed", "1", "--input", `data=${npy}`, "--input", `indices=${indices}`],
      "--seed has no effect: --input gives data and indices",
    ],
    ["--input by another name", ["run", ...gather, "--input", `idx=${npy}`], "names no input of the program"],
    ["--input without a file", ["run", ...gather, "--input", "data="], "--input data= is not name=file"],
    [
      "--executor without sim",
      ["run", ...gather, "--seed", "1", "--backend", "reference", "--executor", "fast"],
      "--executor needs backend sim, and --backend is reference",
    ],
    [
      "--executor of check without sim",
      ["check", cases, "--backend", "reference", "--executor", "fast"],
      "--executor needs backend sim, and --backend is reference",
    ],
    [
      "--threads beyond their number",
      ["run", ...gather, "--seed", "1", "--executor", "fast", "--threads", "65"],
      "--threads must be 1 to 64, not 65",
    ],
    [
      "--threads without sim",
      ["run", ...gather, "--seed", "1", "--backend", "reference", "--threads", "2"],
      "--threads needs backend sim",
    ],
    [
      "a backend twice",
      ["run", ...gather, "--seed", "1", "--backend", "sim,sim"],
      "--backend names sim twice",
    ],
    [
      "a flag twice",
      ["compile", ...gather, "--tile", "4,8", "--tile=2,8"],
      "--tile is given twice: 4,8 and 2,8",
    ],
    [
      "a choice twice",
      ["compile", ...gather, "--profile", "head", "--profile", "strict"],
      "--profile is given twice: head and strict",
    ],
    [
      "--out for two gathers",
      ["run", model, "--seed", "1", "--out", "output=o.npy"],
      "--out needs one gather, and ",
    ],
    [
      "--out of another name",
      ["run", program, "--seed", "1", "--out", "z=o.npy"],
      "--out z=o.npy names no output of the program",
    ],
    [
      "--out by both of its names",
      ["run", program, "--seed", "1", "--out", "output=o.npy", "--out", "y=p.npy"],
      "--out output and --out y name the same operand",
    ],
    [
      "--trace for two gathers",
      ["run", model, "--seed", "1", "--trace", "t.json"],
      "--trace needs one gather",
    ],
    [
      "--compare without a page",
      ["run", ...gather, "--seed", "1", "--trace", "t.json", "--compare", "default"],
      "--compare needs a page: --trace FILE.html",
    ],
    [
      "--compare for two gathers",
      ["run", model, "--seed", "1", "--compare", "default"],
      "--compare needs one gather",
    ],
    [
      "--against for two gathers",
      ["run", model, "--seed", "1", "--against", program],
      "--against needs one gather",
    ],
    [
      "--diff-page for two gathers",
      ["compile", model, "--diff-page", "d.html"],
      "--diff-page shows one program",
    ],
    [
      "a pass that does not run",
      ["opt", program, "--print-after", "fit-ub"],
      "--print-after fit-ub: no pass of that name runs",
    ],
    [
      "an operator called constructor",
      ["compile", "--op", "pypto.constructor", ...gather.slice(2)],
      "no operator constructor",
    ],
  ])("%s", async (_what, args, says) => {
    const { status, stdout, stderr } = await tilec(...args);
    expect(stderr).toContain("error[TC701]: ");
    expect(stderr).toContain(says);
    expect(stdout).toBe("");
    expect(status).toBe(2);
  });

  it("but not where each has its part", async () => {
    const one = await tilec("run", ...gather, "--seed", "1", "--input", `data=${npy}`);
    expect(one.stdout).toContain(`inputs     ${npy} and indices at random, seed 1`);
    expect(one.status).toBe(0);
    expect((await tilec("compile", ...gather, "--tile", "4,8", "--tile", "4,8")).status).toBe(0);
    expect(
      (await tilec("run", model, "--func", "first", "--seed", "1", "--out", "output=o.npy")).status,
    ).toBe(0);
    expect((await tilec("explain", "TC301", "--json")).status).toBe(0);
    expect((await tilec("run", program, "--seed", "1", "--out", "y=named.npy")).status).toBe(0);
    expect((await tilec("run", program, "--seed", "1", "--out", "output=keyed.npy")).status).toBe(0);
    expect(readFileSync(join(folder, "named.npy"))).toEqual(readFileSync(join(folder, "keyed.npy")));
  });

  it("legal says that it looks at every tile", async () => {
    const { status, stderr } = await tilec("legal", ...gather, "--tile", "2,2");
    expect(stderr).toBe("--tile 2,2 is ignored: legal lists all tiles\n");
    expect(status).toBe(0);
  });
});

describe("--oob", () => {
  it("changes the policy of a file's program, as the report of an index says", async () => {
    const refused = await tilec("run", cases, "--case", "one");
    expect(refused.stderr).toContain("--oob clamp");
    expect(refused.status).toBe(1);
    expect((await tilec("run", cases, "--case", "one", "--oob", "clamp")).status).toBe(0);
    const compiled = await tilec("compile", program, "--emit", "access", "--oob", "wrap");
    expect(compiled.stdout).toContain("oob = wrap");
    const again = await tilec("compile", file("a.tir", compiled.stdout), "--emit", "access", "--oob", "zero");
    expect(again.stdout).toContain("oob = zero");
  });

  it("is refused beside a tile program, whose gather has its own", async () => {
    const { stdout } = await tilec("compile", program);
    const { status, stderr } = await tilec("compile", file("t.tir", stdout), "--oob", "clamp");
    expect(stderr).toContain("--oob clamp cannot be used with the tile program @g");
    expect(status).toBe(2);
  });
});

describe("--seed", () => {
  it("draws indices for a program whose target is a file", async () => {
    const target = file("my.json", JSON.stringify(targetFile({ ...targets.ascendA2, name: "my.json" })));
    const text = `func @g(%x: tensor<8x8xf32>, %i: tensor<4xi32>) -> tensor<4x8xf32> target("${target}") {
  %y = onnx.gather %x, %i {axis = 0}
  return %y
}
`;
    const { status, stderr } = await tilec("run", file("mine.tir", text), "--seed", "1");
    expect(stderr).not.toContain("TC501");
    expect(status).toBe(0);
  });
});

describe("--print-after with --json", () => {
  it("leaves one document on the standard output", async () => {
    const { stdout, stderr } = await tilec("compile", ...gather, "--json", "--print-after", "all");
    expect(JSON.parse(stdout)).toMatchObject({ schema: 1, command: "compile" });
    expect(stderr).toContain("// after canonicalize-access");
  });
});

describe("flags of attributes", () => {
  it("are lower case with dashes", () => {
    const flags = [...attributeFlags.keys()].map((key) => dashed(flagOf(key)));
    expect(flags).toContain("block-size");
    expect(flags.filter((flag) => !/^[a-z]+(?:-[a-z]+)*$/.test(flag))).toEqual([]);
  });

  it("say once what all dialects have, and whose the rest is", () => {
    expect(attributeFlags.get("axis")?.help).toBe(
      "axis or dim that the indices choose along; absent, both tensors count as flat (torch.take_along_dim); " +
        "absent, the first behind the batch dims (tf); " +
        "absent, the array counts as flat (numpy.take, jax.take, numpy.put_along_axis)",
    );
  });
});

describe("an operator with several index inputs", () => {
  it("takes --indices once for each, in order, and its tensors by their names", async () => {
    const pages = ["--op", "pypto.gather_in_ub", "--data", "f32[12,4]", "--indices", "i32[1,3]"];
    const table = ["--indices", "i32[1,3]", "--block-size", "4"];
    const tokens = file("tokens.npy", npyOf([1, 3], [0, 5, 9]));
    const blocks = file("blocks.npy", npyOf([1, 3], [2, 0, 1]));
    const rows = file("rows.npy", writeNpy(rowNumbers));
    const given = [
      "--input",
      `param=${rows}`,
      "--input",
      `indices=${tokens}`,
      "--input",
      `block_table=${blocks}`,
    ];
    const { status, stderr } = await tilec("run", ...pages, ...table, ...given, "--out", "output=paged.npy");
    expect(status, stderr).toBe(0);
    const { bytes: output } = readNpy(readFileSync(join(folder, "paged.npy")), "paged.npy");
    expect([...new Float32Array(Uint8Array.from(output).buffer)].filter((_, k) => k % 4 === 0)).toEqual([
      8, 1, 5,
    ]);
  });

  it("has them in a subscript", async () => {
    const subscript = ["--op", "numpy.index", "--subscript", "i0, :, i1", "--data", "f32[4,3,5]"];
    const { status, stdout } = await tilec(
      "compile",
      "--emit",
      "source",
      ...subscript,
      "--indices",
      "i64[2,1]",
      "--indices",
      "i64[3]",
    );
    expect(status).toBe(0);
    expect(stdout).toContain("%i0: tensor<2x1xi64>, %i1: tensor<3xi64>");
  });

  it("is refused where the operator takes one", async () => {
    const { status, stderr } = await tilec("compile", ...gather, "--indices", "i32[5]");
    expect(status).toBe(1);
    expect(stderr).toContain("TC702");
    expect(stderr).toContain("onnx.gather takes data, indices, not 3 inputs");
  });
});

describe("the hint of a malformed schedule entry", () => {
  const text = (schedule: string): string =>
    file(
      "entry.tir",
      `func @g(%x: tensor<8x8xf32>, %i: tensor<4xi32>) -> tensor<4x8xf32> schedule {${schedule}} {
  %y = onnx.gather %x, %i {axis = 0}
  return %y
}
`,
    );
  const hintOf = (stderr: string): string | undefined => /= hint: (.*)/.exec(stderr)?.[1];

  it.each([
    ["--tile", "0,8", "tile = [0, 8]", "--tile 1,8", "--tile 1,8"],
    ["--view", "4,0", "view = [4, 0]", "--view 4,1", "--view 4,1"],
    ["--order", "0", "order = [0]", "--order 0,1", "--order 0,1"],
    [
      "--buffers",
      "k=2",
      "buffers = {k = 2}",
      "--buffers data=2,indices=2,output=2, or some of these",
      "--buffers data=2,indices=2,output=2",
    ],
    [
      "--residency",
      "k=ub",
      "residency = {k = ub}",
      "--residency data=ub,indices=ub (or data and some of these)",
      "--residency data=ub,indices=ub",
    ],
  ])("%s %s is the flag to type, whatever wrote the entry", async (flag, value, entry, hint, followed) => {
    const typed = await tilec("compile", ...gather, flag, value);
    const written = await tilec("compile", text(entry));
    expect([typed.status, hintOf(typed.stderr)]).toEqual([1, hint]);
    expect([written.status, hintOf(written.stderr)]).toEqual([1, hint]);
    for (const mended of [
      await tilec("compile", ...gather, ...followed.split(" ")),
      await tilec("compile", text(entry), ...followed.split(" ")),
    ])
      expect(mended.stderr).not.toMatch(/TC302|TC303/);
  });

  it.each(["--tile", "--view", "--order"])("leaves %s out where the output is a scalar", async (flag) => {
    const scalar = ["compile", "--op", "gather", "--data", "f32[8]", "--indices", "i32"];
    const { stderr } = await tilec(...scalar, flag, "0");
    expect(hintOf(stderr)).toBe(`leave ${flag} out`);
    expect((await tilec(...scalar)).status).toBe(0);
  });
});

describe("a hint shows a value that its flag takes", () => {
  it.each([
    ["--order", "x", "write it as --order 1,0"],
    ["--cores", "x", "--cores 1"],
    ["--tile", "x", "write it as --tile 8,1024"],
  ])("%s %s", async (flag, value, hint) => {
    const { status, stderr } = await tilec("compile", ...gather, flag, value);
    expect([status, stderr]).toEqual([2, expect.stringContaining(`= hint: ${hint}\n`)]);
  });

  it("--indices", async () => {
    const { stderr } = await tilec("compile", "--op", "gather", "--data", "f32[8,8]", "--indices", "wide");
    expect(stderr).toContain("= hint: write --indices i64[1024]\n");
    expect(
      (await tilec("compile", "--op", "gather", "--data", "f32[8,8]", "--indices", "i64[1024]")).status,
    ).toBe(0);
  });
});

describe("a wrong usage ends with 2", () => {
  it.each([
    ["of the passes to print", ["compile", ...gather, "--print-before", "none"]],
    ["of limits without a device", ["compile", ...gather, "--limits", "default"]],
    ["of a file beside --op", ["compile", program, "--op", "gather"]],
  ])("%s", async (_, args) => {
    const { status, stderr } = await tilec(...args);
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^error\[TC701\].*\n {3}= hint: /)]);
  });

  it("and records without a command prints those that it has", async () => {
    const { status, stderr } = await tilec("records");
    expect([status, stderr]).toEqual([2, expect.stringContaining("Usage: tilec records ")]);
    expect(stderr).toContain("merge");
  });
});

it.each([
  ["reads", ["explain", ""], 'cannot read "": the name is empty'],
  ["writes", ["compile", ...gather, "--out", ""], 'cannot write "": the name is empty'],
])("says that a file which a command %s has no name", async (_, args, message) => {
  const { status, stderr } = await tilec(...args);
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining(`error[TC010]: ${message}\n   = hint: name a file`),
  ]);
});

it.each([
  ["of cases", ["explain", file("none.json", "[]")], "cases.md"],
  ["of codes", ["explain", "TC999"], "diagnostics.md"],
])("names the page %s by a path at which it is", async (_, args, page) => {
  const hintIn = async (working: string): Promise<string> => {
    const { stderr } = await runHere(args, working);
    return /= hint: (\S+\.md) /.exec(stderr)?.[1] ?? "";
  };
  expect(await hintIn(process.cwd())).toBe(`docs/${page}`);
  const path = await hintIn(folder);
  expect(path).toMatch(new RegExp(`/docs/${page}$`));
  expect(existsSync(path)).toBe(true);
});
