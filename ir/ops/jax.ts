/**
 * jax.numpy's take and take_along_axis.
 *
 * Source: docs.jax.dev, the pages of these names and `ndarray.at`, and jax/_src/numpy/indexing.py, which says
 * what becomes of negative indices: they count from the end, but not under `clip` and `wrap` of take and
 * `promise_in_bounds`. An index out of range gives the fill value by default; nothing is an error.
 * `fill_value` has its default here.
 */
import type { OutOfBounds } from "../access.js";
import type { IndexPolicy } from "../index-operand.js";
import { indexDTypes, type DType } from "../types.js";
import {
  type AttrSpec,
  axisOf,
  checkDType,
  checkRank,
  defineOperator,
  breakRule,
  intAttr,
  type OpInputs,
  resolvedAs,
  withoutScalars,
  wordAttr,
} from "./op-def.js";
import { axis, flatAxis, modeSpec } from "./attributes.js";
import { bitsOfInteger } from "./fill-bits.js";
import { takeAlongOperator, takeOperator } from "./take.js";

/** NaN for inexact types, the most negative and the largest number of signed and unsigned ones, true. */
const fillBits = {
  bool: 1n,
  i8: 1n << 7n,
  i16: 1n << 15n,
  i32: 1n << 31n,
  i64: 1n << 63n,
  u8: (1n << 8n) - 1n,
  u16: (1n << 16n) - 1n,
  u32: (1n << 32n) - 1n,
  u64: (1n << 64n) - 1n,
  f16: 0x7e00n,
  bf16: 0x7fc0n,
  f32: 0x7fc0_0000n,
  f64: 0x7ff8_0000_0000_0000n,
  // NaN + 0i: the real part comes first.
  c64: 0x7fc0_0000n,
  c128: 0x7ff8_0000_0000_0000n,
} as const satisfies Readonly<Partial<Record<DType, bigint>>>;

/** Element types that jax arrays have. */
export const arrayTypes = Object.keys(fillBits) as readonly (keyof typeof fillBits)[];

const policies = {
  fill: "zero",
  clip: "clamp",
  wrap: "wrap",
  promise_in_bounds: "unchecked",
} as const satisfies Readonly<Record<string, OutOfBounds>>;
type Mode = keyof typeof policies;

const fillValue = {
  key: "fillValue",
  kind: "int",
  help: "what jax's mode fill reads out of range, a whole number; absent: NaN, the lowest or the largest of the type, true",
} as const satisfies AttrSpec;

/**
 * Returns the policies for negative and out-of-range indices, and the fill bits, from the attributes `mode`
 * and `fill_value`. `wrapModes`: modes in which negative indices count from the end. Throws a RuleError
 * (TC105) for an invalid `fill_value`.
 */
function policyOf(inputs: OpInputs, wrapModes: readonly Mode[], who: string): IndexPolicy {
  const mode = wordAttr(inputs.attrs, "mode") as Mode;
  const value = intAttr(inputs.attrs, "fill_value");
  if (mode !== "fill" && value !== undefined)
    breakRule(
      "TC105",
      inputs,
      `${who} uses fill_value in mode fill only, not in mode ${mode}`,
      "set mode to fill, or leave fill_value out",
    );
  const dtype = inputs.data.dtype as keyof typeof fillBits;
  const bits = value === undefined ? fillBits[dtype] : bitsOfInteger(value, dtype);
  if (bits === undefined)
    breakRule("TC105", inputs, `${who} fills with ${value ?? 0}, which ${dtype} does not hold exactly`);
  return {
    negative: wrapModes.includes(mode) ? "from-end" : "illegal",
    oob: policies[mode],
    ...(mode === "fill" && bits !== 0n ? { fill: bits.toString() } : {}),
  };
}

function checkTypes(inputs: OpInputs, who: string): void {
  checkDType(inputs, "data", arrayTypes, who);
  checkDType(inputs, "indices", indexDTypes, who);
  checkRank(inputs, "data", 1, 8, who);
}

/**
 * Operator jax.numpy.take: selects slices along an axis, or elements of the flat array if no axis is given.
 */
export const jaxTake = defineOperator({
  name: "jax.take",
  kind: "gather",
  inputs: ["a", "indices"],
  attrs: { axis: flatAxis, mode: modeSpec(["fill", "clip", "wrap"], "fill"), fill_value: fillValue },
  resolve(given) {
    const axis = intAttr(given.attrs, "axis");
    // A scalar has no axis, and counts as flat.
    const inputs = axis === undefined ? { ...withoutScalars(given), indices: given.indices } : given;
    checkTypes(inputs, "jax.take");
    const { shape } = inputs.data;
    const along = axis === undefined ? undefined : axisOf(inputs);
    if ((along === undefined ? shape.includes(0) : shape[along] === 0) && !inputs.indices.shape.includes(0))
      breakRule("TC103", inputs, "jax.take takes no elements from an empty axis");
    const policy = policyOf(inputs, ["fill"], "jax.take");
    const operator = takeOperator(inputs, along, policy);
    return resolvedAs(operator, policy);
  },
});

/** Operator jax.numpy.take_along_axis: selects elements along an axis. */
export const jaxTakeAlongAxis = defineOperator({
  name: "jax.take_along_axis",
  kind: "gather_elements",
  inputs: ["arr", "indices"],
  attrs: {
    axis: { ...axis, default: -1 },
    mode: modeSpec(["fill", "clip", "promise_in_bounds"], "fill"),
    fill_value: fillValue,
  },
  resolve(inputs) {
    checkTypes(inputs, "jax.take_along_axis");
    const along = axisOf(inputs);
    // An empty axis gives zeros, whatever the mode.
    const policy: IndexPolicy =
      inputs.data.shape[along] === 0
        ? { negative: "illegal", oob: "zero" }
        : policyOf(inputs, ["fill", "clip"], "jax.take_along_axis");
    const operator = takeAlongOperator(inputs, along, policy, "jax.take_along_axis");
    return resolvedAs(operator, policy);
  },
});
