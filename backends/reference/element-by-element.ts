/** Every output element by the coordinates that a definition gives for what it is made from. */
import { outputOf } from "../../ir/func.js";
import { fillBytes, isMove } from "../../ir/access.js";
import { noElement, outOfRange } from "../../ir/policy.js";
import { at, byteCount, elementCount, isPacked, strides } from "../../ir/types.js";
import { evaluator, valuePlan } from "../../ir/values/index.js";
import { box } from "../box.js";
import { indexPointSteps } from "../empty-output.js";
import type { Places } from "../map-places.js";
import {
  allocateArray,
  indexOutOfRange,
  packedBits,
  inputTensor,
  unitsOf,
  type MappedInputs,
} from "../memory.js";

/** Elements between two steps. */
const elementsAtOnce = 2 ** 12;

/** Yields the elements done; returns the output's bytes. */
export function* elementByElement(mapped: MappedInputs, places: Places): Generator<number, Uint8Array> {
  const { map, operands, inputs } = mapped;
  const output = outputOf(mapped);
  const { dtype, shape } = output.type;
  const bytes = allocateArray(byteCount(output.type), "the output");
  if (elementCount(shape) === 0) {
    yield* indexPointSteps(mapped, places);
    return bytes;
  }
  const target = unitsOf(bytes, dtype);
  const none = fillBytes(map, dtype);
  const sources = map.reads.map(({ table }) => {
    const operand = at(operands, table);
    const { dtype, shape } = operand.type;
    const { units, per } = unitsOf(inputTensor(inputs, operand).bytes, dtype);
    const bitsAt = isPacked(dtype)
      ? (element: number): number => packedBits(units, dtype, element)
      : (element: number): number => at(units, element);
    return { units, per, bitsAt, by: strides(shape) };
  });
  const types = map.reads.map(({ table }) => at(operands, table).type.dtype);
  const values = isMove(map) ? undefined : evaluator(valuePlan(map.value, types));
  /** The element that a read names. */
  const placeOf = (read: number): number => {
    const { by } = at(sources, read);
    const coords = places.read(read);
    let from = 0;
    for (let k = 0; k < coords.length; k++) from += at(coords, k) * at(by, k);
    return from;
  };
  const bitsAt = (read: number): number => at(sources, read).bitsAt(placeOf(read));
  const { units, per } = at(sources, 0);
  let element = 0;
  for (const out of box(shape)) {
    if (element % elementsAtOnce === 0) yield element;
    const ended = places.to(out);
    if (ended === outOfRange) throw indexOutOfRange(mapped, element);
    if (ended === noElement) bytes.set(none, element * none.length);
    else if (values !== undefined) {
      const taken = values.start();
      for (const term of places.terms?.() ?? []) {
        if (term === outOfRange) throw indexOutOfRange(mapped, element);
        values.take(taken, bitsAt);
      }
      target.units[element] = values.element(bitsAt, taken);
    } else {
      const from = placeOf(0);
      for (let unit = 0; unit < per; unit++) {
        target.units[element * per + unit] = at(units, from * per + unit);
      }
    }
    element++;
  }
  return bytes;
}
