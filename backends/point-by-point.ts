/**
 * The definition of a scatter: its points in row-major order of the domain, each of which writes one element.
 */
import { baseFill, fillBytes, isMove, type Write } from "../ir/access.js";
import { outputOf, inputOf, type Operand } from "../ir/func.js";
import { fillValue, noElement } from "../ir/policy.js";
import { at, byteCount, elementCount, invariant, strides } from "../ir/types.js";
import { combination, evaluator, isValueType, typeOf, valuePlan } from "../ir/values/index.js";
import { checkPoints } from "./check-points.js";
import type { MapAddresses } from "./map-addresses.js";
import { allocateArray, inputTensor, unitsOf } from "./memory.js";
import type { MappedInputs } from "./resolved-indices.js";
import { pointsOf } from "./region-points.js";
import { elementReads } from "./element-reads.js";

/** Points between two steps. */
const pointsAtOnce = 2 ** 12;

/**
 * Computes a scatter's output point by point, and returns the output's bytes, which may be the base's own
 * memory. Yields the progress as a number of output elements, which may be a fraction. Throws a RunError
 * before any write: TC601 (index) or TC607 (duplicate).
 */
export function* pointByPoint(mapped: MappedInputs, addresses: MapAddresses): Generator<number, Uint8Array> {
  const { map } = mapped;
  const output = outputOf(mapped);
  const by = strides(output.type.shape);
  const count = elementCount(map.domain);
  /** Returns the number of the element that the point writes. */
  const written = (): number => addresses.written().reduce((sum, coord, k) => sum + coord * at(by, k), 0);
  yield* checkPoints(mapped, addresses, written);
  const bytes = baseBytes(mapped, map.write, output);
  const { units, per } = unitsOf(bytes, output.type.dtype);
  const write = pointWriter(
    mapped,
    addresses,
    (element, unit, bits) => {
      units[element * per + unit] = bits;
    },
    (element) => at(units, element * per),
  );
  let done = 0;
  for (const point of pointsOf(map.domain)) {
    if (done % pointsAtOnce === 0) yield (done * elementCount(output.type.shape)) / count;
    done++;
    const ended = addresses.to(point);
    if (ended !== noElement) write(written(), ended === fillValue);
  }
  // Units of what is written in place may be a copy, where its bytes begin between two units.
  if (units.buffer !== bytes.buffer) bytes.set(new Uint8Array(units.buffer, units.byteOffset, bytes.length));
  return bytes;
}

/**
 * Returns the bytes of a scatter's output before any write. The bytes are the memory of an in-place operand,
 * a copy of the base (initial values), or constant bits.
 */
export function baseBytes(mapped: MappedInputs, write: Write, output: Operand): Uint8Array {
  const bits = baseFill(write);
  if (bits !== undefined) {
    const bytes = allocateArray(byteCount(output.type), "the output");
    const element = fillBytes({ ...mapped.map, fill: bits }, output.type.dtype);
    for (let k = 0; k < bytes.length; k += element.length) bytes.set(element, k);
    return bytes;
  }
  const base = inputOf(mapped, 0);
  const given = inputTensor(mapped.inputs, base).bytes;
  if (base.inout === true) return given;
  const bytes = allocateArray(byteCount(output.type), "the output");
  bytes.set(given);
  return bytes;
}

/**
 * Returns a function that writes output element `element` of a scatter: the element combined with the value
 * of the point that `addresses` selects, or with the fill bits if `isFill` is true. `put`, `get`: write and
 * read the bits of an output element.
 */
function pointWriter(
  mapped: MappedInputs,
  addresses: MapAddresses,
  put: (element: number, unit: number, bits: number) => void,
  get: (element: number) => number,
): (element: number, isFill: boolean) => void {
  const { map, operands } = mapped;
  const { dtype } = outputOf(mapped).type;
  const { elementOf, bitsAt, unitsOf: unitsRead } = elementReads(mapped, addresses);
  const types = map.reads.map(({ table }) => at(operands, table).type.dtype);
  const fill = unitsOf(fillBytes(map, dtype), dtype).units;
  const { combine } = map.write;
  if (combine === "set" && isMove(map)) {
    const { units, per } = unitsRead(0);
    return (element, isFill) => {
      const from = isFill ? 0 : elementOf(0) * per;
      for (let unit = 0; unit < per; unit++) put(element, unit, at(isFill ? fill : units, from + unit));
    };
  }
  const plan = valuePlan(map.value, types);
  const values = evaluator(plan);
  const valueBits = (): number => {
    const taken = values.start();
    for (const _ of addresses.reduction?.() ?? []) values.take(taken, bitsAt);
    return values.element(bitsAt, taken);
  };
  if (combine === "set")
    return (element, isFill) => {
      put(element, 0, isFill ? at(fill, 0) : valueBits());
    };
  const type = typeOf(map.value, types);
  invariant(isValueType(dtype) && isValueType(type), `points combine in ${dtype}`);
  const [withFill, withValue] = [combination(combine, dtype, dtype), combination(combine, dtype, type)];
  return (element, isFill) => {
    const old = get(element);
    put(element, 0, isFill ? withFill(old, at(fill, 0)) : withValue(old, valueBits()));
  };
}
