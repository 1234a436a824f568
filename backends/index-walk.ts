/**
 * Resolves the index values of an output element in order: reads each index operand, applies its policy, and
 * stops at the first that ends the element.
 */
import {
  isInReduction,
  isRead,
  isScatter,
  writtenIndices,
  type AccessMap,
  type DynamicBounds,
} from "../ir/access.js";
import { elementAddress } from "../ir/addressing.js";
import { defined } from "../ir/defined.js";
import type { Operand } from "../ir/func.js";
import { evaluate, evaluateExact, indicesOf, type Env, type Linear } from "../ir/linear.js";
import { fillValue, noElement, outOfRange, resolveIndex, ruleOfIndex, type IndexRule } from "../ir/policy.js";
import { at, invariant } from "../ir/types.js";

/**
 * Exclusive limit on the magnitude of sums of index values. Generated 128-bit arithmetic is exact below the
 * limit.
 */
export const int128Limit = 2 ** 126;

/**
 * Step that computes the value of one index operand for an output element (for a point, in a scatter): a read
 * of an input, or a sum of index values.
 */
export interface IndexStep {
  readonly index: number;
  /** Number of the input that the step reads; absent for a sum. */
  readonly table?: number;
  /** Address of the value in the memory of the table, in elements; for a sum, the sum itself. */
  readonly form: Linear;
  /** True if the value depends on r and is evaluated for each reduction element. */
  readonly inReduction: boolean;
  /**
   * True in a scatter if only the value needs it: where it names no element, the value is the fill bits, and
   * the walk goes on.
   */
  readonly isOfValue?: true;
  /** Bag that this value ends: the index operand of its begin, and its terms at most. */
  readonly ends?: { readonly from: number; readonly max: number };
  /** Absent under `any`. */
  readonly rule?: IndexRule;
  /** Under `any`: negative values count from this number. */
  readonly wrapNegativeBy?: number;
  /** Names of the runtime parameters that replace `extent` and `wrapNegativeBy` in a program over symbols. */
  readonly dynamic?: DynamicBounds;
}

/**
 * Returns, for each index operand of a map, the step that computes its value, in order of evaluation.
 * `forms`: one linear expression for each index operand: the address of the value if the operand reads a
 * tensor, else the value.
 */
export const indexSteps = (
  map: AccessMap,
  forms: readonly Linear[],
  operands: readonly Operand[],
): readonly IndexStep[] => {
  const written = isScatter(map) ? writtenIndices(map) : undefined;
  return map.indices.map((operand, index) => {
    const { value, wrapNegativeBy, dynamic } = operand;
    const rule = ruleOfIndex(operand, operands);
    const { max = 0, segment } = map.reduced ?? {};
    return {
      index,
      form: at(forms, index),
      inReduction: isInReduction(map, index),
      ...(written === undefined || written.has(index) ? {} : { isOfValue: true }),
      ...(segment?.to === index ? { ends: { from: segment.from, max } } : {}),
      ...(isRead(value) ? { table: value.table } : {}),
      ...defined(rule === undefined ? { wrapNegativeBy, dynamic } : { rule, dynamic }),
    };
  });
};

/** Returns, for each index operand of a map over whole tensors, the step that computes its value. */
export const tensorSteps = (map: AccessMap, operands: readonly Operand[]): readonly IndexStep[] =>
  indexSteps(
    map,
    map.indices.map(({ value }) =>
      isRead(value) ? elementAddress(at(operands, value.table).type.shape, value.at) : value,
    ),
    operands,
  );

/**
 * Range of reduction elements that one execution of a gather processes. `from` and the exclusive `to` are
 * 0-based positions among the reduction elements of an output element.
 */
export interface ReductionRun {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the first position and the end (exclusive) along the reduction dim for one output element. Without
 * segments, position 0 is reduction element `run.from`. With segments, positions count from the start of the
 * list that all segments share. `run`: reduction elements to process, by default all.
 */
export function reductionRange(
  { reduced }: AccessMap,
  indices: readonly number[],
  run?: ReductionRun,
): readonly [number, number] {
  const { from, to } = run ?? { from: 0, to: reduced?.max ?? 0 };
  if (reduced?.segment === undefined) return [0, to - from];
  const [first, end] = [at(indices, reduced.segment.from), at(indices, reduced.segment.to)];
  return [first + from, Math.min(first + to, end)];
}

/** Gives the value at a place exactly, of any 64-bit index. */
interface Exact {
  exact(position: number): bigint;
}

/** Reads the values of an input: exactly up to 2^53, as `resolveIndex` takes them, and exactly always. */
interface Reader extends Exact {
  (position: number): number;
}

/**
 * Resolver of the index operands of one output element (of one point, for a scatter) at a time. Each index
 * operand is resolved after the operands that it needs. The first index value that is rejected or selects no
 * element ends the resolution for the element.
 */
export class IndexWalk {
  /** Values of the element's index operands that are read so far; coordinates are made from them. */
  readonly indices: number[];
  private readonly exact: bigint[];
  private readonly summed: boolean;
  /** Index operands of a scatter's point that select no element and are needed only for its value. */
  private readonly missing = new Set<number>();

  /** Steps of the element itself (`outerSteps`) and of each of its reduction elements (`reductionSteps`). */
  readonly outerSteps: readonly IndexStep[];
  readonly reductionSteps: readonly IndexStep[];

  constructor(readonly steps: readonly IndexStep[]) {
    this.outerSteps = steps.filter(({ inReduction }) => !inReduction);
    this.reductionSteps = steps.filter(({ inReduction }) => inReduction);
    this.indices = steps.map(() => 0);
    this.exact = steps.map(() => 0n);
    this.summed = steps.some(({ table }) => table === undefined);
  }

  /** Begins an output element or a point. */
  begin(): void {
    this.missing.clear();
  }

  /**
   * True if a step cannot be taken: an index value that it is made from names no element. Its own then names
   * none either.
   */
  lacks({ index, form, inReduction }: IndexStep): boolean {
    if (inReduction || this.missing.size === 0 || !indicesOf(form).some((s) => this.missing.has(s)))
      return false;
    this.missing.add(index);
    return true;
  }

  /** True if the element or point ends at a step that came to this. */
  endsAt({ index, inReduction, isOfValue }: IndexStep, element: number): boolean {
    if (element !== noElement || inReduction || isOfValue !== true) return element < 0;
    this.missing.add(index);
    return false;
  }

  /**
   * Returns 0 for an element or point whose steps are all taken; `fillValue` where its value is the fill
   * bits.
   */
  get ended(): number {
    return this.missing.size === 0 ? 0 : fillValue;
  }

  /** Returns the position of the value of a step that reads, in elements of the memory that it reads. */
  position({ form }: IndexStep, dims: readonly number[], env: Env): number {
    return evaluate(form, env, { dims, indices: this.indices });
  }

  /** Returns the value of a step that reads nothing. */
  sum({ form }: IndexStep, dims: readonly number[], env: Env): bigint {
    return evaluateExact(form, dims, this.exact, env);
  }

  /** Applies `take` to the sum of a step that reads nothing. */
  takeSum(step: IndexStep, dims: readonly number[], env: Env): number {
    const sum = this.sum(step, dims, env);
    return this.take(step, Number(sum), { exact: () => sum }, 0);
  }

  /**
   * Applies `take` to the value of a step, whether the step reads or adds. `readers`: those of the inputs
   * that are read, by table.
   */
  takeFrom(
    step: IndexStep,
    readers: readonly (Reader | undefined)[],
    dims: readonly number[],
    env: Env,
  ): number {
    if (step.table === undefined) return this.takeSum(step, dims, env);
    const read = readers[step.table];
    invariant(read !== undefined, `input ${step.table} is read`);
    const position = this.position(step, dims, env);
    return this.take(step, read(position), read, position);
  }

  /**
   * Takes the value of a step. Returns `noElement` or `outOfRange` if the value stops the evaluation of the
   * element or of the reduction element. `value`: as `resolveIndex` takes it; `from` has it exactly.
   */
  take(
    { index, rule, ends, wrapNegativeBy = 0 }: IndexStep,
    value: number,
    from: Exact,
    position: number,
  ): number {
    if (rule === undefined) {
      const counted = value < 0 ? wrapNegativeBy : 0;
      this.indices[index] = value + counted;
      this.exact[index] = from.exact(position) + BigInt(counted);
      return 0;
    }
    const element =
      value >= 0 && value < rule.extent && value !== rule.excluded
        ? value
        : resolveIndex(rule, value, () => from.exact(position));
    if (element < 0) return element;
    this.indices[index] = element;
    if (ends !== undefined && element - at(this.indices, ends.from) > ends.max) return outOfRange;
    if (this.summed) this.exact[index] = BigInt(element);
    return 0;
  }
}
