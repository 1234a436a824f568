/** A tensor of a file as the input that it is given for. */
import { CompileError, elementTypes, error, formatType, isPacked, type TensorType } from "../../ir/index.js";
import { toHost } from "../../backends/index.js";
import { packedShape } from "../formats/npy.js";
import type { TensorValue } from "../formats/tensor.js";

/**
 * Returns the tensor of a file as the value of an input, with the input's type. A type that NumPy lacks, for
 * example bf16, must be stored as bits in a NumPy type. Throws a CompileError (TC012) for a wrong type or
 * shape.
 */
export function matching(value: TensorValue, type: TensorType, name: string, file: string): TensorValue {
  if (isPacked(type.dtype) && value.type.dtype !== type.dtype) {
    const inBytes = formatType({ dtype: "u8", shape: packedShape(type) });
    const given = formatType(value.type);
    const each = (["u8", "i8"] as const).map((dtype) => formatType({ ...type, dtype }));
    const { buffer, byteOffset } = value.bytes;
    const array =
      value.type.dtype === "i8" ? new Int8Array(buffer, byteOffset, value.bytes.length) : value.bytes;
    if (given === inBytes || each.includes(given)) return toHost(name, type, array);
    throw new CompileError([
      error("TC012", `${file} has type ${given}; the program's ${name} is ${formatType(type)}`, {
        hint: `save it as ${inBytes}, the first element of a byte in its low bits, or as ${each.join(" or ")}`,
      }),
    ]);
  }
  const { npy } = elementTypes[type.dtype];
  const asBits = typeof npy !== "string" && value.type.dtype === npy.as;
  const given = formatType(asBits ? { ...value.type, dtype: type.dtype } : value.type);
  if (given !== formatType(type)) {
    throw new CompileError([
      error("TC012", `${file} has type ${given}; the program's ${name} is ${formatType(type)}`, {
        hint: `save it as ${formatType(type)}, or change --${name}`,
      }),
    ]);
  }
  return { ...value, type };
}
