/** Copies of the inputs of a run into an executor's memory. */
import { inputsOf, type TileFunc } from "../../ir/func.js";
import { tensorOf, type HostInputs } from "../memory.js";
import { copyInPart, type PartialCopy } from "./partial-copy.js";

/** Bytes of an input copied between two looks at the clock. */
export const bytesAtOnce = 2 ** 22;

/**
 * Copies what lies elsewhere, indices first: they may name what is copied of the data. Yields the bytes of each copy. `named`: what
 * of the data is copied; absent: all.
 */
export function* copyInputs(
  func: TileFunc,
  from: HostInputs,
  to: HostInputs,
  named: PartialCopy | undefined,
): Generator<number, void> {
  const operands = [...inputsOf(func)].sort(
    (a, b) => Number(b.role === "indices") - Number(a.role === "indices"),
  );
  for (const operand of operands) {
    const own = tensorOf(to, operand).bytes;
    const given = tensorOf(from, operand).bytes;
    if (given.buffer === own.buffer && given.byteOffset === own.byteOffset) continue;
    if (named !== undefined && operand.role === "data") {
      yield* copyInPart(func, named, from, to);
      continue;
    }
    for (let start = 0; start < given.byteLength; start += bytesAtOnce) {
      const part = given.subarray(start, start + bytesAtOnce);
      own.set(part, start);
      yield part.byteLength;
    }
  }
}
