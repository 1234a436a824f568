/**
 * Inputs of which a call names few rows: those alone are copied to where a kernel reads them, whatever lies beside them there. Shapes
 * decide which inputs these are, never index values.
 */
import { isRead, walked } from "../../ir/access.js";
import { stepsOf } from "../../ir/addressing.js";
import { inputsOf, keyOf, outputOf, type Operand, type TileFunc } from "../../ir/func.js";
import { dimsOf, type Linear } from "../../ir/linear.js";
import { flatten } from "../../ir/tile.js";
import { at, byteCount, elementCount, elementTypes, type Shape } from "../../ir/types.js";
import { inputTensor, type HostInputs } from "../memory.js";
import { isReadByTerms, type GatherPlan } from "../plan/gather.js";
import { stagesOf } from "../plan/stages.js";
import { planWhole } from "../plan/whole.js";
import { walkTime } from "./times.js";
import { GatherWalk, rowOf, type RowVisitor } from "./walk.js";

/** An input of which rows are copied. */
export interface NamedInput {
  readonly operand: Operand;
  readonly key: string;
  readonly reads: readonly NamedRead[];
}

/** The rows that a read names. */
interface NamedRead {
  readonly walk: GatherWalk;
  /** Of the output, and terms of a sum; 1 along dims that do not move the read. */
  readonly sizes: Shape;
  /** Bits of the first row's address without index values, and of a row. */
  readonly start: number;
  readonly rowBits: number;
  readonly rows: number;
  /** Where the value of each site is read first. */
  readonly starts: readonly number[];
}

/** Programs never change. */
const known = new WeakMap<TileFunc, readonly NamedInput[]>();

/** Those for which copies of rows take less time than copies of the whole. */
export function namedInputs(tile: TileFunc): readonly NamedInput[] {
  const found = known.get(tile) ?? planNamed(tile).filter(takesLess);
  known.set(tile, found);
  return found;
}

function takesLess({ operand, reads }: NamedInput): boolean {
  const time = reads.reduce(
    (sum, { rowBits, rows, sizes, walk }) => sum + walkTime(walk, sizes, rows, rowBits / 8, 1),
    0,
  );
  return time <= byteCount(operand.type);
}

/** Whatever it takes. None where the tiles of a program written by hand have maps of their own. */
export function planNamed(tile: TileFunc): readonly NamedInput[] {
  const gather = planWhole(tile);
  if (gather === undefined) return [];
  const { map } = gather.stmt;
  // How many elements a bag has, its offsets say.
  if (map.reduced?.bag !== undefined) return [];
  // A load copies all of its region, named or not.
  const loaded = flatten(tile.body).flatMap((stmt) => (stmt.op === "load" ? [stmt.from.buffer] : []));
  return inputsOf(tile).flatMap((operand, table): NamedInput[] => {
    if (loaded.includes(operand.name)) return [];
    if (map.sites.some(({ value }) => isRead(value) && value.table === table)) return [];
    const reads = map.reads.flatMap((read, k) =>
      read.table === table ? [planRead(tile, gather, table, at(gather.addresses.reads, k))] : [],
    );
    return reads.length > 0 ? [{ operand, key: keyOf(operand), reads }] : [];
  });
}

function planRead(tile: TileFunc, { sites, stmt }: GatherPlan, table: number, address: Linear): NamedRead {
  const shape = walked(stmt.map, outputOf(tile).type.shape);
  // A term without an index is left out of its sum, whatever else the element is made from.
  const own = isReadByTerms(address, sites, stmt.map) ? sites : sites.filter(({ ofTerm }) => !ofTerm);
  const forms = own.map(({ form }) => form);
  const stages = stagesOf(forms, address);
  const followed = new Set([address, ...forms].flatMap(dimsOf));
  const sizes = shape.map((size, d) => (followed.has(d) ? size : Math.min(size, 1)));
  const { bits } = elementTypes[at(inputsOf(tile), table).type.dtype];
  const { outer, rowElements } = rowOf(
    sizes,
    stepsOf(address, shape.length),
    at(stages, stages.length - 1).dim,
  );
  return {
    walk: new GatherWalk(tile, { sites: own, stages, address, table, rank: shape.length, scale: bits }),
    sizes,
    start: address.at * bits,
    rowBits: rowElements * bits,
    rows: elementCount(sizes.slice(0, outer)),
    starts: forms.map(({ at }) => at),
  };
}

/** Rows between two looks at the clock. */
const rowsAtOnce = 2 ** 14;

/** A part of the copies. */
export interface CopiedRows {
  readonly bytes: number;
  /** Bytes of the pages that these lie in, at most. */
  readonly touched: number;
}

/** Copies the rows that a call names to their places in other arrays, part by part. */
export function* copyNamed(
  named: readonly NamedInput[],
  from: HostInputs,
  to: HostInputs,
): Generator<CopiedRows, void> {
  for (const { operand, reads } of named) {
    const [source, target] = [inputTensor(from, operand).bytes, inputTensor(to, operand).bytes];
    for (const { rowBits, rows, sizes, start, starts, walk } of reads) {
      const extent = sizes[0] ?? 1;
      const step = Math.max(1, Math.floor((rowsAtOnce * extent) / Math.max(1, rows)));
      for (let first = 0; first < extent; first += step) {
        const copier = new RowCopier(source, target, rowBits);
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

class RowCopier implements RowVisitor, CopiedRows {
  bytes = 0;
  touched = 0;

  constructor(
    private readonly source: Uint8Array,
    private readonly target: Uint8Array,
    private readonly rowBits: number,
  ) {}

  block({ addresses, ended }: Parameters<RowVisitor["block"]>[0], from: number, count: number): void {
    for (let k = 0; k < count; k++) if (ended[k] !== 1) this.row(from + (addresses[k] ?? 0));
  }

  row(address: number): void {
    const { rowBits, source, target } = this;
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
