/**
 * Scatters to what a subscript names, `x[i0, :, i1] = y`: jax's `x.at[…].set(y)` and its kin, numpy.add.at,
 * and index_put of torch and PyPTO, whose subscripts are arrays alone.
 *
 * Sources: docs.jax.dev, `ndarray.at`, and jax/_src/ops/scatter.py: negative indices count from the end
 * first, then the mode says what is out of range; an update out of range is dropped by default, and jax
 * leaves the order of duplicates of `set` open: the last stays. numpy.org/doc/stable, "numpy.ufunc.at".
 * docs.pytorch.org, `torch.Tensor.index_put_`. docs/zh/api/operation/ of hicann/pypto at 883e7df
 * (2026-08-22), the page of `index_put_`, which leaves duplicates and what is out of range open: the last
 * stays, and an error.
 */
import type { Combine } from "../access.js";
import type { IndexPolicy } from "../index-operand.js";
import { at, formatShape, formatType, indexDTypes, type DType, type TensorType } from "../types.js";
import { modeSpec, oobOf } from "./attributes.js";
import { broadcastCoords } from "./broadcast.js";
import { arrayTypes } from "./jax.js";
import { checkTypes } from "./numpy.js";
import {
  breakRule,
  checkDType,
  checkTypeOf,
  checkRank,
  defineOperator,
  intAttr,
  wordAttr,
  type AttrSpec,
  type OpInputs,
  resolvedAs,
  shapesOf,
  type Resolved,
} from "./op-def.js";
import { checkBroadcast, checkCombine, scatterOperator, writtenOobSpec } from "./scatter.js";
import { itemsOf, namedElements, subscriptSpec, type SubscriptItem } from "./subscript.js";
import { tensorTypes } from "./torch.js";

/** Returns the names of a scatter's inputs: the data, one index array or more, and values behind them. */
const arraysBetween = <
  First extends string,
  Array extends string,
  const Others extends readonly string[],
  Last extends string,
>(
  first: First,
  array: Array,
  others: Others,
  last: Last,
) =>
  ({
    inputs: [first, array, ...others, last],
    optional: others,
    namesOf: (inputs: readonly TensorType[]): readonly string[] => [
      first,
      array,
      ...others.slice(0, Math.max(0, inputs.length - 3)),
      last,
    ],
    values: [last],
  }) as const;

/** As many as an array of tilec has dims, together with the first. */
const sevenArrays = ["i1", "i2", "i3", "i4", "i5", "i6", "i7"] as const;

/**
 * Returns the resolved operator that writes values to the elements that a subscript selects, broadcasting the
 * values. Throws a RuleError for invalid inputs or attributes.
 */
function resolveNamed(inputs: OpInputs, { who, values, combine, policy, items }: SubscriptScatter): Resolved {
  checkCombine(inputs, combine, inputs.data.dtype, who);
  const last = inputs.inputs.length - 1;
  const subscripted = { inputs, arrays: last - 1, who };
  const { shape, indices, coords } = namedElements(subscripted, items ?? itemsOf(subscripted), policy);
  checkBroadcast(inputs, last, shape, values, who);
  const from = { table: last, at: broadcastCoords(at(inputs.inputs, last).shape, shape) };
  const operator = scatterOperator({ domain: shape, indices, to: coords, from, combine }, shapesOf(inputs));
  return resolvedAs(operator, policy);
}

interface SubscriptScatter {
  readonly who: string;
  /** Name that the operator gives its values. */
  readonly values: string;
  readonly combine: Combine;
  readonly policy: IndexPolicy;
  /** Absent: those of the attribute. */
  readonly items?: readonly SubscriptItem[];
}

const modes = {
  drop: "skip",
  fill: "skip",
  clip: "clamp",
  promise_in_bounds: "unchecked",
} as const;

const jaxAt = <Name extends string>(name: `jax.${Name}`, combine: Combine) =>
  defineOperator({
    name,
    ...arraysBetween("x", "i0", sevenArrays, "y"),
    writes: "copy",
    attrs: {
      subscript: subscriptSpec,
      mode: modeSpec(["drop", "fill", "clip", "promise_in_bounds"], "drop"),
    },
    resolve(inputs) {
      checkDType(inputs, "data", arrayTypes, name);
      checkRank(inputs, "data", 1, 8, name);
      const oob = modes[wordAttr(inputs.attrs, "mode") as keyof typeof modes];
      const policy = { negative: "from-end", oob } as const;
      return resolveNamed(inputs, { who: name, values: "y", combine, policy });
    },
  });

/**
 * Operator jax.at_set, JAX's `x.at[…].set(y)`: writes values to the elements that a subscript selects, in a
 * copy of x.
 */
export const jaxAtSet = jaxAt("jax.at_set", "set");
/**
 * Operator jax.at_add, JAX's `x.at[…].add(y)`: adds values to the elements that a subscript selects, in a
 * copy of x.
 */
export const jaxAtAdd = jaxAt("jax.at_add", "add");
/**
 * Operator jax.at_mul, JAX's `x.at[…].mul(y)`: multiplies the elements that a subscript selects by values of
 * y, in a copy of x.
 */
export const jaxAtMul = jaxAt("jax.at_mul", "mul");
/**
 * Operator jax.at_min, JAX's `x.at[…].min(y)`: writes the minimum of x and y to the elements that a subscript
 * selects, in a copy of x.
 */
export const jaxAtMin = jaxAt("jax.at_min", "min");
/**
 * Operator jax.at_max, JAX's `x.at[…].max(y)`: writes the maximum of x and y to the elements that a subscript
 * selects, in a copy of x.
 */
export const jaxAtMax = jaxAt("jax.at_max", "max");

/**
 * Operator numpy.add_at, NumPy's `add.at(a, indices, b)`: adds values to the elements that a subscript
 * selects, in a copy of a.
 */
export const numpyAddAt = defineOperator({
  name: "numpy.add_at",
  ...arraysBetween("a", "i0", sevenArrays, "b"),
  writes: "copy",
  attrs: { subscript: subscriptSpec, oob: writtenOobSpec("error") },
  resolve(inputs) {
    const who = "numpy.add_at";
    checkTypes(inputs, who);
    const policy = { negative: "from-end", oob: oobOf(inputs) } as const;
    return resolveNamed(inputs, { who, values: "b", combine: "add", policy });
  },
});

const accumulate = {
  key: "accumulate",
  kind: "int",
  default: 0,
  help: "1: values are added to the elements, 0: they take their place",
} as const satisfies AttrSpec;

/** Refuses (TC105) another number than 0 and 1. Returns what values do. */
function combineOf(inputs: OpInputs, who: string): Combine {
  const value = intAttr(inputs.attrs, "accumulate") ?? 0;
  if (value !== 0 && value !== 1) breakRule("TC105", inputs, `${who} takes accumulate 0 or 1, not ${value}`);
  return value === 1 ? "add" : "set";
}

/**
 * Returns the items of a subscript in which only index arrays are allowed. Throws a RuleError for an index
 * with a type outside `types` (TC104), or for more indices than dims (TC102). `who`: name of the operator.
 */
function arraysAlone(inputs: OpInputs, types: readonly DType[], who: string): readonly SubscriptItem[] {
  const arrays = inputs.inputs.slice(1, -1);
  for (const type of arrays) checkTypeOf(inputs, "indices", type, types, who);
  const rank = inputs.data.shape.length;
  if (arrays.length > rank)
    breakRule("TC102", inputs, `${who} has ${arrays.length} indices for the ${rank} dims of input`);
  return [...arrays.map((_, k): SubscriptItem => ({ kind: "array", table: k + 1 })), { kind: "ellipsis" }];
}

/**
 * Operator torch.index_put: writes values to the elements that index tensors select, in a copy of the input.
 * With `accumulate` 1, values are added.
 */
export const torchIndexPut = defineOperator({
  name: "torch.index_put",
  ...arraysBetween(
    "input",
    "indices0",
    ["indices1", "indices2", "indices3", "indices4", "indices5", "indices6", "indices7"],
    "values",
  ),
  writes: "copy",
  attrs: { accumulate, oob: writtenOobSpec("error") },
  resolve(inputs) {
    const who = "torch.index_put";
    checkDType(inputs, "data", tensorTypes, who);
    checkRank(inputs, "data", 1, 8, who);
    const items = arraysAlone(inputs, ["i64", "i32"], who);
    const policy = { negative: "from-end", oob: oobOf(inputs) } as const;
    return resolveNamed(inputs, { who, values: "values", combine: combineOf(inputs, who), policy, items });
  },
});

/** The page: every integer and float; what is accumulated of some of them. */
const putTypes: readonly DType[] = [
  ...(["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32"] as const),
];
const addedTypes: readonly DType[] = ["bf16", "f16", "f32", "i8", "i16", "i32"];

/**
 * Operator pypto.index_put_: writes values to the elements that index tensors select, in place. With
 * `accumulate` 1, values are added.
 */
export const pyptoIndexPutInPlace = defineOperator({
  framework: "pypto",
  name: "pypto.index_put_",
  ...arraysBetween("input", "indices0", ["indices1", "indices2", "indices3"], "values"),
  writes: "in place",
  attrs: { accumulate, oob: writtenOobSpec("error") },
  resolve(inputs) {
    const who = "pypto.index_put_";
    const combine = combineOf(inputs, who);
    checkDType(inputs, "data", combine === "set" ? putTypes : addedTypes, who);
    checkRank(inputs, "data", 1, 4, who);
    const items = arraysAlone(inputs, indexDTypes, who);
    const [length, ...others] = inputs.inputs.slice(1, -1).map(({ shape }) => shape);
    const wrong = [length, ...others].find((shape) => shape?.length !== 1 || shape[0] !== length?.[0]);
    if (wrong !== undefined)
      breakRule("TC103", inputs, `${who} takes indices of one dim and one length, not ${formatShape(wrong)}`);
    const values = at(inputs.inputs, inputs.inputs.length - 1);
    const expected = [at(length ?? [], 0), ...inputs.data.shape.slice(others.length + 1)];
    if (formatShape(values.shape) !== formatShape(expected))
      breakRule(
        "TC103",
        inputs,
        `${who} takes values of shape ${formatShape(expected)}, not ${formatType(values)}`,
      );
    const policy = { negative: "illegal", oob: oobOf(inputs) } as const;
    return resolveNamed(inputs, { who, values: "values", combine, policy, items });
  },
});
