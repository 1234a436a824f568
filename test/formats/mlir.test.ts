import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { elementCount, inputsOf, printFunc, type Attrs, type DType } from "../../ir/index.js";
import { compile, run, targets } from "../../src/index.js";
import { findMlirGathers } from "../../src/formats/mlir.js";
import { oracleStablehlo } from "../oracle/stablehlo.js";
import { countWork } from "../support/count-work.js";
import { testRunner } from "../support/gpu.js";
import { littleEndian } from "../support/little-endian.js";
import { parsed } from "../support/parsed.js";

type Pair = readonly [dtype: DType, shape: readonly number[]];

/** Types and dimension numbers of the gathers of static shape in StableHLO's own tests, each once. */
interface Fact {
  readonly operand: Pair;
  readonly startIndices: Pair;
  readonly result: Pair;
  readonly attrs: Attrs;
}
const facts = JSON.parse(
  readFileSync(new URL("stablehlo-gathers.json", import.meta.url), "utf8"),
) as readonly Fact[];

const mlirType = ([dtype, shape]: Pair): string =>
  `tensor<${[...shape, dtype.replace(/^u(?=\d)/, "ui").replace("bool", "i1")].join("x")}>`;

const numbersOf = ({ attrs }: Fact): string =>
  Object.entries(attrs)
    .filter(([name]) => name !== "slice_sizes")
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join(", ");

/** As the interpreter's tests write it, in a function that takes the operands. */
const spread = (fact: Fact): string => `// A comment names "stablehlo.gather"(%a, %b).
func.func @spread(%operand: ${mlirType(fact.operand)}, %c: ${mlirType(fact.startIndices)}) {
  %result = "stablehlo.gather"(%operand, %c) {
    dimension_numbers = #stablehlo.gather<
      ${numbersOf(fact)}>,
    slice_sizes = array<i64: ${(fact.attrs["slice_sizes"] as readonly number[]).join(", ")}>,
    indices_are_sorted = false, someattr
  } : (${mlirType(fact.operand)}, ${mlirType(fact.startIndices)}) -> ${mlirType(fact.result)}
  check.expect_eq_const %result, dense<1.0e+00> : ${mlirType(fact.result)}
}`;

/** As tools print it: properties, on one line, operands that are results of several. */
const printed = (fact: Fact): string =>
  `module { func.func private @printed() { %18 = "stablehlo.gather"(%9#0, %9#1) <{dimension_numbers = #stablehlo.gather<${numbersOf(fact)}>, indices_are_sorted = true, slice_sizes = dense<${JSON.stringify(fact.attrs["slice_sizes"])}> : tensor<2xi64>}> : (${mlirType(fact.operand)}, ${mlirType(fact.startIndices)}) -> ${mlirType(fact.result)}
} }`;

/** stablehlo/tests/interpret/gather.mlir, its gather with batching dims. */
const interpreted = `func.func @gather_op_with_batching_dim_test() {
  %operand = stablehlo.constant dense<[[1]]> : tensor<2x3x4x2xi64>
  %result = "stablehlo.gather"(%operand, %start_indices) {
    dimension_numbers = #stablehlo.gather<
      offset_dims = [3, 4],
      collapsed_slice_dims = [1],
      operand_batching_dims = [0],
      start_indices_batching_dims = [1],
      start_index_map = [2, 1],
      index_vector_dim = 3>,
    slice_sizes = array<i64: 1, 1, 2, 2>,
    indices_are_sorted = false
  } : (tensor<2x3x4x2xi64>, tensor<2x2x3x2xi64>) -> tensor<2x2x3x2x2xi64>
  func.return
}`;

const typeOf = ([dtype, shape]: Pair) => ({ dtype, shape });

describe("the gathers of StableHLO's own tests", () => {
  it.each(["spread", "printed"] as const)("read from text as %s", (form) => {
    expect(facts.length).toBeGreaterThan(40);
    for (const fact of facts) {
      const [found, ...others] = findMlirGathers(form === "spread" ? spread(fact) : printed(fact), "t.mlir");
      expect(others).toEqual([]);
      if (found?.ok !== true) throw new Error(found?.diagnostic.message);
      expect(found.func).toMatchObject({ name: form, op: "stablehlo.gather", attrs: fact.attrs });
      expect(found.func.operands.map(({ type }) => type)).toEqual(
        [fact.operand, fact.startIndices, fact.result].map(typeOf),
      );
      const text = printFunc(found.func);
      expect(printFunc(parsed(text))).toBe(text);
    }
  });

  it("compile, and give the elements that the specification names on every backend", async () => {
    const runner = await testRunner();
    const backends = ["reference", "sim", ...(runner === undefined ? [] : (["webgpu"] as const))] as const;
    const beyondTests: Fact[] = [];
    for (const fact of facts) {
      const [found] = findMlirGathers(spread(fact), "t.mlir");
      if (found?.ok !== true) throw new Error(found?.diagnostic.message);
      const { func } = found;
      const kernel = compile(func, { target: targets.webgpu });
      const [data, indices] = inputsOf(func).map(({ type }) => type);
      if (elementCount(data!.shape) > 1_000_000) {
        beyondTests.push(fact);
        continue;
      }
      const starts = Array.from({ length: elementCount(indices!.shape) }, (_, k) => BigInt((k * 7) % 13));
      const list = (name: string): readonly number[] => (fact.attrs[name] ?? []) as readonly number[];
      const { positions } = oracleStablehlo(
        {
          operand: fact.operand[1],
          startIndices: fact.startIndices[1],
          offsetDims: list("offset_dims"),
          collapsedSliceDims: list("collapsed_slice_dims"),
          operandBatchingDims: list("operand_batching_dims"),
          startIndicesBatchingDims: list("start_indices_batching_dims"),
          startIndexMap: list("start_index_map"),
          indexVectorDim: (fact.attrs["index_vector_dim"] ?? 0) as number,
          sliceSizes: list("slice_sizes"),
        },
        starts,
      );
      const places = Array.from({ length: elementCount(data!.shape) }, (_, k) => BigInt(k));
      const inputs = {
        data: littleEndian(data!.dtype, places),
        indices: littleEndian(indices!.dtype, starts),
      };
      for (const backend of backends) {
        const { outputs } = await run(kernel, inputs, { backend, runner });
        const { buffer } = outputs.output as Int32Array;
        const expected = littleEndian(data!.dtype, positions.map(BigInt));
        expect(new Uint8Array(buffer).subarray(0, expected.length), printFunc(func)).toEqual(expected);
      }
    }
    expect(facts).toHaveLength(47);
    expect(beyondTests.map(({ operand }) => operand[1])).toEqual([[5, 200, 100, 300]]);
  });

  it("give the values that the interpreter's test states", async () => {
    const [found] = findMlirGathers(interpreted, "gather.mlir");
    if (found?.ok !== true) throw new Error(found?.diagnostic.message);
    const counted = Array.from({ length: 48 }, (_, k) => BigInt(k + 1));
    const starts = [0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9, 0, 0, 2, 1, 2, 2, 1, 2, 0, 1, 1, 0];
    const { outputs } = await run(compile(found.func, { target: targets.webgpu }), {
      data: BigInt64Array.from(counted),
      indices: BigInt64Array.from(starts.map(BigInt)),
    });
    const windows = [1, 3, 13, 33, 35, 41, 1, 13, 21, 43, 33, 27];
    const expected = windows.flatMap((first) => [first, first + 1, first + 2, first + 3].map(BigInt));
    expect([...(outputs.output as BigInt64Array)]).toEqual(expected);
  });
});

describe("an MLIR text", () => {
  const text = spread(facts[0]!);
  const problem = (changed: string) => {
    const [found] = findMlirGathers(changed, "t.mlir");
    return found?.ok === false ? `${found.diagnostic.span?.line ?? 0}: ${found.diagnostic.message}` : "read";
  };

  it.each<[string, string, string]>([
    ["offset_dims", "ofset_dims", "5: stablehlo.gather: no dimension number ofset_dims"],
    ["array<i64: 1,", "array<i64: 2147483649,", "6: stablehlo.gather: 2147483649 is beyond 2^31"],
    ["(tensor<", "(tensor<?x", "8: stablehlo.gather: the tensor has no fixed shape"],
    ["(tensor<", "(tensor<4x?x", "8: stablehlo.gather: the tensor has no fixed shape"],
    ["(tensor<", "(tensor<*x", "8: stablehlo.gather: the tensor has no fixed shape"],
    [
      " : (tensor<",
      " : (tensor<!quant.uniform<i8:f32, 1.0>>, tensor<",
      "3: stablehlo.gather: quantized types, which tilec lacks",
    ],
    [
      " : (tensor<",
      " : (tensor<2xf4E2M1FN>, tensor<",
      "8: stablehlo.gather: element type f4E2M1FN, which tilec lacks",
    ],
    ["{\n    dimension", "\n    dimension", "4: stablehlo.gather: expected {; found dimension_numbers"],
  ])("with %o as %o is refused at its place", (from, to, message) => {
    expect(text).toContain(from);
    expect(problem(text.replace(from, to))).toBe(message);
  });

  it("is read by work that grows with the text, however its lines are broken", () => {
    const operation = text.slice(text.lastIndexOf('"stablehlo.gather"('), text.indexOf("\n  check"));
    for (const between of ["\n", " "]) {
      const workOf = (gathers: number): number => {
        const one = operation.replaceAll("\n", between);
        const all = Array.from({ length: gathers }, () => one).join(between);
        return countWork(() => {
          expect(findMlirGathers(all, "t.mlir").filter(({ ok }) => ok)).toHaveLength(gathers);
        });
      };
      expect(workOf(80)).toBeLessThan(4.5 * workOf(20));
    }
  });

  it("is found behind a string with two slashes, and not in a comment or a string", () => {
    const operation = text.slice(text.lastIndexOf('"stablehlo.gather"'));
    const line = (before: string): number => findMlirGathers(before + operation, "t.mlir").length;
    const all = findMlirGathers(operation, "t.mlir").length;
    expect(line('%a = "http://x"() : () -> () %0 = ')).toBe(all);
    expect(line('%a = "a \\" // b"() : () -> () %0 = ')).toBe(all);
    expect(line("// ")).toBe(all - 1);
    expect(line('%a = "x" // %0 = ')).toBe(all - 1);
  });

  it("is told its line and column, whatever stands before it", () => {
    const one = text.slice(text.lastIndexOf('"stablehlo.gather"')).replace("offset_dims", "ofset_dims");
    const [first] = findMlirGathers(`\n\n${one}`, "t.mlir");
    const span = first?.ok === false ? first.diagnostic.span : undefined;
    const [alone] = findMlirGathers(one, "t.mlir");
    const own = alone?.ok === false ? alone.diagnostic.span : undefined;
    expect(span).toEqual({ ...own, line: (own?.line ?? 0) + 2 });
  });

  it("has complex types", () => {
    const complex = { ...facts[0]!, operand: ["c64", facts[0]!.operand[1]] } as const;
    const read = spread(complex).replaceAll("c64", "complex<f32>");
    expect(findMlirGathers(read, "t.mlir")).toMatchObject([
      { ok: true, func: { operands: [{ type: { dtype: "c64" } }, {}, {}] } },
    ]);
  });
});

describe("slice sizes as a dense attribute", () => {
  const gather = (rank: number, dense: string): string => {
    const dims = Array.from({ length: rank }, (_, k) => k);
    return `%0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = ${JSON.stringify(dims)}, start_index_map = ${JSON.stringify(dims)}, index_vector_dim = 0>, slice_sizes = ${dense}} : (tensor<${"9x".repeat(rank)}f32>, tensor<${rank}xi64>) -> tensor<9xf32>`;
  };
  const read = (rank: number, dense: string) => {
    const [found] = findMlirGathers(gather(rank, dense), "t.mlir");
    return found?.ok === true ? found.func.attrs["slice_sizes"] : found?.diagnostic.message;
  };

  it.each<[string, number, readonly number[]]>([
    ["dense<1> : tensor<3xi64>", 3, [1, 1, 1]],
    ["dense<[1, 2, 3]> : tensor<3xi64>", 3, [1, 2, 3]],
    ["dense<7> : tensor<1xi32>", 1, [7]],
    ["dense<2> : tensor<2xi8>", 2, [2, 2]],
    ["dense<2> : tensor<2xsi16>", 2, [2, 2]],
    ["dense<2> : tensor<2xui8>", 2, [2, 2]],
    ["dense<2> : tensor<2xui64>", 2, [2, 2]],
    ["dense<2> : tensor<2xi4>", 2, [2, 2]],
    ["dense<true> : tensor<2xi1>", 2, [1, 1]],
    ["dense<[true, false]> : tensor<2xi1>", 2, [1, 0]],
    ["dense<0x3> : tensor<2xi64>", 2, [3, 3]],
    ["dense<0xA> : tensor<2xi64>", 2, [10, 10]],
    ["dense<0x00000007> : tensor<2xi64>", 2, [7, 7]],
    ["dense<[0x1, 0x0b]> : tensor<2xi64>", 2, [1, 11]],
    ["dense<-1> : tensor<2xi64>", 2, [-1, -1]],
    ["dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>", 4, [1, 2, 3, 4]],
    ["dense<5> : tensor<2x2xi64>", 4, [5, 5, 5, 5]],
    ["dense<4> : tensor<i64>", 1, [4]],
    ["dense<> : tensor<0xi64>", 0, []],
    ["dense<[]> : tensor<0xi64>", 0, []],
    ["dense<1> : tensor<0xi64>", 0, []],
    ['dense<"0x0200000000000000"> : tensor<3xi64>', 3, [2, 2, 2]],
    ['dense<"0x01000000000000000300000000000000"> : tensor<2xi64>', 2, [1, 3]],
    ['dense<"0xFEFFFFFF02000000"> : tensor<2xi32>', 2, [-2, 2]],
    ['dense<"0xFF"> : tensor<2xui8>', 2, [255, 255]],
    ['dense<"0x0102"> : tensor<2xi4>', 2, [1, 2]],
    ['dense<"0xFF"> : tensor<3xi1>', 3, [1, 1, 1]],
    ['dense<"0x05"> : tensor<3xi1>', 3, [1, 0, 1]],
  ])("%s", (dense, rank, sizes) => {
    expect(read(rank, dense)).toEqual(sizes);
  });

  it.each<[string, string]>([
    ["dense<1.5> : tensor<2xi64>", "dense<…> takes whole numbers, not 1.5"],
    ["dense<1> : tensor<2xf32>", "dense<…> takes whole numbers, not f32"],
    ["dense<[[1], [2]]> : tensor<2xi64>", "dense<…> is a list of another shape than its type"],
    ["dense<[[1], 2]> : tensor<2x1xi64>", "dense<…> is a list of another shape than its type"],
    ["dense<> : tensor<2xi64>", "dense<…> has no element, and its type has 2"],
    ["dense<one> : tensor<2xi64>", "dense<…> takes whole numbers, not one"],
    ["dense<2147483649> : tensor<2xi64>", "2147483649 is beyond 2^31"],
    [`dense<${"[".repeat(10_000)}> : tensor<2xi64>`, "dense<…> has lists more than 8 deep"],
    ['dense<"0x0"> : tensor<2xi8>', 'dense<…> takes bytes as "0x…", two digits each, not "0x0"'],
    ['dense<"0x010203"> : tensor<2xi16>', "dense<…> has 3 bytes, and its type has 2 elements"],
    ['dense<"0x010203"> : tensor<2xi8>', "dense<…> has 3 elements, and its type has 2"],
    ['dense<"0x0102"> : tensor<2xi1>', "dense<…> has 2 bytes, and its type has 2 elements"],
  ])("%s is refused", (dense, message) => {
    expect(read(2, dense)).toBe(`stablehlo.gather: ${message}`);
  });

  it("of one number for all dims: the program of a report gives the elements that its indices name", async () => {
    const [found] = findMlirGathers(
      readFileSync(new URL("inputs/splat.mlir", import.meta.url), "utf8"),
      "splat.mlir",
    );
    if (found?.ok !== true) throw new Error(found?.diagnostic.message);
    expect(found.func.attrs["slice_sizes"]).toEqual([1]);
    const data = Float32Array.from({ length: 2592000 }, (_, k) => k % 2 ** 20);
    const indices = Int32Array.from({ length: 518400 }, (_, k) => (k * 7919) % 2592000);
    const { outputs } = await run(compile(found.func, { target: targets.cpu }), { data, indices });
    expect(outputs.output).toEqual(Float32Array.from(indices, (index) => data[index]!));
  });
});

describe("a gather that is not read", () => {
  const dynamic = readFileSync(new URL("inputs/dynamic-gather.mlir", import.meta.url), "utf8");
  const refusals = (text: string) =>
    findMlirGathers(text, "t.mlir").map((found) =>
      found.ok
        ? found.func.name
        : [found.diagnostic.code, found.diagnostic.message, found.diagnostic.span?.line],
    );

  it("is refused by its name and its place, with what to write", () => {
    const message =
      "stablehlo.dynamic_gather: its slice sizes are an operand, and a gather of static shapes needs their values";
    expect(refusals(dynamic)).toEqual([["TC003", message, 3]]);
    const [found] = findMlirGathers(dynamic, "t.mlir");
    expect(found?.ok === false && found.diagnostic.hint).toContain("slice_sizes = array<i64: …>");
    const mhlo = spread(facts[0]!).replaceAll("stablehlo.gather", "mhlo.gather");
    expect(refusals(mhlo)).toEqual([["TC003", "mhlo.gather: an operation of MHLO", 3]]);
    expect(refusals(dynamic.replace("stablehlo.dynamic", "mhlo.dynamic"))).toMatchObject([["TC003", {}, 3]]);
  });

  it("is read where its hint is followed", () => {
    const written = dynamic
      .replace("dynamic_gather", "gather")
      .replace("(%a, %i, %c)", "(%a, %i)")
      .replace("indices_are_sorted", "slice_sizes = array<i64: 1, 2>, indices_are_sorted")
      .replace(", tensor<2xi64>) ->", ") ->");
    expect(refusals(written)).toEqual(["main"]);
    const mhlo = spread(facts[0]!).replaceAll("stablehlo.gather", "mhlo.gather");
    expect(refusals(mhlo.replaceAll("mhlo", "stablehlo"))).toEqual(["spread"]);
  });

  it("costs no other gather of the text", () => {
    expect(refusals(dynamic + spread(facts[0]!))).toEqual([expect.any(Array), "spread"]);
  });
});
