/**
 * Case files: one JSON array of regression cases. A case is one gather, its inputs, and what must come out.
 *
 * Every field is checked before it is used; a malformed case is a diagnostic (TC013) that names the case and the field.
 */
import {
  byteCount,
  CompileError,
  elementCount,
  error,
  isDType,
  maxElements,
  outOfBoundsPolicies,
  profiles,
  residencies,
  type AttrValue,
  type Diagnostic,
  type DType,
  type Schedule,
  type Shape,
  type TensorType,
} from "../../ir/index.js";
import type { ProgramDescription } from "../api/program.js";
import { writeBits, writeComplex, writeNumber } from "./numbers.js";
import type { TensorValue } from "./tensor.js";

export interface CaseTensor {
  readonly type: TensorType;
  /** Whether the values come from a fill rule. */
  readonly filled: boolean;
  /** Makes the elements; large fills are made when needed. */
  read(): TensorValue;
}

export interface Case {
  readonly id: string;
  readonly program: ProgramDescription;
  readonly data: CaseTensor;
  readonly indices: CaseTensor;
  /** Absent: compare with `reference`. */
  readonly output?: CaseTensor;
  /** The category of the expected error; absent when the case must pass. */
  readonly expectedError?: string;
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = Readonly<Record<string, Json>>;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A case that cannot be run: it fails alone, and the rest of its file runs. */
export interface MalformedCase {
  readonly id: string;
  readonly malformed: readonly Diagnostic[];
}

/** Throws a CompileError (TC013) when the text is no JSON. `file` names it in diagnostics. */
export function readCaseList(text: string, file: string): (Case | MalformedCase)[] {
  let parsed: Json;
  try {
    parsed = JSON.parse(text) as Json;
  } catch (thrown) {
    throw malformed(file, `not JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  const list = Array.isArray(parsed) ? (parsed as readonly Json[]) : [parsed];
  return list.map((entry, k) => {
    const place = `${file}: case ${k}`;
    try {
      return readCase(entry, place);
    } catch (thrown) {
      if (!(thrown instanceof CompileError)) throw thrown;
      const id = isObject(entry) ? entry["id"] : undefined;
      return { id: typeof id === "string" ? id : place, malformed: thrown.diagnostics };
    }
  });
}

/** Every case of a file. Throws a CompileError (TC013) for the first malformed one. */
export function readCases(text: string, file: string): Case[] {
  return readCaseList(text, file).map((test) => {
    if ("malformed" in test) throw new CompileError(test.malformed);
    return test;
  });
}

const malformed = (where: string, message: string): CompileError =>
  new CompileError([error("TC013", `${where}: ${message}`, { hint: "docs/cases.md describes the format" })]);

/** How each dialect names an operator, and its attributes under the case file's names. */
const operators: Readonly<
  Record<string, { readonly op: string; readonly attrs: Readonly<Record<string, string>> }>
> = {
  "onnx gather": { op: "onnx.gather", attrs: { axis: "axis", opset: "opset" } },
  "onnx gather_elements": { op: "onnx.gather_elements", attrs: { axis: "axis", opset: "opset" } },
  "onnx gather_nd": { op: "onnx.gather_nd", attrs: { batchDims: "batch_dims", opset: "opset" } },
  "directml gather": {
    op: "directml.gather",
    attrs: { axis: "axis", indexDimensions: "index_dimensions", featureLevel: "feature_level" },
  },
  "directml gather_elements": {
    op: "directml.gather_elements",
    attrs: { axis: "axis", featureLevel: "feature_level" },
  },
  "directml gather_nd": {
    op: "directml.gather_nd",
    attrs: {
      inputDimensionCount: "input_dimension_count",
      indicesDimensionCount: "indices_dimension_count",
      featureLevel: "feature_level",
    },
  },
  "directml gather_nd1": {
    op: "directml.gather_nd1",
    attrs: {
      inputDimensionCount: "input_dimension_count",
      indicesDimensionCount: "indices_dimension_count",
      batchDims: "batch_dimension_count",
      featureLevel: "feature_level",
    },
  },
  "pypto gather_elements": { op: "pypto.gather", attrs: { axis: "dim", level: "level" } },
  "pypto gather": { op: "pypto.index_select", attrs: { axis: "dim", level: "level" } },
};

/** The source operator for a dialect and an operator's common name; `attrs` maps camelCase names to attributes. */
export function operatorFor(dialect: string, op: string, hasBatchDims: boolean) {
  const name = dialect === "directml" && op === "gather_nd" && hasBatchDims ? "gather_nd1" : op;
  return operators[`${dialect} ${name}`];
}

function readCase(entry: Json, place: string): Case {
  if (!isObject(entry)) throw malformed(place, "a case is an object");
  const id = text(entry, "id", place);
  const where = `${place} (${id})`;
  const [dialect, op] = [text(entry, "dialect", where), text(entry, "op", where)];
  const attributes = entry["attributes"] ?? {};
  if (!isObject(attributes)) throw malformed(where, "attributes is an object");
  // An operator or attribute that the dialect lacks is for the dialect's rules to refuse.
  const operator = operatorFor(dialect, op, "batchDims" in attributes) ?? {
    op: `${dialect}.${op}`,
    attrs: {},
  };
  const attrs: Record<string, AttrValue> = {};
  for (const [name, value] of Object.entries(attributes)) {
    const attr = operator.attrs[name] ?? name;
    if (typeof value !== "number" && typeof value !== "string")
      throw malformed(where, `${name} is a number or a word`);
    attrs[attr] = value;
  }
  const oob = choice(entry, "oob", outOfBoundsPolicies, where);
  if (oob !== undefined) attrs["oob"] = oob;
  const [data, indices] = [tensor(entry, "data", where), tensor(entry, "indices", where)];
  const output = entry["output"] === undefined ? undefined : tensor(entry, "output", where);
  const schedule = readSchedule(entry, where);
  const expect = entry["expect"];
  const expectedError = isObject(expect) ? text(expect, "error", where) : undefined;
  if (expectedError === undefined && expect !== "ok")
    throw malformed(where, 'expect is "ok" or {"error": category}');
  // A case without any schedule asks for bits alone: it gets the target on which every gather has a legal schedule.
  const target =
    entry["target"] === undefined && Object.keys(schedule).length === 0 ? "webgpu" : entry["target"];
  if (target !== undefined && typeof target !== "string") throw malformed(where, "target is a name");
  return {
    id,
    program: {
      op: operator.op,
      attrs,
      data: data.type,
      indices: indices.type,
      schedule,
      ...(target === undefined ? {} : { target }),
    },
    data,
    indices,
    ...(output === undefined ? {} : { output }),
    ...(expectedError === undefined ? {} : { expectedError }),
  };
}

function readSchedule(entry: JsonObject, where: string): Schedule {
  const shape = (name: string): Shape | undefined => {
    const value = entry[name];
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((item) => typeof item === "number")) return value;
    throw malformed(where, `${name} is a list of numbers`);
  };
  const [tile, view] = [shape("tile"), shape("view")];
  const profile = choice(entry, "profile", profiles, where);
  const residency = choice(entry, "residency", residencies, where);
  const doubleBuffer = entry["doubleBuffer"];
  if (doubleBuffer !== undefined && typeof doubleBuffer !== "boolean") {
    throw malformed(where, "doubleBuffer is true or false");
  }
  return {
    ...(tile === undefined ? {} : { tile }),
    ...(view === undefined ? {} : { view }),
    ...(profile === undefined ? {} : { profile }),
    ...(residency === undefined ? {} : { residency }),
    ...(doubleBuffer === undefined ? {} : { buffers: doubleBuffer ? 2 : 1 }),
  };
}

function text(entry: JsonObject, name: string, where: string): string {
  const value = entry[name];
  if (typeof value !== "string") throw malformed(where, `${name} is a string`);
  return value;
}

function choice<T extends string>(
  entry: JsonObject,
  name: string,
  words: readonly T[],
  where: string,
): T | undefined {
  const value = entry[name];
  if (value === undefined) return undefined;
  const found = words.find((word) => word === value);
  if (found === undefined) throw malformed(where, `${name} is one of ${words.join(", ")}`);
  return found;
}

function tensor(entry: JsonObject, name: string, place: string): CaseTensor {
  const where = `${place}: ${name}`;
  const value = entry[name];
  if (!isObject(value)) throw malformed(where, "a tensor is an object");
  const dtype = text(value, "dtype", where);
  if (!isDType(dtype)) throw malformed(where, `unknown dtype ${dtype}`);
  const { shape, values, bits, fill } = value;
  if (
    !Array.isArray(shape) ||
    !shape.every((extent) => Number.isSafeInteger(extent) && Number(extent) >= 0)
  ) {
    throw malformed(where, "shape is a list of whole numbers");
  }
  const type: TensorType = { dtype, shape: shape as Shape };
  const count = elementCount(type.shape);
  if (isObject(fill)) return filledTensor(type, fill, where);
  const list = values ?? bits;
  if (!Array.isArray(list)) throw malformed(where, "a tensor has values, bits or fill");
  const items = list as readonly Json[];
  if (items.length !== count) throw malformed(where, `${items.length} elements for ${count}`);
  return {
    type,
    filled: false,
    read: () => (values === undefined ? fromBits(type, items, where) : fromValues(type, items, where)),
  };
}

const specials: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
  "-0": -0,
};

const isInteger = (dtype: DType): boolean => /^[iu]\d+$/.test(dtype) || dtype === "bool";

function number(value: Json | undefined, dtype: DType, where: string): number | bigint {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number" && (!isInteger(dtype) || Number.isInteger(value))) {
    return value;
  }
  if (typeof value === "string") {
    if (isInteger(dtype) && /^-?\d+$/.test(value)) return BigInt(value);
    const special = specials[value];
    if (special !== undefined && !isInteger(dtype)) return special;
    if (!isInteger(dtype) && value.trim() !== "" && !Number.isNaN(Number(value))) return Number(value);
  }
  throw malformed(where, `${JSON.stringify(value)} is no ${dtype}`);
}

function fromValues(type: TensorType, items: readonly Json[], where: string): TensorValue {
  const { dtype } = type;
  if (dtype === "string") {
    const strings = items.map((item) => {
      if (typeof item !== "string") throw malformed(where, `${JSON.stringify(item)} is no string`);
      return item;
    });
    return { type, bytes: new Uint8Array(), strings };
  }
  return written(type, (view) => {
    items.forEach((item, k) => {
      if (dtype === "c64" || dtype === "c128") {
        if (!Array.isArray(item)) throw malformed(where, "a complex number is [re, im]");
        const [re, im] = item as readonly Json[];
        const part = dtype === "c64" ? "f32" : "f64";
        writeComplex(view, dtype, k, Number(number(re, part, where)), Number(number(im, part, where)));
      } else {
        writeNumber(view, dtype, k, number(item, dtype, where));
      }
    });
  });
}

function fromBits(type: TensorType, items: readonly Json[], where: string): TensorValue {
  return written(type, (view) => {
    items.forEach((item, k) => {
      if (typeof item !== "string" || !/^[0-9a-f]+$/i.test(item))
        throw malformed(where, "bits are hexadecimal");
      writeBits(view, type.dtype, k, item);
    });
  });
}

/** Room for every element, all zero; `dtype` is not string. */
function written(type: TensorType, write: (view: DataView) => void): TensorValue {
  const bytes = new Uint8Array(byteCount(type));
  write(new DataView(bytes.buffer));
  return { type, bytes };
}

function filledTensor(type: TensorType, fill: JsonObject, where: string): CaseTensor {
  const { seed, min, max } = fill;
  if (typeof seed !== "number" || typeof min !== "number" || typeof max !== "number") {
    throw malformed(where, "fill has seed, min and max");
  }
  const { dtype } = type;
  if (dtype === "string" || dtype === "c64" || dtype === "c128")
    throw malformed(where, `fill makes no ${dtype}`);
  return {
    type,
    filled: true,
    read() {
      if (elementCount(type.shape) >= maxElements) throw malformed(where, "too many elements to fill");
      return written(type, (view) => {
        const draw = lcg(seed);
        const count = elementCount(type.shape);
        for (let k = 0; k < count; k++) {
          const value = draw() * (max - min);
          writeNumber(view, dtype, k, isInteger(dtype) ? min + Math.floor(value) : min + value);
        }
      });
    },
  };
}

/** s <- (1664525 s + 1013904223) mod 2^32; each draw is s / 2^32 after the step. */
export function lcg(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(1664525, state) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
