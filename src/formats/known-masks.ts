/** Operators indexed by boolean masks whose values are known: positions take the place of the masks, and the gather is by these. */
import { expandMasks, type TensorType } from "../../ir/index.js";
import type { ProgramDescription } from "../api/program.js";
import { coordinatesOf, flatNonzero } from "./nonzero.js";
import type { TensorValue } from "./tensor.js";

/** A tensor whose elements may be read before its program is compiled. */
export interface KnownTensor {
  readonly type: TensorType;
  /** Absent: they are known at run time. */
  readonly read?: () => TensorValue;
}

/**
 * Returns a program with positions, as `numpy.nonzero` finds them, in the place of each mask, and its inputs in their order. Where a mask is
 * not known or breaks a rule, and where there is none, both are as they were. Reads the masks.
 */
export function withPositions<T extends KnownTensor>(
  description: ProgramDescription,
  inputs: readonly T[],
): { readonly description: ProgramDescription; readonly inputs: readonly (T | Required<KnownTensor>)[] } {
  const expanded = expandMasks({ ...description, inputs: inputs.map(({ type }) => type) });
  const unchanged = { description, inputs };
  if (expanded === undefined) return unchanged;
  const found = new Map<T, Float64Array>();
  const tensors: (T | Required<KnownTensor>)[] = [];
  for (const { input, maskDim } of expanded.inputs) {
    const own = inputs[input];
    if (own === undefined) return unchanged;
    if (maskDim === undefined) {
      tensors.push(own);
      continue;
    }
    const positions = found.get(own) ?? (own.read === undefined ? undefined : flatNonzero(own.read()));
    if (positions === undefined) return unchanged;
    found.set(own, positions);
    const value = coordinatesOf(positions, own.type.shape, maskDim);
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
