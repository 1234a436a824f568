/**
 * The walk over the rows of a gather: index values stage by stage, each looked up once for all that lies
 * inside its dims, and those of the last stage by the block. A row is what one set of index values picks:
 * neighbours in the data and in the output.
 */
import { gatheredTable } from "../../ir/access.js";
import { stepsOf } from "../../ir/addressing.js";
import { inputOf, type Operand, type TileFunc } from "../../ir/func.js";
import { evaluate, loopForm, loopVariables, indicesOf, type Env, type Linear } from "../../ir/linear.js";
import { at, elementCount } from "../../ir/types.js";
import { indexReader, inputTensor, type HostInputs, type IndexReader } from "../memory.js";
import type { GatherPlan } from "../plan/gather.js";
import { stridedIndices, type StridedIndex } from "../plan/strided-indices.js";
import type { Stage } from "../plan/stages.js";
import { IndexWalk, type IndexStep } from "../index-walk.js";
import { Block, blockRows, IndexLine, offsets, type AddressOffsets } from "./block.js";

/** Receiver of the rows that a {@link GatherWalk} visits. Rows come in output order, with indices from 0. */
export interface RowVisitor {
  /** Receives the first `count` rows of a block; the first is row `first` of the output. */
  block(block: Block, from: number, count: number, first: number): void;
  /** Receives one row, whose data starts at `address`. */
  row(address: number, row: number): void;
  /**
   * Receives `count` rows from `first` on that have no source element. `element`: the reason, `noElement` or
   * `outOfRange`.
   */
  none(first: number, count: number, element: number): void;
  /**
   * An index value is read. Where this is given, values that hang on no other are read whatever these name.
   */
  read?(table: number, position: number): void;
}

/** Source of the value of an index operand in the walk. */
interface Lookup {
  readonly step: IndexStep;
  /**
   * Steps of the value's position along each dim, in elements. Absent if the position depends on more than
   * dims and loops.
   */
  readonly by?: readonly number[];
  /** Start of the value's position: its part that is constant within an iteration of the loops. */
  readonly start: Linear;
  /** True if the value depends on other index values of the element, or is a sum. */
  readonly hangs: boolean;
}

/**
 * Terms that one stage of a gather ({@link Stage}) adds to the address of the data: multiples of index values
 * (`strides`), and all other terms (`rest`).
 */
interface Adds {
  readonly strides: readonly { readonly index: number; readonly by: number }[];
  readonly rest: Linear;
}

/**
 * Index operand that the innermost stage of a gather ({@link Stage}) reads at an address that depends only on
 * output dims and loops.
 */
interface Direct {
  readonly index: number;
  readonly table: Operand;
  readonly by: readonly number[];
  readonly line: IndexLine;
}

/** The rows of one size of the output. */
interface Layout {
  readonly sizes: readonly number[];
  /** Dims from here on are a row. */
  readonly outer: number;
  readonly rowElements: number;
  /** Rows inside each dim. */
  readonly rows: readonly number[];
  readonly blocks?: Blocks;
}

/** Walk of one call: the receiver of the rows, and the range of elements of the outermost dim. */
interface Walk {
  readonly visitor: RowVisitor;
  readonly layout: Layout;
  readonly low: number;
  readonly high: number;
}

/** Rows are taken by the block from some dim on: so many elements of it, with all that lies inside. */
interface Blocks {
  readonly dim: number;
  readonly elements: number;
  /** True if the block resolves the index values of the last stage. */
  readonly resolves: boolean;
  /** From the first row of a block to each: in the data, and in the table of each direct index operand. */
  readonly data: AddressOffsets;
  readonly addresses: readonly Int32Array[];
}

/** Blocks that all walks share, since only one walk runs at a time. */
const shared: { near?: Block; far?: Block } = {};
const blockOf = (isWide: boolean): Block =>
  isWide ? (shared.far ??= new Block(true)) : (shared.near ??= new Block(false));

/** Input of a {@link GatherWalk}: the steps that compute index values, and the address of the rows. */
export interface WalkInput extends Pick<GatherPlan, "indexSteps" | "stages"> {
  /** Address of the rows in input `table`, by default the data. */
  readonly address: Linear;
  readonly table?: number;
  readonly rank: number;
  /** Number of address units in an element. */
  readonly scale: number;
  /** True to call the visitor's `read` for each index value that is read. */
  readonly isRead?: boolean;
}

/**
 * Returns the first dim of a row (`outer`; all later dims belong to the row) and the number of elements in a
 * row. A row is contiguous in memory, and all its elements have the same index values. `by`: distance in
 * memory, in elements, between neighbours along each dim. `last`: innermost dim on which index values depend,
 * or -1.
 */
export function rowOf(
  sizes: readonly number[],
  by: readonly number[],
  last: number,
): { readonly outer: number; readonly rowElements: number } {
  let [outer, rowElements] = [sizes.length, 1];
  while (outer > last + 1 && (by[outer - 1] === rowElements || sizes[outer - 1] === 1))
    rowElements *= at(sizes, --outer);
  return { outer, rowElements };
}

/**
 * Iterator that passes the rows of a gather to a {@link RowVisitor}. An index value is resolved once for all
 * inner loops on which the value does not depend. The innermost index values are resolved for a block of rows
 * at a time.
 */
export class GatherWalk {
  private readonly lookups: readonly Lookup[];
  /** Stages by dim plus 1: entry 0 is the stage outside all dims (dim -1). */
  private readonly stages: readonly ({ readonly stage: Stage; readonly adds: Adds } | undefined)[];
  private readonly by: readonly number[];
  private readonly last: number;
  private readonly previous: number;
  private readonly direct: readonly Direct[] | undefined;
  private readonly isWide: boolean;
  private readonly scale: number;
  private readonly isRead: boolean;
  private readonly indexWalk: IndexWalk;
  private readonly dims: number[];
  private inputs: HostInputs = {};
  /** By table, each made when it is first used. */
  private readers: (IndexReader | undefined)[] = [];
  private env: Env = new Map();
  private placed: readonly number[] = [];
  private layout: Layout | undefined;
  /**
   * Rows of the block that are resolved, and the place of the first index value of each direct index operand.
   */
  private resolved = 0;
  private readonly firsts: number[] = [];

  constructor(
    private readonly func: TileFunc,
    { address, isRead = false, rank, scale, indexSteps, stages, table = gatheredTable }: WalkInput,
  ) {
    this.scale = scale;
    this.isRead = isRead;
    this.dims = new Array<number>(rank).fill(0);
    this.indexWalk = new IndexWalk(indexSteps);
    this.by = stepsOf(address, rank);
    this.lookups = indexSteps.map((step) => ({
      step,
      start: loopForm(step.form),
      hangs: step.table === undefined || indicesOf(step.form).length > 0,
      ...(step.table !== undefined && isStepped(step.form) ? { by: stepsOf(step.form, rank) } : {}),
    }));
    const walked = stages.map((stage) => ({ stage, adds: addsOf(stage) }));
    this.stages = Array.from({ length: rank + 1 }, (_, k) => walked.find(({ stage }) => stage.dim === k - 1));
    const innermost = at(walked, walked.length - 1);
    this.last = innermost.stage.dim;
    this.previous = walked[walked.length - 2]?.stage.dim ?? -1;
    const resolved = isRead || walked.length < 2 ? undefined : stridedIndices({ indexSteps, stages });
    this.direct = resolved === undefined ? undefined : this.directOf(resolved);
    this.isWide = elementCount(inputOf(func, table).type.shape) * scale >= 2 ** 31;
  }

  /**
   * Returns the index operands of the last stage with the strides of their addresses. Undefined if more than
   * dims and loops changes the address of one.
   */
  private directOf(resolved: readonly StridedIndex[]): readonly Direct[] | undefined {
    const direct = resolved.flatMap(({ rule, index, stride, table }): Direct[] => {
      const { by } = at(this.lookups, index);
      if (by === undefined) return [];
      return [
        { index, table: inputOf(this.func, table), by, line: new IndexLine(rule, stride * this.scale) },
      ];
    });
    return direct.length === resolved.length ? direct : undefined;
  }

  /**
   * Returns the number of index values of an output of some sizes: those that are resolved by the block, and
   * those that are looked up alone.
   */
  valuesOf(sizes: readonly number[]): { readonly inBlocks: number; readonly alone: number } {
    let [inBlocks, alone] = [0, 0];
    for (const entry of this.stages) {
      if (entry === undefined) continue;
      const { adds, stage } = entry;
      const times = elementCount(sizes.slice(0, stage.dim + 1));
      if (this.direct !== undefined && stage.dim === this.last) inBlocks += times * stage.indices.length;
      else alone += times * (stage.indices.length + adds.rest.terms.length);
    }
    return { inBlocks, alone };
  }

  /** Takes the inputs of the walks that follow, until `release`. */
  bind(inputs: HostInputs): void {
    this.inputs = inputs;
    for (const { line, table } of this.direct ?? []) line.bind(inputTensor(inputs, table));
  }

  /** Forgets the inputs, which are the caller's and may be large. */
  release(): void {
    this.inputs = {};
    this.readers = [];
    for (const { line } of this.direct ?? []) line.release();
  }

  /**
   * Place of the first value of each index operand, in the loops around the gather; zero where more than dims
   * and loops move it.
   */
  get starts(): readonly Linear[] {
    return this.lookups.map(({ by, start }) => (by === undefined ? zero : start));
  }

  /** Loop variables of the other forms. */
  get variables(): readonly string[] {
    const forms = this.lookups.flatMap(({ by, step }) => (by === undefined ? [step.form] : []));
    const rests = this.stages.flatMap((entry) => (entry === undefined ? [] : [entry.adds.rest]));
    return [...new Set([...forms, ...rests].flatMap((form) => [...loopVariables(form)]))];
  }

  /**
   * Walks elements [from, to) of the outermost dim of an output of some sizes. `start`: the address of the
   * data before values add to it. `starts`, `env`: the values of the getters `starts` and `variables`.
   */
  walk(
    visitor: RowVisitor,
    sizes: readonly number[],
    start: number,
    starts: readonly number[],
    env: Env,
    from = 0,
    to = sizes[0] ?? 1,
  ): void {
    if (this.layout === undefined || !sizes.every((size, d) => size === this.layout?.sizes[d]))
      this.layout = this.layoutOf(sizes);
    this.placed = starts;
    this.env = env;
    // A walk may have been given up inside, and others have the block.
    this.dims.fill(0);
    this.resolved = 0;
    const on = { visitor, layout: this.layout, low: from, high: to };
    if (!sizes.includes(0)) this.enter(on, -1, start, 0, false);
  }

  private layoutOf(given: readonly number[]): Layout {
    const sizes = [...given];
    const { outer, rowElements } = rowOf(sizes, this.by, this.last);
    const rows = sizes.map((_, d) => elementCount(sizes.slice(d + 1, outer)));
    const head = { sizes, outer, rowElements, rows };
    // The stage before the last is outside of a block, and so is the last where its values lead to one
    // another.
    const first = (this.direct === undefined ? this.last : this.previous) + 1;
    let dim = outer - 1;
    if (dim < first) return head;
    while (dim > first && 2 * at(rows, dim - 1) <= blockRows) dim--;
    const inner = at(rows, dim);
    const elements = Math.max(1, Math.min(at(sizes, dim), Math.floor(blockRows / inner)));
    const count = elements * inner;
    const resolves = dim <= this.last;
    const data = offsets(count, this.isWide);
    const addresses = (resolves ? (this.direct ?? []) : []).map(() => new Int32Array(count));
    const coords = sizes.map(() => 0);
    for (let k = 0; k < count; k++) {
      const along = (by: readonly number[]): number => {
        let sum = 0;
        for (let d = dim; d < outer; d++) sum += (by[d] ?? 0) * (coords[d] ?? 0);
        return sum;
      };
      data[k] = along(this.by) * this.scale;
      addresses.forEach((addresses, s) => (addresses[k] = along(this.direct?.[s]?.by ?? [])));
      for (let d = outer - 1; d >= dim; d--) {
        const next = (coords[d] ?? 0) + 1;
        coords[d] = d > dim && next === sizes[d] ? 0 : next;
        if (coords[d] !== 0) break;
      }
    }
    return { ...head, blocks: { dim, elements, resolves, data, addresses } };
  }

  /**
   * Walks everything inside the dims up to `d`. `from`: the address of the data as far as it is known.
   * `ended`: the rows have no element.
   */
  private enter(on: Walk, d: number, from: number, row: number, ended: boolean): void {
    let [address, none] = [from, ended];
    const next = this.stages[d + 1];
    if (next !== undefined) {
      none = this.endsIn(next.stage, on, d, row, ended);
      if (!none) address += this.added(next.adds);
      else if (!this.isRead) return;
    }
    if (d + 1 < on.layout.outer) this.enterInner(on, d + 1, address, row, none);
    else if (!none) on.visitor.row(address, row);
  }

  /** Looks up the index values of a stage. Returns true if the rows inside have no element. */
  private endsIn(stage: Stage, { visitor, layout }: Walk, d: number, row: number, ended: boolean): boolean {
    let none = ended;
    for (const index of stage.indices) {
      // What is read at dims alone is read whatever the others name, where somebody asks.
      if (none && at(this.lookups, index).hangs) continue;
      const element = this.lookUp(visitor, index);
      if (element >= 0) continue;
      none = true;
      if (this.isRead) continue;
      visitor.none(row, d === -1 ? rowsIn(layout) : at(layout.rows, d), element);
      return true;
    }
    return none;
  }

  /** Walks along dim `d`, by the block or by the element. The parameters are those of `enter`. */
  private enterInner(on: Walk, d: number, from: number, row: number, ended: boolean): void {
    const { blocks, rows, sizes } = on.layout;
    const [first, end] = d === 0 ? [on.low, on.high] : [0, at(sizes, d)];
    const step = at(this.by, d) * this.scale;
    const inside = at(rows, d);
    if (d === blocks?.dim) {
      if (ended) return;
      for (let k = first; k < end; k += blocks.elements) {
        this.dims[d] = k;
        const count = Math.min(blocks.elements, end - k) * inside;
        this.block(on.visitor, blocks, from + k * step, count, row + k * inside);
      }
    } else {
      for (let k = first; k < end; k++) {
        this.dims[d] = k;
        this.enter(on, d, from + k * step, row + k * inside, ended);
      }
    }
    this.dims[d] = 0;
  }

  private block(visitor: RowVisitor, blocks: Blocks, from: number, count: number, row: number): void {
    const block = blockOf(this.isWide);
    const direct = (blocks.resolves ? this.direct : undefined) ?? [];
    // Rows that share their index values with the block before are where these have led.
    let isResolved = count <= this.resolved;
    for (let s = 0; s < direct.length; s++) {
      const { by, index } = at(direct, s);
      const first = this.placeOf(by, at(this.placed, index));
      if (first !== this.firsts[s]) isResolved = false;
      this.firsts[s] = first;
    }
    if (!isResolved) {
      this.resolve(block, blocks, direct, count);
      this.resolved = count;
    }
    visitor.block(block, from, count, row);
  }

  private resolve(block: Block, { data, addresses }: Blocks, direct: readonly Direct[], count: number): void {
    block.clear();
    if (direct.length === 0) block.addresses.set(data);
    for (let s = 0; s < direct.length; s++)
      at(direct, s).line.resolve(
        block,
        s === 0 ? data : block.addresses,
        at(addresses, s),
        at(this.firsts, s),
        count,
      );
  }

  private placeOf(by: readonly number[], start: number): number {
    let place = start;
    for (let d = 0; d < by.length; d++) place += (by[d] ?? 0) * (this.dims[d] ?? 0);
    return place;
  }

  /** Returns the value of an index operand at the dims so far; below zero: it ends the rows inside. */
  private lookUp(visitor: RowVisitor, index: number): number {
    const { by, step } = at(this.lookups, index);
    const { dims, env } = this;
    if (step.table === undefined) return this.indexWalk.takeSum(step, dims, env);
    const read = (this.readers[step.table] ??= this.readerOf(step.table));
    const position =
      by === undefined ? this.indexWalk.position(step, dims, env) : this.placeOf(by, at(this.placed, index));
    visitor.read?.(step.table, position);
    return this.indexWalk.take(step, read(position), read, position);
  }

  private readerOf(table: number): IndexReader {
    const operand = inputOf(this.func, table);
    return indexReader(inputTensor(this.inputs, operand).bytes, operand.type.dtype);
  }

  private added({ rest, strides }: Adds): number {
    let sum = 0;
    for (const { by, index } of strides) sum += at(this.indexWalk.indices, index) * by;
    if (rest.terms.length > 0)
      sum += evaluate(rest, this.env, { dims: this.dims, indices: this.indexWalk.indices });
    return sum * this.scale;
  }
}

const zero: Linear = { at: 0, terms: [] };

const rowsIn = ({ outer, sizes }: Layout): number => elementCount(sizes.slice(0, outer));

const isStepped = ({ terms }: Linear): boolean =>
  terms.every(({ of }) => of.kind === "dim" || of.kind === "iv" || of.kind === "min");

function addsOf({ adds }: Stage): Adds {
  const strides = adds.terms.flatMap(({ of, by }) => (of.kind === "index" ? [{ index: of.index, by }] : []));
  return { strides, rest: { at: 0, terms: adds.terms.filter(({ of }) => of.kind !== "index") } };
}
