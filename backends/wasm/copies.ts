/** Copies of the inputs of a run into an executor's memory. */
import { inputsOf, type TileFunc } from "../../ir/func.js";
import { inputTensor, type HostInputs } from "../memory.js";

/**
 * Number of bytes of an input that are copied at a time. Between such copies, the executor checks whether its
 * time slice is over.
 */
export const bytesAtOnce = 2 ** 22;

/**
 * Copies each input of a program to its tensor in `to`, unless it already lies there. Copies in parts, and
 * yields the number of bytes of each part.
 */
export function* copyInputs(func: TileFunc, from: HostInputs, to: HostInputs): Generator<number, void> {
  for (const operand of inputsOf(func)) {
    const bytes = inputTensor(to, operand).bytes;
    const given = inputTensor(from, operand).bytes;
    if (given.buffer === bytes.buffer && given.byteOffset === bytes.byteOffset) continue;
    for (let start = 0; start < given.byteLength; start += bytesAtOnce) {
      const piece = given.subarray(start, start + bytesAtOnce);
      bytes.set(piece, start);
      yield piece.byteLength;
    }
  }
}
