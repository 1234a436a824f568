/** Elements that an output element is made from, by the number of the read that names each. */
import { at, isPacked, strides } from "../ir/types.js";
import type { MapAddresses } from "./map-addresses.js";
import { inputTensor, packedBits, unitsOf } from "./memory.js";
import type { MappedInputs } from "./resolved-indices.js";

/**
 * Functions that return the elements that an access map reads for one output element, which a {@link
 * MapAddresses} cursor selects. Parameter `read`: number of a read in the map, from 0.
 */
export interface ElementReads {
  /** Returns the row-major position of the element in its tensor. */
  readonly elementOf: (read: number) => number;
  /** Returns the bits of an element of at most 32 bits. */
  readonly bitsAt: (read: number) => number;
  /** Returns the tensor of a read as an array of units, and the number of units in an element. */
  readonly unitsOf: (read: number) => ReturnType<typeof unitsOf>;
}

/**
 * Returns the {@link ElementReads} of an access map: functions for the input elements that the map reads for
 * one output element. `addresses`: cursor that selects the output element.
 */
export function elementReads({ map, operands, inputs }: MappedInputs, addresses: MapAddresses): ElementReads {
  const sources = map.reads.map(({ table }) => {
    const operand = at(operands, table);
    const { dtype, shape } = operand.type;
    const entry = unitsOf(inputTensor(inputs, operand).bytes, dtype);
    const { units } = entry;
    const bitsAt = isPacked(dtype)
      ? (element: number): number => packedBits(units, dtype, element)
      : (element: number): number => at(units, element);
    return { entry, bitsAt, by: strides(shape) };
  });
  const elementOf = (read: number): number => {
    const { by } = at(sources, read);
    const coords = addresses.read(read);
    let from = 0;
    for (let k = 0; k < coords.length; k++) from += at(coords, k) * at(by, k);
    return from;
  };
  return {
    elementOf,
    bitsAt: (read) => at(sources, read).bitsAt(elementOf(read)),
    unitsOf: (read) => at(sources, read).entry,
  };
}
