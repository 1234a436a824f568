import { describe, expect, it } from "vitest";
import { clockVersion, CompileError, elementCount, type DType } from "../../ir/index.js";
import { readCaseList, readCases, type Case, type MalformedCase } from "../../src/formats/cases.js";
import { lookUpTarget } from "../../src/formats/look-up-target.js";
import { fromHost } from "../../src/index.js";
import { checkCase } from "../../src/testing/check-case.js";

const one = {
  id: "mine/first",
  op: "gather_elements",
  dialect: "pypto",
  attributes: { axis: 0 },
  data: { dtype: "i32", shape: [2, 2], values: [1, 2, 3, 4] },
  indices: { dtype: "i32", shape: [1, 2], values: [1, 0] },
  expect: "ok",
};

const read = (file: unknown): (Case | MalformedCase)[] => readCaseList(JSON.stringify(file), "c.json");

/** What is wrong with a file of one case; nothing, when it reads. */
function problems(...cases: unknown[]): string[] {
  return read(cases).flatMap((test) =>
    "malformed" in test ? test.malformed.map(({ code, message }) => `${code} ${message}`) : [],
  );
}

const place = "TC013 c.json: case 0 (mine/first): ";

describe("the forms of a case file", () => {
  it.each([
    ["a list", [one]],
    ["schema and cases", { schema: 1, cases: [one] }],
    ["one case", one],
  ])("%s", (_, file) => {
    expect(read(file)).toMatchObject([{ id: "mine/first", program: { op: "pypto.gather" } }]);
  });

  it.each([
    ["not JSON", "c.json: not JSON"],
    ['{"schema": 2, "cases": []}', "c.json: schema is 2; it takes 1"],
    ['{"cases": []}', "c.json: a case file lacks schema; it takes 1"],
    [
      '{"schema": 1, "case": []}',
      "c.json: a case file has no case; it has $schema, schema, cases; did you mean cases?",
    ],
    ['{"schema": 1, "cases": {}}', "c.json: cases is an object; it takes a list"],
  ])("%s is refused", (text, message) => {
    expect(() => readCaseList(text, "c.json")).toThrow(message);
  });
});

describe("a field or word that the format does not have is an error with the nearest that it has", () => {
  it.each([
    [{ tiles: [2, 2] }, "a case has no tiles; did you mean tile?"],
    [{ doublebuffer: true }, "a case has no doublebuffer; did you mean doubleBuffer?"],
    [{ ubByte: 4096 }, "a case has no ubByte; did you mean ubBytes?"],
    [{ zzzzzzzzzz: 4096 }, "a case has no zzzzzzzzzz; it has id, source, note, op,"],
    [{ expct: "ok", expect: undefined }, "a case has no expct; did you mean expect?"],
    [{ buffers: 3 }, "buffers is 3; it takes 1 or 2, or these by operand"],
    [{ buffers: { data: 0 } }, "buffers.data is 0; it takes 1 or 2"],
    [{ buffers: 2, doubleBuffer: true }, "buffers and doubleBuffer say the same; give one of them"],
    [
      { oob: "clmp" },
      'oob is "clmp"; it takes error or clamp or zero or wrap or unchecked or skip; did you mean clamp?',
    ],
    [{ profile: "strikt" }, 'profile is "strikt"; it takes strict or pages or head; did you mean strict?'],
    [{ residency: "hbm" }, 'residency is "hbm"; it takes ub or gm or auto, or the first two by operand'],
    [{ target: 7 }, /target is 7; it takes .* or a target file \(\.json\)$/],
    [{ dialect: "pyto" }, /dialect is "pyto"; it takes .*; did you mean pypto\?$/],
    [{ op: "gather_element" }, /op is "gather_element"; it takes .*; did you mean gather_elements\?$/],
    [
      { expect: { error: "ub_budget" } },
      /expect\.error is "ub_budget"; it takes .*; did you mean ub-budget\?$/,
    ],
    [{ expect: { eror: "axis" } }, "expect has no expect.eror; it has error, code; did you mean error?"],
    [{ expect: "okay" }, /expect is "okay"; it takes ok, or the category of an error.*; did you mean ok\?$/],
    [
      { attributes: { axsi: 0 } },
      "attributes has no attributes.axsi; it has axis, level; did you mean axis?",
    ],
    [{ attributes: { batchDims: 0 } }, "attributes has no attributes.batchDims; it has axis, level"],
    [{ attributes: { axis: 0.5 } }, "attributes.axis is 0.5; it takes a whole number"],
    [{ data: { ...one.data, dtype: "int32" } }, /data\.dtype is "int32"; it takes .*; write i32$/],
    [
      { data: { ...one.data, value: [] } },
      "data has no data.value; it has dtype, shape, values, bits, fill; did you mean values?",
    ],
    [{ data: { ...one.data, bits: [] } }, "data takes one of values, bits, fill; it has values and bits"],
    [{ limits: {} }, "limits is empty; give bytes, ubPeak or cycles"],
    [{ limits: { clock: 3 } }, "limits is empty; give bytes, ubPeak or cycles"],
    [{ data: { dtype: "i32", shape: [2] } }, "data takes one of values, bits, fill; it has none"],
    [
      { data: { ...one.data, shape: [-1] } },
      "data.shape[0] is -1; it takes a whole number, 0 to 9007199254740991",
    ],
    [
      { data: { ...one.data, shape: [2 ** 60] } },
      "data.shape[0] is 1152921504606847000; it takes a whole number, 0 to 9007199254740991",
    ],
    [{ tile: "2,2" }, 'tile is "2,2"; it takes a list of numbers'],
    [
      { data: undefined },
      "a case lacks data; it takes a tensor, an object with dtype, shape and one of values, bits, fill",
    ],
  ])("%j", (change, message) => {
    const [first = ""] = problems({ ...one, ...change });
    expect(first.slice(0, place.length)).toBe(place);
    expect(first.slice(place.length)).toMatch(message);
  });

  it("names every problem of a case, and a few of a case that is nothing but problems", () => {
    expect(problems({ ...one, tiles: [1], oob: "none", expect: undefined })).toHaveLength(3);
    expect(problems({ ...one, tile: new Array<string>(200_000).fill("x") })).toHaveLength(10);
  });

  it("a target file, an operator that the dialect lacks and a case about attributes are judged when they run", () => {
    const about = { ...one, attributes: { axis: 0, keepdims: 1 }, expect: { error: "attribute" } };
    const files = [{ ...one, target: "my/device.json" }, { ...one, op: "gather_nd" }, about];
    expect(files.flatMap((file) => problems(file))).toEqual([]);
    const [test] = read([about]);
    expect(test).toMatchObject({ program: { attrs: { dim: 0, keepdims: 1 } } });
  });

  it("a key that is no name is shown as text", () => {
    expect(problems({ ...one, "\u001b[31m": 1 })[0]).toContain('a case has no "\\u001b[31m"; it has id,');
    const [inputs = ""] = problems({ ...one, inputs: { "\n": 5 }, data: undefined, indices: undefined });
    expect(inputs).toBe(
      `${place}inputs."\\n" is 5; it takes a tensor, an object with dtype, shape and one of values, bits, fill`,
    );
  });

  it("keys of every object are no fields", () => {
    for (const key of ["__proto__", "constructor"]) {
      const text = JSON.stringify(one).replace('"id"', `"${key}": 1, "id"`);
      const [test] = readCaseList(text, "c.json");
      expect(test && "malformed" in test && test.malformed[0]?.message).toContain(
        `a case has no ${key}; it has`,
      );
    }
  });
});

describe("one bad case among good ones", () => {
  const named = (id: unknown) => ({ ...one, id });

  it("is malformed alone, under its id or its place", () => {
    const list = read([named("a"), { ...one, id: undefined }, 5, named("b"), { ...named("c"), tiles: [1] }]);
    expect(list.map((test) => [test.id, "malformed" in test])).toEqual([
      ["a", false],
      ["c.json: case 1", true],
      ["c.json: case 2", true],
      ["b", false],
      ["c", true],
    ]);
  });

  it("ends readCases with all that is wrong, each with its case", () => {
    const text = JSON.stringify([named("a"), { ...named("b"), tiles: [1] }, { ...named("c"), oob: "no" }]);
    let thrown: unknown;
    try {
      readCases(text, "c.json");
    } catch (caught) {
      thrown = caught;
    }
    expect(thrown).toBeInstanceOf(CompileError);
    const { diagnostics } = thrown as CompileError;
    expect(diagnostics.map(({ message }) => message.slice(0, 18))).toEqual([
      "c.json: case 1 (b)",
      "c.json: case 2 (c)",
    ]);
  });

  it("an id that an earlier case has", () => {
    expect(problems(named("a"), named("b"), named("a"))).toEqual([
      "TC013 c.json: case 2 (a): case 0 has the same id",
    ]);
  });

  it("nesting of any depth is a diagnostic", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const text = JSON.stringify([one]).replace("[1,2,3,4]", `[${deep},2,3,4]`);
    for (const file of [deep, text, text.replace('"ok"', deep), text.replace('"pypto"', deep)]) {
      const [test] = readCaseList(file, "c.json");
      expect(test).toHaveProperty("malformed");
    }
  });

  it.each(["\0", "x".repeat(400), "../../a", "a b"])("%j is an id like any other", (id) => {
    expect(read([named(id)])).toMatchObject([{ id, inputs: { data: { type: { dtype: "i32" } } } }]);
  });
});

/** The one element of a tensor, read from a case file. */
function element(dtype: DType, value: unknown, field = "values") {
  const data = { dtype, shape: [1], [field]: [value] };
  const [test] = read([{ ...one, op: "gather", dialect: "onnx", data, indices: one.indices }]);
  if (test === undefined || "malformed" in test) return test?.malformed[0]?.message;
  const { type, bytes } = test.inputs["data"]!.read();
  return Array.from(fromHost(type, bytes) as ArrayLike<unknown>);
}

describe("a value that its type cannot hold is an error with its element", () => {
  const [i64Most, u64Most] = ["9223372036854775807", "18446744073709551615"];

  it.each<[DType, unknown, unknown]>([
    ["i32", 4294967296, "4294967296 is no i32, which holds -2147483648 to 2147483647"],
    ["i32", -2147483649, "-2147483649 is no i32"],
    ["u32", "4294967296", '"4294967296" is no u32, which holds 0 to 4294967295'],
    ["u32", -1, "-1 is no u32"],
    ["i8", 300, "300 is no i8, which holds -128 to 127"],
    ["i8", -129, "-129 is no i8"],
    ["u8", -1, "-1 is no u8, which holds 0 to 255"],
    ["u8", 256, "256 is no u8"],
    ["i16", 32768, "32768 is no i16"],
    ["u16", 65536, "65536 is no u16"],
    ["u64", "-1", '"-1" is no u64'],
    ["u64", "18446744073709551616", "is no u64, which holds 0 to 18446744073709551615"],
    ["i64", "18446744073709551616", "is no i64"],
    ["i64", "9223372036854775808", "is no i64, which holds -9223372036854775808 to 9223372036854775807"],
    ["i64", 9007199254740993, "not exact as a JSON number; write it as a string"],
    ["u64", 2 ** 53, "write it as a string"],
    ["bool", 7, "7 is no bool, which holds 0 to 1"],
    ["bool", "true", '"true" is no bool'],
    ["i32", 1.5, "1.5 is no i32"],
    ["i32", true, "true is no i32"],
    ["i32", "0x10", '"0x10" is no i32'],
    ["i32", null, "null is no i32"],
    ["i32", "NaN", '"NaN" is no i32'],
    ["f32", 3.5e38, "3.5e+38 is beyond f32"],
    ["f32", "3.4028235677973366e38", "is beyond f32"],
    ["f16", 65520, "65520 is beyond f16"],
    ["bf16", 3.39617752923046e38, "is beyond bf16"],
    ["f64", "1e999", '"1e999" is beyond f64; an infinity is written "Infinity" or "-Infinity"'],
    ["f32", true, "true is no f32"],
    ["f32", "", '"" is no f32'],
    ["f32", "0x10", '"0x10" is no f32'],
    ["c64", [1, 3.5e38], "3.5e+38 is beyond f32"],
    ["c64", [1], "a complex number is [re, im]"],
    ["c128", [1, 2, 3], "a complex number is [re, im]"],
    ["string", 5, "5 is no string"],
  ])("%s %j", (dtype, value, message) => {
    expect(element(dtype, value)).toContain(`c.json: case 0 (mine/first): data: element 0: `);
    expect(element(dtype, value)).toContain(message);
  });

  it.each<[DType, unknown, unknown]>([
    ["i32", 2147483647, 2147483647],
    ["i32", -2147483648, -2147483648],
    ["u32", 4294967295, 4294967295],
    ["i8", -128, -128],
    ["u8", 255, 255],
    ["i64", i64Most, BigInt(i64Most)],
    ["i64", "-9223372036854775808", -(2n ** 63n)],
    ["i64", 9007199254740991, 9007199254740991n],
    ["u64", u64Most, BigInt(u64Most)],
    ["bool", true, 1],
    ["bool", 0, 0],
    ["f32", 0.1, Math.fround(0.1)],
    ["f32", 3.4028235677973362e38, 3.4028234663852886e38],
    ["f32", "-Infinity", Number.NEGATIVE_INFINITY],
    ["f32", "-0", -0],
    ["f16", 65519, 0x7bff],
    ["bf16", 3.39e38, 0x7f7f],
    ["f64", "1e308", 1e308],
  ])("%s %j is held", (dtype, value, held) => {
    expect(element(dtype, value)).toEqual([held]);
  });

  it("an overflow that JSON itself makes is no number of any type", () => {
    for (const dtype of ["f32", "f64", "i32"]) {
      const text = JSON.stringify([{ ...one, data: { dtype, shape: [1], values: ["HERE"] } }]);
      const [test] = readCaseList(text.replace('"HERE"', "1e999"), "c.json");
      expect(test && "malformed" in test && test.malformed[0]?.message).toContain("element 0: Infinity is");
    }
  });

  it("names the element that is wrong", () => {
    const data = { dtype: "u8", shape: [2, 2], values: [0, 1, 2, 256] };
    expect(problems({ ...one, data })).toEqual([
      `${place}data: element 3: 256 is no u8, which holds 0 to 255`,
    ]);
    expect(problems({ ...one, data: { ...data, values: [0] } })).toEqual([`${place}data: 1 elements for 4`]);
  });

  it.each<[DType, string]>([
    ["u8", "100"],
    ["f16", "12345"],
    ["f32", "3f8000001"],
    ["f32", "3g"],
    ["f32", ""],
  ])("bits of %s: %j", (dtype, bits) => {
    expect(element(dtype, bits, "bits")).toContain("hexadecimal digits or fewer");
  });

  it("bits are patterns, leading zeros left out or not", () => {
    expect(element("f16", "7c01", "bits")).toEqual([0x7c01]);
    expect(element("u32", "ff", "bits")).toEqual([255]);
    expect(element("string", "ff", "bits")).toContain("a string tensor has values");
  });
});

it("a fill of any length is one sequence of draws", () => {
  const count = 2 ** 17 + 3;
  const filled = (dtype: DType): ArrayBuffer => {
    const [test] = readCases(
      JSON.stringify({ ...one, data: { dtype, shape: [count], fill: { seed: 7, min: -1000, max: 1000 } } }),
      "c.json",
    );
    return test!.inputs["data"]!.read().bytes.slice().buffer;
  };
  let state = 7n;
  const drawn = Float64Array.from({ length: count }, () => {
    state = (1664525n * state + 1013904223n) % 2n ** 32n;
    return (Number(state) / 2 ** 32) * 2000 - 1000;
  });
  const [f64, i32] = [new Float64Array(filled("f64")), new Int32Array(filled("i32"))];
  expect([f64.length, i32.length]).toEqual([count, count]);
  // By its number: showing how long arrays differ takes minutes.
  expect(drawn.findIndex((value, k) => f64[k] !== value)).toBe(-1);
  expect(drawn.findIndex((value, k) => i32[k] !== Math.floor(value))).toBe(-1);
});

describe("a fill that its type cannot hold is an error, before memory is taken", () => {
  const filled = (dtype: DType, fill: unknown, shape = [4]) => {
    const [test] = read([{ ...one, data: { dtype, shape, fill } }]);
    if (test === undefined || "malformed" in test) return test?.malformed[0]?.message;
    return test.inputs["data"]!;
  };

  it.each<[DType, unknown, string]>([
    ["i32", { seed: 1, min: 0.5, max: 4 }, "fill from 0.5 to 4: i32 takes whole numbers"],
    ["i64", { seed: 1, min: 0, max: 2 ** 60 }, "i64 takes whole numbers within 2^53"],
    ["u8", { seed: 1, min: -1, max: 4 }, "fill from -1 to 3: u8 holds 0 to 255"],
    ["u8", { seed: 1, min: 0, max: 257 }, "fill from 0 to 256: u8 holds 0 to 255"],
    ["bool", { seed: 1, min: 0, max: 3 }, "bool holds 0 to 1"],
    ["f16", { seed: 1, min: 0, max: 1e5 }, "fill from 0 to 100000 is beyond f16"],
    ["f64", { seed: 1, min: -1e308, max: 1e308 }, "is beyond f64"],
    ["f32", { seed: 1.5, min: 0, max: 1 }, "data.fill.seed is 1.5; it takes a whole number, 0 to 4294967295"],
    ["f32", { seed: -1, min: 0, max: 1 }, "data.fill.seed is -1; it takes a whole number, 0 to 4294967295"],
    ["f32", { seed: 1, min: "0", max: 1 }, 'data.fill.min is "0"; it takes a number'],
    ["f32", { seed: 1, min: 0 }, "data.fill lacks data.fill.max; it takes a number"],
    [
      "f32",
      { seed: 1, min: 0, mx: 1 },
      "data.fill has no data.fill.mx; it has seed, min, max; did you mean max?",
    ],
    ["c64", { seed: 1, min: 0, max: 1 }, "fill makes no c64"],
    ["string", { seed: 1, min: 0, max: 1 }, "fill makes no string"],
  ])("%s %j", (dtype, fill, message) => {
    expect(filled(dtype, fill)).toContain(message);
  });

  it("1e999 is no number", () => {
    const text = JSON.stringify([{ ...one, data: { dtype: "f32", shape: [4], fill: "HERE" } }]);
    const fill = '{"seed": 1, "min": 0, "max": 1e999}';
    const [test] = readCaseList(text.replace('"HERE"', fill), "c.json");
    expect(test && "malformed" in test && test.malformed[0]?.message).toContain(
      "data.fill.max is Infinity; it takes a number",
    );
  });

  it.each<[DType, number[]]>([
    ["f64", [2 ** 31 - 1]],
    ["i32", [2 ** 16, 2 ** 16]],
    ["u8", [2 ** 30, 2 ** 20]],
  ])("%s %j is refused when it is read, with its bytes", (dtype, shape) => {
    const tensor = filled(dtype, { seed: 1, min: 0, max: 2 }, shape);
    if (typeof tensor !== "object") throw new Error(tensor);
    const bytes = elementCount(shape) * (dtype === "f64" ? 8 : dtype === "i32" ? 4 : 1);
    expect(() => tensor.read()).toThrow(`takes ${bytes} B, more than the ${2 ** 32} B of one array`);
  });

  it("what is in range is made as the format says", () => {
    // s <- (1664525 s + 1013904223) mod 2^32, u = s / 2^32, worked out with Python's integers.
    const bools = filled("bool", { seed: 1, min: 0, max: 2 });
    const bytes = filled("u8", { seed: 1, min: 0, max: 256 });
    if (typeof bools !== "object" || typeof bytes !== "object") throw new Error("they are in range");
    expect([...bools.read().bytes]).toEqual([0, 0, 1, 1]);
    expect([...bytes.read().bytes]).toEqual([60, 94, 129, 180]);
  });
});

describe("a case's schedule and limits", () => {
  const base = {
    id: "a",
    op: "gather_elements",
    dialect: "onnx",
    attributes: { axis: 0 },
    data: { dtype: "f32", shape: [8, 64], fill: { seed: 1, min: 0, max: 1 } },
    indices: { dtype: "i32", shape: [64, 64], fill: { seed: 2, min: 0, max: 8 } },
    target: "ascend-a2",
    tile: [8, 32],
    profile: "head",
    expect: "ok",
  };
  const check = async (more: object) => {
    const [test] = readCases(JSON.stringify({ ...base, ...more }), "cases/a.json");
    return checkCase(test!, ["sim"], { findTarget: lookUpTarget });
  };

  it("order and ubBytes are the schedule's", () => {
    const [test] = readCases(JSON.stringify({ ...base, order: [0, 1], ubBytes: 8192 }), "cases/a.json");
    expect(test!.program!.schedule).toMatchObject({ order: [0, 1], ubBytes: 8192 });
  });

  it("ubBytes bounds what fits", async () => {
    expect(await check({ ubBytes: 2048 })).toMatchObject([
      { status: "fail", code: expect.stringMatching(/^TC40/) },
    ]);
  });

  it("limits are met or passed, each with its figures", async () => {
    // Data once, or once for each of eight rows of tiles; indices and output once.
    const [once, each] = [4 * (8 * 64 + 2 * 64 * 64), 4 * (8 * 8 * 64 + 2 * 64 * 64)];
    expect(await check({ order: [1, 0], limits: { bytes: once } })).toMatchObject([
      { backend: "sim", status: "pass" },
      { backend: "limits", status: "pass" },
    ]);
    expect(
      await check({
        order: [0, 1],
        limits: { bytes: once, ubPeak: 1 << 18, cycles: 1, clock: clockVersion },
      }),
    ).toMatchObject([
      { backend: "sim", status: "pass" },
      {
        backend: "limits",
        status: "fail",
        message: expect.stringMatching(
          new RegExp(
            `moves ${each} B, ${each - once} B more than ${once} B.*; @\\w+ takes \\d+, \\d+ more than 1 cycles`,
          ),
        ),
      },
    ]);
  });

  it("a target file is looked for beside the case file", () => {
    const { target: _, ...without } = base;
    const read = (targetFile: string) =>
      readCases(JSON.stringify({ ...without, targetFile }), "cases/a.json")[0]!.program!.target;
    expect(read("mine.json")).toBe("cases/mine.json");
    expect(read("/etc/mine.json")).toBe("/etc/mine.json");
  });

  it.each([
    [{ targetFile: "mine.json" }, /target cannot be used with targetFile/],
    [
      { limits: { cycles: 5 } },
      new RegExp(`limits.cycles needs the version of the cost model: add "clock": ${clockVersion}`),
    ],
    [{ limits: { bytes: 5 }, expect: { error: "tile" } }, /limits cannot be used with an expected error/],
    [
      { limits: { byte: 5 } },
      /limits has no limits\.byte; it has bytes, ubPeak, cycles, clock; did you mean bytes\?/,
    ],
    [{ limits: { bytes: -1 } }, /limits.bytes/],
    [{ order: ["0"] }, /order/],
  ])("%j is refused", (more, why) => {
    expect(() => readCases(JSON.stringify({ ...base, ...more }), "a.json")).toThrow(why);
  });
});
