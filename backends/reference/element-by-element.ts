/** Every output element by the coordinates that a definition gives for what it is made from. */
import { outputOf } from "../../ir/func.js";
import { fillBytes, isMove } from "../../ir/access.js";
import { noElement, outOfRange } from "../../ir/policy.js";
import { at, byteCount, elementCount } from "../../ir/types.js";
import { evaluator, valuePlan } from "../../ir/values/index.js";
import { pointsOf } from "../region-points.js";
import { indexPointSteps } from "../empty-output.js";
import type { MapAddresses } from "../map-addresses.js";
import { allocateArray, unitsOf } from "../memory.js";
import { indexOutOfRange, type MappedInputs } from "../resolved-indices.js";
import { elementReads } from "../element-reads.js";

/** Elements between two steps. */
const elementsAtOnce = 2 ** 12;

/**
 * Computes the output elements of an access map one by one and returns the output's bytes. Yields the number
 * of elements computed. Throws a RunError (TC601) for the first rejected index.
 */
export function* elementByElement(
  mapped: MappedInputs,
  addresses: MapAddresses,
): Generator<number, Uint8Array> {
  const { map, operands } = mapped;
  const output = outputOf(mapped);
  const { dtype, shape } = output.type;
  const bytes = allocateArray(byteCount(output.type), "the output");
  if (elementCount(shape) === 0) {
    yield* indexPointSteps(mapped, addresses);
    return bytes;
  }
  const target = unitsOf(bytes, dtype);
  const none = fillBytes(map, dtype);
  const { elementOf, bitsAt, unitsOf: unitsRead } = elementReads(mapped, addresses);
  const types = map.reads.map(({ table }) => at(operands, table).type.dtype);
  const values = isMove(map) ? undefined : evaluator(valuePlan(map.value, types));
  const { units, per } = unitsRead(0);
  let element = 0;
  for (const out of pointsOf(shape)) {
    if (element % elementsAtOnce === 0) yield element;
    const ended = addresses.to(out);
    if (ended === outOfRange) throw indexOutOfRange(mapped, element);
    if (ended === noElement) bytes.set(none, element * none.length);
    else if (values !== undefined) {
      const taken = values.start();
      for (const address of addresses.reduction?.() ?? []) {
        if (address === outOfRange) throw indexOutOfRange(mapped, element);
        values.take(taken, bitsAt);
      }
      target.units[element] = values.element(bitsAt, taken);
    } else {
      const from = elementOf(0);
      for (let unit = 0; unit < per; unit++) {
        target.units[element * per + unit] = at(units, from * per + unit);
      }
    }
    element++;
  }
  return bytes;
}
