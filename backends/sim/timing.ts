/**
 * Cycles of a tile program on its target, pipe by pipe, without touching an element: the statements are walked in
 * order, each pipe runs its own, and syncs make one wait for another. The formula is in docs/cost-model.md; every
 * figure comes from the target and carries its source there.
 *
 * Monotone: every term grows with bytes, rows and elements.
 */
import { gatheredTable, rowElements } from "../../ir/access.js";
import { inputOf, operandNamed, type TileFunc } from "../../ir/func.js";
import { evaluate } from "../../ir/linear.js";
import type { Target } from "../../ir/target.js";
import {
  pipes,
  type GatherStmt,
  type LoadStmt,
  type Pipe,
  type Region,
  type Stmt,
  type StoreStmt,
  type SyncStmt,
  type UbBuffer,
  ubBytes,
} from "../../ir/tile.js";
import {
  alignUp,
  assertNever,
  at,
  contiguousRun,
  dtypeBytes,
  elementCount,
  invariant,
} from "../../ir/types.js";
import { accessLookup, isParam, pipeOf } from "../../ir/regions.js";
import { execution } from "./execution.js";

/** One statement on one pipe of one core, in cycles from the start of the run. */
export interface TimelineEvent {
  readonly core: number;
  readonly pipe: Pipe;
  readonly name: string;
  readonly start: number;
  readonly cycles: number;
  readonly bytes: number;
}

/** A UB tile on core 0: written at `start`, read for the last time at `end`, in cycles. */
export interface Lifetime {
  readonly buffer: string;
  readonly address: number;
  readonly bytes: number;
  readonly start: number;
  readonly end: number;
}

export interface Timing {
  /** Cycles until the last core is done. */
  readonly cycles: number;
  /** Cycles each pipe is busy on the core that finishes last. */
  readonly busy: Readonly<Record<Pipe, number>>;
  readonly bottleneck: Pipe;
  readonly why: string;
  readonly tasks: number;
  readonly tasksPerCore: { readonly fewest: number; readonly most: number };
  readonly cores: number;
  /** The first events of the run; `dropped` counts the rest. */
  readonly events: readonly TimelineEvent[];
  readonly dropped: number;
  /** UB tiles of core 0, the first of them. */
  readonly lifetimes: readonly Lifetime[];
  /** Bytes of UB that hold what is still to be read on core 0, at each change; the first changes. */
  readonly occupancy: readonly { readonly cycle: number; readonly bytes: number }[];
}

/** UB tiles that a timing keeps, and changes of occupancy. */
export const maxLifetimes = 2_000;
export const maxOccupancy = 256;

/** Events that a timeline keeps, whatever the program. */
export const maxEvents = 20_000;

class Core {
  readonly free: Record<Pipe, number> = { MTE2: 0, V: 0, MTE3: 0, S: 0 };
  readonly busy: Record<Pipe, number> = { MTE2: 0, V: 0, MTE3: 0, S: 0 };
  /** When the source pipe was done at the latest runs of each sync, newest first. */
  readonly syncs = new Map<SyncStmt, number[]>();
  tasks = 0;

  get end(): number {
    return Math.max(...Object.values(this.free));
  }
}

/** Follows what each UB copy holds, and until when it is read. */
class Lives {
  readonly all: Lifetime[] = [];
  /** The tile each buffer holds: its place in `all`, and how often the buffer was written. */
  private readonly latest = new Map<string, { place: number; turn: number }>();

  written(buffer: UbBuffer, start: number, end: number): void {
    const turn = (this.latest.get(buffer.name)?.turn ?? -1) + 1;
    this.latest.set(buffer.name, { place: this.all.length, turn });
    if (this.all.length >= maxLifetimes) return;
    const address = buffer.addresses?.[turn % buffer.buffers] ?? 0;
    this.all.push({ buffer: buffer.name, address, bytes: ubBytes(buffer), start, end });
  }

  read(buffer: UbBuffer, end: number): void {
    const place = this.latest.get(buffer.name)?.place ?? -1;
    const held = this.all[place];
    if (held !== undefined) this.all[place] = { ...held, end: Math.max(held.end, end) };
  }
}

/** Bytes held at each change, in time. */
function occupancyOf(lifetimes: readonly Lifetime[]): Timing["occupancy"] {
  const edges = lifetimes.flatMap(({ bytes, start, end }) => [
    { cycle: start, bytes },
    { cycle: end, bytes: -bytes },
  ]);
  edges.sort((a, b) => a.cycle - b.cycle || a.bytes - b.bytes);
  const points: { cycle: number; bytes: number }[] = [];
  let held = 0;
  for (const { cycle, bytes } of edges) {
    held += bytes;
    const last = points[points.length - 1];
    if (last?.cycle === cycle) last.bytes = held;
    else points.push({ cycle, bytes: held });
  }
  return points.slice(0, maxOccupancy);
}

export function estimateTiming(func: TileFunc, target: Target): Timing {
  return new Walk(func, target).timing();
}

class Walk {
  private readonly cores: Core[];
  private readonly env = new Map<string, number>();
  private readonly events: TimelineEvent[] = [];
  private dropped = 0;
  private readonly lives = new Lives();
  private readonly accesses: ReturnType<typeof accessLookup>;
  private task = -1;
  /** Bytes per cycle that one core gets when all busy cores share global memory. */
  private readonly share: number;

  constructor(
    private readonly func: TileFunc,
    private readonly target: Target,
  ) {
    this.accesses = accessLookup(func);
    const tasks = countTasks(func.body);
    const count = Math.max(1, Math.min(func.schedule.cores ?? target.cores, tasks));
    this.cores = Array.from({ length: count }, () => new Core());
    this.share = target.gmBytesPerCycle / count;
  }

  timing(): Timing {
    this.walk();
    const last = this.cores.reduce((slowest, core) => (core.end > slowest.end ? core : slowest));
    const bottleneck = pipes.reduce((most, pipe) => (last.busy[pipe] > last.busy[most] ? pipe : most));
    const counts = this.cores.map((core) => core.tasks);
    const cycles = last.end;
    return {
      cycles,
      busy: last.busy,
      bottleneck,
      why: this.why(bottleneck, last.busy[bottleneck], cycles),
      tasks: this.task + 1,
      tasksPerCore: { fewest: Math.min(...counts), most: Math.max(...counts) },
      cores: this.cores.length,
      events: this.events,
      dropped: this.dropped,
      lifetimes: this.lives.all,
      occupancy: occupancyOf(this.lives.all),
    };
  }

  private why(pipe: Pipe, busy: number, cycles: number): string {
    const share = cycles === 0 ? 0 : Math.round((100 * busy) / cycles);
    const reasons: Readonly<Record<Pipe, string>> = {
      MTE2: "loading from global memory",
      V: "vector gathers",
      MTE3: "storing to global memory",
      S: "64-bit indices, element by element",
    };
    const shared = (pipe === "MTE2" || pipe === "MTE3") && this.share < this.rate(pipe);
    const limit = shared
      ? `; ${this.cores.length} cores share ${this.target.gmBytesPerCycle} B per cycle`
      : "";
    return `${pipe} is busy ${share} % of the time: ${reasons[pipe]}${limit}`;
  }

  private walk(): void {
    for (const step of execution(this.func.body, this.env)) {
      switch (step.op) {
        case "task":
          this.task++;
          this.core().tasks++;
          break;
        case "sync":
          this.sync(step);
          break;
        case "load":
          this.issue(step, this.transfer(step.from, "MTE2"));
          break;
        case "store":
          this.issue(step, this.transfer(step.to, "MTE3"));
          break;
        case "gather":
          this.issue(step, this.gather(step));
          break;
        default:
          assertNever(step);
      }
    }
  }

  private core(): Core {
    return at(this.cores, Math.max(0, this.task) % this.cores.length);
  }

  private sync(stmt: SyncStmt): void {
    const core = this.core();
    const history = core.syncs.get(stmt) ?? [];
    history.unshift(core.free[stmt.from]);
    history.length = Math.min(history.length, 2);
    core.syncs.set(stmt, history);
    const seen = history[stmt.lag];
    if (seen === undefined || seen <= core.free[stmt.to]) return;
    core.free[stmt.to] = seen + this.target.syncCycles;
  }

  private issue(stmt: LoadStmt | StoreStmt | GatherStmt, cost: { cycles: number; bytes: number }): void {
    const core = this.core();
    const pipe = pipeOf(stmt, this.func);
    invariant(pipe !== undefined, `${stmt.op} runs on a pipe`);
    const start = core.free[pipe];
    core.free[pipe] = start + cost.cycles;
    core.busy[pipe] += cost.cycles;
    if (core === this.cores[0]) {
      for (const { buffer, write } of this.accesses(stmt)) {
        if (write) this.lives.written(buffer, start, core.free[pipe]);
        else this.lives.read(buffer, core.free[pipe]);
      }
    }
    if (this.events.length >= maxEvents) {
      this.dropped++;
      return;
    }
    const index = Math.max(0, this.task) % this.cores.length;
    this.events.push({ core: index, pipe, name: stmt.op, start, ...cost });
  }

  private rate(pipe: Pipe): number {
    return pipe === "MTE3" ? this.target.mte3BytesPerCycle : this.target.mte2BytesPerCycle;
  }

  /** Start-up, then a step for each further row, then bytes in whole blocks at the core's share of the bandwidth. */
  private transfer(region: Region, pipe: "MTE2" | "MTE3"): { cycles: number; bytes: number } {
    const { target } = this;
    const sizes = region.sizes.map((size) => evaluate(size, this.env));
    const type = this.typeOf(region.buffer);
    const size = dtypeBytes[type.dtype];
    const elements = elementCount(sizes);
    if (elements === 0) return { cycles: 0, bytes: 0 };
    const run = contiguousRun(sizes, type.shape);
    const rows = elements / run;
    const padded = rows * alignUp(run * size, target.blockBytes);
    const startup = pipe === "MTE2" ? target.mte2StartupCycles : target.mte3StartupCycles;
    const rate = Math.min(this.rate(pipe), this.share);
    return { cycles: startup + (rows - 1) * target.rowCycles + padded / rate, bytes: elements * size };
  }

  private gather(stmt: GatherStmt): { cycles: number; bytes: number } {
    const { func, target } = this;
    const sizes = stmt.to.sizes.map((size) => evaluate(size, this.env));
    const elements = elementCount(sizes);
    if (elements === 0) return { cycles: 0, bytes: 0 };
    const data = inputOf(func, gatheredTable).type;
    const size = dtypeBytes[data.dtype];
    if (isParam(func, at(stmt.from, gatheredTable).buffer)) {
      // Row by row: the scalar unit makes an address, MTE2 fetches whole blocks.
      const row = rowElements(stmt.map, sizes, data.shape);
      const rows = elements / row;
      const bytes = rows * alignUp(row * size, target.blockBytes);
      const rate = Math.min(target.mte2BytesPerCycle, this.share);
      return {
        cycles: target.mte2StartupCycles + rows * (target.scalarCycles + target.rowCycles) + bytes / rate,
        bytes: elements * size,
      };
    }
    if (pipeOf(stmt, func) === "S") return { cycles: elements * target.scalarCycles, bytes: 0 };
    const row = sizes[sizes.length - 1] ?? 1;
    const rows = elements / row;
    const repeats = Math.ceil((row * size) / target.vectorBytes);
    return { cycles: rows * (target.gatherHeadCycles + repeats * target.gatherRepeatCycles), bytes: 0 };
  }

  private typeOf(name: string) {
    const value = operandNamed(this.func, name);
    invariant(value !== undefined, `%${name} is no parameter`);
    return value.type;
  }
}

function countTasks(body: readonly Stmt[], env: ReadonlyMap<string, number> = new Map()): number {
  const loop = body.find((stmt) => stmt.op === "for" && stmt.mode === "parallel");
  if (loop?.op !== "for") return 1;
  const [lower, upper] = [evaluate(loop.lower, env), evaluate(loop.upper, env)];
  let count = 0;
  for (let value = lower; value < upper; value += loop.step) {
    count += countTasks(loop.body, new Map([...env, [loop.iv, value]]));
  }
  return count;
}

/**
 * Chrome's trace format, which Perfetto opens: a process per core, a thread per pipe, the occupancy of core 0; one cycle
 * is one microsecond.
 */
export function chromeTrace(timing: Timing): { readonly traceEvents: readonly object[] } {
  const names = [...new Set(timing.events.map((event) => event.core))].flatMap((core) => [
    { ph: "M", name: "process_name", pid: core, tid: 0, args: { name: `core ${core}` } },
    ...pipes.map((pipe, tid) => ({ ph: "M", name: "thread_name", pid: core, tid, args: { name: pipe } })),
  ]);
  const events = [...timing.events]
    .sort((a, b) => a.core - b.core || pipes.indexOf(a.pipe) - pipes.indexOf(b.pipe) || a.start - b.start)
    .map(({ core, pipe, name, start, cycles, bytes }) => ({
      ph: "X",
      name,
      cat: pipe,
      pid: core,
      tid: pipes.indexOf(pipe),
      ts: start,
      dur: cycles,
      args: { bytes },
    }));
  const counter = timing.occupancy.map(({ cycle, bytes }) => ({
    ph: "C",
    name: "unified buffer",
    pid: 0,
    tid: 0,
    ts: cycle,
    args: { bytes },
  }));
  return { traceEvents: [...names, ...events, ...counter] };
}
