/** What tests of single backends ask about a case and its kernel. */
import { inputsOf, keyOf, outputOf, taskOfTile, type TileFunc } from "../../ir/index.js";
import { isMove, isRead, type IndexOperand } from "../../ir/access.js";
import type { HostValue } from "../../backends/index.js";
import type { Case } from "../../src/formats/cases.js";
import { asHost } from "../../src/formats/tensor.js";

/** Whether the gather of a kernel, if there is one, moves elements as they are. */
export const moves = (tile: TileFunc): boolean => {
  const map = taskOfTile(tile).gather?.stmt.map;
  return map === undefined || isMove(map);
};

/**
 * Whether a kernel for PTO-ISA has a form for a gather that moves elements, if there is one: zeros outside, indices of tensors of their own, and in
 * sums those of fewer than 64 bits.
 */
export function isForPto(tile: TileFunc): boolean {
  const map = taskOfTile(tile).gather?.stmt.map;
  const has = ({ value, outOfRange }: IndexOperand): boolean =>
    !isRead(value) ||
    (value.table > 0 && (outOfRange !== "any" || !inputsOf(tile)[value.table]!.type.dtype.endsWith("64")));
  // A kernel of an output without elements has no statement.
  const isEmpty = outputOf(tile).type.shape.includes(0);
  return map === undefined || isEmpty || (isMove(map) && map.fill === undefined && map.indices.every(has));
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
