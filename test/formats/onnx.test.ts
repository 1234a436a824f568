import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesFor, dtypes, type DType } from "../../ir/index.js";
import { compile, program } from "../../src/index.js";
import {
  findGathers,
  isNodeTestFolder,
  readModel,
  readNodeTest,
  readNodeTestFolder,
  readTensorFile,
  type OnnxGather,
} from "../../src/formats/onnx/index.js";
import { checkCase } from "../../src/testing/check-case.js";
import {
  bytes,
  graphAttribute,
  i64s,
  info,
  initializer,
  input,
  intAttribute,
  model,
  named,
  node,
  number,
  packed,
  raw,
  tensor,
  tensorAttribute,
  text,
  unpacked,
  varint,
} from "../support/onnx-bytes.js";
import { refusal, refusals, shown } from "../support/refusal.js";

/** Element types of ONNX that are numbers. */
type OnnxNumber = Exclude<DType, "string" | "hif8">;

const gathersOf = (graph: readonly number[], version = 17): OnnxGather[] =>
  findGathers(readModel(model(graph, version), "m.onnx"));

const diagnosticOf = (action: () => unknown) => {
  const { code, message } = refusal(action)!;
  expect(code).toBe("TC014");
  return message;
};

/** Whatever the bytes: a value or TC014, and nothing else. */
const survives = (file: Uint8Array): void => {
  const [first, ...others] = shown(refusals(() => findGathers(readModel(file, "m.onnx"))));
  if (first !== undefined) expect(first).toMatch(/^TC014 .*m\.onnx/s);
  expect(others).toEqual([]);
};

describe("backend-test folders", () => {
  const root = fileURLToPath(new URL("../conformance/onnx-node-tests", import.meta.url));
  const folders = readdirSync(root);

  it("are all there", () => {
    expect(folders).toHaveLength(4);
    expect(isNodeTestFolder(root)).toBe(false);
    expect(isNodeTestFolder(join(root, "absent"))).toBe(false);
  });

  it.each(folders)("%s passes on reference and sim", async (folder) => {
    const path = join(root, folder);
    expect(isNodeTestFolder(path)).toBe(true);
    const cases = readNodeTestFolder(path);
    expect(cases.map(({ id }) => id)).toEqual([folder]);
    for (const test of cases) {
      expect(test.output).toBeDefined();
      const results = await checkCase(test, ["reference", "sim"], {});
      expect(results.map(({ status }) => status)).toEqual(["pass", "pass"]);
    }
  });

  const graph = [
    ...node("Gather", ["x", "w"], ["y"]),
    ...input("x", 1, ["n"]),
    ...input("w", 7, [2]),
    ...initializer("i64", [2], raw([1, 0])),
    ...bytes(12, info("y", 1, [2])),
  ];
  const floats = (values: readonly number[], shape = [values.length]) =>
    Uint8Array.from(tensor("f32", shape, bytes(4, new Uint8Array(Float32Array.from(values).buffer)), "x"));

  it("one case per data set; inputs that are initializers have no file; data sets fix symbolic dims", async () => {
    const files = new Map([
      ["model.onnx", model(graph)],
      ["test_data_set_10/input_0.pb", floats([7, 8, 9])],
      ["test_data_set_2/input_0.pb", floats([1, 2])],
      ["test_data_set_2/output_0.pb", floats([2, 1])],
      ["test_data_set_10/output_0.pb", floats([7, 8])],
    ]);
    const cases = readNodeTest("folder", files);
    expect(cases.map(({ id }) => id)).toEqual(["folder/test_data_set_2", "folder/test_data_set_10"]);
    const results = await Promise.all(cases.map((test) => checkCase(test, ["reference"], {})));
    // The second expects the wrong order.
    expect(results.flat().map(({ status }) => status)).toEqual(["pass", "fail"]);
  });

  it("refuses what is no such folder", () => {
    expect(diagnosticOf(() => readNodeTest("folder", new Map()))).toContain("lacks model.onnx");
    expect(diagnosticOf(() => readNodeTest("folder", new Map([["model.onnx", model(graph)]])))).toContain(
      "no test_data_set_0",
    );
    const set = (value: Uint8Array) => () =>
      readNodeTest(
        "folder",
        new Map([
          ["model.onnx", model(graph)],
          ["test_data_set_0/input_0.pb", value],
        ]),
      );
    expect(diagnosticOf(set(floats([1, 2, 3, 4], [2, 2])))).toContain(
      'input "x" is declared [n], not [2, 2]',
    );
    expect(diagnosticOf(set(Uint8Array.from(tensor("i64", [1], raw([1])))))).toContain("not declared i64");
    expect(diagnosticOf(set(floats([1]).subarray(0, 6)))).toContain("folder/test_data_set_0/input_0.pb");
  });
});

describe("tensors", () => {
  const read = (message: readonly number[]) => readTensorFile(Uint8Array.from(message), "t.pb").value;
  const numeric = dtypes.filter((dtype): dtype is OnnxNumber => dtype !== "string" && dtype !== "hif8");

  /** The typed form of element bytes, from the table in onnx.proto's comments. */
  const typedForm = (dtype: OnnxNumber, data: Uint8Array, list: typeof packed): number[] => {
    const view = new DataView(data.buffer);
    const each = (size: number, get: (place: number) => number | bigint): bigint[] =>
      Array.from({ length: data.byteLength / size }, (_, k) => BigInt(get(k * size)));
    switch (dtype) {
      case "f32":
      case "c64":
        return bytes(4, data);
      case "f64":
      case "c128":
        return bytes(10, data);
      case "bool":
      case "u8":
      case "f8e4m3fn":
      case "f8e4m3fnuz":
      case "f8e5m2":
      case "f8e5m2fnuz":
      case "f8e8m0fnu":
      // A byte an entry, as in raw_data.
      case "u4":
      case "i4":
      case "u2":
      case "i2":
        return list(
          5,
          each(1, (k) => view.getUint8(k)),
        );
      case "i8":
        return list(
          5,
          each(1, (k) => view.getInt8(k)),
        );
      case "u16":
      case "f16":
      case "bf16":
        return list(
          5,
          each(2, (k) => view.getUint16(k, true)),
        );
      case "i16":
        return list(
          5,
          each(2, (k) => view.getInt16(k, true)),
        );
      case "i32":
        return list(
          5,
          each(4, (k) => view.getInt32(k, true)),
        );
      case "u32":
        return list(
          11,
          each(4, (k) => view.getUint32(k, true)),
        );
      case "i64":
        return list(
          7,
          each(8, (k) => view.getBigInt64(k, true)),
        );
      case "u64":
        return list(
          11,
          each(8, (k) => view.getBigUint64(k, true)),
        );
    }
  };
  // Ends of every integer type, NaN payloads, -0 and denormals are among these bytes.
  const pattern = (dtype: DType): Uint8Array =>
    Uint8Array.from({ length: bytesFor(6, dtype) }, (_, k) =>
      dtype === "bool" ? k % 2 : ([0xff, 0x00, 0x80, 0x7f, 0x01, 0xfe, 0xc0][(k * 5) % 7] ?? 0),
    );

  it.each(numeric)("%s: raw_data, packed and unpacked fields give the same bytes", (dtype) => {
    const data = pattern(dtype);
    const type = { dtype, shape: [2, 3] };
    expect(read(tensor(dtype, [2, 3], bytes(9, data)))).toEqual({ type, bytes: data });
    expect(read(tensor(dtype, [2, 3], typedForm(dtype, data, packed)))).toEqual({ type, bytes: data });
    expect(read(tensor(dtype, [2, 3], typedForm(dtype, data, unpacked)))).toEqual({ type, bytes: data });
  });

  it.each(numeric)("%s: bytes that do not fit the dims are refused", (dtype) => {
    const data = pattern(dtype);
    expect(diagnosticOf(() => read(tensor(dtype, [2, 40], bytes(9, data))))).toContain(`2x40x${dtype} takes`);
    expect(diagnosticOf(() => read(tensor(dtype, [50], typedForm(dtype, data, packed))))).toContain(
      `50x${dtype} takes`,
    );
  });

  it("reads strings, and only whole UTF-8 ones", () => {
    const strings = ["", "gather", "日本", "\ufeffmark"];
    const list = strings.flatMap((value) => text(6, value));
    expect(read(tensor("string", [4], list)).strings).toEqual(strings);
    expect(diagnosticOf(() => read(tensor("string", [3], list)))).toContain("string_data holds 4");
    expect(diagnosticOf(() => read(tensor("string", [1], bytes(6, [0xff]))))).toContain(
      "string 0 is not UTF-8",
    );
    expect(diagnosticOf(() => read(tensor("string", [1], bytes(9, [65]))))).toContain(
      "cannot be in raw_data",
    );
  });

  it("reads scalars, tensors without elements, floats one by one, and dims packed", () => {
    expect(read(tensor("i64", [], packed(7, [-1n]))).type.shape).toEqual([]);
    expect(read(tensor("f32", [0, 3], [])).bytes).toHaveLength(0);
    expect(read(tensor("f32", [2 ** 40, 2 ** 40, 0], bytes(9, []))).bytes).toHaveLength(0);
    const ones = [0x25, 0, 0, 0x80, 0x3f, 0x25, 0, 0, 0x80, 0xbf];
    expect([...new Float32Array(read(tensor("f32", [2], ones)).bytes.buffer)]).toEqual([1, -1]);
    expect(read([...packed(1, [1n, 2n]), ...number(2, 7), ...raw([3, 4])]).type.shape).toEqual([1, 2]);
  });

  it("refuses values that the type cannot hold, elements in the wrong field, and both forms at once", () => {
    expect(diagnosticOf(() => read(tensor("i8", [2], packed(5, [1n, 200n]))))).toContain(
      "element 1 is 200, which no i8 holds",
    );
    expect(diagnosticOf(() => read(tensor("u32", [1], packed(11, [2n ** 32n]))))).toContain("no u32 holds");
    expect(diagnosticOf(() => read(tensor("i64", [1], packed(5, [1n]))))).toContain(
      "go in int64_data or raw",
    );
    expect(diagnosticOf(() => read(tensor("i64", [1], [...packed(7, [1n]), ...raw([1])])))).toContain("both");
  });

  it.each([
    [23, "FLOAT4E2M1"],
    [99, "element type 99"],
    [0, "no element type"],
  ])("refuses data type %i by name: %s", (code, name) => {
    expect(diagnosticOf(() => read(tensor(code, [1], bytes(9, [0]))))).toContain(name);
  });

  it("refuses elements in other files and in segments", () => {
    const external = [...number(14, 1), ...bytes(13, [...text(1, "location"), ...text(2, "/etc/passwd")])];
    expect(diagnosticOf(() => read(tensor("f32", [1], external)))).toContain("in another file");
    expect(diagnosticOf(() => read(tensor("f32", [1], bytes(3, []))))).toContain("segments");
  });

  it("allocates nothing for dims that no bytes back", () => {
    for (const shape of [[2 ** 31], [2 ** 52, 2], [2 ** 53 - 1, 2 ** 53 - 1]]) {
      diagnosticOf(() => read(tensor("f32", shape, bytes(9, [0, 0, 0, 0]))));
      diagnosticOf(() => read(tensor("i32", shape, packed(5, [1n]))));
      diagnosticOf(() => read(tensor("string", shape, text(6, "one"))));
    }
    expect(diagnosticOf(() => read(tensor("f32", [-1], [])))).toContain(`tensor "w" has an extent of -1`);
    expect(diagnosticOf(() => read(tensor("f32", new Array<number>(65).fill(1), [])))).toContain("64 dims");
  });
});

describe("gathers of a model", () => {
  const x = input("x", 1, [4, 5]);
  const indices = initializer("i64", [2], raw([0, -1]), "i");

  it("finds the three operators with their attributes, and the tensors that the model fixes", () => {
    const found = gathersOf([
      ...node("Gather", ["x", "i"], ["a"], [...named("/block.0/Gather"), ...intAttribute("axis", -1)]),
      ...node("GatherElements", ["x", "j"], ["b"], text(7, "ai.onnx")),
      ...node("GatherND", ["x", "i"], ["c"], named("/block.0/Gather")),
      ...node("Gather", ["x", "i"], ["d"], text(7, "com.example")),
      ...x,
      ...input("j", 6, [2, 3]),
      ...indices,
    ]);
    expect(found.map(({ name }) => name)).toEqual(["block_0_Gather", "b", "block_0_Gather_2"]);
    expect(found.map((gather) => (gather.ok ? gather.program : gather.diagnostic))).toMatchObject([
      { op: "onnx.gather", attrs: { axis: -1, opset: 13 }, data: { dtype: "f32", shape: [4, 5] } },
      { op: "onnx.gather_elements", attrs: { axis: 0 }, indices: { dtype: "i32", shape: [2, 3] } },
      { op: "onnx.gather_nd", attrs: { batch_dims: 0 }, indices: { dtype: "i64", shape: [2] } },
    ]);
    const [first, second] = found;
    expect(first).toMatchObject({ indices: { bytes: Uint8Array.from(i64s([0, -1])) } });
    expect(first).not.toHaveProperty("data");
    expect(second).not.toHaveProperty("indices");
    for (const gather of found)
      if (gather.ok) expect(compile(program(gather.program)).name).toBe(gather.name);
  });

  it.each([
    ["Gather", 1, 1],
    ["Gather", 10, 1],
    ["Gather", 12, 11],
    ["Gather", 13, 13],
    ["Gather", 24, 13],
    ["GatherElements", 12, 11],
    ["GatherElements", 10, 1],
    ["GatherND", 11, 11],
    ["GatherND", 12, 12],
    ["GatherND", 21, 13],
  ])("%s in a model of opset %i is that of opset %i", (op, version, expected) => {
    const [gather] = gathersOf([...node(op, ["x", "i"], ["y"]), ...x, ...indices], version);
    expect(gather).toMatchObject({ ok: true, program: { attrs: { opset: expected } } });
  });

  it("says which dim has no extent, and takes one", () => {
    const graph = [
      ...node("Gather", ["x", "i"], ["y"]),
      ...input("x", 1, ["batch", 5, ""]),
      ...input("i", 7, [3]),
    ];
    const read = readModel(model(graph), "m.onnx");
    expect(findGathers(read)).toMatchObject([
      {
        ok: false,
        diagnostic: {
          code: "TC014",
          message:
            'm.onnx: Gather "y": data "x" has shape [batch, 5, ?]: dim 0 ("batch"), dim 2 have no fixed extent',
        },
      },
    ]);
    expect(findGathers(read, { bind: { batch: 2 } })).toMatchObject([{ ok: false }]);
    expect(findGathers(read, { bind: { x: [2, 5, 7] } })).toMatchObject([
      { ok: true, program: { data: { shape: [2, 5, 7] } } },
    ]);
    expect(diagnosticOf(() => findGathers(read, { bind: { x: [2, 6, 7] } }))).toContain(
      "declared [batch, 5, ?]",
    );
    expect(diagnosticOf(() => findGathers(read, { bind: { z: [2] } }))).toContain('no input "z"');
  });

  it.each(["__proto__", "constructor", "a/b.c:0 d"])("takes an extent of a dim of any name: %s", (dim) => {
    const graph = [...node("Gather", ["x", "i"], ["y"]), ...input("x", 1, [dim, 5]), ...input("i", 7, [3])];
    const read = readModel(model(graph), "m.onnx");
    expect(findGathers(read)).toMatchObject([{ ok: false }]);
    expect(findGathers(read, { bind: Object.fromEntries([[dim, 2]]) })).toMatchObject([
      { ok: true, program: { data: { shape: [2, 5] } } },
    ]);
    expect(findGathers(read, { most: Object.fromEntries([[dim, 9]]) })).toMatchObject([
      { ok: false, open: { func: { operands: [{ type: { shape: [9, 5] } }, {}, {}] } } },
    ]);
  });

  it("says what else is missing", () => {
    const message = (graph: readonly number[]) => {
      const [gather] = gathersOf(graph);
      return gather?.ok === false ? gather.diagnostic.message : "";
    };
    const gather = node("Gather", ["x", "i"], ["y"]);
    expect(message([...gather, ...indices])).toContain('the shape of data "x" is not known');
    expect(message([...gather, ...input("x", 1), ...indices])).toContain(
      'the shape of data "x" is not known',
    );
    expect(message([...node("Gather", ["x"], ["y"]), ...x])).toContain("input indices is missing");
    expect(message([...gather, ...input("x", 23, [4]), ...indices])).toContain(
      "FLOAT4E2M1 (23), which tilec lacks",
    );
    expect(message([...gather, ...x, ...initializer("i64", [2], number(14, 1), "i")])).toContain(
      'tensor "i": its elements are in another file',
    );
    expect(message([...gather, ...x, ...bytes(15, bytes(1, tensor("i64", [1], raw([0]), "i")))])).toContain(
      "sparse",
    );
    // Damaged weights that no gather needs do not matter.
    expect(
      gathersOf([...gather, ...x, ...indices, ...initializer("f32", [9], number(14, 1), "v")]),
    ).toMatchObject([{ ok: true }]);
    const bare = Uint8Array.from([...number(1, 8), ...bytes(7, [...gather, ...x, ...indices])]);
    expect(findGathers(readModel(bare, "m.onnx"))).toMatchObject([{ ok: false }]);
    expect(findGathers(readModel(bare.with(1, 2), "m.onnx"))).toMatchObject([
      { program: { attrs: { opset: 1 } } },
    ]);
  });

  it("follows shapes through Shape, Gather, Unsqueeze, Concat, Cast and Reshape", () => {
    const scalar = (name: string, value: number) =>
      node("Constant", [], [name], tensorAttribute("value", tensor("i64", [], raw([value]))));
    const found = gathersOf([
      ...node("Shape", ["x"], ["s"]),
      ...scalar("one", 1),
      ...scalar("zero", 0),
      ...node("Gather", ["s", "one"], ["extent"], named("extent")),
      ...node(
        "Constant",
        [],
        ["axes"],
        bytes(5, [...text(1, "value_ints"), ...packed(8, [0n]), ...number(20, 7)]),
      ),
      ...node("Unsqueeze", ["extent", "axes"], ["list"]),
      ...node("Constant", [], ["rest"], tensorAttribute("value", tensor("i64", [1], raw([-1])))),
      ...node("Concat", ["list", "rest"], ["target"], intAttribute("axis", 0)),
      ...node("Reshape", ["x", "target"], ["flat"]),
      ...node("Relu", ["flat"], ["positive"]),
      ...node("Cast", ["list"], ["narrow"], intAttribute("to", 6)),
      ...node("Identity", ["narrow"], ["same"]),
      ...node("Gather", ["positive", "same"], ["y"], named("use")),
      ...input("x", 1, [2, 6, 3]),
    ]);
    expect(found).toMatchObject([
      { name: "extent", ok: true, data: { bytes: Uint8Array.from(i64s([2, 6, 3])) } },
      { name: "use", ok: true, program: { data: { shape: [6, 6] }, indices: { dtype: "i32", shape: [1] } } },
    ]);
    expect(found[1]).toMatchObject({ indices: { bytes: Uint8Array.of(6, 0, 0, 0) } });
  });

  it.each([
    ["topk.onnx", "y", [1, 6, 4], [1, 3, 4]],
    ["split.onnx", "y", [2, 4], [2]],
  ])("knows the shapes behind the nodes of %s", (file, name, data, indices) => {
    const path = fileURLToPath(new URL(`inputs/${file}`, import.meta.url));
    expect(findGathers(readModel(readFileSync(path), file))).toMatchObject([
      { name, ok: true, program: { data: { shape: data }, indices: { shape: indices } } },
    ]);
  });

  it.each([
    ["Flatten", [], intAttribute("axis", 1), ["batch", 15]],
    ["Reshape", [-1, 15], [], ["batch", 15]],
    ["Reshape", [0, -1], [], ["batch", 15]],
    ["Reshape", [3, -1], [], [3, ""]],
    ["Tile", [1, 2, 1], [], ["batch", 6, 5]],
    ["Slice", [0], [], ["batch", 3, 5]],
    ["Expand", [4, 1, 1, 1], [], [4, "batch", 3, 5]],
    ["Pad", [0, 1, 0, 0, 0, 2], [], ["batch", 4, 7]],
  ])("keeps the name of an open dim through %s %j", (op, list, attributes, dims) => {
    const graph = [
      ...node(
        op,
        ["x", ...(list.length === 0 ? [] : ["list"]), ...(op === "Slice" ? ["end"] : [])],
        ["v"],
        attributes,
      ),
      ...node("Gather", ["v", "i"], ["y"]),
      ...input("x", 1, ["batch", 3, 5]),
      ...indices,
      ...initializer("i64", [list.length], raw(list), "list"),
      ...initializer("i64", [1], raw([2 ** 31 - 1]), "end"),
    ];
    const [gather] = gathersOf(graph);
    const shown = dims.map((dim) => (dim === "" ? "?" : String(dim))).join(", ");
    expect(gather?.ok === false ? gather.diagnostic.message : "").toContain(`has shape [${shown}]`);
  });

  it("finds gathers in the bodies of If, which see the names around them, and in functions", () => {
    const body = [...node("Gather", ["x", "i"], ["inner"]), ...bytes(12, info("inner", 1, [2, 5]))];
    const graph = [
      ...node(
        "If",
        ["c"],
        ["y"],
        [...graphAttribute("then_branch", body), ...graphAttribute("else_branch", body)],
      ),
      ...node("Gather", ["y", "i"], ["z"]),
      ...x,
      ...indices,
    ];
    // A function's nodes are field 7, a graph's are field 1.
    const inFunction = [0x3a, ...node("Gather", ["a", "a"], ["b"]).slice(1)];
    const call = [...text(1, "f"), ...text(4, "a"), ...inFunction, ...bytes(9, number(2, 13))];
    const file = Uint8Array.from([...model(graph), ...bytes(25, call)]);
    expect(findGathers(readModel(file, "m.onnx"))).toMatchObject([
      { name: "inner", ok: true },
      { name: "inner_2", ok: true },
      { name: "z", ok: true, program: { data: { shape: [2, 5] } } },
      { name: "b", ok: false },
    ]);
  });

  it("a constant is what it is, whatever the model declares", () => {
    const [gather] = gathersOf([
      ...node("Constant", [], ["k"], tensorAttribute("value", tensor("i64", [2], raw([1, 1])))),
      ...node("Gather", ["x", "k"], ["y"]),
      ...x,
      ...bytes(13, info("k", 7, [3])),
    ]);
    expect(gather).toMatchObject({ program: { indices: { shape: [2] } }, indices: { type: { shape: [2] } } });
  });
});

describe("damaged and malicious files", () => {
  const small = model([
    ...node("Constant", [], ["k"], tensorAttribute("value", tensor("i64", [2], packed(7, [1n, 0n])))),
    ...node("Gather", ["x", "k"], ["y"], [...named("g"), ...intAttribute("axis", 0)]),
    ...input("x", 1, [4, "n"]),
    ...initializer("f32", [1], bytes(4, [0, 0, 128, 63])),
    ...bytes(12, info("y", 1, [2, "n"])),
  ]);

  it("survives truncation at every byte", () => {
    for (let length = 0; length < small.length; length++) survives(small.slice(0, length));
    expect(diagnosticOf(() => readModel(small.slice(0, 20), "m.onnx"))).toMatch(
      /^m\.onnx: .* bytes; \d+ are left$/,
    );
    expect(diagnosticOf(() => readModel(new Uint8Array(), "m.onnx"))).toContain("no graph");
  });

  it("survives any change of any byte", () => {
    for (let place = 0; place < small.length; place++) {
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) survives(small.with(place, value));
    }
  });

  it("survives random bytes", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), survives), { numRuns: 2000 });
  });

  it("checks declared lengths before anything else", () => {
    for (const length of [2n ** 31n, 2n ** 32n - 1n, 2n ** 32n + 1n, 2n ** 63n, 2n ** 64n - 1n]) {
      const file = Uint8Array.from([...number(1, 8), 0x3a, ...varint(length), 0]);
      expect(diagnosticOf(() => readModel(file, "m.onnx"))).toContain(`a length of ${length}`);
      survives(model([0x0a, ...varint(length)]));
      survives(model([0x7a, ...varint(length), 0]));
    }
  });

  it("bounds the depth of graphs within graphs, and of groups", () => {
    let graph: number[] = node("Gather", ["x", "x"], ["y"]);
    for (let depth = 0; depth < 40; depth++)
      graph = node("If", ["c"], ["y"], graphAttribute("then_branch", graph));
    expect(diagnosticOf(() => readModel(model(graph), "m.onnx"))).toContain("more than 32 deep");
    // A million start-group tags, and graphs nested by bytes that claim the whole rest.
    survives(new Uint8Array(1_000_000).fill(0x1b));
    expect(diagnosticOf(() => readModel(new Uint8Array(1000).fill(0x1b), "m.onnx"))).toContain("depth");
  });

  it("bounds what a file of tiny messages can take, and ranks that double at each node", () => {
    const one = node("A", [], []);
    const nodes = new Uint8Array(one.length * 1_000_000);
    for (let place = 0; place < nodes.length; place += one.length) nodes.set(one, place);
    const head = [0x3a, ...varint(BigInt(nodes.length))];
    const whole = new Uint8Array(head.length + nodes.length);
    whole.set(head);
    whole.set(nodes, head.length);
    expect(diagnosticOf(() => readModel(whole, "m.onnx"))).toContain("more than");
    const chain = Array.from({ length: 60 }, (_, k) => node("Gather", [`v${k}`, `v${k}`], [`v${k + 1}`]));
    const found = gathersOf([...chain.flat(), ...input("v0", 7, [2, 2])]);
    expect(found).toHaveLength(60);
    expect(found.at(-1)).toMatchObject({ ok: false });
  });

  it("keeps a thousand nodes of one name apart in linear time", () => {
    const nodes = Array.from({ length: 1000 }, () => node("Gather", ["x", "x"], ["y"], named("a/b")));
    const names = gathersOf([...nodes.flat(), ...input("x", 7, [2])]).map(({ name }) => name);
    expect(new Set(names).size).toBe(1000);
    expect(names.every((name) => /^\w+$/.test(name))).toBe(true);
  });
});
