/**
 * sim, the checked executor: runs a tile program statement by statement in an explicit UB arena.
 *
 * UB starts poisoned. A read of bytes never written, an access outside a buffer, a race between pipes, a write over
 * another operand and an output element written twice or never all stop the run and name the statement. Memory is
 * the tensors and one unified buffer, whatever the number of tiles.
 */
import { evaluate, type Env } from "../../ir/expr.js";
import type { Operand } from "../../ir/footprint.js";
import type { TileFunc } from "../../ir/func.js";
import type { Target } from "../../ir/target.js";
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
  at,
  contiguousRun,
  dtypeBytes,
  elementCount,
  invariant,
  strides,
  type Shape,
} from "../../ir/types.js";
import { accessLookup, isParam, pipeOf, ubBuffers } from "../../ir/verify/accesses.js";
import { indexOutOfRange, indexReader, outOfRange, resolveIndex, type HostInputs } from "../memory.js";
import { box } from "./box.js";
import type { Counter } from "./counter.js";
import { execution, type Step } from "../../ir/clock/execution.js";
import { pause, sliceMs, type LongRunOptions } from "../long-run.js";
import type { SimReport } from "./report.js";
import { newCounters, summarize } from "./summary.js";
import { UbArena } from "./ub-arena.js";

export interface SimResult {
  /** The output's elements, row-major. */
  readonly output: Uint8Array;
  readonly report: SimReport;
}

/** Throws a RunError: TC601 for an index out of range, TC602 to TC606 for what the checked executor traps. */
export function simulateChecked(func: TileFunc, inputs: HostInputs, target: Target): SimResult {
  const steps = new Machine(func, inputs, target).steps();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same, in slices that let other work run. Rejects with the signal's reason when it is aborted. */
export async function simulateCheckedLong(
  func: TileFunc,
  inputs: HostInputs,
  target: Target,
  { signal, onProgress }: LongRunOptions,
): Promise<SimResult> {
  const steps = new Machine(func, inputs, target).steps();
  const { tasks } = parallelNest(func.body);
  for (;;) {
    signal?.throwIfAborted();
    const until = performance.now() + sliceMs;
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done === true) return step.value;
      if (performance.now() < until) continue;
      onProgress?.(Math.min(step.value, tasks), tasks);
      break;
    }
    await pause(0);
  }
}

/** Where an operand of a statement lies: memory, the byte of its first element, bytes between neighbours by dim. */
interface Placed {
  readonly memory: Uint8Array;
  readonly base: number;
  readonly strides: readonly number[];
  readonly name: string;
  /** Absent for global memory. */
  readonly ub?: UbBuffer;
}

class Machine {
  private readonly output: Uint8Array;
  private readonly outputWritten: Uint8Array;
  private readonly arena: UbArena;
  private readonly buffers: ReadonlyMap<string, UbBuffer>;
  private readonly env = new Map<string, number>();
  private readonly accesses: ReturnType<typeof accessLookup>;
  private readonly counters: Readonly<Record<Operand, Counter>>;
  /** Lowest position in the index tensor whose value is out of range. */
  private firstBad = Infinity;
  private tasks = 0;
  private gathers = 0;
  private syncs = 0;

  constructor(
    private readonly func: TileFunc,
    private readonly inputs: HostInputs,
    private readonly target: Target,
  ) {
    const { shape, dtype } = func.output.type;
    this.output = new Uint8Array(elementCount(shape) * dtypeBytes[dtype]);
    this.outputWritten = new Uint8Array(elementCount(shape));
    this.buffers = ubBuffers(func);
    this.accesses = accessLookup(func);
    this.counters = newCounters(target);
    this.arena = new UbArena(func.schedule.ubBytes ?? target.ubBytes, this.buffers);
  }

  /** Yields the tasks begun, after each statement. */
  *steps(): Generator<number, SimResult> {
    for (const step of execution(this.func.body, this.env)) {
      this.step(step);
      yield this.tasks;
    }
    const reader = indexReader(this.inputs.indices.bytes, this.func.indices.type.dtype);
    const map = findGather(this.func.body)?.map;
    if (this.firstBad !== Infinity && map !== undefined) {
      const { data, indices } = this.func;
      throw indexOutOfRange(map, data.type, indices.type, this.firstBad, reader.exact(this.firstBad));
    }
    const missing = this.outputWritten.indexOf(0);
    if (missing !== -1) {
      const last = at(this.func.body, this.func.body.length - 1);
      throw this.arena.trap("TC606", `output element ${missing} was never written`, last);
    }
    return { output: this.output, report: this.report() };
  }

  private step(step: Step): void {
    switch (step.op) {
      case "task":
        this.beginTask();
        break;
      case "load":
        this.load(step);
        break;
      case "gather":
        this.gather(step);
        break;
      case "store":
        this.store(step);
        break;
      case "sync":
        this.syncs++;
        this.arena.sync(step);
        break;
    }
  }

  private beginTask(): void {
    this.tasks++;
    if (this.target.kind !== "ascend") this.arena.reset();
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
    const { data } = this.func;
    const counter = this.counters[stmt.from.buffer === data.name ? "data" : "indices"];
    const to = this.placeUb(stmt.to);
    const from = this.place(stmt.from, stmt);
    const sizes = this.sizes(stmt.from);
    this.transfer(from, to, sizes, stmt, counter, this.typeOf(stmt.from.buffer).shape);
  }

  private store(stmt: StoreStmt): void {
    this.begin(stmt);
    const from = this.placeUb(stmt.from);
    const to = this.place(stmt.to, stmt);
    const sizes = this.sizes(stmt.to);
    this.transfer(from, to, sizes, stmt, this.counters.output, this.func.output.type.shape);
  }

  /** Copies a box row by row; a burst is what lies together in global memory. */
  private transfer(
    from: Placed,
    to: Placed,
    sizes: readonly number[],
    stmt: LoadStmt | StoreStmt,
    counter: Counter,
    tensor: Shape,
  ): void {
    const size = dtypeBytes[this.dtypeOf(from)];
    const count = elementCount(sizes);
    counter.transfers++;
    const run = contiguousRun(sizes, tensor) * size;
    if (count > 0) counter.burst(run, (count * size) / run);
    const rowBytes = (sizes[sizes.length - 1] ?? 1) * size;
    for (const offset of boxOffsets(sizes.slice(0, -1), from.strides, to.strides)) {
      const [source, target] = [from.base + offset[0], to.base + offset[1]];
      this.check(from, source, rowBytes, stmt, false);
      this.check(to, target, rowBytes, stmt, true);
      to.memory.set(from.memory.subarray(source, source + rowBytes), target);
      if (to.ub === undefined) this.markOutput(target, rowBytes, stmt);
    }
  }

  private gather(stmt: GatherStmt): void {
    this.begin(stmt);
    this.gathers++;
    const { func } = this;
    const size = dtypeBytes[func.data.type.dtype];
    const indexSize = dtypeBytes[func.indices.type.dtype];
    const data = this.place(stmt.data, stmt);
    const indices = this.place(stmt.indices, stmt);
    const to = this.place(stmt.to, stmt);
    const sizes = this.sizes(stmt.to);
    const dataSizes = this.sizes(stmt.data);
    const origin = stmt.origin.map((expr) => evaluate(expr, this.env));
    const indexStrides = strides(func.indices.type.shape);
    const reader = indexReader(indices.memory, func.indices.type.dtype);
    const { counters } = this;
    const inGm = { data: data.ub === undefined, indices: indices.ub === undefined };
    if (inGm.data) counters.data.transfers++;
    if (inGm.indices) counters.indices.transfers++;
    if (to.ub === undefined) counters.output.transfers++;
    const seen = new Set<number>();

    for (const out of box(sizes)) {
      let from = data.base;
      let skip = false;
      for (let k = 0; k < stmt.map.results.length; k++) {
        const access = at(stmt.map.results, k);
        if (access.kind === "direct") {
          from += at(out, access.dim) * at(data.strides, k);
          continue;
        }
        let place = indices.base;
        let position = 0;
        access.at.forEach((coord, c) => {
          const value = coord.kind === "dim" ? at(out, coord.dim) : coord.value;
          place += value * at(indices.strides, c);
          position += (at(origin, c) + value) * at(indexStrides, c);
        });
        this.check(indices, place, indexSize, stmt, false);
        if (inGm.indices && !seen.has(position)) {
          seen.add(position);
          counters.indices.run(place, indexSize);
        }
        const extent = at(dataSizes, k);
        const index = resolveIndex(reader, place / indexSize, extent, access.negative, stmt.oob);
        if (index === outOfRange && position < this.firstBad) this.firstBad = position;
        if (index < 0) skip = true;
        else from += index * at(data.strides, k);
      }
      const target = to.base + out.reduce((sum, coord, d) => sum + coord * at(to.strides, d), 0);
      this.check(to, target, size, stmt, true);
      if (skip) {
        to.memory.fill(0, target, target + size);
      } else {
        this.check(data, from, size, stmt, false);
        to.memory.set(data.memory.subarray(from, from + size), target);
        if (inGm.data) counters.data.run(from, size);
      }
      if (to.ub === undefined) {
        this.markOutput(target, size, stmt);
        counters.output.run(target, size);
      }
    }
    for (const counter of Object.values(counters)) counter.endRun();
  }

  private check(place: Placed, start: number, length: number, stmt: Stmt, write: boolean): void {
    const { ub } = place;
    if (ub === undefined) {
      if (start < 0 || start + length > place.memory.byteLength) {
        throw this.arena.trap(
          "TC603",
          `bytes ${start} to ${start + length} lie outside %${place.name}`,
          stmt,
        );
      }
      return;
    }
    const first = this.arena.address(ub);
    const end = first + ubBytes(ub);
    if (start < first || start + length > end) {
      throw this.arena.trap("TC603", `UB bytes ${start} to ${start + length} lie outside %${ub.name}`, stmt);
    }
    if (write) this.arena.markWritten(start, length);
    else this.arena.checkWritten(start, length, ub.name, stmt);
  }

  private markOutput(start: number, length: number, stmt: Stmt): void {
    const size = dtypeBytes[this.func.output.type.dtype];
    for (let element = start / size; element < (start + length) / size; element++) {
      if (this.outputWritten[element] === 1) {
        throw this.arena.trap("TC606", `output element ${element} is written twice`, stmt);
      }
      this.outputWritten[element] = 1;
    }
  }

  private place(region: Region, stmt: Stmt): Placed {
    const offsets = region.offsets.map((expr) => evaluate(expr, this.env));
    const sizes = this.sizes(region);
    const shape = this.typeOf(region.buffer).shape;
    offsets.forEach((offset, k) => {
      if (offset < 0 || at(sizes, k) < 0 || offset + at(sizes, k) > at(shape, k)) {
        throw this.arena.trap(
          "TC603",
          `dim ${k} of %${region.buffer}: offset ${offset} and size ${at(sizes, k)} leave an extent of ${at(shape, k)}`,
          stmt,
        );
      }
    });
    const base = isParam(this.func, region.buffer)
      ? this.placeGm(region.buffer)
      : this.placeUb(region.buffer);
    const shift = offsets.reduce((sum, offset, k) => sum + offset * at(base.strides, k), 0);
    return { ...base, base: base.base + shift };
  }

  private placeGm(name: string): Placed {
    const { func, inputs } = this;
    const type = this.typeOf(name);
    const size = dtypeBytes[type.dtype];
    const memory =
      name === func.output.name
        ? this.output
        : name === func.data.name
          ? inputs.data.bytes
          : inputs.indices.bytes;
    return { memory, base: 0, strides: strides(type.shape).map((stride) => stride * size), name };
  }

  private placeUb(name: string): Placed {
    const buffer = this.buffers.get(name);
    invariant(buffer !== undefined, `%${name} has no alloc`);
    const size = dtypeBytes[buffer.dtype];
    const by = ubStrides(buffer).map((stride) => stride * size);
    return { memory: this.arena.bytes, base: this.arena.address(buffer), strides: by, name, ub: buffer };
  }

  private typeOf(name: string): { readonly dtype: UbBuffer["dtype"]; readonly shape: Shape } {
    const { data, indices, output } = this.func;
    const param = [data, indices, output].find((value) => value.name === name);
    const found = param?.type ?? this.buffers.get(name);
    invariant(found !== undefined, `%${name} is not defined`);
    return found;
  }

  private dtypeOf(place: Placed): UbBuffer["dtype"] {
    return this.typeOf(place.name).dtype;
  }

  private sizes(region: Region): number[] {
    const env: Env = this.env;
    return region.sizes.map((expr) => evaluate(expr, env));
  }

  private report(): SimReport {
    const { func, target, inputs, counters, tasks, gathers, syncs } = this;
    const counts = { counters, tasks, gathers, syncs, ubPeak: this.arena.peak };
    return summarize(func, target, inputs, counts, { executor: "checked", copiedBytes: 0 });
  }
}

function* boxOffsets(
  sizes: readonly number[],
  a: readonly number[],
  b: readonly number[],
): Generator<readonly [number, number]> {
  for (const coords of box(sizes)) {
    let [x, y] = [0, 0];
    coords.forEach((coord, k) => {
      x += coord * at(a, k);
      y += coord * at(b, k);
    });
    yield [x, y];
  }
}
