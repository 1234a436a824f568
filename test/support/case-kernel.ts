/** What tests of single backends ask about a case and its kernel. */
import { inputsOf, keyOf, taskOfTile, type TileFunc } from "../../ir/index.js";
import { hasPtoForm } from "../../ir/tiling/lowering.js";
import type { HostValue } from "../../backends/index.js";
import type { Case } from "../../src/formats/cases.js";
import { asHost } from "../../src/formats/tensor.js";

/** Whether PTO-ISA has instructions for the kernel's gather, if it has one. */
export function isForPto(tile: TileFunc): boolean {
  const { gather } = taskOfTile(tile);
  return gather === undefined || hasPtoForm(gather.stmt.map, inputsOf(tile).length);
}

/** Whether the case's tensors have the shapes of the kernel's inputs: those of a symbol's size that disagree do not. */
export const fits = ({ inputs }: Case, tile: TileFunc): boolean =>
  inputsOf(tile).every((operand) => {
    const given = inputs[operand.name] ?? inputs[keyOf(operand)];
    return String(given?.type.shape) === String(operand.type.shape);
  });

/** The case's tensors by the keys of the kernel's inputs, in their order. */
export const hostInputsOf = ({ inputs }: Case, tile: TileFunc): Record<string, HostValue> =>
  Object.fromEntries(
    inputsOf(tile).map((operand) => {
      const key = keyOf(operand);
      return [key, asHost(key, (inputs[operand.name] ?? inputs[key])!.read())];
    }),
  );
