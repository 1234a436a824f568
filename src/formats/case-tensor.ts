/** Tensors of case files: `values` and `bits` are read with the file, a `fill` is made when its case runs. */
import {
  byteCount,
  CompileError,
  bitsOf,
  elementCount,
  error,
  formatType,
  isComplex,
  isFloat,
  type Diagnostic,
  type FloatType,
  type IntegerType,
  type TensorType,
} from "../../ir/index.js";
import { nonFiniteNumbers } from "../../ir/json-number.js";
import { allocateArray, shownValue } from "../../backends/index.js";
import type { Fill, Json, TensorJson } from "./case-schema.js";
import { lcg } from "./lcg.js";
import {
  integerRange,
  overflows,
  componentOf,
  writeBits,
  writeComplex,
  writeNumber,
  writeNumbers,
} from "./numbers.js";
import type { TensorValue } from "./tensor.js";

/**
 * Tensor of a JSON test case. `read` returns the elements, which a fill rule generates anew for each call.
 */
export interface CaseTensor {
  readonly type: TensorType;
  /** True if the values come from a fill rule. */
  readonly filled: boolean;
  /** Returns the elements. Throws a CompileError (TC502) if a fill rule needs more memory than there is. */
  read(): TensorValue;
}

/**
 * Returns the tensor that a JSON value in a test file describes. Throws a CompileError (TC013) for a wrong
 * number of elements or an element that the type cannot represent. `where`: position for error messages.
 */
export function readCaseTensor(json: TensorJson, where: string): CaseTensor {
  const { dtype, shape, values, bits, fill } = json;
  const type: TensorType = { dtype, shape };
  if (fill !== undefined) return filledTensor(type, fill, where);
  const items = values ?? bits ?? [];
  const count = elementCount(shape);
  if (items.length !== count) fail(where, `${items.length} elements for ${count}`);
  const value = values === undefined ? fromBits(type, items, where) : fromValues(type, items, where);
  return { type, filled: false, read: () => value };
}

/** Hint of errors about files with tests. */
export const formatHint = "docs/cases.md describes the format";

/**
 * Returns an error (TC013) that a test file is malformed. `where`: position in the file, printed before
 * `message`.
 */
export const malformed = (where: string, message: string): Diagnostic =>
  error("TC013", `${where}: ${message}`, { hint: formatHint });

const fail = (where: string, message: string): never => {
  throw new CompileError([malformed(where, message)]);
};

/** Says why an element is refused. */
type Refuse = (why: string) => never;

const refuserOf =
  (where: string) =>
  (k: number): Refuse =>
  (why) => {
    return fail(where, `element ${k}: ${why}`);
  };

/**
 * Returns a tensor with the elements that the JSON field `values` lists. Throws a CompileError (TC013) that
 * names the first element that the type cannot represent.
 */
function fromValues(type: TensorType, items: readonly Json[], where: string): TensorValue {
  const { dtype } = type;
  const at = refuserOf(where);
  if (dtype === "string") {
    const strings = items.map((item, k) =>
      typeof item === "string" ? item : at(k)(`${shownValue(item)} is no string`),
    );
    return { type, bytes: new Uint8Array(), strings };
  }
  if (isComplex(dtype)) {
    return written(type, where, (view) => {
      items.forEach((item, k) => {
        const [re, im] = complexOf(item, componentOf(dtype), at(k));
        writeComplex(view, dtype, k, re, im);
      });
    });
  }
  return written(type, where, (view) => {
    items.forEach((item, k) => {
      const value = isFloat(dtype) ? floatOf(item, dtype, at(k)) : integerOf(item, dtype, at(k));
      writeNumber(view, dtype, k, value);
    });
  });
}

/**
 * Returns the value of an integer element in JSON: a number, a decimal string, or a boolean for type bool.
 * Calls `refuse`, which throws, for a value that is not an exact integer in the type's range.
 */
function integerOf(item: Json, dtype: IntegerType, refuse: Refuse): bigint {
  if (typeof item === "boolean" && dtype === "bool") return BigInt(item);
  const fullTensor =
    typeof item === "number" ? Number.isInteger(item) : typeof item === "string" && /^-?\d+$/.test(item);
  if (!fullTensor) return refuse(`${shownValue(item)} is no ${dtype}`);
  if (typeof item === "number" && bitsOf(dtype) === 64 && !Number.isSafeInteger(item)) {
    return refuse(`${item} is not exact as a JSON number; write it as a string`);
  }
  const value = BigInt(item as number | string);
  const [lowest, highest] = integerRange(dtype);
  if (value >= lowest && value <= highest) return value;
  return refuse(`${shownValue(item)} is no ${dtype}, which holds ${lowest} to ${highest}`);
}

const specials: ReadonlyMap<Json, number> = new Map(Object.entries(nonFiniteNumbers));
const decimal = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/**
 * Returns the value of a float element in JSON, a number or a string (`"NaN"`, `"Infinity"`), not yet rounded
 * to the type. Calls `refuse`, which throws, for any other value or a value that would round to infinity.
 */
function floatOf(item: Json, dtype: FloatType, refuse: Refuse): number {
  const special = specials.get(item);
  if (special !== undefined) return special;
  if (typeof item !== "number" && !(typeof item === "string" && decimal.test(item))) {
    return refuse(`${shownValue(item)} is no ${dtype}`);
  }
  const value = Number(item);
  if (Number.isFinite(value) && !overflows(dtype, value)) return value;
  return refuse(`${shownValue(item)} is beyond ${dtype}; an infinity is written "Infinity" or "-Infinity"`);
}

function complexOf(item: Json, component: FloatType, refuse: Refuse): readonly [number, number] {
  const [re, im, ...more] = Array.isArray(item) ? (item as readonly Json[]) : [];
  if (re === undefined || im === undefined || more.length > 0) return refuse("a complex number is [re, im]");
  return [floatOf(re, component, refuse), floatOf(im, component, refuse)];
}

/**
 * Returns a tensor with the elements that the JSON field `bits` lists as hexadecimal patterns. Throws a
 * CompileError (TC013) for a malformed pattern and for type string.
 */
function fromBits(type: TensorType, items: readonly Json[], where: string): TensorValue {
  const { dtype } = type;
  if (dtype === "string") return fail(where, "a string tensor has values");
  const digits = Math.ceil(bitsOf(dtype) / 4);
  const at = refuserOf(where);
  return written(type, where, (view) => {
    items.forEach((item, k) => {
      if (typeof item !== "string" || !/^[0-9a-f]+$/i.test(item) || item.length > digits) {
        return at(k)(`${shownValue(item)} is no pattern of ${digits} hexadecimal digits or fewer`);
      }
      writeBits(view, dtype, k, item);
    });
  });
}

/** Allocates a tensor value of zeros, which `write` then fills. The element type must not be string. */
function written(type: TensorType, where: string, write: (view: DataView) => void): TensorValue {
  const bytes = allocateArray(byteCount(type), `${where}: ${formatType(type)}`);
  write(new DataView(bytes.buffer));
  return { type, bytes };
}

/** Elements of a fill between two allocations. */
const drawnAtOnce = 2 ** 16;

/**
 * Returns a tensor whose elements are generated by a fill rule each time that `read` is called. Throws a
 * CompileError (TC013) if the type is string or complex, or if the range of the rule exceeds the type's
 * range.
 */
function filledTensor(type: TensorType, fill: Fill, where: string): CaseTensor {
  const { dtype } = type;
  if (dtype === "string" || isComplex(dtype)) {
    return fail(where, `fill makes no ${dtype}`);
  }
  checkFill(fill, dtype, where);
  const { seed, min, max } = fill;
  return {
    type,
    filled: true,
    read: () =>
      written(type, where, (view) => {
        const draw = lcg(seed);
        const count = elementCount(type.shape);
        const rounded = isFloat(dtype) ? (step: number) => step : Math.floor;
        for (let first = 0; first < count; first += drawnAtOnce) {
          const values = new Float64Array(Math.min(drawnAtOnce, count - first));
          for (let k = 0; k < values.length; k++) values[k] = min + rounded(draw() * (max - min));
          writeNumbers(view, dtype, first, values);
        }
      }),
  };
}

/** Throws a CompileError (TC013) unless the type can represent the two ends of a fill rule's range. */
function checkFill({ min, max }: Fill, dtype: FloatType | IntegerType, where: string): void {
  if (isFloat(dtype)) {
    if (overflows(dtype, min) || overflows(dtype, max) || !Number.isFinite(max - min)) {
      fail(where, `fill from ${min} to ${max} is beyond ${dtype}`);
    }
    return;
  }
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max)) {
    fail(where, `fill from ${min} to ${max}: ${dtype} takes whole numbers within 2^53`);
  }
  const [lowest, highest] = integerRange(dtype);
  const last = max > min ? max - 1 : max;
  if ([min, last].some((end) => end < lowest || end > highest)) {
    fail(where, `fill from ${min} to ${last}: ${dtype} holds ${lowest} to ${highest}`);
  }
}
