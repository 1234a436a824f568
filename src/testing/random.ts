/** Random inputs from a seed: any bits for the data, indices in range. The same seed gives the same tensors. */
import { byteCount, elementCount, isConstant, type Func, type TensorType } from "../../ir/index.js";
import { accessOf } from "../api/access.js";
import { lcg } from "../formats/lcg.js";
import { writeNumber } from "../formats/numbers.js";
import type { TensorValue } from "../formats/tensor.js";

export function randomData(type: TensorType, seed: number): TensorValue {
  const draw = lcg(seed);
  if (type.dtype === "string") {
    const strings = Array.from({ length: elementCount(type.shape) }, () => `s${Math.floor(draw() * 1000)}`);
    return { type, bytes: new Uint8Array(), strings };
  }
  const bytes = new Uint8Array(byteCount(type));
  const top = type.dtype === "bool" ? 2 : 256;
  for (let k = 0; k < bytes.length; k++) bytes[k] = Math.floor(draw() * top);
  return { type, bytes };
}

/** In range along whichever gather dim each index names. */
export function randomIndices(type: TensorType, func: Func, seed: number): TensorValue {
  const extents = gatherExtents(func);
  const draw = lcg(seed + 1);
  const bytes = new Uint8Array(byteCount(type));
  const view = new DataView(bytes.buffer);
  const count = elementCount(type.shape);
  for (let k = 0; k < count; k++) {
    writeNumber(view, type.dtype, k, Math.floor(draw() * (extents[k % extents.length] ?? 1)));
  }
  return { type, bytes };
}

/** Extents that consecutive index values name: one, or gather_nd's tuple of them. */
function gatherExtents(func: Func): number[] {
  const access = accessOf(func);
  const below = access?.map.sites.map((site) => site.below) ?? [1];
  const tuple = access?.map.sites.some(({ value }) => value.at.some(isConstant)) ?? false;
  return tuple ? below : below.slice(0, 1);
}
