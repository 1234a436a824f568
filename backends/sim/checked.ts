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
import { isParam, pipeOf, ubAccesses, ubBuffers } from "../../ir/verify/accesses.js";
import { indexOutOfRange, indexReader, outOfRange, resolveIndex, type HostInputs } from "../memory.js";
import { indexLocality } from "./locality.js";
import type { OperandReport, SimReport } from "./report.js";
import { estimateTiming } from "./timing.js";
import { UbArena } from "./ub-arena.js";

export interface SimResult {
  /** The output's elements, row-major. */
  readonly output: Uint8Array;
  readonly report: SimReport;
}

/** Throws a RunError: TC601 for an index out of range, TC602 to TC606 for what the checked executor traps. */
export function simulateChecked(func: TileFunc, inputs: HostInputs, target: Target): SimResult {
  return new Machine(func, inputs, target).run();
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

class Counter {
  bytes = 0;
  transfers = 0;
  bursts = 0;
  shortest = Infinity;
  longest = 0;
  private runBytes = 0;
  private runEnd = -1;

  burst(bytes: number, times = 1): void {
    if (bytes === 0) return;
    this.bytes += bytes * times;
    this.bursts += times;
    this.shortest = Math.min(this.shortest, bytes);
    this.longest = Math.max(this.longest, bytes);
  }

  /** One more element: it lengthens the burst that ends where it begins. */
  element(address: number, bytes: number): void {
    if (address === this.runEnd) {
      this.runBytes += bytes;
    } else {
      this.endRun();
      this.runBytes = bytes;
    }
    this.runEnd = address + bytes;
  }

  endRun(): void {
    this.burst(this.runBytes);
    this.runBytes = 0;
    this.runEnd = -1;
  }

  report(compulsory: number): OperandReport {
    const shortestBurst = this.bursts === 0 ? 0 : this.shortest;
    const { bytes, transfers, bursts } = this;
    return { bytes, compulsory, transfers, bursts, shortestBurst, longestBurst: this.longest };
  }
}

class Machine {
  private readonly output: Uint8Array;
  private readonly outputWritten: Uint8Array;
  private readonly arena: UbArena;
  private readonly buffers: ReadonlyMap<string, UbBuffer>;
  private readonly env = new Map<string, number>();
  private readonly counters: Readonly<Record<Operand, Counter>> = {
    data: new Counter(),
    indices: new Counter(),
    output: new Counter(),
  };
  /** Lowest position in the index tensor whose value is out of range. */
  private firstBad = Infinity;
  private tasks = 0;
  private gathers = 0;
  private syncs = 0;
  private readonly budget: number;

  constructor(
    private readonly func: TileFunc,
    private readonly inputs: HostInputs,
    private readonly target: Target,
  ) {
    const { shape, dtype } = func.output.type;
    this.output = new Uint8Array(elementCount(shape) * dtypeBytes[dtype]);
    this.outputWritten = new Uint8Array(elementCount(shape));
    this.buffers = ubBuffers(func);
    this.budget = func.schedule.ubBytes ?? target.ubBytes;
    this.arena = new UbArena(this.budget, this.buffers);
  }

  run(): SimResult {
    if (this.func.body.length > 0) this.body(this.func.body, true);
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

  private body(stmts: readonly Stmt[], outermost: boolean): void {
    const leaf = outermost && !stmts.some((stmt) => stmt.op === "for" && stmt.mode === "parallel");
    if (leaf) this.beginTask();
    for (const stmt of stmts) {
      switch (stmt.op) {
        case "for": {
          const [lower, upper] = [evaluate(stmt.lower, this.env), evaluate(stmt.upper, this.env)];
          for (let value = lower; value < upper; value += stmt.step) {
            this.env.set(stmt.iv, value);
            this.body(stmt.body, outermost && stmt.mode === "parallel");
          }
          this.env.delete(stmt.iv);
          break;
        }
        case "alloc":
          break;
        case "load":
          this.load(stmt);
          break;
        case "gather":
          this.gather(stmt);
          break;
        case "store":
          this.store(stmt);
          break;
        case "sync":
          this.syncs++;
          this.arena.sync(stmt);
          break;
      }
    }
  }

  private beginTask(): void {
    this.tasks++;
    if (this.target.kind !== "ascend") this.arena.reset();
  }

  /** Takes the next copy of what the statement writes, and checks its accesses against those of other pipes. */
  private begin(stmt: LoadStmt | GatherStmt | StoreStmt): void {
    const accesses = ubAccesses(stmt, this.func);
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
          counters.indices.element(place, indexSize);
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
        if (inGm.data) counters.data.element(from, size);
      }
      if (to.ub === undefined) {
        this.markOutput(target, size, stmt);
        counters.output.element(target, size);
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
    const { func, counters } = this;
    const map = findGather(this.func.body)?.map;
    const empty = elementCount(func.output.type.shape) === 0;
    const reached = map?.results.map((access, k) =>
      access.kind === "direct" ? at(func.output.type.shape, access.dim) : at(func.data.type.shape, k),
    );
    const dataSize = dtypeBytes[func.data.type.dtype];
    const outputBytes = this.output.byteLength;
    // Rows straight from global memory need no more of the data than the output takes.
    const rowsCap = func.schedule.residency === "gm" ? outputBytes : Infinity;
    const compulsory = {
      data: empty || reached === undefined ? 0 : Math.min(elementCount(reached) * dataSize, rowsCap),
      indices: empty ? 0 : elementCount(func.indices.type.shape) * dtypeBytes[func.indices.type.dtype],
      output: outputBytes,
    };
    const operands = {
      data: counters.data.report(compulsory.data),
      indices: counters.indices.report(compulsory.indices),
      output: counters.output.report(compulsory.output),
    };
    const bytesRead = operands.data.bytes + operands.indices.bytes;
    const compulsoryBytes = compulsory.data + compulsory.indices + compulsory.output;
    const { events: _, ...timing } = estimateTiming(func, this.target);
    return {
      target: this.target.name,
      executor: "checked",
      operands,
      bytesRead,
      bytesWritten: operands.output.bytes,
      compulsoryBytes,
      reloadFactor: compulsoryBytes === 0 ? 1 : (bytesRead + operands.output.bytes) / compulsoryBytes,
      ubPeak: this.arena.peak,
      ubBudget: this.budget,
      tasks: this.tasks,
      timing,
      locality: indexLocality(this.inputs.indices),
      cores: Math.min(func.schedule.cores ?? this.target.cores, Math.max(1, this.tasks)),
      gathers: this.gathers,
      syncs: this.syncs,
    };
  }
}

/** Every coordinate of a box, row-major. The same array each time, changed in place. */
function* box(sizes: readonly number[]): Generator<readonly number[]> {
  if (sizes.includes(0)) return;
  const coords = new Array<number>(sizes.length).fill(0);
  for (;;) {
    yield coords;
    let k = sizes.length - 1;
    while (k >= 0 && at(coords, k) + 1 === at(sizes, k)) coords[k--] = 0;
    if (k < 0) return;
    coords[k] = at(coords, k) + 1;
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
