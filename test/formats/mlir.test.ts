import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  elementCount,
  inputsOf,
  outputOf,
  parseModule,
  printFunc,
  type Attrs,
  type DType,
} from "../../ir/index.js";
import { compile, run, targets } from "../../src/index.js";
import { findMlirGathers } from "../../src/formats/mlir.js";
import { oracleStablehlo } from "../oracle/stablehlo.js";

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
      expect(printFunc(parseModule(text, "t.tir").module.funcs[0]!)).toBe(text);
    }
  });

  it("compile, and give the elements that the specification names", async () => {
    let ran = 0;
    for (const fact of facts) {
      const [found] = findMlirGathers(spread(fact), "t.mlir");
      if (found?.ok !== true) throw new Error(found?.diagnostic.message);
      const { func } = found;
      const kernel = compile(func, { target: targets.webgpu });
      const [data, indices] = inputsOf(func).map(({ type }) => type);
      if (elementCount(outputOf(func).type.shape) > 20_000 || elementCount(data!.shape) > 20_000) continue;
      if (data!.dtype !== "i32" && data!.dtype !== "f32") continue;
      ran++;
      const wide = indices!.dtype === "i64";
      const starts = Array.from({ length: elementCount(indices!.shape) }, (_, k) => (k * 7) % 13);
      const list = (name: string): readonly number[] => (fact.attrs[name] ?? []) as readonly number[];
      const expected = oracleStablehlo(
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
        starts.map(BigInt),
      );
      const places = Array.from({ length: elementCount(data!.shape) }, (_, k) => k);
      const inputs = {
        data: data!.dtype === "i32" ? Int32Array.from(places) : Float32Array.from(places),
        indices: wide
          ? BigInt64Array.from(starts.map(BigInt))
          : indices!.dtype === "u32"
            ? Uint32Array.from(starts)
            : Int32Array.from(starts),
      };
      for (const backend of ["reference", "sim"] as const) {
        const { outputs } = await run(kernel, inputs, { backend });
        expect([...(outputs.output as Int32Array)], printFunc(func)).toEqual(expected.positions);
      }
    }
    expect(ran).toBeGreaterThan(25);
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
      " : (tensor<2xf8E5M2>, tensor<",
      "8: stablehlo.gather: element type f8E5M2, which tilec lacks",
    ],
    ["{\n    dimension", "\n    dimension", "4: stablehlo.gather: expected {; found dimension_numbers"],
  ])("with %o as %o is refused at its place", (from, to, message) => {
    expect(text).toContain(from);
    expect(problem(text.replace(from, to))).toBe(message);
  });

  it("has complex types", () => {
    const complex = { ...facts[0]!, operand: ["c64", facts[0]!.operand[1]] } as const;
    const read = spread(complex).replaceAll("c64", "complex<f32>");
    expect(findMlirGathers(read, "t.mlir")).toMatchObject([
      { ok: true, func: { operands: [{ type: { dtype: "c64" } }, {}, {}] } },
    ]);
  });
});
