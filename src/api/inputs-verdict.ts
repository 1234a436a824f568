/**
 * Verdict on inputs of a kernel, as a hint and as a line of text: whether an Ascend core gives the stated
 * bits.
 */
import { mapOverTensors } from "../../ir/addressing.js";
import { formatShape, hint, taskOfTile, type Diagnostic } from "../../ir/index.js";
import { targetFacts } from "../../ir/target.js";
import { programAnswer } from "../../backends/ascend-answer.js";
import type { HostInputs } from "../../backends/index.js";
import {
  inputsVerdict,
  type InputsVerdict,
  type UnmetCondition,
} from "../../backends/reference/unmet-condition.js";
import type { Kernel } from "./compile.js";

/**
 * Returns the verdict on whether an Ascend core gives the reference's bits for `inputs`. Undefined for other
 * targets, for kernels that only move elements, and for scatters of computed values. Undefined also if a step
 * may give other bits whatever the inputs are.
 */
export function verdictOn(
  { target, definition, tile }: Kernel,
  inputs: HostInputs,
): InputsVerdict | undefined {
  if (!targetFacts[target.kind].runsPto) return undefined;
  const map = definition?.map ?? mapOverTensors(tile, taskOfTile(tile));
  const { operands } = definition ?? tile;
  if (map === undefined) return undefined;
  const answer = programAnswer({ map, operands });
  return answer?.ok === true ? inputsVerdict({ map, operands, inputs }, answer.assumes) : undefined;
}

const unmetText = ({ operand, element, value, bound }: UnmetCondition): string =>
  `element ${element} of ${operand} is ${value}, not ${bound}`;

/**
 * Returns a list with a hint (TC912) if an Ascend core may compute other bits than the reference for the
 * inputs. The list is empty if the bits are equal.
 */
export function verdictHints(verdict: InputsVerdict): readonly Diagnostic[] {
  if (verdict.kind !== "other bits") return [];
  const { point, step, unmet } = verdict;
  const message = `an Ascend core may give other bits at output ${formatShape(point)}: ${step}`;
  return [
    hint("TC912", message, {
      notes: [unmetText(unmet)],
      data: { point, ...unmet },
      hint: "keep the elements within the conditions that explain prints, or compare with a tolerance",
    }),
  ];
}

/** Returns a result of {@link verdictOn} as one line of text. */
export function verdictText(verdict: InputsVerdict): string {
  switch (verdict.kind) {
    case "met":
      return "Ascend cores give these bits: the inputs meet the conditions";
    case "unneeded":
      return `Ascend cores give these bits: ${unmetText(verdict.unmet)}, and no step needs it here`;
    case "other bits":
      return `Ascend cores may give other bits: ${verdict.step}, at output ${formatShape(verdict.point)}`;
  }
}
