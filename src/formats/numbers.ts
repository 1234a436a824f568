/**
 * Numbers and bit patterns as element bytes: each rounded once, to the nearest value of the type, ties to
 * even.
 */
import { f16round, Float16Array, getFloat16, setFloat16 } from "@petamoriken/float16";
import {
  at,
  bytesOf,
  elementTypes,
  float8Bits,
  float8Value,
  isComplex,
  isFloat,
  isPacked,
  type ComplexType,
  type DType,
  type Float8Type,
  type FloatType,
  type IntegerType,
} from "../../ir/index.js";
import { putPackedBits } from "../../backends/index.js";

/** A float type's values, little-endian at a place in bytes. */
interface FloatForm {
  /** The nearest value of the type. */
  readonly round: (value: number) => number;
  readonly read: (view: DataView, place: number) => number;
  /** Rounds. */
  readonly write: (view: DataView, place: number, value: number) => void;
}

const float8Form = (type: Float8Type): FloatForm => ({
  round: (value) => float8Value(type, float8Bits(type, value)),
  read: (view, place) => float8Value(type, view.getUint8(place)),
  write: (view, place, value) => {
    view.setUint8(place, float8Bits(type, value));
  },
});

const floatForms = {
  f16: {
    round: f16round,
    read: (view, place) => getFloat16(view, place, true),
    write: (view, place, value) => {
      setFloat16(view, place, value, true);
    },
  },
  bf16: {
    round: (value) => bf16Value(bf16Bits(value)),
    read: (view, place) => bf16Value(view.getUint16(place, true)),
    write: (view, place, value) => {
      view.setUint16(place, bf16Bits(value), true);
    },
  },
  f32: {
    round: Math.fround,
    read: (view, place) => view.getFloat32(place, true),
    write: (view, place, value) => {
      view.setFloat32(place, value, true);
    },
  },
  f8e4m3fn: float8Form("f8e4m3fn"),
  f8e4m3fnuz: float8Form("f8e4m3fnuz"),
  f8e5m2: float8Form("f8e5m2"),
  f8e5m2fnuz: float8Form("f8e5m2fnuz"),
  f8e8m0fnu: float8Form("f8e8m0fnu"),
  hif8: float8Form("hif8"),
  f64: {
    round: (value) => value,
    read: (view, place) => view.getFloat64(place, true),
    write: (view, place, value) => {
      view.setFloat64(place, value, true);
    },
  },
} as const satisfies Readonly<Record<FloatType, FloatForm>>;

/** Returns the float at the byte offset `place`, read as little-endian. */
export const readFloat = (view: DataView, dtype: FloatType, place: number): number =>
  floatForms[dtype].read(view, place);

/** True if a finite number rounds to an infinity in the given float type. */
export const overflows = (dtype: FloatType, value: number): boolean =>
  !Number.isFinite(floatForms[dtype].round(value));

/** Returns the lowest and the highest value of an integer type; 0 and 1 for bool. */
export function integerRange(dtype: IntegerType): readonly [bigint, bigint] {
  const { bits, class: kind } = elementTypes[dtype];
  switch (kind) {
    case "bool":
      return [0n, 1n];
    case "unsigned":
      return [0n, 2n ** BigInt(bits) - 1n];
    case "signed":
      return [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n];
  }
}

function bf16Value(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint16(0, bits);
  return view.getFloat32(0);
}

/** Returns the 16 bits of the bf16 value nearest to a number; ties round to even. */
function bf16Bits(value: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  const bits = view.getUint32(0);
  if (Number.isNaN(value)) return (bits >>> 16) | 0x40;
  // The neighbours around the number itself, not around its f32: rounding twice can go wrong.
  const low = Math.floor(bits / 2 ** 16);
  const candidates = [low - 1, low, low + 1].filter(
    (high) => high >= 0 && (high & 0x8000) === (low & 0x8000),
  );
  let best = low;
  let bestDistance = Infinity;
  for (const high of candidates) {
    const magnitude = (high & 0x7fff) === 0x7f80 ? Math.sign(value) * 2 ** 128 : bf16Value(high);
    const distance = Math.abs(magnitude - value);
    if (distance < bestDistance || (distance === bestDistance && high % 2 === 0)) {
      best = high;
      bestDistance = distance;
    }
  }
  return Number.isFinite(value) ? best : low;
}

/**
 * Writes a number as element `k` of a tensor of the given type. Integers wrap to the type's number of bits,
 * and floats are rounded. Throws a TypeError for complex types.
 */
export function writeNumber(view: DataView, dtype: DType, k: number, value: number | bigint): void {
  if (isComplex(dtype)) throw new TypeError("a complex number is two numbers");
  if (isPacked(dtype)) {
    putPackedBits(new Uint8Array(view.buffer, view.byteOffset, view.byteLength), dtype, k, Number(value));
    return;
  }
  const place = k * bytesOf(dtype);
  if (isFloat(dtype)) floatForms[dtype].write(view, place, Number(value));
  else writeInteger(view, place, bytesOf(dtype), value);
}

/**
 * Writes an integer at the byte offset `place`, as little-endian. `bytes`: size of the integer in bytes; a
 * value out of range wraps.
 */
export function writeInteger(
  view: DataView,
  place: number,
  bytes: 1 | 2 | 4 | 8,
  value: number | bigint,
): void {
  switch (bytes) {
    case 1:
      view.setUint8(place, Number(value));
      return;
    case 2:
      view.setUint16(place, Number(value), true);
      return;
    case 4:
      view.setUint32(place, Number(value), true);
      return;
    case 8:
      view.setBigUint64(place, BigInt.asUintN(64, BigInt(value)), true);
      return;
  }
}

/**
 * Writes numbers as consecutive elements of a tensor, starting at element index `first`, by the rules of
 * {@link writeNumber}.
 */
export function writeNumbers(view: DataView, dtype: DType, first: number, values: Float64Array): void {
  if (dtype === "f16") {
    const halves = new Uint16Array(new Float16Array(values).buffer);
    new Uint16Array(view.buffer, view.byteOffset + 2 * first, halves.length).set(halves);
  } else {
    for (let k = 0; k < values.length; k++) writeNumber(view, dtype, first + k, at(values, k));
  }
}

/** Returns the float type of the real and imaginary parts of a complex type. */
export const componentOf = (dtype: ComplexType): FloatType => elementTypes[dtype].component;

/** Writes the real and imaginary parts of element `k` of a complex tensor. */
export function writeComplex(view: DataView, dtype: ComplexType, k: number, re: number, im: number): void {
  const component = componentOf(dtype);
  writeNumber(view, component, 2 * k, re);
  writeNumber(view, component, 2 * k + 1, im);
}

/**
 * Writes element `k` of a tensor as a bit pattern. `hex`: hexadecimal digits, most significant first; missing
 * leading digits are 0.
 */
export function writeBits(view: DataView, dtype: DType, k: number, hex: string): void {
  if (isPacked(dtype)) {
    writeNumber(view, dtype, k, Number.parseInt(hex, 16));
    return;
  }
  const size = bytesOf(dtype);
  const digits = hex.padStart(2 * size, "0");
  for (let b = 0; b < size; b++) {
    view.setUint8(k * size + size - 1 - b, Number.parseInt(digits.slice(2 * b, 2 * b + 2), 16));
  }
}
