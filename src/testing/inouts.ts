/**
 * Inputs that a program writes in place: each run has memory of its own for them, and a rejected run leaves
 * them as they were.
 */
import { inputsOf, keyOf, type Func } from "../../ir/index.js";
import type { HostValue } from "../../backends/index.js";

type Tensors = Readonly<Record<string, HostValue>>;
type HasOperands = Pick<Func, "operands">;

/** Returns a copy of each tensor, under the same key. An execution may write to the copies. */
export const copies = (tensors: Tensors): Tensors =>
  Object.fromEntries(
    Object.entries(tensors).map(([key, tensor]) => [
      key,
      { ...tensor, bytes: Uint8Array.from(tensor.bytes) },
    ]),
  );

/**
 * Returns a message about the first input that a run changed but must not change; undefined if there is none.
 * A run may change only inputs marked `inout`, and only if `succeeded` is true.
 */
export function changedInput(
  func: HasOperands,
  before: Tensors,
  after: Tensors,
  succeeded: boolean,
): string | undefined {
  for (const operand of inputsOf(func)) {
    if (operand.inout === true && succeeded) continue;
    const key = keyOf(operand);
    const [old, now] = [before[key]?.bytes, after[key]?.bytes];
    const byte = old?.findIndex((value, k) => value !== now?.[k]) ?? -1;
    if (byte === -1) continue;
    const why = operand.inout === true ? "a rejected run writes nothing" : "it is no inout";
    return `byte ${byte} of ${key} was written, and ${why}`;
  }
  return undefined;
}
