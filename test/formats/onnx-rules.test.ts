/** Rules of shapes on what no valid model has: models are untrusted, and a rule neither throws nor says what cannot be. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { OnnxAttribute, OnnxNode } from "../../src/formats/onnx/index.js";
import { inferOutputs, shapeRules } from "../../src/formats/onnx/shape-rules.js";
import { tensorValue, type TrackedValue } from "../../src/formats/onnx/value.js";

const whole = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -3, max: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom(2 ** 31, -(2 ** 31), 2 ** 40, 2 ** 53, 2 ** 62, -(2 ** 62)) },
);
const dim = fc.oneof(
  fc.integer({ min: 0, max: 5 }),
  fc.constantFrom<number | string>("", "batch", 2 ** 31, 2 ** 40),
);

const value: fc.Arbitrary<TrackedValue | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.record(
    { dataType: fc.constantFrom(0, 1, 2, 6, 7, 8, 9, 14, 22, 99), dims: fc.array(dim, { maxLength: 5 }) },
    { requiredKeys: [] },
  ),
  // Known elements, of a list or a scalar, or of another number than the dims say.
  fc.array(whole, { maxLength: 6 }).chain((elements) =>
    fc.record({
      dataType: fc.constantFrom(6, 7, 9),
      dims: fc.constantFrom<readonly number[]>([elements.length], [], [2, 2]),
      elements: fc.constant(elements.map(BigInt)),
    }),
  ),
);

const names = [
  ...[
    "axis",
    "axes",
    "perm",
    "to",
    "dtype",
    "start",
    "end",
    "k",
    "split",
    "num_outputs",
    "keepdims",
    "group",
  ],
  ...[
    "kernel_shape",
    "strides",
    "pads",
    "dilations",
    "output_shape",
    "output_padding",
    "auto_pad",
    "ceil_mode",
  ],
  ...[
    "batch_dims",
    "blocksize",
    "hidden_size",
    "direction",
    "layout",
    "equation",
    "scales",
    "sample_size",
    "shape",
  ],
  ...["noop_with_empty_axes", "q_num_heads", "kv_num_heads", "bits", "gather_axis", "pooled_shape", "value"],
  ...[
    "output_height",
    "output_width",
    "ngram_indexes",
    "onesided",
    "inverse",
    "reduction",
    "fmod",
    "allowzero",
  ],
];
const attribute: fc.Arbitrary<OnnxAttribute> = fc.oneof(
  whole.map((own) => ({ kind: "int" as const, value: BigInt(own) })),
  fc.array(whole, { maxLength: 5 }).map((own) => ({ kind: "ints" as const, values: own.map(BigInt) })),
  fc
    .constantFrom("ij,jk->ik", "...", "->", "i...j,", "SAME_UPPER", "VALID", "none", "bidirectional", "")
    .map((own) => ({ kind: "string" as const, values: [own] })),
  fc.constant({ kind: "floats" as const, bytes: new Uint8Array(8) }),
  fc.constant({ kind: "other" as const }),
);

const input = fc
  .record({
    op: fc.constantFrom(...Object.keys(shapeRules)),
    inputs: fc.array(value, { maxLength: 8 }),
    attributes: fc.array(fc.tuple(fc.constantFrom(...names), attribute), { maxLength: 8 }),
    outputs: fc.integer({ min: 1, max: 4 }),
    opset: fc.integer({ min: 1, max: 28 }),
  })
  .map(({ op, inputs, attributes, outputs, opset }) => {
    const [domain, own] = op.includes(".") ? ["com.microsoft", "GatherBlockQuantized"] : ["", op];
    const node: OnnxNode = {
      name: "n",
      op: own,
      domain,
      inputs: inputs.map((each, k) => (each === undefined ? "" : `x${k}`)),
      outputs: Array.from({ length: outputs }, (_, k) => `y${k}`),
      attributes: new Map(attributes),
    };
    return { node, inputs, opset };
  });

it("neither throw nor give a shape that no tensor has", () => {
  fc.assert(
    fc.property(input, (given) => {
      for (const own of inferOutputs(given)) {
        const { dims = [], elements } = own;
        expect(dims.length).toBeLessThanOrEqual(64);
        for (const extent of dims)
          if (typeof extent === "number") expect(Number.isSafeInteger(extent) && extent >= 0).toBe(true);
        // An input that is passed on has what it had.
        if (given.inputs.some((other) => other?.elements === elements)) continue;
        expect(elements?.length ?? 0).toBeLessThanOrEqual(64);
        if (elements !== undefined)
          expect(dims.reduce<number>((all, extent) => all * Number(extent), 1)).toBe(elements.length);
        tensorValue(own);
      }
    }),
    { numRuns: 4000 },
  );
});
