/** Numbers and bit patterns as element bytes: each rounded once, to the nearest value of the type, ties to even. */
import { f16round, Float16Array, setFloat16 } from "@petamoriken/float16";
import { at, bytesOf, type DType } from "../../ir/index.js";

export type ComplexType = "c64" | "c128";
export type FloatType = "f16" | "bf16" | "f32" | "f64";
export type IntegerType = Exclude<DType, ComplexType | FloatType | "string">;

const floatTypes: readonly DType[] = ["f16", "bf16", "f32", "f64"] satisfies readonly FloatType[];
export const isFloat = (dtype: IntegerType | FloatType): dtype is FloatType => floatTypes.includes(dtype);

/** Lowest and highest value. */
export function integerRange(dtype: IntegerType): readonly [bigint, bigint] {
  if (dtype === "bool") return [0n, 1n];
  const bits = BigInt(8 * bytesOf(dtype));
  return dtype.startsWith("u") ? [0n, 2n ** bits - 1n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
}

/** Whether a finite number is so large that the type's nearest value is an infinity. */
export function overflows(dtype: FloatType, value: number): boolean {
  switch (dtype) {
    case "f16":
      return !Number.isFinite(f16round(value));
    case "bf16":
      return (bf16Bits(value) & 0x7fff) === 0x7f80;
    case "f32":
      return !Number.isFinite(Math.fround(value));
    case "f64":
      return false;
  }
}

/** Bits of the bf16 nearest to a number. */
function bf16Bits(value: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  const bits = view.getUint32(0);
  if (Number.isNaN(value)) return (bits >>> 16) | 0x40;
  const at = (high: number): number => {
    view.setUint32(0, high * 2 ** 16);
    return view.getFloat32(0);
  };
  // The neighbours around the number itself, not around its f32: rounding twice can go wrong.
  const low = Math.floor(bits / 2 ** 16);
  const candidates = [low - 1, low, low + 1].filter(
    (high) => high >= 0 && (high & 0x8000) === (low & 0x8000),
  );
  let best = low;
  let bestDistance = Infinity;
  for (const high of candidates) {
    const magnitude = (high & 0x7fff) === 0x7f80 ? Math.sign(value) * 2 ** 128 : at(high);
    const distance = Math.abs(magnitude - value);
    if (distance < bestDistance || (distance === bestDistance && high % 2 === 0)) {
      best = high;
      bestDistance = distance;
    }
  }
  return Number.isFinite(value) ? best : low;
}

/** Writes element `k` of a tensor of this type. Integers wrap to the type's width. */
export function writeNumber(view: DataView, dtype: DType, k: number, value: number | bigint): void {
  const place = k * bytesOf(dtype);
  switch (dtype) {
    case "bool":
    case "i8":
    case "u8":
      view.setUint8(place, Number(value));
      return;
    case "i16":
    case "u16":
      view.setUint16(place, Number(value), true);
      return;
    case "i32":
    case "u32":
    case "string":
      view.setUint32(place, Number(value), true);
      return;
    case "i64":
    case "u64":
      view.setBigUint64(place, BigInt.asUintN(64, BigInt(value)), true);
      return;
    case "f16":
      setFloat16(view, place, Number(value), true);
      return;
    case "bf16":
      view.setUint16(place, bf16Bits(Number(value)), true);
      return;
    case "f32":
      view.setFloat32(place, Number(value), true);
      return;
    case "f64":
      view.setFloat64(place, Number(value), true);
      return;
    case "c64":
    case "c128":
      throw new TypeError("a complex number is two numbers");
  }
}

/** Writes elements from the `first` on, as `writeNumber` does: halves are rounded together, one alone takes 20 times as long. */
export function writeNumbers(view: DataView, dtype: DType, first: number, values: Float64Array): void {
  if (dtype === "f16") {
    const halves = new Uint16Array(new Float16Array(values).buffer);
    new Uint16Array(view.buffer, view.byteOffset + 2 * first, halves.length).set(halves);
  } else {
    for (let k = 0; k < values.length; k++) writeNumber(view, dtype, first + k, at(values, k));
  }
}

/** The type of each part of a complex element. */
export const partOf = (dtype: ComplexType): FloatType => (dtype === "c64" ? "f32" : "f64");

/** Writes the two parts of a complex element. */
export function writeComplex(view: DataView, dtype: ComplexType, k: number, re: number, im: number): void {
  const part = partOf(dtype);
  writeNumber(view, part, 2 * k, re);
  writeNumber(view, part, 2 * k + 1, im);
}

/** Writes a bit pattern, most significant hexadecimal digit first. */
export function writeBits(view: DataView, dtype: DType, k: number, hex: string): void {
  const size = bytesOf(dtype);
  const digits = hex.padStart(2 * size, "0");
  for (let b = 0; b < size; b++) {
    view.setUint8(k * size + size - 1 - b, Number.parseInt(digits.slice(2 * b, 2 * b + 2), 16));
  }
}
