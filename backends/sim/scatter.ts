/**
 * One run of a scatter statement in the checked executor: its points in row-major order, each element that
 * they touch checked.
 */
import { fillBytes, isMove, isRead } from "../../ir/access.js";
import { addressOf, type Place } from "../../ir/addressing.js";
import { outputOf, type TileFunc } from "../../ir/func.js";
import { evaluate, type Env } from "../../ir/linear.js";
import { fillValue, noElement, outOfRange } from "../../ir/policy.js";
import { firstTable, type Region, type ScatterStmt, type UbBuffer } from "../../ir/tile.js";
import { at, invariant, isPacked, type DType } from "../../ir/types.js";
import {
  combination,
  evaluator,
  isValueType,
  typeOf,
  valuePlan,
  type ValueType,
} from "../../ir/values/index.js";
import { IndexWalk, indexSteps, reductionRange, type IndexStep } from "../index-walk.js";
import { copyBytes, indexReader, packedBits } from "../memory.js";
import { pointsOf } from "../region-points.js";
import { readBits, writeBits } from "./bits.js";

/**
 * Memory that a scatter accesses: a tensor in global memory, or a buffer in the unified buffer (UB). `first`:
 * byte offset in `bytes` of the first element. `ub`: the buffer; undefined for global memory.
 */
export interface PointMemory {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly first: number;
  readonly dtype: DType;
  readonly elementBytes: number;
  readonly ub?: UbBuffer;
}

/**
 * Callback that counts an access to an element of global memory. `byte`: byte offset of the element in the
 * memory. `element`: index of the element.
 */
export type CountElement = (byte: number, element: number) => void;

/**
 * Functions of the simulated machine that the execution of a scatter uses: environment, memories, checks and
 * counters.
 */
export interface ScatterMachine<M extends PointMemory> {
  readonly func: TileFunc;
  readonly env: Env;
  placeOf(region: Region): Place;
  memoryOf(name: string): M;
  /** Throws a RunError for bytes outside the memory, and for a read of bytes that were never written. */
  check(memory: M, start: number, length: number, stmt: ScatterStmt, write: boolean): void;
  /** Returns the count of an operand in global memory, where a region of it is read or written in place. */
  counting(operand: number): CountElement;
  /** Notes a point with an index out of range. */
  rejected(point: readonly number[]): void;
  /** Notes that a point writes an element: its coordinates in the region. */
  wrote(point: readonly number[], coords: readonly number[]): void;
}

/** Points between two yields. */
const pointsAtOnce = 2 ** 12;

/**
 * Executes a scatter statement for all iterations in row-major order. Yields after every {@link pointsAtOnce}
 * iterations.
 */
export function* scatterSteps<M extends PointMemory>(
  machine: ScatterMachine<M>,
  stmt: ScatterStmt,
): Generator<void> {
  const { func, env } = machine;
  const { map } = stmt;
  const inputs = func.operands.length - 1;
  const first = firstTable(stmt, inputs);
  const regionOf = (table: number): Region => at(stmt.from, table - first);
  const place = (table: number): Place => machine.placeOf(regionOf(table));
  const forms = map.indices.map(({ value }) =>
    isRead(value) ? addressOf(value.at, place(value.table)) : value,
  );
  const walk = new IndexWalk(indexSteps(map, forms, func.operands));
  const tables = func.operands.slice(0, inputs).map((_, table) => {
    if (table < first) return undefined;
    const memory = machine.memoryOf(regionOf(table).buffer);
    const isIndex = map.indices.some(({ value }) => isRead(value) && value.table === table);
    return {
      memory,
      reader: isIndex ? indexReader(memory.bytes.subarray(memory.first), memory.dtype) : undefined,
      count: memory.ub === undefined ? machine.counting(table) : undefined,
    };
  });
  let dims: readonly number[] = [];
  const touch = (table: number, element: number): number => {
    const entry = tables[table];
    invariant(entry !== undefined, `input ${table} has a region`);
    const { memory, count } = entry;
    const byte = memory.first + element * memory.elementBytes;
    machine.check(memory, Math.floor(byte), Math.ceil(memory.elementBytes), stmt, false);
    count?.(byte, element);
    return byte;
  };
  const taken = (step: IndexStep): number => {
    if (step.table === undefined) return walk.takeSum(step, dims, env);
    const position = walk.position(step, dims, env);
    touch(step.table, position);
    const reader = tables[step.table]?.reader;
    invariant(reader !== undefined, `input ${step.table} has index values`);
    return walk.take(step, reader(position), reader, position);
  };
  /** Takes the steps of a point in order: what ends it, or 0. */
  const pointAt = (): number => {
    walk.begin();
    for (const step of walk.outerSteps) {
      if (walk.lacks(step)) continue;
      const element = taken(step);
      if (walk.endsAt(step, element)) return element;
    }
    return walk.ended;
  };
  const readForms = map.reads.map(({ table, at: coords }) => addressOf(coords, place(table)));
  const elementOf = (read: number): number =>
    evaluate(at(readForms, read), env, { dims, indices: walk.indices });
  const bitsAt = (read: number): number => {
    const { table } = at(map.reads, read);
    const element = elementOf(read);
    const byte = touch(table, element);
    const memory = tables[table]?.memory;
    invariant(memory !== undefined, `input ${table} has a region`);
    return isPacked(memory.dtype)
      ? packedBits(memory.bytes, memory.dtype, element, memory.first)
      : readBits(memory.view, byte, memory.elementBytes);
  };
  const target = machine.memoryOf(stmt.to.buffer);
  const targetPlace = machine.placeOf(stmt.to);
  const written = addressOf(map.write.at, targetPlace);
  const countWrite = target.ub === undefined ? machine.counting(inputs) : undefined;
  const valueOf = pointValue(func, stmt, {
    bitsAt,
    move(byte) {
      const { table } = at(map.reads, 0);
      const from = touch(table, elementOf(0));
      const memory = tables[table]?.memory;
      invariant(memory !== undefined, `input ${table} has a region`);
      copyBytes(target.bytes, byte, memory.bytes, from, target.elementBytes);
    },
    *reduction() {
      const out = dims;
      const [begin, end] = reductionRange(map, walk.indices);
      for (let r = begin; r < end; r++) {
        dims = [...out, r];
        let ended = 0;
        for (const step of walk.reductionSteps) {
          ended = taken(step);
          if (ended < 0) break;
        }
        if (ended !== noElement) yield ended;
      }
      dims = out;
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
    if (++done % pointsAtOnce === 0) yield;
    dims = point;
    const inDomain = point.map((coord, d) => coord + at(origin, d));
    const ended = pointAt();
    if (ended === outOfRange) machine.rejected(inDomain);
    if (ended === outOfRange || ended === noElement) continue;
    const element = evaluate(written, env, { dims, indices: walk.indices });
    const byte = target.first + element * target.elementBytes;
    const coords = map.write.at.map((form) => evaluate(form, env, { dims, indices: walk.indices }));
    // A combination reads the element first.
    if (map.write.combine !== "set") machine.check(target, byte, target.elementBytes, stmt, false);
    machine.check(target, byte, target.elementBytes, stmt, true);
    countWrite?.(byte, element);
    machine.wrote(inDomain, coords);
    if (valueOf(byte, ended === fillValue) === outOfRange) machine.rejected(inDomain);
  }
}

/** Ways to the elements that a point's value is made from, and to the one that it writes, by its byte. */
interface PointElements {
  readonly bitsAt: (read: number) => number;
  /** Copies the element of the only read. */
  readonly move: (byte: number) => void;
  readonly reduction: () => Iterable<number>;
  readonly old: (byte: number) => number;
  readonly put: (byte: number, bits: number) => void;
  readonly fill: (byte: number, bits: Uint8Array) => void;
}

/**
 * Returns a function that writes the value of a scatter iteration at a byte offset (fill bits with `isFill`).
 * The function returns `outOfRange` if the index value of a reduction element is out of range; else 0.
 */
function pointValue(
  func: TileFunc,
  { map }: ScatterStmt,
  { bitsAt, move, reduction, old, put, fill: putFill }: PointElements,
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
      for (const term of reduction()) {
        if (term === outOfRange) ended = term;
        else values.take(terms, bitsAt);
      }
    const [step, bits] = isFill ? [withFill, fillBits] : [withValue, values.element(bitsAt, terms)];
    put(byte, step === undefined ? bits : step(old(byte), bits));
    return ended;
  };
}
