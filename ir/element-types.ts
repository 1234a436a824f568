/**
 * The table of element types: one row a type. A gather moves bits and never computes with them, so the
 * backends read the width alone; the rest of a row is for host code and files.
 *
 * Elements of 4 and 2 bits are packed as ONNX packs them, the first in the low bits of a byte. Values are
 * computed from them; they are never an index, an output, or moved as they are.
 */

/** A JavaScript array that holds elements. */
type ElementArray =
  | Uint8ArrayConstructor
  | Int8ArrayConstructor
  | Uint16ArrayConstructor
  | Int16ArrayConstructor
  | Uint32ArrayConstructor
  | Int32ArrayConstructor
  | Float32ArrayConstructor
  | Float64ArrayConstructor
  | BigInt64ArrayConstructor
  | BigUint64ArrayConstructor;

/**
 * Interpretation of an element's bits. `bool`: 0 or 1. `signed` and `unsigned`: an integer in two's
 * complement. `float`: sign, exponent and mantissa of IEEE 754, including infinities and NaN. `float8`: an
 * 8-bit real number, as defined in `float8.ts`. `complex`: two floats, the real part first. `string`: a
 * handle into a table on the host.
 */
type Meaning =
  | { readonly class: "bool" | "signed" | "unsigned" | "string" | "float8" }
  | { readonly class: "float"; /** Bits, without the leading 1. */ readonly mantissa: number }
  | { readonly class: "complex"; /** The type of either part. */ readonly component: "f32" | "f64" };

type Row = Meaning & {
  readonly bits: number;
  /**
   * Holds the values where JavaScript has an array of the type, else their bits; packed elements as they lie
   * in bytes.
   */
  readonly array: ElementArray;
  /** NumPy's code. `as`: NumPy has no such type, and its files hold the bits as this one. */
  readonly npy: string | { readonly as: "u8" | "u16" | "u32" | "u64" };
  /**
   * TensorProto.DataType, and the field for elements that are not in `raw_data`. Absent from ONNX: undefined.
   */
  readonly onnx: readonly [code: number, name: string, field: OnnxField] | undefined;
  /**
   * In the text of a StableHLO program. Absent from StableHLO: undefined, and its operators refuse the type.
   */
  readonly mlir: string | undefined;
  /** jax.numpy's name. Absent from jax: undefined, and its operators refuse the type. */
  readonly jax: string | undefined;
};

/** Name of a field of ONNX's TensorProto that holds typed elements. */
export type OnnxField =
  "float_data" | "int32_data" | "string_data" | "int64_data" | "double_data" | "uint64_data";

/** Properties of every element type, keyed by type name: size, class and the names in other formats. */
// prettier-ignore
export const elementTypes = {
  bool:   { bits: 8,   class: "bool",                array: Uint8Array,     npy: "b1",          onnx: [9, "BOOL", "int32_data"],         mlir: "i1",           jax: "bool" },
  i8:     { bits: 8,   class: "signed",              array: Int8Array,      npy: "i1",          onnx: [3, "INT8", "int32_data"],         mlir: "i8",           jax: "int8" },
  u8:     { bits: 8,   class: "unsigned",            array: Uint8Array,     npy: "u1",          onnx: [2, "UINT8", "int32_data"],        mlir: "ui8",          jax: "uint8" },
  f8e4m3fn:   { bits: 8, class: "float8",            array: Uint8Array,     npy: { as: "u8" },  onnx: [17, "FLOAT8E4M3FN", "int32_data"],   mlir: "f8E4M3FN",   jax: undefined },
  f8e4m3fnuz: { bits: 8, class: "float8",            array: Uint8Array,     npy: { as: "u8" },  onnx: [18, "FLOAT8E4M3FNUZ", "int32_data"], mlir: "f8E4M3FNUZ", jax: undefined },
  f8e5m2:     { bits: 8, class: "float8",            array: Uint8Array,     npy: { as: "u8" },  onnx: [19, "FLOAT8E5M2", "int32_data"],     mlir: "f8E5M2",     jax: undefined },
  f8e5m2fnuz: { bits: 8, class: "float8",            array: Uint8Array,     npy: { as: "u8" },  onnx: [20, "FLOAT8E5M2FNUZ", "int32_data"], mlir: "f8E5M2FNUZ", jax: undefined },
  f8e8m0fnu:  { bits: 8, class: "float8",            array: Uint8Array,     npy: { as: "u8" },  onnx: [24, "FLOAT8E8M0", "int32_data"],     mlir: "f8E8M0FNU",  jax: undefined },
  hif8:       { bits: 8, class: "float8",            array: Uint8Array,     npy: { as: "u8" },  onnx: undefined,                            mlir: undefined,    jax: undefined },
  i16:    { bits: 16,  class: "signed",              array: Int16Array,     npy: "i2",          onnx: [5, "INT16", "int32_data"],        mlir: "i16",          jax: "int16" },
  u16:    { bits: 16,  class: "unsigned",            array: Uint16Array,    npy: "u2",          onnx: [4, "UINT16", "int32_data"],       mlir: "ui16",         jax: "uint16" },
  f16:    { bits: 16,  class: "float", mantissa: 10, array: Uint16Array,    npy: "f2",          onnx: [10, "FLOAT16", "int32_data"],     mlir: "f16",          jax: "float16" },
  bf16:   { bits: 16,  class: "float", mantissa: 7,  array: Uint16Array,    npy: { as: "u16" }, onnx: [16, "BFLOAT16", "int32_data"],    mlir: "bf16",         jax: "bfloat16" },
  i32:    { bits: 32,  class: "signed",              array: Int32Array,     npy: "i4",          onnx: [6, "INT32", "int32_data"],        mlir: "i32",          jax: "int32" },
  u32:    { bits: 32,  class: "unsigned",            array: Uint32Array,    npy: "u4",          onnx: [12, "UINT32", "uint64_data"],     mlir: "ui32",         jax: "uint32" },
  f32:    { bits: 32,  class: "float", mantissa: 23, array: Float32Array,   npy: "f4",          onnx: [1, "FLOAT", "float_data"],        mlir: "f32",          jax: "float32" },
  string: { bits: 32,  class: "string",              array: Uint32Array,    npy: "U",           onnx: [8, "STRING", "string_data"],      mlir: undefined,      jax: undefined },
  i64:    { bits: 64,  class: "signed",              array: BigInt64Array,  npy: "i8",          onnx: [7, "INT64", "int64_data"],        mlir: "i64",          jax: "int64" },
  u64:    { bits: 64,  class: "unsigned",            array: BigUint64Array, npy: "u8",          onnx: [13, "UINT64", "uint64_data"],     mlir: "ui64",         jax: "uint64" },
  f64:    { bits: 64,  class: "float", mantissa: 52, array: Float64Array,   npy: "f8",          onnx: [11, "DOUBLE", "double_data"],     mlir: "f64",          jax: "float64" },
  c64:    { bits: 64,  class: "complex", component: "f32", array: Float32Array,  npy: "c8",          onnx: [14, "COMPLEX64", "float_data"],   mlir: "complex<f32>", jax: "complex64" },
  c128:   { bits: 128, class: "complex", component: "f64", array: Float64Array,  npy: "c16",         onnx: [15, "COMPLEX128", "double_data"], mlir: "complex<f64>", jax: "complex128" },
  u4:     { bits: 4,   class: "unsigned",            array: Uint8Array,     npy: { as: "u8" },  onnx: [21, "UINT4", "int32_data"],       mlir: "ui4",          jax: "uint4" },
  i4:     { bits: 4,   class: "signed",              array: Uint8Array,     npy: { as: "u8" },  onnx: [22, "INT4", "int32_data"],        mlir: "i4",           jax: "int4" },
  u2:     { bits: 2,   class: "unsigned",            array: Uint8Array,     npy: { as: "u8" },  onnx: [25, "UINT2", "int32_data"],       mlir: "ui2",          jax: "uint2" },
  i2:     { bits: 2,   class: "signed",              array: Uint8Array,     npy: { as: "u8" },  onnx: [26, "INT2", "int32_data"],        mlir: "i2",           jax: "int2" },
} as const satisfies Readonly<Record<string, Row>>;

type Table = typeof elementTypes;

/** Name of an element type: `f32`. */
export type DType = keyof Table;
/** Names of all element types, in the order of the {@link elementTypes} table. */
export const dtypes = /* @__PURE__ */ Object.keys(elementTypes) as readonly DType[];
/** True if a text names an element type. */
export const isDType = (text: string): text is DType => Object.hasOwn(elementTypes, text);

/** The element types of a class. */
type OfClass<Class extends Row["class"]> = {
  [D in DType]: Table[D]["class"] extends Class ? D : never;
}[DType];
/** Element type whose values are integers, including `bool`. */
export type IntegerType = OfClass<"bool" | "signed" | "unsigned">;
/** Element type whose values are real numbers, including 8-bit floats. */
export type FloatType = OfClass<"float" | "float8">;
/** Element type whose values are 8-bit floats. */
export type Float8Type = OfClass<"float8">;
/** Element type whose values are complex numbers, stored as pairs of floats. */
export type ComplexType = OfClass<"complex">;

/** True if the values of an element type are real numbers, including 8-bit floats. */
export const isFloat = (dtype: DType): dtype is FloatType =>
  elementTypes[dtype].class === "float" || isFloat8(dtype);
/** True if the values of an element type are 8-bit floats. */
export const isFloat8 = (dtype: DType): dtype is Float8Type => elementTypes[dtype].class === "float8";
/** True if the values of an element type are complex numbers, stored as pairs of floats. */
export const isComplex = (dtype: DType): dtype is ComplexType => elementTypes[dtype].class === "complex";
/** True if the values of an element type are integers, signed or unsigned; false for `bool`. */
export const isInteger = (dtype: DType): boolean =>
  ["signed", "unsigned"].includes(elementTypes[dtype].class);
/** True if the values of an element type are signed integers. */
export const isSigned = (dtype: DType): boolean => elementTypes[dtype].class === "signed";

/** Element types that index values may have. */
export const indexDTypes = [
  ...(["i8", "i16", "i32", "i64"] as const),
  ...(["u8", "u16", "u32", "u64"] as const),
] as const satisfies readonly OfClass<"signed" | "unsigned">[];
/** Element type of index values. */
export type IndexDType = (typeof indexDTypes)[number];
/** True if a text names an element type that index values may have. */
export const isIndexDType = (text: string): text is IndexDType => indexDTypes.includes(text as IndexDType);

/** Returns the size of an element in bits. */
export const bitsOf = (dtype: DType): number => elementTypes[dtype].bits;

/** Bits of whole bytes. */
interface ByteAligned {
  readonly 8: 1;
  readonly 16: 2;
  readonly 32: 4;
  readonly 64: 8;
  readonly 128: 16;
}

/** Element type whose size is a whole number of bytes. */
export type ByteAlignedType = {
  [D in DType]: Table[D]["bits"] extends keyof ByteAligned ? D : never;
}[DType];
type Bytes<D extends ByteAlignedType> = ByteAligned[Table[D]["bits"]];

/** Packed element type: an element has fewer than 8 bits, and several elements share a byte. */
export type PackedType = Exclude<DType, ByteAlignedType>;
/** True if an element type is packed: several elements share a byte. */
export const isPacked = (dtype: DType): dtype is PackedType => elementTypes[dtype].bits < 8;
/** Returns the number of elements that start in one byte: 2 or 4 for packed types, 1 for other types. */
export const elementsInByte = (dtype: DType): number => Math.max(1, 8 / bitsOf(dtype));

/** Returns the size of an element in bytes. For packed types, use {@link bitsOf}. */
export function bytesOf<D extends ByteAlignedType>(dtype: D): Bytes<D>;
/** Returns the size of an element in bytes. */
export function bytesOf(dtype: ByteAlignedType): Bytes<ByteAlignedType> {
  return (elementTypes[dtype].bits / 8) as Bytes<ByteAlignedType>;
}

/** Returns the mean size of an element in bytes, for counts and estimates; less than 1 for packed types. */
export const meanBytes = (dtype: DType): number => bitsOf(dtype) / 8;

/** Returns the size in bytes of `elements` elements without padding, rounded up to whole bytes. */
export const bytesFor = (elements: number, dtype: DType): number => Math.ceil((elements * bitsOf(dtype)) / 8);
