/** Element types of PyPTO. */
import type { DType } from "../../ir/types.js";

/** Name of each element type in PyPTO's `DataType`; undefined for a type that PyPTO lacks. */
export const typeNames: Readonly<Record<DType, string | undefined>> = {
  bool: "DT_BOOL",
  i8: "DT_INT8",
  u8: "DT_UINT8",
  f8e4m3fn: "DT_FP8E4M3",
  f8e4m3fnuz: undefined,
  f8e5m2: "DT_FP8E5M2",
  f8e5m2fnuz: undefined,
  f8e8m0fnu: "DT_FP8E8M0",
  hif8: "DT_HF8",
  i16: "DT_INT16",
  u16: "DT_UINT16",
  f16: "DT_FP16",
  bf16: "DT_BF16",
  i32: "DT_INT32",
  u32: "DT_UINT32",
  f32: "DT_FP32",
  string: undefined,
  i64: "DT_INT64",
  u64: "DT_UINT64",
  f64: "DT_DOUBLE",
  c64: undefined,
  c128: undefined,
  u4: undefined,
  i4: undefined,
  u2: undefined,
  i2: undefined,
};
