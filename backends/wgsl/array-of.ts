/** Types of arrays in the text of a kernel. */
import type { BoundBuffer } from "./plan.js";

/**
 * Returns the type of an array. It has a length, so that shapes are visible and no length is read at run
 * time. With `dynamic` it has none: every size has one text.
 */
export function arrayOf(
  { bytes, width, atomic }: Pick<BoundBuffer, "bytes" | "width" | "atomic">,
  dynamic = false,
): string {
  const element = atomic ? "atomic<u32>" : width === 1 ? "u32" : `vec${width}u`;
  return dynamic ? `array<${element}>` : `array<${element}, ${bytes / 4 / width}>`;
}
