/**
 * The words that elements move as: integers of their size, so that no type needs the compiler's support and no NaN changes.
 * Wider elements than a word are several words side by side, and innermost extents, strides and offsets count words.
 */
import { bytesOf, type DType } from "../../ir/types.js";

export interface Word {
  readonly name: "int8_t" | "int16_t" | "int32_t" | "int64_t";
  readonly bytes: 1 | 2 | 4 | 8;
  /** Words of one element. */
  readonly each: number;
}

export const i32: Word = { name: "int32_t", bytes: 4, each: 1 };
const i64: Word = { name: "int64_t", bytes: 8, each: 1 };

/** Words of data and output; `whole`: a vector gather takes elements of 8 bytes as one word. */
export function dataWord(dtype: DType, whole: boolean): Word {
  const bytes = bytesOf(dtype);
  if (bytes === 1) return { name: "int8_t", bytes, each: 1 };
  if (bytes === 2) return { name: "int16_t", bytes, each: 1 };
  return bytes === 8 && whole ? i64 : { ...i32, each: bytes / 4 };
}

/** A whole value of an index. */
export const indexWord = (dtype: DType): Word => dataWord(dtype, true);
