/**
 * Random models with a scatter, as onnxruntime computes it on one thread. Each model has one of ONNX's scatters, views or arithmetic in
 * front of its operands, and operands that the model fixes.
 */
import type { Draw } from "../fuzz/mutate.js";
import {
  bytes,
  initializer,
  input,
  intAttribute,
  intsAttribute,
  model,
  node,
  onnxTypes,
  output,
  stringAttribute,
  text,
} from "../support/onnx-bytes.js";

/** Types of elements: onnxruntime's name, the bytes of an element, and its array. */
export const elementTypes = {
  f32: ["float32", Float32Array],
  f64: ["float64", Float64Array],
  i8: ["int8", Int8Array],
  u8: ["uint8", Uint8Array],
  i16: ["int16", Int16Array],
  u16: ["uint16", Uint16Array],
  i32: ["int32", Int32Array],
  u32: ["uint32", Uint32Array],
  i64: ["int64", BigInt64Array],
  u64: ["uint64", BigUint64Array],
  bool: ["bool", Uint8Array],
  f16: ["float16", Uint16Array],
} as const;
export type ElementType = keyof typeof elementTypes;
/** Types that combine: tilec has no sums of 64 bits. */
const combining = ["f32", "f16", "i8", "u8", "i16", "u16", "i32", "u32"] as const;

/** A tensor of the model. `fixed`: the model fixes it; otherwise it is an input. */
export interface GivenTensor {
  readonly name: string;
  readonly dtype: ElementType;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
  readonly fixed: boolean;
}

export interface ScatterModel {
  readonly op: "Scatter" | "ScatterElements" | "ScatterND" | "TensorScatter";
  readonly reduction: string;
  readonly dtype: ElementType;
  readonly opset: number;
  readonly tensors: readonly GivenTensor[];
  /** Names of the tensors that nodes in front of the scatter make. */
  readonly made: readonly string[];
  /** Size of the dim N of updates and indices, in the model in which it is open. */
  readonly open: number;
  /** The bytes of the model; `outputs`: tensors beside y that it returns; `isOpen`: with the dim N. */
  file(outputs?: readonly string[], isOpen?: boolean): Uint8Array;
}

const product = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
const pick = <T>(list: readonly T[], draw: Draw): T => list[draw(list.length)]!;

/** Bits of random elements. Those that combine are no NaN, of which frameworks differ, and no zero of either sign. */
function elements(dtype: ElementType, count: number, combines: boolean, draw: Draw): Uint8Array {
  const [, ArrayType] = elementTypes[dtype];
  const array = new ArrayType(count);
  const raw = new Uint8Array(array.buffer);
  if (!combines || (dtype !== "f32" && dtype !== "f16")) {
    raw.forEach((_, k) => (raw[k] = dtype === "bool" ? draw(2) : draw(256)));
    return raw;
  }
  for (let k = 0; k < count; k++) {
    // Sign, an exponent near that of 1, and any fraction: sums round.
    const sign = draw(2);
    if (dtype === "f16") array[k] = (sign << 15) | ((12 + draw(5)) << 10) | draw(1024);
    else new Uint32Array(array.buffer)[k] = ((sign << 31) | ((124 + draw(5)) << 23) | draw(2 ** 23)) >>> 0;
  }
  return raw;
}

/** Draws indices in [-extent, extent), or [0, extent) if `fromFront`; `unique` ones name an element once. */
function distinct(count: number, extent: number, unique: boolean, draw: Draw): number[] {
  if (!unique) return Array.from({ length: count }, () => draw(extent));
  const left = Array.from({ length: extent }, (_, k) => k);
  return Array.from({ length: count }, () => left.splice(draw(left.length), 1)[0]!);
}

const integers = (values: readonly number[], dtype: "i32" | "i64"): Uint8Array =>
  new Uint8Array((dtype === "i32" ? Int32Array.from(values) : BigInt64Array.from(values, BigInt)).buffer);

interface Core {
  readonly data: readonly number[];
  readonly indices: readonly number[];
  readonly updates: readonly number[];
  readonly values: readonly number[];
  readonly attributes: readonly number[];
}

/** Draws shapes and index values of a scatter. */
function coreOf(op: ScatterModel["op"], draw: Draw): Core {
  const rank = 1 + draw(3);
  const data = Array.from({ length: rank }, () => 1 + draw(5));
  const signed = (value: number, extent: number): number =>
    op !== "Scatter" && draw(3) === 0 ? value - extent : value;
  if (op === "TensorScatter") {
    const cache = [1 + draw(3), 2 + draw(6), 1 + draw(4)];
    const steps = 1 + draw(cache[1]!);
    const isCircular = draw(2) === 0;
    const values = Array.from({ length: cache[0]! }, () => draw(isCircular ? 9 : cache[1]! - steps + 1));
    const update = [cache[0]!, steps, cache[2]!];
    const attributes = stringAttribute("mode", isCircular ? "circular" : "linear");
    return { data: cache, indices: [cache[0]!], updates: update, values, attributes };
  }
  if (op === "ScatterND") {
    const tuple = draw(rank + 1);
    const outer = Array.from({ length: draw(3) }, () => 1 + draw(4));
    const indices = [...outer, tuple];
    const isUnique = draw(2) === 0;
    const named = data.slice(0, tuple);
    const count = Math.min(product(outer), isUnique ? product(named) : Infinity);
    const extents =
      outer.length === 0 ? [] : count < product(outer) ? [count, ...outer.slice(1).map(() => 1)] : outer;
    const rows = distinct(product(extents), product(named), isUnique, draw);
    const values = rows.flatMap((row) => {
      let rest = row;
      return named
        .toReversed()
        .map((extent) => {
          const value = rest % extent;
          rest = Math.floor(rest / extent);
          return signed(value, extent);
        })
        .toReversed();
    });
    const shape = [...extents, ...data.slice(tuple)];
    return { data, indices: [...extents, indices.at(-1)!], updates: shape, values, attributes: [] };
  }
  const axis = draw(rank);
  const indices = data.map((extent, k) => (k === axis ? 1 + draw(7) : 1 + draw(extent)));
  const values = Array.from({ length: product(indices) }, () => signed(draw(data[axis]!), data[axis]!));
  const attributes = intAttribute("axis", draw(2) === 0 ? axis : axis - rank);
  return { data, indices, updates: indices, values, attributes };
}

/** Draws a model with a scatter. */
export function scatterModel(draw: Draw): ScatterModel {
  const op = pick(
    ["ScatterElements", "ScatterElements", "ScatterND", "ScatterND", "Scatter", "TensorScatter"] as const,
    draw,
  );
  const reduces = op === "ScatterElements" || op === "ScatterND";
  const reduction = reduces ? pick(["none", "none", "add", "mul", "min", "max"], draw) : "none";
  const opset =
    op === "Scatter"
      ? 9 + draw(2)
      : op === "TensorScatter"
        ? 24
        : reduction === "none"
          ? pick([11, 13, 16, 18], draw)
          : reduction === "min" || reduction === "max"
            ? 18
            : pick([16, 18], draw);
  const combines = reduction !== "none";
  const dtype = combines ? pick(combining, draw) : pick(Object.keys(elementTypes) as ElementType[], draw);
  const core = coreOf(op, draw);
  const wide = op === "ScatterND" || op === "TensorScatter" || draw(2) === 0;
  const indexType = wide ? "i64" : "i32";
  const scales = dtype === "f32" && draw(3) === 0;
  const nodes: number[] = [];
  const made: string[] = [];
  const tensors: GivenTensor[] = [];
  /** Draws a node in front of an operand, or none. Returns the shape of the tensor that it reads. */
  const inFront = (name: string, shape: readonly number[]): readonly number[] => {
    if (name === "u" && scales) {
      made.push(name);
      nodes.push(...node("Mul", ["u_given", "u_scale"], ["u"]));
      const scale = new Uint8Array(Float32Array.of(0.7).buffer);
      tensors.push({ name: "u_scale", dtype, shape: [], bytes: scale, fixed: true });
      return shape;
    }
    const kind = pick(["none", "none", "Reshape", "Transpose", "Gather"] as const, draw);
    // An extent of 0 means another to Reshape.
    if (kind === "none" || shape.length < 2 || shape.includes(0)) return shape;
    made.push(name);
    const from = `${name}_given`;
    /** A node whose second operand is a list of integers. */
    const listed = (list: string, values: readonly number[], fixed: boolean): void => {
      tensors.push({
        name: list,
        dtype: "i64",
        shape: [values.length],
        bytes: integers(values, "i64"),
        fixed,
      });
      nodes.push(...node(kind, [from, list], [name]));
    };
    const backwards = shape.map((_, k) => k).toReversed();
    if (kind === "Transpose") {
      nodes.push(...node(kind, [from], [name], intsAttribute("perm", backwards)));
      return shape.toReversed();
    }
    if (kind === "Gather") {
      listed(`${name}_at`, Array.from({ length: shape[0]! }, (_, k) => k).toReversed(), draw(2) === 0);
      return shape;
    }
    listed(`${name}_shape`, shape, true);
    return [product(shape)];
  };
  const give = (
    name: string,
    type: ElementType,
    shape: readonly number[],
    content: (shape: readonly number[]) => Uint8Array,
  ): void => {
    const given = inFront(name, shape);
    const isMade = made.includes(name);
    tensors.push({
      name: isMade ? `${name}_given` : name,
      dtype: type,
      shape: given,
      bytes: content(given),
      fixed: draw(4) === 0,
    });
  };
  const random = (shape: readonly number[]): Uint8Array =>
    elements(dtype, product(shape), combines || scales, draw);
  give("x", dtype, core.data, random);
  const indexName = op === "TensorScatter" ? "at" : "i";
  give(indexName, indexType, core.indices, (given) => {
    const values = tensors.some(({ name }) => name === `${indexName}_at`)
      ? backwardRows(core.values, core.indices[0]!)
      : given.length > 1 && made.includes(indexName)
        ? transposed(core.values, core.indices)
        : core.values;
    return integers(values, indexType);
  });
  give("u", dtype, core.updates, random);
  const inputs = op === "TensorScatter" ? ["x", "u", "at"] : ["x", "i", "u"];
  const attributes = [...core.attributes, ...(combines ? stringAttribute("reduction", reduction) : [])];
  // The dim N is outermost in these, if the model gives each of them as it is.
  const open = op === "TensorScatter" ? inputs : inputs.slice(1);
  const opened = tensors.filter(({ name, fixed }) => open.includes(name) && !fixed);
  const hasRank = core.indices.length > (op === "ScatterND" ? 1 : 0);
  const size = opened.length === open.length && hasRank ? core.updates[0]! : 0;
  return {
    op,
    reduction,
    dtype,
    opset,
    tensors,
    made,
    open: size,
    file: (outputs = [], isOpen = false) =>
      model(
        [
          ...nodes,
          ...node(op, inputs, ["y"], attributes),
          ...text(2, "g"),
          ...tensors.flatMap((tensor) => {
            const shape = isOpen && opened.includes(tensor) ? ["N", ...tensor.shape.slice(1)] : tensor.shape;
            return tensor.fixed
              ? initializer(onnxTypes[tensor.dtype], tensor.shape, bytes(9, tensor.bytes), tensor.name)
              : input(tensor.name, onnxTypes[tensor.dtype], shape);
          }),
          ...output("y", onnxTypes[dtype], isOpen ? undefined : core.data),
          ...outputs.flatMap((name) => bytes(12, text(1, name))),
        ],
        opset,
        11,
      ),
  };
}

/** The elements of a tensor with its rows from the last one on. */
function backwardRows(values: readonly number[], rows: number): number[] {
  const length = values.length / rows;
  return Array.from({ length: rows }, (_, k) =>
    values.slice((rows - 1 - k) * length, (rows - k) * length),
  ).flat();
}

/** The elements of a tensor with its dims in the other order. */
function transposed(values: readonly number[], shape: readonly number[]): number[] {
  const result: number[] = [];
  const turned = shape.toReversed();
  for (let flat = 0; flat < values.length; flat++) {
    let rest = flat;
    const position = turned.toReversed().map((extent) => {
      const coord = rest % extent;
      rest = Math.floor(rest / extent);
      return coord;
    });
    // `position` is that of the turned tensor, last dim first: the first dim first of the tensor itself.
    result.push(values[position.reduce((sum, coord, k) => sum * shape[k]! + coord, 0)]!);
  }
  return result;
}
