/**
 * The elements of an unrolled step, in vectors of four lanes. What is the same for all of them is computed
 * once, as of one element. Terms are taken in in their order, into the sums of all elements side by side:
 * each sum has the bits that it has alone.
 */
import { at, bitsOf, isPacked, isSigned } from "../../ir/types.js";
import type { SourceType, ReductionSteps, ValueStep, ValueType, ValuePlan } from "../../ir/values/index.js";
import { range } from "../plan/runs.js";
import { stillSteps } from "../plan/still-steps.js";
import type { CodeBuilder, LocalId } from "./code.js";
import type { PlainOp } from "./instructions.js";
import { LaneCode } from "./lane-code.js";
import type { UnrolledValues } from "./unrolled-values.js";
import { emitStep, emitStepwise, storedValue, type StoredValue } from "./value-lanes.js";
import {
  emitSteps,
  emitReduction,
  localOf,
  pushByte,
  type EachElement,
  type ReadAddresses,
  type ReadStep,
} from "./values.js";

/** Elements of a vector. */
const vectorElements = 4;

/**
 * Combined reduction elements of each output element of an unrolled step (16 or 32 output elements). One
 * WebAssembly local if all values are equal; else a list of locals, each with four values.
 */
type StepSums = LocalId | readonly LocalId[];

/**
 * Emits the computation of the output elements of an unrolled step (16 or 32 elements), and the stores from
 * the address in local `out` on. `each`: emits the loop over the reduction elements, if there are any.
 */
export function emitVectorValues(
  code: CodeBuilder,
  { steps, reduction }: ValuePlan,
  reads: ReadAddresses,
  each: EachElement,
  unrolled: UnrolledValues,
  out: LocalId,
): void {
  const sums = reduction === undefined ? undefined : emitVectorReduction(code, reduction, each, unrolled);
  const stored = storedValue(steps);
  const values = new StepValues(code, stored.steps, reads, unrolled, sums);
  if (stored.type === "f32") storeFloats(values, stored, unrolled, out);
  else storeNarrowed(values, stored, unrolled, out);
}

/**
 * Emits the stores of the elements of an unrolled step (16 or 32 elements) for types that are not f32.
 * Vectors are first narrowed to the bits of the type.
 */
function storeNarrowed(
  values: StepValues,
  { bits, type }: StoredValue,
  { elements }: UnrolledValues,
  out: LocalId,
): void {
  const { lanes } = values;
  const { code } = lanes;
  const narrow = narrowings[type];
  const together = 2 ** narrow.length;
  for (let first = 0; first < elements / vectorElements; first += together) {
    const vectors = range(first, first + together).map((k) => {
      const converted = code.local("bits", "v128");
      bits(lanes, values.vector(k));
      code.set(converted);
      return converted;
    });
    code.get(out);
    pushNarrowed(code, narrow, vectors);
    code.op("v128.store", 16 * (first / together));
  }
}

/** Emits the stores of f32 vectors, with canonical NaN bits for NaN values. */
function storeFloats(
  values: StepValues,
  { bits, steps }: StoredValue,
  { elements }: UnrolledValues,
  out: LocalId,
): void {
  const { lanes } = values;
  const { code } = lanes;
  const vectors = elements / vectorElements;
  const [sum, place, again] = [code.local("any", "v128"), code.local("place"), code.local("again", "v128")];
  for (const k of range(0, vectors)) {
    const value = values.vector(k)(steps.length - 1);
    code
      .get(out)
      .get(value)
      .op("v128.store", 16 * k)
      .get(value);
    if (k > 0) code.get(sum).op("f32x4.add");
    code.set(sum);
  }
  lanes.get(sum).get(sum).op("f32.eq");
  code
    .op("i32x4.all_true")
    .op("i32.eqz")
    .if(() => {
      code.get(out).set(place);
      code.repeat({ kind: "const", value: vectors }, "vectors", () => {
        code.get(place).op("v128.load", 0).set(again);
        code.get(place);
        bits(lanes, () => again);
        code.op("v128.store", 0).advance(place, 16);
      });
    });
}

/**
 * Emits the code that combines the reduction elements of each output element of an unrolled step (16 or 32
 * output elements), and returns the results. `each`: emits the loop over reduction elements, and calls `take`
 * to emit the loop's body.
 */
function emitVectorReduction(
  code: CodeBuilder,
  reduction: ReductionSteps,
  each: EachElement,
  unrolled: UnrolledValues,
): StepSums {
  const last = reduction.steps.length - 1;
  if (
    reduction.how === "exact" ||
    stillSteps(reduction.steps, (read) => at(unrolled.still, read), false)[last] === true
  )
    return emitReduction(code, reduction, each);
  const vectors = unrolled.elements / vectorElements;
  return emitStepwise(new LaneCode(code, true), reduction, vectors, (take) => {
    each((reads) => {
      const values = new StepValues(code, reduction.steps, reads, unrolled);
      take((k) => values.vector(k)(last));
    });
  });
}

/** The values of a step's elements, vector by vector. */
class StepValues {
  /** Its locals are those of each vector in turn. */
  readonly lanes: LaneCode;
  private readonly still: readonly boolean[];
  /** By step, what holds a value that is the same for all elements, in every lane. */
  private readonly spread = new Map<number, LocalId>();
  /** By read, the address of the first element in bytes. */
  private readonly addresses: readonly LocalId[];
  /** By read, what holds the elements of a vector and the next one. */
  private readonly pairs = new Map<number, LocalId>();

  /** Emits what is computed once for all elements. */
  constructor(
    code: CodeBuilder,
    private readonly steps: readonly ValueStep[],
    reads: ReadAddresses,
    unrolled: UnrolledValues,
    private readonly sums?: StepSums,
  ) {
    this.lanes = new LaneCode(code, true);
    const reduced = typeof sums === "number" ? sums : undefined;
    this.still = stillSteps(steps, (read) => at(unrolled.still, read), reduced !== undefined);
    const once = emitSteps(code, steps, reads, reduced, (step) => at(this.still, step));
    const moving = steps.filter((_, step) => !at(this.still, step));
    for (const step of new Set(moving.flatMap(operandsOf))) {
      const value = once.get(step);
      if (value === undefined) continue;
      const spread = code.local("spread", "v128");
      this.lanes.get(value).set(spread);
      this.spread.set(step, spread);
    }
    this.addresses = reads.addresses.map((address, read) => {
      const step = moving.find((step) => step.kind === "read" && step.read === read);
      if (step === undefined || !isPacked(step.type)) return address;
      const first = code.local("packed");
      reads.memory(read);
      pushByte(code, step.type, address);
      code.op("i32.add").set(first);
      return first;
    });
  }

  private pairOf(read: number): LocalId {
    const pair = this.pairs.get(read) ?? this.lanes.code.local("pair", "v128");
    this.pairs.set(read, pair);
    return pair;
  }

  /** Emits the values of a vector, in the order of the vectors. Returns what holds the value of a step. */
  vector(k: number): (step: number) => LocalId {
    const { addresses, lanes, steps, still, sums } = this;
    lanes.reuseLocals();
    const values = new Map(this.spread);
    const of = (step: number): LocalId => localOf(values, step);
    const read = (step: ReadStep): void => {
      loadVector(lanes, step.type, at(addresses, step.read), k, () => this.pairOf(step.read));
    };
    const reduced = typeof sums === "object" ? at(sums, k) : undefined;
    steps.forEach((step, n) => {
      if (!at(still, n)) values.set(n, emitStep(lanes, step, { of, read, reduced }));
    });
    return of;
  }
}

/**
 * Returns the indices of the steps whose results are operands of `step`; an empty list for a step without
 * operands.
 */
function operandsOf(step: ValueStep): readonly number[] {
  switch (step.kind) {
    case "cast":
      return [step.of];
    case "op":
      return step.of;
    case "read":
    case "number":
    case "reduced":
      return [];
  }
}

/**
 * Emits code that pushes four consecutive elements of an unrolled step (16 or 32 elements) as a vector.
 * `address`: local with the address of the step's first element. `k`: index, from 0, of the vector in the
 * step.
 */
function loadVector(
  lanes: LaneCode,
  type: SourceType,
  address: LocalId,
  k: number,
  pair: () => LocalId,
): void {
  const { code } = lanes;
  const bits = bitsOf(type);
  const offset = (k * vectorElements * bits) / 8;
  if (isPacked(type)) {
    // All four in every lane; each lane has its own moved to the top, and back with its sign.
    code.get(address).op(bits === 4 ? "v128.load16_splat" : "v128.load8_splat", offset);
    const top = (lane: number): number => 2 ** (32 - bits * (lane + 1));
    code.vector([top(0), top(1), top(2), top(3)]);
    lanes.op("i32.mul").shift(isSigned(type) ? "i32.shr_s" : "i32.shr_u", 32 - bits);
    return;
  }
  const { bytes, high, low, words } = vectorLoads[isSigned(type) ? "signed" : "unsigned"];
  if (bits === 32) code.get(address).op("v128.load", offset);
  else if (bits === 16) code.get(address).op(words, offset);
  else if (k % 2 === 0) code.get(address).op(bytes, offset).op("local.tee", pair()).op(low);
  else code.get(pair()).op(high);
}

/**
 * Loads of eight elements of a byte into lanes of 16 bits, and of four of two bytes into lanes of 32; the
 * halves of the former.
 */
const vectorLoads = {
  signed: {
    bytes: "v128.load8x8_s",
    low: "i32x4.extend_low_i16x8_s",
    high: "i32x4.extend_high_i16x8_s",
    words: "v128.load16x4_s",
  },
  unsigned: {
    bytes: "v128.load8x8_u",
    low: "i32x4.extend_low_i16x8_u",
    high: "i32x4.extend_high_i16x8_u",
    words: "v128.load16x4_u",
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, PlainOp>>>>;

/** Instructions that put the lanes of two vectors into one of half their width, one after another. */
const narrowings: Readonly<Record<ValueType, readonly PlainOp[]>> = {
  i8: ["i16x8.narrow_i32x4_s", "i8x16.narrow_i16x8_s"],
  u8: ["i16x8.narrow_i32x4_s", "i8x16.narrow_i16x8_u"],
  i16: ["i16x8.narrow_i32x4_s"],
  u16: ["i16x8.narrow_i32x4_u"],
  f16: ["i16x8.narrow_i32x4_u"],
  bf16: ["i16x8.narrow_i32x4_u"],
  i32: [],
  u32: [],
  f32: [],
};

/**
 * Emits code that merges vectors pairwise, round by round, into one vector with narrower lanes, and pushes
 * the result. `ops`: for each round, the instruction that merges two vectors.
 */
function pushNarrowed(code: CodeBuilder, ops: readonly PlainOp[], vectors: readonly LocalId[]): void {
  const last = ops[ops.length - 1];
  if (last === undefined) {
    code.get(at(vectors, 0));
    return;
  }
  const half = vectors.length / 2;
  pushNarrowed(code, ops.slice(0, -1), vectors.slice(0, half));
  pushNarrowed(code, ops.slice(0, -1), vectors.slice(half));
  code.op(last);
}
