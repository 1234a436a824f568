/** Difference of a backend's outcome from the outcome that a kernel's definition states. */
import type { Diagnostic, TensorType } from "../../ir/index.js";
import { differenceFrom } from "../api/against.js";
import { nameOf, type BackendRun } from "../api/backends.js";
import type { RunInputs } from "../api/origin-of.js";
import { fromOutput, type TensorValue } from "../formats/tensor.js";
import { rejectionDifference, type Outcome } from "./outcome.js";

/**
 * Returns an error (TC610) for the first element that differs, or for a rejected index value that the other
 * side does not reject. Undefined if the outcomes are equal. `type`: type of the output. `expected`: outcome
 * of the definition.
 */
export function definitionDifference(
  side: RunInputs,
  type: TensorType,
  expected: Outcome,
  actual: Outcome,
): Diagnostic | undefined {
  const name = nameOf(side.backend);
  if (expected.kind !== "bits" || actual.kind !== "bits")
    return rejectionDifference([name, actual], ["its definition", expected]);
  const value = ({ output }: BackendRun): TensorValue => fromOutput(type, output, side.inputs);
  return differenceFrom(side, value(expected.run), value(actual.run), name);
}
