/** Words of frameworks, units and operators' names on the command line: taken, or answered with what to type. */
import { describe, expect, it } from "vitest";
import { dtypeMeant, opDefs, targets } from "../../ir/index.js";
import { parseEntry, parseType } from "../../src/cli/flag-values.js";
import { gatherElements, compile, program } from "../../src/index.js";
import { runHere } from "../support/run-here.js";

const types = ["--data", "f32[8,4]", "--indices", "i64[8,4]"];
const explain = (...args: string[]) => runHere(["explain", "--no-config", ...args]);
/** The hint of a refused command line. */
const hintOf = async (...args: string[]): Promise<string | undefined> => {
  const { status, stderr } = await explain(...args);
  expect(status, stderr).toBe(2);
  return /= hint: (.*)/.exec(stderr)?.[1];
};
/** Names of operators without their dialects, each with the operators that have it. */
const byName = new Map<string, string[]>();
for (const { name, testName } of opDefs) {
  for (const own of new Set([
    name.slice(name.indexOf(".") + 1),
    ...(testName === undefined ? [] : [testName]),
  ]))
    byName.set(own, [...(byName.get(own) ?? []), name]);
}

describe("an operator without a dialect", () => {
  const elsewhere = [...byName].filter(([, names]) => !names.some((name) => name.startsWith("onnx.")));
  expect(elsewhere.map(([own]) => own)).toContain("gather_in_ub");

  it.each(elsewhere)("%s is answered with every operator of that name", async (own, names) => {
    expect(await hintOf("--op", own, ...types)).toBe(`--op ${names.join(" or ")}`);
    expect(await hintOf("--op", own.toUpperCase(), ...types)).toBe(`--op ${names.join(" or ")}`);
    expect(await hintOf("--op", own, "--dialect", "onnx", ...types)).toBe(
      `--op ${names.join(" or ")}, without --dialect onnx`,
    );
  });

  it("is answered by the library with the same names, which its message has", () => {
    const type = { dtype: "f32", shape: [4] } as const;
    const of = (op: string) => () => program({ op, attrs: {}, data: type, indices: type });
    for (const [own, names] of byName)
      expect(of(own)).toThrow(`unknown operator ${own}\n   = hint: did you mean ${names.join(" or ")}?`);
    expect(of("GatherElements")).toThrow(
      "hint: did you mean onnx.gather_elements or directml.gather_elements?",
    );
    expect(of("onnx.gathre")).toThrow("hint: did you mean onnx.gather?");
    expect(of("mxnet.pick")).toThrow("hint: known: onnx.gather, ");
  });

  it("is in the help on operators, behind its dialect", async () => {
    const { stdout } = await runHere(["help", "op"]);
    for (const { name } of opDefs) {
      const [dialect = "", own = ""] = name.split(".");
      const row = stdout.split(/\n(?=\w)/).find((line) => line.startsWith(`${dialect} `)) ?? "";
      expect(row.split(/[\s,]+/), name).toContain(own);
    }
    expect((await explain("--help")).stdout).toContain("tilec help op");
  });
});

describe("an element type by a framework's name", () => {
  it.each([
    [
      "f16",
      [
        "float16",
        "fp16",
        "FP16",
        "half",
        "torch.float16",
        "torch.half",
        "DT_FP16",
        "pypto.DT_FP16",
        "np.float16",
      ],
    ],
    ["bf16", ["bfloat16", "torch.bfloat16", "DT_BF16", "jnp.bfloat16", "BFLOAT16"]],
    [
      "f32",
      ["float32", "fp32", "float", "FLOAT", "torch.float32", "DT_FP32", "DML_TENSOR_DATA_TYPE_FLOAT32"],
    ],
    ["f64", ["float64", "double", "DT_DOUBLE", "DOUBLE"]],
    ["i8", ["int8", "DT_INT8"]],
    ["i32", ["int32", "int", "torch.int32", "DT_INT32", "INT32", "tf.int32"]],
    ["i64", ["int64", "long", "torch.long", "TensorProto.INT64"]],
    ["u8", ["uint8", "ui8", "DT_UINT8"]],
    ["bool", ["i1", "BOOL", "torch.bool", "DT_BOOL"]],
    ["c64", ["complex64", "COMPLEX64"]],
  ] as const)("%s is taken as %j", (dtype, names) => {
    for (const name of names)
      expect(parseType(`${name}[2, 3]`, "data"), name).toEqual({ dtype, shape: [2, 3] });
  });

  it("is never another of tilec's own", () => {
    expect(["i4", "u4", "i8", "f16", "u2"].map(dtypeMeant)).toEqual(["i4", "u4", "i8", "f16", "u2"]);
    expect(["float17", "", "torch.", "int", "f2", "constructor"].map(dtypeMeant)).toEqual([
      undefined,
      undefined,
      undefined,
      "i32",
      undefined,
      undefined,
    ]);
  });

  it.each([
    ["tensor<2048x512xf16>", "write --data f16[2048,512]"],
    ["64x80xfloat32", "write --data f32[64,80]"],
    ["float16(2048, 512)", "write --data f16[2048,512]"],
    ["float17[4]", "write --data f32[4096,1024]"],
    ["i64[-1,3]", "write --data i64[4096,1024]"],
  ])("%s is answered with what to type", async (given, hint) => {
    expect(await hintOf("--op", "gather", "--data", given, "--indices", "i32[4]")).toBe(hint);
  });

  it("is answered in the library, in texts and in cases", async () => {
    const data = ["float16", [4]] as never;
    expect(() => gatherElements({ data, indices: ["i32", [4]] })).toThrow("hint: write f16");
    const { parseModule } = await import("../../ir/index.js");
    const { diagnostics } = parseModule("func @f(%x: tensor<4xfloat16>)", "a.tir");
    expect(diagnostics[0]).toMatchObject({ message: "unknown element type float16", hint: "write f16" });
    const { readCases } = await import("../../src/formats/cases.js");
    const tensor = { dtype: "torch.int64", shape: [1] };
    const entry = { id: "a", op: "gather", dialect: "onnx", data: tensor, indices: tensor, expect: "ok" };
    expect(() => readCases(JSON.stringify([entry]), "c.json")).toThrow("; write i64");
  });
});

describe("a flag by a framework's name", () => {
  it.each(["pypto.gather", "torch.gather", "onnx.gather_elements"])("--dim is the axis of %s", async (op) => {
    const [dim, axis] = [
      await explain("--op", op, ...types, "--dim", "1"),
      await explain("--op", op, ...types, "--axis", "1"),
    ];
    expect([dim.status, dim.stdout]).toEqual([0, axis.stdout]);
    expect(dim.stdout).not.toBe((await explain("--op", op, ...types)).stdout);
  });

  it("and its own are one flag", async () => {
    const both = await explain("--op", "pypto.gather", ...types, "--dim", "1", "--axis", "0");
    expect([both.status, both.stderr]).toEqual([
      2,
      expect.stringContaining("--dim is given twice: 1 and --axis 0"),
    ]);
    const same = await explain("--op", "pypto.gather", ...types, "--dim", "1", "--axis", "1");
    expect(same.status).toBe(0);
  });

  it("stands in the help beside it", async () => {
    expect((await runHere(["help", "op", "pypto.gather"])).stdout).toMatch(/--dim <n> .*; or --axis$/m);
    expect((await runHere(["help", "op", "onnx.gather"])).stdout).toMatch(/--axis <n> .*\(default 0\)$/m);
  });
});

describe("bytes", () => {
  it.each([
    ["65536", 65_536],
    ["64KiB", 65_536],
    ["64 KiB", 65_536],
    ["0.5MiB", 524_288],
    ["1GiB", 2 ** 30],
  ])("are %s", (text, bytes) => {
    expect(parseEntry("ubBytes", text)).toBe(bytes);
  });

  it.each([
    ["64K", "--ub-bytes 64K is not a number of bytes", "write --ub-bytes 64KiB"],
    ["2mb", "--ub-bytes 2mb is not a number of bytes", "write --ub-bytes 2MiB"],
    ["many", "--ub-bytes many is not a number of bytes", "write --ub-bytes 64KiB"],
    ["1.5", "--ub-bytes 1.5 is not a number of bytes", "write --ub-bytes 64KiB"],
    [
      "99999999GiB",
      "--ub-bytes 99999999GiB is over the limit of 9007199254740991 B",
      "write --ub-bytes 64KiB",
    ],
  ])("are not %s", async (text, message, hint) => {
    const { status, stderr } = await explain("--op", "gather_elements", ...types, "--ub-bytes", text);
    expect([status, stderr]).toEqual([2, `error[TC701]: ${message}\n   = hint: ${hint}\n`]);
  });

  it("are the same bytes as a number", async () => {
    const given = (bytes: string) => explain("--op", "gather_elements", ...types, "--ub-bytes", bytes);
    expect((await given("4KiB")).stdout).toBe((await given("4096")).stdout);
  });
});

describe("more cores than a target has", () => {
  const said = "cores is 49; target ascend-a2 has 48";
  it("are refused as a flag", async () => {
    for (const command of ["explain", "legal", "compile", "tune"]) {
      const { status, stderr, stdout } = await runHere([
        command,
        "--no-config",
        "--op",
        "gather_elements",
        ...types,
        "--cores",
        "49",
      ]);
      expect([status, `${stderr}${stdout}`], command).toEqual([1, expect.stringContaining(said)]);
      expect(`${stderr}${stdout}`).toContain("hint: --cores 48");
    }
  });

  it.each(Object.values(targets))("are refused on $name, and those that it has are not", (target) => {
    const op = gatherElements({ data: ["f32", [64, 80]], indices: ["i32", [64, 64]] });
    const { cores, name } = target;
    expect(() => compile(op, { target, cores: cores + 1 })).toThrow(
      `error[TC303]: cores is ${cores + 1}; target ${name} has ${cores}\n   = hint: --cores ${cores}`,
    );
    expect(compile(op, { target, cores }).tile.schedule.cores).toBe(cores);
    const { tile } = compile(op, { target });
    const schedule = { ...tile.schedule, cores: 1e9 };
    expect(() => compile({ ...tile, schedule }, { target })).toThrow(
      `cores is 1000000000; target ${name} has ${cores}`,
    );
  });
});
