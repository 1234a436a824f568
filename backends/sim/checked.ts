/**
 * sim, the checked executor: runs a tile program statement by statement in an explicit UB arena.
 *
 * UB starts poisoned. A read of bytes never written, an access outside a buffer, a race between pipes, a write over
 * another operand and an output element written twice or never all stop the run and name the statement. Memory is
 * the tensors and one unified buffer, whatever the number of tiles.
 */
import { fillBytes, gatheredTable, isRead } from "../../ir/access.js";
import { gatherAddresses, outputPosition, startOf, stepsOf, type Place } from "../../ir/addressing.js";
import { inputOf, operandNamed, outputOf, type TileFunc } from "../../ir/func.js";
import { constant, evaluate, loopPart, sitesOf, type Linear } from "../../ir/linear.js";
import { outOfRange } from "../../ir/policy.js";
import {
  accessLookup,
  feedingOf,
  isParam,
  locate,
  pipeOf,
  typeOfBuffer,
  ubBuffers,
} from "../../ir/regions.js";
import { targetFacts, type Target } from "../../ir/target.js";
import { parallelNest } from "../../ir/tasks.js";
import {
  findGather,
  ubBytes,
  ubStrides,
  type GatherStmt,
  type LoadStmt,
  type Region,
  type Stmt,
  type StoreStmt,
  type UbBuffer,
} from "../../ir/tile.js";
import {
  assertNever,
  at,
  contiguousRun,
  dtypeBytes,
  elementCount,
  invariant,
  strides,
  type DType,
  type Shape,
} from "../../ir/types.js";
import {
  allocate,
  indexOutOfRange,
  indexReader,
  tensorOf,
  type HostInputs,
  type IndexReader,
} from "../memory.js";
import { SiteWalk, siteSteps, type SiteStep } from "../site-values.js";
import { drained, inSlices, type LongRunOptions } from "../long-run.js";
import type { SimReport } from "../report.js";
import { box } from "./box.js";
import type { Counter } from "./counter.js";
import { execution } from "../../ir/clock/execution.js";
import { newCounters, summarize, type Counters } from "./summary.js";
import { peakOf, UbArena } from "./ub-arena.js";

/** Output and report of a checked run. */
export interface SimResult {
  /** The output's elements, row-major. */
  readonly output: Uint8Array;
  readonly report: SimReport;
}

/** Throws a RunError: TC601 for an index out of range, TC602 to TC606 for what the checked executor traps. */
export const simulateChecked = (func: TileFunc, inputs: HostInputs, target: Target): SimResult =>
  drained(new Machine(func, inputs, target).steps());

/** The same, in slices that let other work run. Rejects with the signal's reason when it is aborted. */
export function simulateCheckedLong(
  func: TileFunc,
  inputs: HostInputs,
  target: Target,
  options: LongRunOptions,
): Promise<SimResult> {
  const { tasks } = parallelNest(func.body);
  return inSlices(new Machine(func, inputs, target).steps(), (begun) => begun, tasks, options);
}

/** A memory: its bytes, and where its first element lies in them. */
interface Memory {
  readonly bytes: Uint8Array;
  readonly first: number;
  readonly elementBytes: number;
  readonly name: string;
  /** Absent for global memory. */
  readonly ub?: UbBuffer;
}

/** An address of a gather, as one iteration of the loops makes it: elements from the start of a memory. */
interface Address {
  readonly memory: Memory;
  readonly start: number;
  readonly by: readonly number[];
}

/** Where a gather finds its index values: a region's memory, from its first element. */
interface TableMemory {
  readonly memory: Memory;
  readonly read: IndexReader;
  /** Where an index tensor is read in place: what was read of it. */
  readonly counted?: { readonly counter: Counter; readonly seen: Set<number> };
}

/** Elements that a gather moves before it lets other work run. */
const elementsAtOnce = 2 ** 14;

class Machine {
  private readonly output: Uint8Array;
  private readonly outputWritten: Uint8Array;
  private readonly arena: UbArena;
  private readonly buffers: ReadonlyMap<string, UbBuffer>;
  private readonly env = new Map<string, number>();
  private readonly accesses: ReturnType<typeof accessLookup>;
  private readonly counters: Counters;
  /** The number of the output element that a gather writes; absent where the output has none. */
  private readonly position: Linear | undefined;
  /** The first output element whose index is out of range. */
  private firstBad = Infinity;
  private tasks = 0;
  private gathers = 0;
  private syncs = 0;

  constructor(
    private readonly func: TileFunc,
    private readonly inputs: HostInputs,
    private readonly target: Target,
  ) {
    const { shape, dtype } = outputOf(func).type;
    this.output = allocate(elementCount(shape) * dtypeBytes[dtype], "the output");
    this.outputWritten = allocate(elementCount(shape), "a mark for each output element");
    this.buffers = ubBuffers(func);
    this.accesses = accessLookup(func);
    this.counters = newCounters(target);
    this.arena = new UbArena(func.schedule.ubBytes ?? target.ubBytes, this.buffers);
    const feeding = feedingOf(locate(func.body));
    this.position =
      feeding === undefined || elementCount(shape) === 0 ? undefined : outputPosition(func, feeding);
  }

  /** Yields the tasks begun, after each statement and inside long ones. */
  *steps(): Generator<number, SimResult> {
    for (const step of execution(this.func.body, this.env)) {
      switch (step.op) {
        case "task":
          this.tasks++;
          if (targetFacts[this.target.kind].privateUb) this.arena.reset();
          break;
        case "load":
          this.load(step);
          break;
        case "gather":
          yield* this.gather(step);
          break;
        case "store":
          this.store(step);
          break;
        case "sync":
          this.syncs++;
          this.arena.sync(step);
          break;
        default:
          assertNever(step);
      }
      yield this.tasks;
    }
    const map = findGather(this.func.body)?.map;
    if (this.firstBad !== Infinity && map !== undefined) {
      const { operands } = this.func;
      throw indexOutOfRange({ map, operands, tile: this.func, inputs: this.inputs }, this.firstBad);
    }
    const missing = this.outputWritten.indexOf(0);
    if (missing !== -1) {
      const last = at(this.func.body, this.func.body.length - 1);
      throw this.arena.trap("TC606", `output element ${missing} was never written`, last);
    }
    return { output: this.output, report: this.report() };
  }

  /** Takes the next copy of what the statement writes, and checks its accesses against those of other pipes. */
  private begin(stmt: LoadStmt | GatherStmt | StoreStmt): void {
    const accesses = this.accesses(stmt);
    for (const { buffer, write } of accesses) {
      if (!write) continue;
      this.arena.turn(buffer.name);
    }
    const pipe = pipeOf(stmt, this.func);
    invariant(pipe !== undefined, `${stmt.op} runs on a pipe`);
    this.arena.issue(stmt, pipe, accesses);
    for (const { buffer, write } of accesses) {
      if (write) this.arena.clear(buffer);
    }
  }

  private load(stmt: LoadStmt): void {
    this.begin(stmt);
    this.transfer(stmt, stmt.from, this.inside(stmt.from, stmt), this.whole(stmt.to));
  }

  private store(stmt: StoreStmt): void {
    this.begin(stmt);
    this.transfer(stmt, stmt.to, this.whole(stmt.from), this.inside(stmt.to, stmt));
  }

  /** Copies a box row by row; a burst is what lies together in global memory. */
  private transfer(stmt: LoadStmt | StoreStmt, region: Region, from: Address, to: Address): void {
    const operand = operandNamed(this.func, region.buffer);
    invariant(operand !== undefined, `%${region.buffer} is no parameter`);
    const counter = this.counters[operand.role];
    const size = dtypeBytes[operand.type.dtype];
    const sizes = this.sizes(region);
    const count = elementCount(sizes);
    counter.transfers++;
    const run = contiguousRun(sizes, operand.type.shape) * size;
    if (count > 0) counter.burst(run, (count * size) / run);
    const rowBytes = (sizes[sizes.length - 1] ?? 1) * size;
    for (const row of box(sizes.slice(0, -1))) {
      const [source, target] = [byteOf(from, row), byteOf(to, row)];
      this.check(from.memory, source, rowBytes, stmt, false);
      this.check(to.memory, target, rowBytes, stmt, true);
      to.memory.bytes.set(from.memory.bytes.subarray(source, source + rowBytes), target);
      if (to.memory.ub === undefined) this.markOutput(target, rowBytes, stmt);
    }
  }

  private *gather(stmt: GatherStmt): Generator<number> {
    this.begin(stmt);
    this.gathers++;
    const { counters } = this;
    const size = dtypeBytes[outputOf(this.func).type.dtype];
    const forms = gatherAddresses(stmt, (region) => this.placeOf(region));
    const tables = stmt.from.map((region, table) => this.tableMemory(region, table, stmt));
    this.checkInside(stmt.to, stmt);
    const to = { memory: this.memoryOf(stmt.to.buffer), ...this.form(forms.output, stmt) };
    const data = this.memoryOf(at(stmt.from, gatheredTable).buffer);
    const walk = new SiteWalk(siteSteps(stmt.map, forms.sites, this.func.operands));
    const fill = fillBytes(stmt.map, outputOf(this.func).type.dtype);
    const [dataInGm, toInGm] = [data.ub === undefined, to.memory.ub === undefined];
    if (dataInGm) counters.data.transfers++;
    if (toInGm) counters.output.transfers++;
    const position = this.position === undefined ? undefined : this.form(this.position, stmt);
    let moved = 0;

    for (const out of box(this.sizes(stmt.to))) {
      if (++moved % elementsAtOnce === 0) yield this.tasks;
      const element = this.resolve(walk, out, tables, stmt);
      if (element === outOfRange && position !== undefined)
        this.firstBad = Math.min(this.firstBad, elementOf(position, out));
      const target = byteOf(to, out);
      this.check(to.memory, target, size, stmt, true);
      if (element < 0) {
        to.memory.bytes.set(fill, target);
      } else {
        const from = data.first + evaluate(forms.data, this.env, { dims: out, sites: walk.sites }) * size;
        this.check(data, from, size, stmt, false);
        to.memory.bytes.set(data.bytes.subarray(from, from + size), target);
        if (dataInGm) counters.data.run(from, size);
      }
      if (toInGm) {
        this.markOutput(target, size, stmt);
        counters.output.run(target, size);
      }
    }
    for (const counter of Object.values(counters)) counter.endRun();
  }

  /** What the sites name at a point of the output tile: below zero, the first that ends the element says why. */
  private resolve(
    walk: SiteWalk,
    out: readonly number[],
    tables: readonly (TableMemory | undefined)[],
    stmt: GatherStmt,
  ): number {
    walk.begin();
    let first = 0;
    for (const step of walk.steps) {
      // What is read at dims alone is read whatever the others name.
      if (first < 0 && sitesOf(step.form).length > 0) continue;
      const element = this.take(walk, step, out, tables, stmt);
      if (first === 0) first = element;
    }
    return first;
  }

  private take(
    walk: SiteWalk,
    step: SiteStep,
    out: readonly number[],
    tables: readonly (TableMemory | undefined)[],
    stmt: GatherStmt,
  ): number {
    if (step.table === undefined) {
      const sum = walk.sum(step, out, this.env);
      return walk.take(step, Number(sum), () => sum);
    }
    const table = tables[step.table];
    invariant(table !== undefined, `a site reads input ${step.table}`);
    const { memory, read, counted } = table;
    const position = walk.position(step, out, this.env);
    const byte = memory.first + position * memory.elementBytes;
    this.check(memory, byte, memory.elementBytes, stmt, false);
    if (counted !== undefined && !counted.seen.has(position)) {
      counted.seen.add(position);
      counted.counter.run(byte, memory.elementBytes);
    }
    return walk.take(step, read(position), () => read.exact(position));
  }

  /** The memory of an input that sites read; undefined for one that they do not. */
  private tableMemory(region: Region, table: number, stmt: GatherStmt): TableMemory | undefined {
    this.checkInside(region, stmt);
    const isIndex = stmt.map.sites.some(({ value }) => isRead(value) && value.table === table);
    if (table === gatheredTable && !isIndex) return undefined;
    const { role, type } = inputOf(this.func, table);
    const memory = this.memoryOf(region.buffer);
    const counter = this.counters[role];
    if (memory.ub === undefined && table !== gatheredTable) counter.transfers++;
    if (!isIndex) return undefined;
    const read = indexReader(memory.bytes.subarray(memory.first), type.dtype);
    return memory.ub === undefined
      ? { memory, read, counted: { counter, seen: new Set<number>() } }
      : { memory, read };
  }

  /** A form in the dims of a gather's tile, as this iteration of the loops makes it. */
  private form(form: Linear, stmt: GatherStmt): { readonly start: number; readonly by: readonly number[] } {
    return { start: evaluate(loopPart(form), this.env), by: stepsOf(form, stmt.to.sizes.length) };
  }

  private check(memory: Memory, start: number, length: number, stmt: Stmt, write: boolean): void {
    const { ub } = memory;
    if (ub === undefined) {
      if (start < 0 || start + length > memory.bytes.byteLength) {
        throw this.arena.trap(
          "TC603",
          `bytes ${start} to ${start + length} lie outside %${memory.name}`,
          stmt,
        );
      }
      return;
    }
    const end = memory.first + ubBytes(ub);
    if (start < memory.first || start + length > end) {
      throw this.arena.trap("TC603", `UB bytes ${start} to ${start + length} lie outside %${ub.name}`, stmt);
    }
    if (write) this.arena.markWritten(start, length);
    else this.arena.checkWritten(start, length, ub.name, stmt);
  }

  private markOutput(start: number, length: number, stmt: Stmt): void {
    const size = dtypeBytes[outputOf(this.func).type.dtype];
    for (let element = start / size; element < (start + length) / size; element++) {
      if (this.outputWritten[element] === 1) {
        throw this.arena.trap("TC606", `output element ${element} is written twice`, stmt);
      }
      this.outputWritten[element] = 1;
    }
  }

  /** A region of a tensor, which it must not leave. */
  private inside(region: Region, stmt: Stmt): Address {
    this.checkInside(region, stmt);
    const place = this.placeOf(region);
    const start = evaluate(startOf(place), this.env);
    return { memory: this.memoryOf(region.buffer), start, by: place.strides };
  }

  /** A UB tile from its origin. */
  private whole(name: string): Address {
    const { shape } = this.typeOf(name);
    const { strides: by } = this.placeOf({ buffer: name, offsets: shape.map(() => constant(0)), sizes: [] });
    return { memory: this.memoryOf(name), start: 0, by };
  }

  private checkInside(region: Region, stmt: Stmt): void {
    const sizes = this.sizes(region);
    const { shape } = this.typeOf(region.buffer);
    region.offsets.forEach((form, k) => {
      const offset = evaluate(form, this.env);
      if (offset < 0 || at(sizes, k) < 0 || offset + at(sizes, k) > at(shape, k)) {
        throw this.arena.trap(
          "TC603",
          `dim ${k} of %${region.buffer}: offset ${offset} and size ${at(sizes, k)} leave an extent of ${at(shape, k)}`,
          stmt,
        );
      }
    });
  }

  private placeOf({ buffer, offsets }: Region): Place {
    const ub = this.buffers.get(buffer);
    const by =
      isParam(this.func, buffer) || ub === undefined ? strides(this.typeOf(buffer).shape) : ubStrides(ub);
    return { offsets, strides: by };
  }

  private memoryOf(name: string): Memory {
    const operand = operandNamed(this.func, name);
    if (operand !== undefined) {
      const bytes = operand.role === "output" ? this.output : tensorOf(this.inputs, operand).bytes;
      return { bytes, first: 0, elementBytes: dtypeBytes[operand.type.dtype], name };
    }
    const ub = this.buffers.get(name);
    invariant(ub !== undefined, `%${name} has no alloc`);
    const first = this.arena.address(ub);
    return { bytes: this.arena.bytes, first, elementBytes: dtypeBytes[ub.dtype], name, ub };
  }

  private typeOf(name: string): { readonly dtype: DType; readonly shape: Shape } {
    const found = typeOfBuffer(this.func, this.buffers, name);
    invariant(found !== undefined, `%${name} is not defined`);
    return found;
  }

  private sizes(region: Region): number[] {
    return region.sizes.map((form) => evaluate(form, this.env));
  }

  private report(): SimReport {
    const { func, target, inputs, counters, tasks, gathers, syncs, buffers } = this;
    const counts = { counters, tasks, gathers, syncs, ubPeak: peakOf(buffers.values()) };
    return summarize(func, target, inputs, counts, { executor: "checked", copiedBytes: 0 });
  }
}

/** The element of a memory at a point of a tile; the point may leave out inner dims. */
function elementOf({ start, by }: Pick<Address, "start" | "by">, point: readonly number[]): number {
  let element = start;
  for (let d = 0; d < point.length; d++) element += (point[d] ?? 0) * (by[d] ?? 0);
  return element;
}

const byteOf = (address: Address, point: readonly number[]): number =>
  address.memory.first + elementOf(address, point) * address.memory.elementBytes;
