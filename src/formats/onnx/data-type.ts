/** TensorProto.DataType (onnx/onnx onnx.proto, message TensorProto, enum DataType) and tilec's element types. */
import { InternalError, type DType } from "../../../ir/index.js";

const supported: ReadonlyMap<number, DType> = new Map<number, DType>([
  [1, "f32"],
  [2, "u8"],
  [3, "i8"],
  [4, "u16"],
  [5, "i16"],
  [6, "i32"],
  [7, "i64"],
  [8, "string"],
  [9, "bool"],
  [10, "f16"],
  [11, "f64"],
  [12, "u32"],
  [13, "u64"],
  [14, "c64"],
  [15, "c128"],
  [16, "bf16"],
]);

/** Types of ONNX that tilec lacks, so that a refusal can name them. */
const unsupported: ReadonlyMap<number, string> = new Map([
  [17, "FLOAT8E4M3FN"],
  [18, "FLOAT8E4M3FNUZ"],
  [19, "FLOAT8E5M2"],
  [20, "FLOAT8E5M2FNUZ"],
  [21, "UINT4"],
  [22, "INT4"],
  [23, "FLOAT4E2M1"],
  [24, "FLOAT8E8M0"],
  [25, "UINT2"],
  [26, "INT2"],
  [27, "FLOAT6E2M3"],
  [28, "FLOAT6E3M2"],
]);

/** Codes that shape inference itself produces or looks at. */
export const dataType = { f32: 1, i32: 6, i64: 7, string: 8, bool: 9 } as const;

/** The element type, or undefined for one that tilec lacks. */
export const dtypeOf = (code: number): DType | undefined => supported.get(code);

/** TensorProto.DataType of an element type. */
export function codeOf(dtype: DType): number {
  for (const [code, name] of supported) if (name === dtype) return code;
  throw new InternalError(`${dtype} has no ONNX data type`);
}

/** Why a code has no element type: `element type INT4 (22), which tilec lacks`. */
export function describeDataType(code: number): string {
  const name = unsupported.get(code);
  if (name !== undefined) return `element type ${name} (${code}), which tilec lacks`;
  return code === 0 ? "no element type" : `element type ${code}, which ONNX does not define`;
}
