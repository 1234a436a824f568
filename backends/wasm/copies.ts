/** Copies of the inputs of a run into an executor's memory. */
import { inputsOf, type TileFunc } from "../../ir/func.js";
import { inputTensor, type HostInputs } from "../memory.js";

/** Number of bytes of an input that are copied at a time, between checks of the time slice. */
export const bytesAtOnce = 2 ** 22;

/**
 * Copies the inputs of a program to the tensors in `to`; inputs already in place are skipped. Yields the
 * number of bytes of each partial copy.
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
