/** The oracle's answer to a random gather: its output's bytes, or the position of the first index out of range. */
import { meanBytes } from "../../ir/index.js";
import { oracle } from "../oracle/gather.js";
import type { RandomGather } from "./arbitrary.js";

export function expectedBytes(random: Omit<RandomGather, "func">): Uint8Array | number {
  const size = meanBytes(random.dtype);
  const count = random.data.length / size;
  const elements = Array.from({ length: count }, (_, k) => random.data.subarray(k * size, (k + 1) * size));
  const result = oracle(random.gather, elements, random.indices);
  if (result.badPosition !== undefined) return result.badPosition;
  const bytes = new Uint8Array(result.elements.length * size);
  result.elements.forEach((element, k) => {
    if (element !== null) bytes.set(element, k * size);
  });
  return bytes;
}
