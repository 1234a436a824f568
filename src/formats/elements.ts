/** One element as people read it: its value, and its bits where the value hides them. */
import { getFloat16 } from "@petamoriken/float16";
import { bytesOf, isIndexDType, type DType } from "../../ir/index.js";

/** `486 (0x43f30000)` for floats and complex numbers, `-7` for integers. `k` counts elements. */
export function showElement(dtype: DType, bytes: Uint8Array, k: number): string {
  const size = bytesOf(dtype);
  const view = new DataView(bytes.buffer, bytes.byteOffset + k * size, size);
  const hex = Array.from({ length: size }, (_, b) =>
    view
      .getUint8(size - 1 - b)
      .toString(16)
      .padStart(2, "0"),
  );
  const value = valueOf(dtype, view);
  return isIndexDType(dtype) || dtype === "bool" ? value : `${value} (0x${hex.join("")})`;
}

function valueOf(dtype: DType, view: DataView): string {
  const shown = (value: number): string => (Object.is(value, -0) ? "-0" : String(value));
  switch (dtype) {
    case "bool":
    case "u8":
      return String(view.getUint8(0));
    case "i8":
      return String(view.getInt8(0));
    case "i16":
      return String(view.getInt16(0, true));
    case "u16":
      return String(view.getUint16(0, true));
    case "i32":
      return String(view.getInt32(0, true));
    case "u32":
    case "string":
      return String(view.getUint32(0, true));
    case "i64":
      return String(view.getBigInt64(0, true));
    case "u64":
      return String(view.getBigUint64(0, true));
    case "f16":
      return shown(getFloat16(view, 0, true));
    case "bf16": {
      const wide = new DataView(new ArrayBuffer(4));
      wide.setUint16(2, view.getUint16(0, true), true);
      return shown(wide.getFloat32(0, true));
    }
    case "f32":
      return shown(view.getFloat32(0, true));
    case "f64":
      return shown(view.getFloat64(0, true));
    case "c64":
      return `${shown(view.getFloat32(0, true))}+${shown(view.getFloat32(4, true))}i`;
    case "c128":
      return `${shown(view.getFloat64(0, true))}+${shown(view.getFloat64(8, true))}i`;
  }
}
