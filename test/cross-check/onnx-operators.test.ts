/** Types, shapes, and elements of small integer tensors, that inference finds for the outputs of each operator: those that onnxruntime computes. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OnnxRuntime, OnnxTensor } from "../../bench/onnxruntime.js";
import { packageFile } from "../../src/device/package-files.js";
import { readModel } from "../../src/formats/onnx/index.js";
import { walkModel } from "../../src/formats/onnx/infer.js";
import { shapeRules } from "../../src/formats/onnx/shape-rules.js";
import { constantElements, type TrackedValue } from "../../src/formats/onnx/value.js";
import { bytes, i64s, initializer, input, model, node, onnxTypes, text } from "../support/onnx-bytes.js";
import { requireOnnxRuntime } from "../support/onnxruntime.js";
import { size, trials, type Operand, type Trial, type TrialType } from "./onnx-trials.js";

/** Element types: onnxruntime's name, and the array of its elements. */
const arrays = {
  f32: ["float32", Float32Array],
  f64: ["float64", Float64Array],
  f16: ["float16", Uint16Array],
  i64: ["int64", BigInt64Array],
  i32: ["int32", Int32Array],
  i16: ["int16", Int16Array],
  u8: ["uint8", Uint8Array],
  i8: ["int8", Int8Array],
  bool: ["bool", Uint8Array],
} as const;
/** TensorProto.DataType by onnxruntime's names. */
const codes: Readonly<Record<string, number>> = {
  string: onnxTypes.string,
  uint32: onnxTypes.u32,
  ...Object.fromEntries(
    Object.entries(arrays).map(([dtype, [name]]) => [name, onnxTypes[dtype as TrialType]]),
  ),
};

const named = ({ operands, outputs = 1 }: Trial) => ({
  inputs: operands.map((operand, k) => (operand === undefined ? "" : `x${k}`)),
  outputs: Array.from({ length: outputs }, (_, k) => `y${k}`),
});

const elementBytes = ({ dtype, values = [] }: Operand): number[] => {
  if (dtype === "i64") return i64s(values);
  if (dtype === "string") throw new Error("no trial fixes strings");
  const [, ArrayType] = arrays[dtype];
  return [...new Uint8Array(new (ArrayType as Float32ArrayConstructor)(values).buffer)];
};

type Declare = (operand: Operand, name: string) => readonly number[];

const initial: Declare = ({ dtype, dims, ...rest }, name) =>
  initializer(onnxTypes[dtype], dims, bytes(9, elementBytes({ dtype, dims, ...rest })), name);
const declared: Declare = ({ dtype, dims }, name) => input(name, onnxTypes[dtype], dims);
/** Without a fixed extent: the names of dims say where they are from. */
const symbolic: Declare = ({ dtype, dims }, name) =>
  input(
    name,
    onnxTypes[dtype],
    dims.map((_, k) => `${name}_${k}`),
  );

function graphOf(op: string, trial: Trial, fixed: Declare, fed: Declare): readonly number[] {
  const { inputs, outputs } = named(trial);
  return [
    ...node(op, inputs, outputs, trial.attributes ?? []),
    ...text(2, "g"),
    ...trial.operands.flatMap((operand, k) => {
      if (operand === undefined) return [];
      return (operand.values === undefined ? fed : fixed)(operand, `x${k}`);
    }),
  ];
}

function inferred(
  op: string,
  trial: Trial,
  fixed: Declare,
  fed: Declare,
): readonly (TrackedValue | undefined)[] {
  let found: readonly (TrackedValue | undefined)[] = [];
  walkModel(
    readModel(model(graphOf(op, trial, fixed, fed), trial.opset, 11), "trial"),
    {},
    {
      visit: () => undefined,
      leave: ({ outputs }) => {
        found = outputs;
      },
      contradicted: () => undefined,
      returned: () => undefined,
    },
  );
  return found;
}

type TypedTensor = OnnxTensor & { readonly type: string };

/** Undefined where onnxruntime has no kernel of that opset. */
async function computed(
  ort: OnnxRuntime,
  op: string,
  trial: Trial,
): Promise<readonly TypedTensor[] | undefined> {
  const { outputs } = named(trial);
  const graph = [
    ...graphOf(op, trial, initial, symbolic),
    ...outputs.flatMap((name) => bytes(12, text(1, name))),
  ];
  let session;
  try {
    session = await ort.InferenceSession.create(model(graph, trial.opset, 11), {
      intraOpNumThreads: 1,
      logSeverityLevel: 4,
    });
  } catch (thrown) {
    if (
      /NOT_IMPLEMENTED|is not a registered function\/op|Could not find an implementation/i.test(
        String(thrown),
      )
    )
      return undefined;
    throw thrown;
  }
  const feeds = trial.operands.flatMap((operand, k) => {
    if (operand === undefined || operand.values !== undefined) return [];
    const { dtype, dims } = operand;
    if (dtype === "string")
      return [
        [
          `x${k}`,
          new ort.Tensor(
            "string",
            Array.from({ length: size(dims) }, () => "ab"),
            dims,
          ),
        ] as const,
      ];
    const [name, ArrayType] = arrays[dtype];
    return [[`x${k}`, new ort.Tensor(name, new ArrayType(size(dims)), dims)] as const];
  });
  const run = await session.run(Object.fromEntries(feeds));
  await session.release();
  return outputs.map((name) => run[name] as TypedTensor);
}

const ort = await requireOnnxRuntime();

describe("the table of operators", () => {
  it("has every operator of ONNX but those on values that are no tensors, and those with graphs of their own", (context) => {
    if (ort === undefined) return context.skip();
    // Generated from ONNX's own definitions.
    const page = readFileSync(
      packageFile("bench/node_modules/onnxruntime-web/docs/webgl-operators.md"),
      "utf8",
    );
    const names = [...page.matchAll(/^\| \[(\w+)\]/gm)].map(([, name = ""]) => name);
    expect(names.length).toBeGreaterThan(190);
    const others = names.filter((name) => !Object.hasOwn(shapeRules, name));
    const sequences = others.filter((name) => /Sequence|^Optional/.test(name));
    // The walk itself gives the value of a Constant, and takes the branch of an If.
    expect(others.filter((name) => !sequences.includes(name))).toEqual(["Constant", "If", "Loop", "Scan"]);
  });

  it("has nodes to compare of each", () => {
    const own = Object.keys(shapeRules).filter((op) => !op.includes("."));
    expect(Object.keys(trials).sort()).toEqual(own.sort());
  });
});

/** The extents where each dim that has a name has what stands there in the operand. */
const withNames = (trial: Trial, dims: NonNullable<TrackedValue["dims"]>, actual: readonly number[]) =>
  dims.map((dim, k) => {
    if (dim === "") return actual[k];
    const [, operand = "", place = ""] = typeof dim === "string" ? (/^x(\d+)_(\d+)$/.exec(dim) ?? []) : [];
    return typeof dim === "number" ? dim : trial.operands[Number(operand)]?.dims[Number(place)];
  });

describe("onnxruntime agrees about the outputs of", () => {
  it.for(Object.entries(trials))("%s", async ([op, own], context) => {
    if (ort === undefined || typeof own === "string") return context.skip();
    let compared = 0;
    const property = fc.asyncProperty(own.trial, async (trial) => {
      const expected = await computed(ort, op, trial);
      if (expected === undefined) return;
      compared++;
      const known = inferred(op, trial, initial, declared);
      const ways = {
        known,
        "of open dims": inferred(op, trial, initial, symbolic),
        "of open values": inferred(op, trial, declared, declared),
      };
      for (const [k, { dims, type, data }] of expected.entries()) {
        for (const [way, values] of Object.entries(ways)) {
          const { dataType, dims: found = dims } = values[k] ?? {};
          const where = `output ${k} ${way}, opset ${trial.opset}`;
          expect({ dataType, dims: withNames(trial, found, dims) }, where).toEqual({
            dataType: codes[type],
            dims: [...dims],
          });
        }
        if (own.open === undefined) expect(known[k]?.dims, `output ${k}`).toEqual([...dims]);
        const elements = constantElements(known[k]);
        if (elements !== undefined && !elements.includes(undefined))
          expect(elements.map(Number)).toEqual(
            Array.from(data as unknown as ArrayLike<bigint | number>, Number),
          );
      }
    });
    await fc.assert(property, { numRuns: 16, seed: 7 });
    expect(compared).toBeGreaterThan(3);
  });
});
