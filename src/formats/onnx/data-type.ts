/**
 * TensorProto.DataType (onnx/onnx onnx.proto, message TensorProto, enum DataType) and tilec's element types.
 */
import { dtypes, elementTypes, invariant, type DType } from "../../../ir/index.js";

const byCode: ReadonlyMap<number, DType> = new Map(
  dtypes.flatMap((dtype) => {
    const { onnx } = elementTypes[dtype];
    return onnx === undefined ? [] : [[onnx[0], dtype] as const];
  }),
);

/** Types of ONNX that tilec lacks, so that a refusal can name them. */
const unsupported: ReadonlyMap<number, string> = new Map([
  [23, "FLOAT4E2M1"],
  [27, "FLOAT6E2M3"],
  [28, "FLOAT6E3M2"],
]);

/**
 * Returns the ONNX code (TensorProto.DataType) of an element type. Throws an error if ONNX lacks the element
 * type.
 */
export function dataTypeCode(dtype: DType): number {
  const { onnx } = elementTypes[dtype];
  invariant(onnx !== undefined, `ONNX has no ${dtype}`);
  return onnx[0];
}

/** ONNX codes (TensorProto.DataType) of the element types that shape inference creates or tests. */
export const dataType = {
  f32: dataTypeCode("f32"),
  i32: dataTypeCode("i32"),
  i64: dataTypeCode("i64"),
  string: dataTypeCode("string"),
  bool: dataTypeCode("bool"),
  u8: dataTypeCode("u8"),
} as const;

/** Returns the element type for an ONNX code (TensorProto.DataType); undefined if tilec lacks the type. */
export const dtypeOf = (code: number): DType | undefined => byCode.get(code);

/**
 * Returns a phrase for messages with the reason why an ONNX type code has no element type: `element type INT4
 * (22), which tilec lacks`.
 */
export function describeDataType(code: number): string {
  const name = unsupported.get(code);
  if (name !== undefined) return `element type ${name} (${code}), which tilec lacks`;
  return code === 0 ? "no element type" : `element type ${code}, which ONNX does not define`;
}
