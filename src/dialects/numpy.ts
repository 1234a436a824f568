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
 * Arguments of {@link take}; without `axis`, the array is flattened. `mode`: policy for indices out of range,
 * `raise` (default), `wrap` or `clip`.
 */
export type NumpyTakeArguments = BuilderArguments<typeof numpyTake>;
/**
 * Arguments of {@link takeAlongAxis}; `axis` defaults to -1. `oob`: policy for indices out of range; the
 * default is `error`, as in NumPy.
 */
export type NumpyTakeAlongAxisArguments = BuilderArguments<typeof numpyTakeAlongAxis>;

/**
 * Builds the source program of numpy.take(a, indices, axis, mode). Output shape: a.shape[:axis] +
 * indices.shape + a.shape[axis+1:].
 */
export const take = builder(numpyTake);

/**
 * Builds the source program of numpy.take_along_axis(arr, indices, axis). The output has the broadcast shape
 * of the two inputs, with the extent of `indices` along `axis`.
 */
export const takeAlongAxis = builder(numpyTakeAlongAxis);

/**
 * Entry in the brackets of a NumPy index expression: the type of an index array, an integer, a slice
 * (`"1:8:2"`), `"..."`, or null for numpy.newaxis.
 */
export type NumpyIndexEntry = TypePair | number | string | null;

/**
 * Arguments of {@link index}, the builder of x[key]. `oob`: policy for indices out of range; the default is
 * `error`, as in NumPy.
 */
export interface NumpyIndexArguments extends Pick<ArgumentsOf<typeof numpyIndex>, "oob"> {
  readonly x: TypePair;
  /** Entries in the brackets of x[key]. At least one is the type of an index array. */
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
 * Builds the source program of x[key] with NumPy's advanced indexing: `index({ x, key: [["i64", [2, 1]], ":",
 * ["i64", [3]]] })` builds x[i, :, j]. Throws a CompileError (TC105) if `key` has no index array.
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
 * Arguments of {@link putAlongAxis}; without `axis`, the array is flattened. `values` are broadcast to the
 * written positions. `oob`: policy for indices out of range; the default is `error`, as in NumPy.
 */
export type NumpyPutAlongAxisArguments = BuilderArguments<typeof numpyPutAlongAxis>;
/**
 * Arguments of {@link addAt}. `subscript`: text in the brackets, with `i0`, `i1`, … for the index arrays.
 * `oob`: policy for indices out of range; the default is `error`, as in NumPy.
 */
export type NumpyAddAtArguments = BuilderArguments<typeof numpyAddAt>;

/**
 * Builds the source program of numpy.put_along_axis(arr, indices, values, axis). The output is a new, updated
 * array of the shape of `arr`.
 */
export const putAlongAxis = builder(numpyPutAlongAxis);

/**
 * Builds the source program of numpy.add.at(a, subscript, b), which adds b to the indexed elements. The
 * output is a new array of the shape of `a`.
 */
export const addAt = builder(numpyAddAt);
