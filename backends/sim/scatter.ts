/**
 * One run of a scatter statement in the checked executor: its points in row-major order, each element that
 * they touch checked.
 */
import { fillBytes, isMove, isRead } from "../../ir/access.js";
import { addressOf, type Place } from "../../ir/addressing.js";
import { outputOf, type TileFunc } from "../../ir/func.js";
import { evaluate, type Env, type Linear } from "../../ir/linear.js";
import { fillValue, noElement, outOfRange } from "../../ir/policy.js";
import { firstTable, type Region, type ScatterStmt } from "../../ir/tile.js";
import { at, invariant } from "../../ir/types.js";
import {
  combination,
  evaluator,
  isValueType,
  typeOf,
  valuePlan,
  type ValueType,
} from "../../ir/values/index.js";
import { IndexWalk, indexSteps, reductionRange, type IndexStep } from "../index-walk.js";
import { copyBytes, indexReader } from "../memory.js";
import { pointsOf } from "../region-points.js";
import { readBits, writeBits, elementBits, type CheckedMemory } from "./memory.js";

/**
 * Callback that counts an access to an element of global memory. `byte`: byte offset of the element in the
 * memory. `element`: index of the element.
 */
export type CountElement = (byte: number, element: number) => void;

/**
 * Functions of the simulated machine that the execution of a scatter uses: environment, memories, checks and
 * counters.
 */
export interface ScatterMachine {
  readonly func: TileFunc;
  readonly env: Env;
  placeOf(region: Region): Place;
  memoryOf(name: string): CheckedMemory;
  /** Throws a RunError for bytes outside the memory, and for a read of bytes that were never written. */
  check(memory: CheckedMemory, start: number, length: number, stmt: ScatterStmt, write: boolean): void;
  /** Returns the function that counts the accesses to operand number `operand` in global memory. */
  counting(operand: number): CountElement;
  /** Notes a point with an index out of range. */
  rejected(point: readonly number[]): void;
  /** Notes that a point writes an element: its coordinates in the region. */
  wrote(point: readonly number[], coords: readonly number[]): void;
}

/** Points between two yields. */
const pointsAtOnce = 2 ** 12;

/**
 * Executes a scatter statement for all its points in row-major order. Yields the number of points
 * since the last yield, {@link pointsAtOnce} at most.
 */
export function* scatterSteps(machine: ScatterMachine, stmt: ScatterStmt): Generator<number> {
  const { func, env } = machine;
  const { write } = stmt.map;
  const reads = new PointReads(machine, stmt);
  const target = machine.memoryOf(stmt.to.buffer);
  const written = addressOf(write.at, machine.placeOf(stmt.to));
  const countWrite = target.ub === undefined ? machine.counting(func.operands.length - 1) : undefined;
  const writeValue = pointValue(func, stmt, reads, {
    move(byte) {
      const { memory, from } = reads.elementOf(0);
      copyBytes(target.bytes, byte, memory.bytes, from, target.elementBytes);
    },
    old: (byte) => readBits(target.view, byte, target.elementBytes),
    put(byte, bits) {
      writeBits(target.view, byte, bits, target.elementBytes);
    },
    fill(byte, bits) {
      target.bytes.set(bits, byte);
    },
  });
  const origin = stmt.origin.map((form) => evaluate(form, env));
  let done = 0;
  for (const point of pointsOf(stmt.sizes.map((size) => Math.max(0, evaluate(size, env))))) {
    if (++done % pointsAtOnce === 0) yield pointsAtOnce;
    const inDomain = point.map((coord, d) => coord + at(origin, d));
    const ended = reads.begin(point);
    if (ended === outOfRange) machine.rejected(inDomain);
    if (ended === outOfRange || ended === noElement) continue;
    const element = reads.evaluate(written);
    const byte = target.first + element * target.elementBytes;
    // A combination reads the element first.
    if (write.combine !== "set") machine.check(target, byte, target.elementBytes, stmt, false);
    machine.check(target, byte, target.elementBytes, stmt, true);
    countWrite?.(byte, element);
    machine.wrote(
      inDomain,
      write.at.map((form) => reads.evaluate(form)),
    );
    if (writeValue(byte, ended === fillValue) === outOfRange) machine.rejected(inDomain);
  }
  yield done % pointsAtOnce;
}

/**
 * Input of a scatter that its points read. `reader`: returns index values by position; undefined for data.
 */
interface PointTable {
  readonly memory: CheckedMemory;
  readonly reader: ReturnType<typeof indexReader> | undefined;
  /** Undefined for a buffer in the unified buffer (UB). */
  readonly count: CountElement | undefined;
}

/**
 * Checked and counted reads of index values and elements at one point of a scatter's domain after another.
 */
class PointReads {
  private dims: readonly number[] = [];
  private readonly walk: IndexWalk;
  /** By input; undefined for an input without a region. */
  private readonly tables: readonly (PointTable | undefined)[];
  /** Element numbers of the reads. */
  private readonly elements: readonly Linear[];

  constructor(
    private readonly machine: ScatterMachine,
    private readonly stmt: ScatterStmt,
  ) {
    const { func } = machine;
    const { map } = stmt;
    const inputs = func.operands.slice(0, -1);
    const first = firstTable(stmt, inputs.length);
    const regionOf = (table: number): Region => at(stmt.from, table - first);
    const addressIn = (table: number, coords: readonly Linear[]): Linear =>
      addressOf(coords, machine.placeOf(regionOf(table)));
    const forms = map.indices.map(({ value }) => (isRead(value) ? addressIn(value.table, value.at) : value));
    this.walk = new IndexWalk(indexSteps(map, forms, func.operands));
    this.tables = inputs.map((_, table) => {
      if (table < first) return undefined;
      const memory = machine.memoryOf(regionOf(table).buffer);
      const isIndex = map.indices.some(({ value }) => isRead(value) && value.table === table);
      return {
        memory,
        reader: isIndex ? indexReader(memory.bytes.subarray(memory.first), memory.dtype) : undefined,
        count: memory.ub === undefined ? machine.counting(table) : undefined,
      };
    });
    this.elements = map.reads.map(({ table, at: coords }) => addressIn(table, coords));
  }

  /**
   * Takes the index values of a point in order. Returns the value with which one of them ended the point,
   * such as `noElement`, or 0.
   */
  begin(point: readonly number[]): number {
    const { walk } = this;
    this.dims = point;
    walk.begin();
    for (const step of walk.outerSteps) {
      if (walk.lacks(step)) continue;
      const element = this.take(step);
      if (walk.endsAt(step, element)) return element;
    }
    return walk.ended;
  }

  /** Yields the end of each reduction element that reads an element: 0, or the reason why it does not. */
  *reduction(): Generator<number> {
    const { walk, dims } = this;
    const [begin, end] = reductionRange(this.stmt.map, walk.indices);
    for (let r = begin; r < end; r++) {
      this.dims = [...dims, r];
      let ended = 0;
      for (const step of walk.reductionSteps) {
        ended = this.take(step);
        if (ended < 0) break;
      }
      if (ended !== noElement) yield ended;
    }
    this.dims = dims;
  }

  /** Returns the value of a linear form at the current point. */
  evaluate(form: Linear): number {
    const { dims, walk } = this;
    return evaluate(form, this.machine.env, { dims, indices: walk.indices });
  }

  /** Returns the element of a read: its memory, its number in the region, and the byte at which it begins. */
  elementOf(read: number): {
    readonly memory: CheckedMemory;
    readonly element: number;
    readonly from: number;
  } {
    const { table } = at(this.stmt.map.reads, read);
    const element = this.evaluate(at(this.elements, read));
    return { memory: this.tableOf(table).memory, element, from: this.touch(table, element) };
  }

  /** Returns the bits of the element of a read. */
  bitsAt(read: number): number {
    const { memory, element } = this.elementOf(read);
    return elementBits(memory, element);
  }

  private tableOf(table: number): PointTable {
    const result = this.tables[table];
    invariant(result !== undefined, `input ${table} has a region`);
    return result;
  }

  /** Checks and counts the read of an element; returns the byte at which the element begins. */
  private touch(table: number, element: number): number {
    const { memory, count } = this.tableOf(table);
    const byte = memory.first + element * memory.elementBytes;
    this.machine.check(memory, Math.floor(byte), Math.ceil(memory.elementBytes), this.stmt, false);
    count?.(byte, element);
    return byte;
  }

  private take(step: IndexStep): number {
    const { walk, dims } = this;
    const { env } = this.machine;
    if (step.table === undefined) return walk.takeSum(step, dims, env);
    const position = walk.position(step, dims, env);
    this.touch(step.table, position);
    const { reader } = this.tableOf(step.table);
    invariant(reader !== undefined, `input ${step.table} has index values`);
    return walk.take(step, reader(position), reader, position);
  }
}

/** Writes of the element that a point writes, by the byte at which the element begins. */
interface PointWrites {
  /** Copies the element of the only read. */
  readonly move: (byte: number) => void;
  readonly old: (byte: number) => number;
  readonly put: (byte: number, bits: number) => void;
  readonly fill: (byte: number, bits: Uint8Array) => void;
}

/**
 * Returns a function that writes the value of a point of a scatter at a byte offset, or the fill bits if
 * `isFill` is true. The function returns `outOfRange` if an index value of a reduction element is out of
 * range, else 0.
 */
function pointValue(
  func: TileFunc,
  { map }: ScatterStmt,
  reads: PointReads,
  { move, old, put, fill: putFill }: PointWrites,
): (byte: number, isFill: boolean) => number {
  const { dtype } = outputOf(func).type;
  const types = map.reads.map(({ table }) => at(func.operands, table).type.dtype);
  const { combine } = map.write;
  const fill = fillBytes(map, dtype);
  if (combine === "set" && isMove(map))
    return (byte, isFill) => {
      if (isFill) putFill(byte, fill);
      else move(byte);
      return 0;
    };
  const bitsAt = (read: number): number => reads.bitsAt(read);
  const values = evaluator(valuePlan(map.value, types));
  const type = typeOf(map.value, types);
  invariant(isValueType(dtype) && isValueType(type), `values of ${dtype} and ${type}`);
  const combined = (from: ValueType) => (combine === "set" ? undefined : combination(combine, dtype, from));
  const [withFill, withValue] = [combined(dtype), combined(type)];
  const fillBits = fill.reduce((bits, byte, k) => bits + byte * 2 ** (8 * k), 0);
  return (byte, isFill) => {
    const terms = values.start();
    let ended = 0;
    if (!isFill)
      for (const term of reads.reduction()) {
        if (term === outOfRange) ended = term;
        else values.take(terms, bitsAt);
      }
    const [step, bits] = isFill ? [withFill, fillBits] : [withValue, values.element(bitsAt, terms)];
    put(byte, step === undefined ? bits : step(old(byte), bits));
    return ended;
  };
}
