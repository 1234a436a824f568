/**
 * Operators indexed by boolean masks whose values are known: positions take the place of the masks, and the
 * gather is by these.
 */
import { expandMasks, type TensorType } from "../../ir/index.js";
import type { ProgramDescription } from "../api/program.js";
import { coordinatesOf, flatNonzero } from "./nonzero.js";
import type { TensorValue } from "./tensor.js";

/** Input of a program: the type and, if known before compilation, the elements (`read`). */
export interface FixedTensor {
  readonly type: TensorType;
  /** Returns the elements. Absent if they are known only when the program runs. */
  readonly read?: () => TensorValue;
}

/**
 * Replaces each boolean mask of a program by index arrays, computed as in `numpy.nonzero`. Returns the
 * changed description and inputs. Returns the arguments unchanged if there is no mask, or if a mask is
 * invalid or has unknown elements.
 */
export function withPositions<T extends FixedTensor>(
  description: ProgramDescription,
  inputs: readonly T[],
): { readonly description: ProgramDescription; readonly inputs: readonly (T | Required<FixedTensor>)[] } {
  const expanded = expandMasks({ ...description, inputs: inputs.map(({ type }) => type) });
  const unchanged = { description, inputs };
  if (expanded === undefined) return unchanged;
  const masks = new Map<T, Float64Array>();
  const tensors: (T | Required<FixedTensor>)[] = [];
  for (const { input, maskDim } of expanded.inputs) {
    const tensor = inputs[input];
    if (tensor === undefined) return unchanged;
    if (maskDim === undefined) {
      tensors.push(tensor);
      continue;
    }
    const positions =
      masks.get(tensor) ?? (tensor.read === undefined ? undefined : flatNonzero(tensor.read()));
    if (positions === undefined) return unchanged;
    masks.set(tensor, positions);
    const value = coordinatesOf(positions, tensor.type.shape, maskDim);
    tensors.push({ type: value.type, read: () => value });
  }
  const [data, indices, ...others] = tensors.map(({ type }) => type);
  if (data === undefined || indices === undefined) return unchanged;
  const { others: _, ...rest } = description;
  const attrs = { ...description.attrs, ...expanded.attrs };
  return {
    description: { ...rest, attrs, data, indices, ...(others.length === 0 ? {} : { others }) },
    inputs: tensors,
  };
}
