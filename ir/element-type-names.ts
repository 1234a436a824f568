/** Names that frameworks give the element types: `torch.float16`, `DT_FP16` and `half` are f16. */
import { bitsOf, dtypes, elementTypes, isDType, isFloat, type DType } from "./element-types.js";

/** Names of C, torch and PyPTO that no row of the table has. */
const shortNames: Readonly<Record<string, DType>> = {
  half: "f16",
  float: "f32",
  double: "f64",
  short: "i16",
  int: "i32",
  long: "i64",
  // PyPTO's, after DT_.
  fp8e4m3: "f8e4m3fn",
  fp8e5m2: "f8e5m2",
  fp8e8m0: "f8e8m0fnu",
  hf8: "hif8",
};

/** Returns the lower-case names of an element type in tilec, torch, jax.numpy, ONNX, StableHLO and PyPTO. */
function namesOf(dtype: DType): readonly string[] {
  const { jax, onnx, mlir } = elementTypes[dtype];
  const names = [
    dtype,
    // torch and jax: float8_e5m2.
    dtype.replace(/^f8(?=e)/, "float8_"),
    ...(onnx === undefined ? [] : [onnx[1].toLowerCase()]),
    ...(jax === undefined ? [] : [jax]),
    ...(mlir === undefined ? [] : [mlir]),
  ];
  // PyPTO: DT_FP16 and DT_BF16.
  return isFloat(dtype) && jax === `float${bitsOf(dtype)}` ? [...names, `fp${bitsOf(dtype)}`] : names;
}

/**
 * Returns the element type with a framework's name, such as `float16`, `torch.half`, `pypto.DT_FP16` or
 * `TensorProto.FLOAT16`. Undefined for an unknown name.
 */
export function dtypeMeant(name: string): DType | undefined {
  if (isDType(name)) return name;
  const word = name
    .slice(name.lastIndexOf(".") + 1)
    .toLowerCase()
    .replace(/^(?:dt|dml_tensor_data_type)_/, "");
  // tilec's own names go before those of others.
  if (isDType(word)) return word;
  const short = Object.hasOwn(shortNames, word) ? shortNames[word] : undefined;
  return dtypes.find((dtype) => namesOf(dtype).includes(word)) ?? short;
}
