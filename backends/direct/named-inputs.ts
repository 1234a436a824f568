/**
 * Inputs of which a call names few rows: those alone are copied to where a kernel reads them, whatever lies
 * beside them there. Shapes decide which inputs these are, never index values.
 */
import { derivedOnce } from "../../ir/derived-once.js";
import { isRead, reductionDim, walked } from "../../ir/access.js";
import { stepsOf } from "../../ir/addressing.js";
import { inputsOf, keyOf, outputOf, type Operand, type TileFunc } from "../../ir/func.js";
import {
  dim,
  dimsOf,
  greatestCommonDivisor,
  index,
  indicesOf,
  substitute,
  type Linear,
} from "../../ir/linear.js";
import { flatten } from "../../ir/tile.js";
import { at, byteCount, elementCount, elementTypes, type Shape } from "../../ir/types.js";
import { inputTensor, type HostInputs } from "../memory.js";
import { isReadInReduction, type GatherPlan } from "../plan/gather.js";
import { beyondSteps, stagesOf } from "../plan/stages.js";
import { planTogether } from "../plan/plan-together.js";
import type { IndexStep } from "../index-walk.js";
import { walksByBlocks } from "./blocks-of-dims.js";
import { walkTime } from "./times.js";
import { GatherWalk, rowOf, type RowVisitor } from "./walk.js";

/**
 * Input of a tile program from which a run copies only the rows that index values select, instead of the
 * whole input.
 */
export interface NamedInput {
  readonly operand: Operand;
  readonly key: string;
  readonly reads: readonly NamedRead[];
}

/** The rows that a read names. */
interface NamedRead {
  readonly walk: GatherWalk;
  /**
   * Extents of the walk: the output's dims, and the number of reduction elements. The extent is 1 along dims
   * that do not move the read.
   */
  readonly sizes: Shape;
  /** Bits of the first row's address without index values, and of a row. */
  readonly start: number;
  readonly rowBits: number;
  /** Bits that divide the address of every row. */
  readonly unitBits: number;
  readonly rows: number;
  /** Place of the first value of each index operand. */
  readonly starts: readonly number[];
}

/**
 * Returns the inputs of a tile program for which copying only the selected rows is estimated to be faster
 * than copying the complete input.
 */
export const namedInputs = derivedOnce((tile: TileFunc): readonly NamedInput[] =>
  planNamed(tile).filter(takesLess),
);

/**
 * True if, by estimate, copying the selected rows of an input takes no longer than copying the complete
 * input.
 */
function takesLess({ operand, reads }: NamedInput): boolean {
  const time = reads.reduce(
    (sum, { rowBits, rows, sizes, walk }) => sum + walkTime(walk, sizes, rows, rowBits / 8, 1),
    0,
  );
  return time <= byteCount(operand.type);
}

/**
 * Returns the inputs of a tile program whose selected rows can be copied alone, regardless of cost. Empty if
 * the program has no gather, or is hand-written with different maps in different tiles.
 */
export function planNamed(tile: TileFunc): readonly NamedInput[] {
  const gather = planTogether(tile);
  if (gather === undefined) return [];
  const { map } = gather.stmt;
  // A load copies all of its region, named or not.
  const loaded = flatten(tile.body).flatMap((stmt) => (stmt.op === "load" ? [stmt.from.buffer] : []));
  return inputsOf(tile).flatMap((operand, table): NamedInput[] => {
    if (loaded.includes(operand.name)) return [];
    if (map.indices.some(({ value }) => isRead(value) && value.table === table)) return [];
    const reads = map.reads.map((read, k) =>
      read.table === table ? planRead(tile, gather, table, at(gather.addresses.reads, k)) : [],
    );
    const named = reads.flatMap((entry) => entry ?? []);
    const isComplete = reads.includes(undefined) || named.length === 0;
    return isComplete ? [] : [{ operand, key: keyOf(operand), reads: named }];
  });
}

/** Address of a read, and the index values that lead there, over the points of a shape. */
interface ReadWalk {
  readonly shape: Shape;
  readonly address: Linear;
  readonly indices: readonly IndexStep[];
}

/**
 * Returns the rows of one input that a read selects, split into the parts that {@link walksByBlocks} makes.
 * `table`: index of the input. Undefined if the rows cannot be enumerated.
 */
function planRead(
  tile: TileFunc,
  gather: GatherPlan,
  table: number,
  address: Linear,
): readonly NamedRead[] | undefined {
  const walk = readWalk(tile, gather, address);
  if (walk === undefined) return undefined;
  const { shape, indices } = walk;
  const forms = [walk.address, ...indices.map(({ form }) => form)];
  return walksByBlocks({ sizes: shape, forms }).map(({ sizes, forms: [placed = walk.address, ...rest] }) =>
    namedRead(tile, table, {
      shape: sizes,
      address: placed,
      indices: indices.map((step, k) => ({ ...step, form: at(rest, k) })),
    }),
  );
}

/**
 * Returns a read as three parts: the shape whose coordinates the read covers, the address at a coordinate,
 * and the steps that compute the index values. Undefined if a read inside segments cannot be written as one
 * read over the whole segmented list ({@link listWalk}).
 */
function readWalk(tile: TileFunc, { indexSteps, stmt }: GatherPlan, address: Linear): ReadWalk | undefined {
  const { map } = stmt;
  const shape = walked(map, outputOf(tile).type.shape);
  // A term without an index is left out of its sum, whatever else the element is made from.
  if (!isReadInReduction(address, indexSteps, map))
    return { shape, address, indices: indexSteps.filter(({ inReduction }) => !inReduction) };
  const { segment } = map.reduced ?? {};
  return segment === undefined
    ? { shape, address, indices: indexSteps }
    : listWalk({ shape, address, indices: indexSteps }, map, segment.to);
}

/**
 * Returns a read inside segments as one read over the whole segmented list. Undefined if the length of the
 * list is unknown, or if the read depends on more than the position in the list. `to`: position of the index
 * operand that gives the end of a segment.
 */
function listWalk(
  { address, shape, indices }: ReadWalk,
  map: GatherPlan["stmt"]["map"],
  to: number,
): ReadWalk | undefined {
  const ends = at(indices, to).rule?.extent;
  const before = indices.filter(({ inReduction }) => !inReduction).length;
  const added = indices.slice(before);
  const r = reductionDim(map);
  const forms = added.map(({ form }) => form);
  const dependsOnSegment =
    forms.flatMap(dimsOf).some((d) => d !== r) ||
    [address, ...forms].flatMap(indicesOf).some((n) => n < before);
  if (ends === undefined || dependsOnSegment) return undefined;
  const numbered = (form: Linear): Linear =>
    substitute(form, (of) => (of.kind === "index" ? index(of.index - before) : undefined));
  return {
    shape: shape.map((size, d) => (d === r ? Math.max(0, ends - 1) : size)),
    address: numbered(address),
    indices: added.map((step) => ({ ...step, index: step.index - before, form: numbered(step.form) })),
  };
}

/**
 * Returns the rows that a read selects: the number of rows, the row size in bits, and the iterator over the
 * rows. `table`: index of the input.
 */
function namedRead(tile: TileFunc, table: number, walk: ReadWalk): NamedRead {
  const { address, shape, indices } = rowsLast(walk);
  const forms = indices.map(({ form }) => form);
  const stages = stagesOf(forms, address);
  const followed = new Set([address, ...forms].flatMap(dimsOf));
  const sizes = shape.map((size, d) => (followed.has(d) ? size : Math.min(size, 1)));
  const { bits } = elementTypes[at(inputsOf(tile), table).type.dtype];
  const { outer, rowElements } = rowOf(
    sizes,
    stepsOf(address, shape.length),
    at(stages, stages.length - 1).dim,
  );
  const steps = address.terms
    .filter(({ of }) => of.kind !== "dim" || of.dim < outer)
    .map(({ by }) => Math.abs(by));
  return {
    walk: new GatherWalk(tile, {
      indexSteps: indices,
      stages,
      address,
      table,
      rank: shape.length,
      scale: bits,
    }),
    sizes,
    start: address.at * bits,
    rowBits: rowElements * bits,
    unitBits: bits * (steps.reduce(greatestCommonDivisor, Math.abs(address.at)) || rowElements),
    rows: elementCount(sizes.slice(0, outer)),
    starts: forms.map(({ at }) => at),
  };
}

/**
 * Returns a read with reordered dims: first the dims on which index values, quotients and remainders depend,
 * then the dims along which rows are contiguous.
 */
function rowsLast({ address, shape, indices }: ReadWalk): ReadWalk {
  const forms = [...indices.map(({ form }) => form), { at: 0, terms: beyondSteps(address) }];
  const first = new Set(forms.flatMap(dimsOf));
  const dims = [...shape.keys()];
  const order = [...dims.filter((d) => first.has(d)), ...dims.filter((d) => !first.has(d))];
  const shifted = (form: Linear): Linear =>
    substitute(form, (of) => (of.kind === "dim" ? dim(order.indexOf(of.dim)) : undefined));
  return {
    address: shifted(address),
    shape: order.map((d) => at(shape, d)),
    indices: indices.map((step) => ({ ...step, form: shifted(step.form) })),
  };
}

/** Rows between two looks at the clock. */
const rowsAtOnce = 2 ** 14;

/** Amount that one step of {@link copyNamed} copied, in bytes. */
export interface CopiedRows {
  readonly bytes: number;
  /** Upper limit of the bytes of all memory pages that contain the copied bytes. */
  readonly touched: number;
}

/**
 * Copies the rows that index values select from the tensors in `from` to the same positions of the tensors in
 * `to`. The index values are read from `from`. Yields the amount copied after each step.
 */
export function* copyNamed(
  named: readonly NamedInput[],
  from: HostInputs,
  to: HostInputs,
): Generator<CopiedRows, void> {
  for (const { operand, reads } of named) {
    const [source, target] = [inputTensor(from, operand).bytes, inputTensor(to, operand).bytes];
    for (const { rowBits, rows, sizes, start, starts, unitBits, walk } of reads) {
      const extent = sizes[0] ?? 1;
      const visited = new VisitedRows(source.byteLength, unitBits);
      const step = Math.max(1, Math.floor((rowsAtOnce * extent) / Math.max(1, rows)));
      for (let first = 0; first < extent; first += step) {
        const copier = new RowCopier(source, target, rowBits, visited);
        walk.bind(from);
        try {
          walk.walk(copier, sizes, start, starts, noLoops, first, Math.min(extent, first + step));
        } finally {
          walk.release();
        }
        yield copier;
      }
    }
  }
}

const noLoops: ReadonlyMap<string, number> = new Map();

/** Rows of no more bytes are copied by a loop. */
const shortRowBytes = 16;

/** A machine gives memory out by pages of so many bytes. */
const pageBytes = 4096;

/** Places of which a bit each is kept, at most: 4 MiB. */
const maxMarks = 2 ** 25;

/** Rows that were copied, by their addresses; of a table with too many places, none. */
class VisitedRows {
  private readonly bits: Uint32Array | undefined;

  /** `unitBits`: divide every address. */
  constructor(
    tableBytes: number,
    private readonly unitBits: number,
  ) {
    const units = Math.ceil((8 * tableBytes) / unitBits);
    if (units <= maxMarks) this.bits = new Uint32Array(Math.ceil(units / 32));
  }

  /** True if a row was asked for before. */
  has(address: number): boolean {
    const { bits } = this;
    if (bits === undefined) return false;
    const place = address / this.unitBits;
    const word = bits[place >>> 5] ?? 0;
    const bit = 1 << (place & 31);
    bits[place >>> 5] = word | bit;
    return (word & bit) !== 0;
  }
}

class RowCopier implements RowVisitor, CopiedRows {
  bytes = 0;
  touched = 0;

  constructor(
    private readonly source: Uint8Array,
    private readonly target: Uint8Array,
    private readonly rowBits: number,
    private readonly visited: VisitedRows,
  ) {}

  block({ addresses, ended }: Parameters<RowVisitor["block"]>[0], from: number, count: number): void {
    for (let k = 0; k < count; k++) if (ended[k] !== 1) this.row(from + (addresses[k] ?? 0));
  }

  row(address: number): void {
    const { rowBits, source, target } = this;
    if (this.visited.has(address)) return;
    const [first, end] = [Math.floor(address / 8), Math.ceil((address + rowBits) / 8)];
    this.bytes += end - first;
    this.touched += (Math.ceil(end / pageBytes) - Math.floor(first / pageBytes)) * pageBytes;
    if (end - first > shortRowBytes) target.set(source.subarray(first, end), first);
    else for (let k = first; k < end; k++) target[k] = source[k] ?? 0;
  }

  none(): void {
    // An element that has none is made from nothing; an index out of range is the kernel's to report.
  }
}
