/**
 * Rows of a gather whose index values are resolved together, before any of them moves. Two short loops take
 * less time than a long one: the second has nothing to wait for but memory.
 */
import { outOfRange, resolveIndex, type IndexRule } from "../../ir/policy.js";
import { invariant } from "../../ir/types.js";
import { indexReader, indexWords, type HostTensor, type IndexReader, type IndexWords } from "../memory.js";

/**
 * Maximum number of rows in a block. Index values of a block are resolved together; addresses and flags of
 * 1,024 rows fit the first-level cache.
 */
export const blockRows = 1024;

/**
 * Array of differences between addresses in the data, in the units in which rows are moved. The elements are
 * 32-bit integers if all addresses in the data fit into 32 bits; else doubles.
 */
export type AddressOffsets = Int32Array | Float64Array;

/**
 * Returns an integer in a form that V8 treats as a 32-bit integer. Larger integers are returned unchanged.
 */
export const asInteger = (place: number): number => (Math.abs(place) < 2 ** 31 ? place | 0 : place);

/** Returns an array of `length` address differences, all 0: doubles if `isWide`, else 32-bit integers. */
export const offsets = (length: number, isWide: boolean): AddressOffsets =>
  isWide ? new Float64Array(length) : new Int32Array(length);

/**
 * Block of at most {@link blockRows} rows of a gather, with the address of each row's data relative to a base
 * address.
 */
export class Block {
  readonly addresses: AddressOffsets;
  /** True if some row has no source element. `ended` is then 1 for each such row, and 0 for all others. */
  anyEnded = false;
  readonly ended = new Uint8Array(blockRows);
  /** The first row with an index value out of range; `blockRows` if there is none. */
  bad = blockRows;

  constructor(isWide: boolean) {
    this.addresses = offsets(blockRows, isWide);
  }

  /** Begins again. */
  clear(): void {
    if (this.anyEnded) this.ended.fill(0);
    this.anyEnded = false;
    this.bad = blockRows;
  }

  end(row: number, element: number): void {
    this.anyEnded = true;
    this.ended[row] = 1;
    if (element === outOfRange && row < this.bad) this.bad = row;
  }
}

const noWords = new Int32Array();

/**
 * Resolver of the values of one index operand for a block of rows, under the operand's out-of-range rule.
 * Adds the offset of the selected data to the address of each row.
 */
export class IndexLine {
  private tensor: HostTensor | undefined;
  private words: IndexWords["words"] = noWords;
  private isWide = false;
  private reader: IndexReader | undefined;
  private readonly wrapNegativeBy: number;
  private readonly stride: number;

  /** `stride`: between the data of neighbouring values. */
  constructor(
    private readonly rule: IndexRule,
    stride: number,
  ) {
    this.wrapNegativeBy = rule.wrapNegativeBy ?? 0;
    this.stride = asInteger(stride);
  }

  bind(tensor: HostTensor): void {
    this.tensor = tensor;
    ({ words: this.words, isWide: this.isWide } = indexWords(tensor.bytes, tensor.type.dtype));
  }

  release(): void {
    this.tensor = undefined;
    this.reader = undefined;
    this.words = noWords;
  }

  /**
   * Adds what the value at place `first + offsets[k]` leads to, for each row `k`, to `from[k]`, and ends rows
   * whose value names no element. A row that has ended stays so.
   */
  resolve(block: Block, from: AddressOffsets, offsets: Int32Array, first: number, count: number): void {
    const place = asInteger(first);
    if (this.isWide) this.resolveWide(block, from, offsets, place, count);
    else this.resolveNarrow(block, from, offsets, place, count);
  }

  private resolveNarrow(
    block: Block,
    from: AddressOffsets,
    offsets: Int32Array,
    first: number,
    count: number,
  ): void {
    const { wrapNegativeBy, stride, words } = this;
    const { addresses } = block;
    const { extent } = this.rule;
    const [lowest, highest] = [-wrapNegativeBy, extent - wrapNegativeBy];
    for (let k = 0; k < count; k++) {
      const value = words[first + (offsets[k] ?? 0)] ?? 0;
      const start = from[k] ?? 0;
      if (value >= 0 && value < extent) addresses[k] = start + value * stride;
      else if (value < 0 && value >= lowest && value < highest)
        addresses[k] = start + (value + wrapNegativeBy) * stride;
      else addresses[k] = start + this.resolved(block, k, first + (offsets[k] ?? 0)) * stride;
    }
  }

  /** Resolves index values of two words each. */
  private resolveWide(
    block: Block,
    from: AddressOffsets,
    offsets: Int32Array,
    first: number,
    count: number,
  ): void {
    const { wrapNegativeBy, stride, words } = this;
    const { addresses } = block;
    const { extent } = this.rule;
    const [lowest, highest] = [-wrapNegativeBy, extent - wrapNegativeBy];
    for (let k = 0; k < count; k++) {
      const place = 2 * (first + (offsets[k] ?? 0));
      const [low, high] = [words[place] ?? 0, words[place + 1] ?? 0];
      const start = from[k] ?? 0;
      if (high === 0 && low >= 0 && low < extent) addresses[k] = start + low * stride;
      else if (high === -1 && low < 0 && low >= lowest && low < highest)
        addresses[k] = start + (low + wrapNegativeBy) * stride;
      else addresses[k] = start + this.resolved(block, k, first + (offsets[k] ?? 0)) * stride;
    }
  }

  /** Returns the element that any value names, 0 where it names none and its row ends. */
  private resolved(block: Block, row: number, place: number): number {
    if (block.ended[row] === 1) return 0;
    const { tensor } = this;
    invariant(tensor !== undefined, "a line is bound while it is read");
    const reader = (this.reader ??= indexReader(tensor.bytes, tensor.type.dtype));
    const element = resolveIndex(this.rule, reader(place), () => reader.exact(place));
    if (element >= 0) return element;
    block.end(row, element);
    return 0;
  }
}
