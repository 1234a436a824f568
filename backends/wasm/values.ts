/** An output element by its steps, alone. */
import {
  bitsOfNumber,
  floatFormats,
  type ReductionSteps,
  type ValueStep,
  type ValuePlan,
} from "../../ir/values/index.js";
import {
  at,
  bitsOf,
  bytesOf,
  elementsInByte,
  invariant,
  isPacked,
  isSigned,
  type PackedType,
} from "../../ir/types.js";
import { loads, stores, type CodeBuilder, type LocalId } from "./code.js";
import { LaneCode } from "./lane-code.js";
import { emitStep, emitStepwise, storedValue } from "./value-lanes.js";

/**
 * Function that emits code to push the base address of the memory from which a read takes its element.
 * `read`: index of the read in the value's computation.
 */
export type MemoryOf = (read: number) => void;

/**
 * Locations of the input elements from which a value is computed, by index of the read. `addresses`: locals
 * of byte addresses, or of element positions for packed elements (several in a byte). `memory`: emits the
 * code that pushes the base address of a read's memory.
 */
export interface ReadAddresses {
  readonly addresses: readonly LocalId[];
  readonly memory: MemoryOf;
}

/**
 * Emits the computation of a value and the store to the address in local `out`. `each`: emits the loop over
 * the reduction elements, if there are any.
 */
export function emitValue(
  code: CodeBuilder,
  { steps, reduction }: ValuePlan,
  reads: ReadAddresses,
  each: EachElement,
  out: LocalId,
): void {
  const reduced = reduction === undefined ? undefined : emitReduction(code, reduction, each);
  const stored = storedValue(steps);
  const values = emitSteps(code, stored.steps, reads, reduced);
  code.get(out);
  stored.bits(new LaneCode(code, false), (step) => localOf(values, step));
  code.op(stores[bytesOf(stored.type)], 0);
}

/**
 * Emits the code that combines the reduction elements of one output element, and returns the WebAssembly
 * local with the result. `each`: emits the loop over reduction elements, and calls `take` to emit the loop's
 * body.
 */
export function emitReduction(code: CodeBuilder, reduction: ReductionSteps, each: EachElement): LocalId {
  if (reduction.how === "exact") return emitExact(code, reduction, each);
  const sums = emitStepwise(new LaneCode(code, false), reduction, 1, (take) => {
    each((reads) => {
      const element = lastOf(reduction.steps, emitSteps(code, reduction.steps, reads));
      take(() => element);
    });
  });
  return at(sums, 0);
}

/**
 * Function that emits the loop over reduction elements. It calls `take` to emit the loop's body, with the
 * addresses of the operands of the current reduction element.
 */
export type EachElement = (take: (reads: ReadAddresses) => void) => void;

/**
 * Emits an exact sum, rounded once to f32, and returns the local with the sum. Finite reduction elements are
 * added as 64-bit multiples of 2^`unit`; NaN and infinities are added separately.
 */
function emitExact(
  code: CodeBuilder,
  { unit, steps }: Extract<ReductionSteps, { readonly how: "exact" }>,
  each: EachElement,
): LocalId {
  const [units, special] = [code.local("units", "i64"), code.local("special", "f32")];
  const [sum, bits] = [code.local("sum", "f32"), code.local("bits")];
  const number = (value: number): CodeBuilder =>
    code.const(bitsOfNumber("f32", value)).op("f32.reinterpret_i32");
  code.integer("i64", 0).set(units);
  number(0).set(special);
  each((reads) => {
    const element = lastOf(steps, emitSteps(code, steps, reads));
    code.get(units).get(element).op("f64.promote_f32");
    // 2^-unit, whose digits are none but the leading one.
    code
      .op("i64.const", BigInt(1023 - unit) << 52n)
      .op("f64.reinterpret_i64")
      .op("f64.mul");
    code.op("i64.trunc_sat_f64_s").op("i64.add").set(units);
    code.get(element).op("i32.reinterpret_f32").const(floatFormats.f32.infinity).op("i32.and").set(bits);
    code.get(special).get(special).get(element).op("f32.add");
    code.get(bits).const(floatFormats.f32.infinity).op("i32.ne").op("select").set(special);
  });
  code.get(units).op("f32.convert_i64_s");
  number(2 ** unit)
    .op("f32.mul")
    .get(special)
    .get(special);
  number(0).op("f32.eq").op("select").set(sum);
  return sum;
}

const lastOf = (steps: readonly ValueStep[], values: ReadonlyMap<number, LocalId>): LocalId =>
  localOf(values, steps.length - 1);

/**
 * Returns the local with the result of the step with index `step`. Throws an InternalError if the step was
 * not emitted.
 */
export function localOf(values: ReadonlyMap<number, LocalId>, step: number): LocalId {
  const local = values.get(step);
  invariant(local !== undefined, `step ${step} was emitted`);
  return local;
}

/**
 * Emits the steps of a value's computation in order, or only the steps for which `isWanted` is true. Returns
 * the locals with the results, by index of the step.
 */
export function emitSteps(
  code: CodeBuilder,
  steps: readonly ValueStep[],
  reads: ReadAddresses,
  reduced?: LocalId,
  isWanted: (step: number) => boolean = () => true,
): ReadonlyMap<number, LocalId> {
  const lanes = new LaneCode(code, false);
  const values = new Map<number, LocalId>();
  const of = (step: number): LocalId => localOf(values, step);
  const read = (step: ReadStep): void => {
    loadElement(code, step, reads);
  };
  steps.forEach((step, n) => {
    if (isWanted(n)) values.set(n, emitStep(lanes, step, { of, read, reduced }));
  });
  return values;
}

/** Step of the computation of a value that reads an element of an operand. */
export type ReadStep = Extract<ValueStep, { readonly kind: "read" }>;

/**
 * Emits code that pushes the bits of the element that a step reads. The bits of an integer or an f32 are the
 * value.
 */
function loadElement(
  code: CodeBuilder,
  { read, type }: ReadStep,
  { addresses, memory }: ReadAddresses,
): void {
  const address = at(addresses, read);
  if (isPacked(type)) {
    memory(read);
    loadPacked(code, type, address);
    return;
  }
  code.get(address);
  if (type === "i8" || type === "i16" || type === "f32") code.op(valueLoads[type], 0);
  else code.op(loads[bytesOf(type)], 0);
}

const valueLoads = { i8: "i32.load8_s", i16: "i32.load16_s", f32: "f32.load" } as const;

/**
 * Emits code that pushes the position of the byte that contains a packed element, in bytes from the start of
 * the memory. `element`: local with the element's index.
 */
export function pushByte(code: CodeBuilder, type: PackedType, element: LocalId): void {
  code
    .get(element)
    .const(Math.log2(elementsInByte(type)))
    .op("i32.shr_u");
}

/**
 * Emits code that pops the base address of packed elements (several in a byte) and pushes the value of one
 * element. `element`: local with the element's index.
 */
function loadPacked(code: CodeBuilder, type: PackedType, element: LocalId): void {
  const [bits, each] = [bitsOf(type), elementsInByte(type)];
  pushByte(code, type, element);
  code.op("i32.add").op("i32.load8_u", 0);
  const place = (): void => {
    code
      .get(element)
      .const(each - 1)
      .op("i32.and")
      .times(bits);
  };
  if (!isSigned(type)) {
    place();
    code
      .op("i32.shr_u")
      .const(2 ** bits - 1)
      .op("i32.and");
    return;
  }
  // To the top of the word, and back with its sign.
  code.const(32 - bits);
  place();
  code
    .op("i32.sub")
    .op("i32.shl")
    .const(32 - bits)
    .op("i32.shr_s");
}
