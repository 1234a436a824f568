/** Every output element by the data coordinates that a definition gives for it. */
import { fillBytes } from "../../ir/access.js";
import { noElement, outOfRange } from "../../ir/policy.js";
import { at, byteCount, invariant, strides } from "../../ir/types.js";
import { box } from "../box.js";
import { allocate, indexOutOfRange, tensorOf, unitsOf, type MappedInputs } from "../memory.js";

/** Elements between two steps. */
const elementsAtOnce = 2 ** 12;

/**
 * `coordinatesOf`: the data coordinates of an output element, good until the next is asked for. One below zero ends it: `noElement`
 * leaves the map's fill bits, `outOfRange` rejects the run. Yields the elements done; returns the output's bytes.
 */
export function* elementByElement(
  mapped: MappedInputs,
  coordinatesOf: (out: readonly number[]) => readonly number[],
): Generator<number, Uint8Array> {
  const { operands, inputs } = mapped;
  const [data, output] = [operands[0], operands[operands.length - 1]];
  invariant(data !== undefined && output !== undefined, "a gather has data and an output");
  const bytes = allocate(byteCount(output.type), "the output");
  const source = unitsOf(tensorOf(inputs, data).bytes, data.type.dtype);
  const target = unitsOf(bytes, data.type.dtype);
  const none = fillBytes(mapped.map, data.type.dtype);
  const by = strides(data.type.shape);
  let element = 0;
  for (const out of box(output.type.shape)) {
    if (element % elementsAtOnce === 0) yield element;
    let [from, least] = [0, 0];
    const coords = coordinatesOf(out);
    for (let k = 0; k < coords.length; k++) {
      const coord = at(coords, k);
      if (coord < least) least = coord;
      from += coord * at(by, k);
    }
    if (least === outOfRange) throw indexOutOfRange(mapped, element);
    if (least === noElement) bytes.set(none, element * none.length);
    else {
      for (let unit = 0; unit < source.per; unit++) {
        target.units[element * source.per + unit] = at(source.units, from * source.per + unit);
      }
    }
    element++;
  }
  return bytes;
}
