/** Builders with numpy's arguments. Each throws a CompileError (TC1xx) where numpy's rules are broken. */
import { defined, CompileError, error, type ArgumentsOf, type SourceFunc } from "../../ir/index.js";
import { problemsOf, refusal, type Field } from "../../backends/index.js";
import { numpyIndex, numpyTake, numpyTakeAlongAxis } from "../../ir/ops/numpy.js";
import { numpyPutAlongAxis } from "../../ir/ops/numpy-scatter.js";
import { numpyAddAt } from "../../ir/ops/subscript-scatter.js";
import { attributeField, checkArguments, pairField } from "../api/check-options.js";
import { program, tensorTypeOf, type TypePair } from "../api/program.js";
import { builder, type BuilderArguments } from "./builder.js";

/**
 * Arguments of {@link take}. Without `axis`, the array is read as flat. `mode` is `raise`, `wrap` or `clip`,
 * default `raise`.
 */
export type NumpyTakeArguments = BuilderArguments<typeof numpyTake>;
/**
 * Arguments of {@link takeAlongAxis}. `axis` is -1 by default. `oob` is the out-of-range policy, default
 * `error` as in numpy.
 */
export type NumpyTakeAlongAxisArguments = BuilderArguments<typeof numpyTakeAlongAxis>;

/** Builds numpy.take(a, indices, axis, mode). Output shape: a[:axis] + indices + a[axis+1:]. */
export const take = builder(numpyTake);

/**
 * Builds numpy.take_along_axis(arr, indices, axis). Output shape: the broadcast shape of both inputs, with
 * the extent of indices along axis.
 */
export const takeAlongAxis = builder(numpyTakeAlongAxis);

/**
 * Entry of a numpy index: the type of an index array, an integer, a slice such as `"1:8:2"`, `"..."`, or null
 * for numpy.newaxis.
 */
export type NumpyIndexEntry = TypePair | number | string | null;

/** Arguments of the builder of `x[key]`. `oob` is the out-of-range policy, default `error` as in numpy. */
export interface NumpyIndexArguments extends Pick<ArgumentsOf<typeof numpyIndex>, "oob"> {
  readonly x: TypePair;
  /** Entries in the brackets, at least one of them an array. */
  readonly key: readonly NumpyIndexEntry[];
}

const keyField: Field = {
  code: "TC105",
  takes: 'what stands in the brackets, such as [["i64", [3]], ":", 0]',
  problems(value, path) {
    if (!Array.isArray(value)) return [refusal(keyField, value, path)];
    return value.flatMap((entry: unknown, k) => {
      if (typeof entry === "string" || typeof entry === "number" || entry === null) return [];
      return problemsOf(pairField, entry, `${path}[${k}]`);
    });
  },
};

const fields: Readonly<Record<string, Field>> = { x: pairField, key: keyField, oob: attributeField };

/**
 * Builds the program of x[key] with NumPy's advanced indexing: `index({ x, key: [["i64", [2, 1]], ":",
 * ["i64", [3]]] })` is x[i, :, j].
 */
export function index(given: NumpyIndexArguments): SourceFunc {
  checkArguments(numpyIndex.name, given, fields, ["x", "key"]);
  const { x, key, oob } = given;
  const arrays: TypePair[] = [];
  const entries = key.map((entry) => {
    if (entry === null) return "newaxis";
    if (typeof entry !== "object") return String(entry);
    arrays.push(entry);
    return `i${arrays.length - 1}`;
  });
  const [first, ...others] = arrays;
  if (first === undefined) {
    const hint = "indices of integers, slices and newaxis alone make a view, which no gather is needed for";
    throw new CompileError([error("TC105", "key has no array of indices", { hint })]);
  }
  return program({
    op: numpyIndex.name,
    attrs: { subscript: entries.join(", "), ...defined({ oob }) },
    data: tensorTypeOf(x),
    indices: tensorTypeOf(first),
    others: others.map(tensorTypeOf),
  });
}

/**
 * `axis`: absent, the array counts as flat; off it, `values` are broadcast to the indices; `oob`, which numpy says is `error`.
 */
export type NumpyPutAlongAxisArguments = BuilderArguments<typeof numpyPutAlongAxis>;
/**
 * `subscript`: what stands in the brackets, of the arrays `i0`, `i1`, …; `oob`, which numpy says is `error`.
 */
export type NumpyAddAtArguments = BuilderArguments<typeof numpyAddAt>;

/** numpy.put_along_axis(arr, indices, values, axis), as a new array. Output shape: that of arr. */
export const putAlongAxis = builder(numpyPutAlongAxis);

/** numpy.add.at(a, subscript, b), as a new array. Output shape: that of a. */
export const addAt = builder(numpyAddAt);
