/**
 * The words that elements move as: integers of their size, so that no type needs the compiler's support and
 * no NaN changes. Wider elements than a word are several words side by side, and innermost extents, strides
 * and offsets count words.
 */
import { InternalError, bitsOf, isSigned, type DType } from "../../ir/types.js";
import type { SourceType } from "../../ir/values/expression.js";
import type { Conversion } from "../../ir/values/vector-steps.js";

/**
 * C++ type in which elements are moved or computed. `bytes`: size of the type. `each`: number of values of
 * the type in an element.
 */
export interface Word {
  readonly name: "int8_t" | "uint8_t" | "int16_t" | "half" | "bfloat16_t" | "float" | "int32_t" | "int64_t";
  readonly bytes: 1 | 2 | 4 | 8;
  /** Words of one element. */
  readonly each: number;
}

/** C++ type `int8_t`, in which 1-byte elements are moved. */
export const i8: Word = { name: "int8_t", bytes: 1, each: 1 };
/** C++ type `int16_t`, in which 2-byte elements are moved. */
export const i16: Word = { name: "int16_t", bytes: 2, each: 1 };
/** C++ type `uint8_t`, for conversions that read a 1-byte element as an unsigned number. */
export const u8: Word = { name: "uint8_t", bytes: 1, each: 1 };
/** C++ type `half` (2 bytes), in which instructions read an element as an f16 number. */
export const half: Word = { name: "half", bytes: 2, each: 1 };
/** C++ type `float` (4 bytes), in which instructions read an element as an f32 number. */
export const float: Word = { name: "float", bytes: 4, each: 1 };
/** C++ type `int32_t`, in which 4-byte elements are moved. */
export const i32: Word = { name: "int32_t", bytes: 4, each: 1 };
const i64: Word = { name: "int64_t", bytes: 8, each: 1 };
const twoWords: Word = { ...i32, each: 2 };

/** Returns the name of the C++ integer type with the bits and the sign of an element type. */
export const integerName = (dtype: DType): string => `${isSigned(dtype) ? "" : "u"}int${bitsOf(dtype)}_t`;

/** Reason that no kernel can hold elements of a type (`missing`), and what to do instead (`instead`). */
interface Missing {
  readonly missing: string;
  readonly instead: string;
}

const packed: Missing = {
  missing: "PTO-ISA's vector unit reads no elements that share a byte",
  instead: "unpack them to u8, or run it on sim or webgpu",
};

const words: Readonly<Record<DType, Word | Missing>> = {
  bool: i8,
  i8,
  u8: i8,
  f8e4m3fn: i8,
  f8e4m3fnuz: i8,
  f8e5m2: i8,
  f8e5m2fnuz: i8,
  f8e8m0fnu: i8,
  hif8: i8,
  i16,
  u16: i16,
  f16: i16,
  bf16: i16,
  i32,
  u32: i32,
  f32: i32,
  string: {
    missing: "strings do not exist in PTO-ISA",
    instead: "gather u32 handles, and look the strings up on the host",
  },
  i64: twoWords,
  u64: twoWords,
  f64: twoWords,
  c64: twoWords,
  c128: { ...i32, each: 4 },
  u4: packed,
  i4: packed,
  u2: packed,
  i2: packed,
};

/**
 * Returns the reason why PTO-ISA kernels cannot contain elements of a type, and a remedy. Undefined for a
 * supported type.
 */
export function missingType(dtype: DType): Missing | undefined {
  const word = words[dtype];
  return "missing" in word ? word : undefined;
}

/**
 * Returns the C++ type in which elements of the data and the output are moved. `asWords`: true to move an
 * 8-byte element as one `int64_t`, not as two `int32_t`. Throws an InternalError for an unsupported type.
 */
export function dataWord(dtype: DType, asWords: boolean): Word {
  const word = words[dtype];
  if ("missing" in word) throw new InternalError(word.missing);
  return asWords && word.bytes * word.each === i64.bytes ? i64 : word;
}

/**
 * Returns the word type (C++ type) of a complete index value. Throws an InternalError for an unsupported
 * type.
 */
export const indexWord = (dtype: DType): Word => dataWord(dtype, true);

const numbers: Readonly<Partial<Record<SourceType, Word>>> = {
  u8,
  f16: half,
  bf16: { name: "bfloat16_t", bytes: 2, each: 1 },
  f32: float,
};

/** Returns the word type (C++ type) in which instructions read elements of a type as numbers. */
export const numberWord = (dtype: SourceType): Word => numbers[dtype] ?? dataWord(dtype, false);

/** Returns the TCVT instruction that converts the row of tile `of` to the row of tile `to`. */
export function conversionText(to: string, of: string, { round, saturates }: Conversion): string {
  const mode = saturates === undefined ? "" : `, SaturationMode::${saturates ? "ON" : "OFF"}`;
  return `TCVT(${to}, ${of}, RoundMode::${round}${mode})`;
}
