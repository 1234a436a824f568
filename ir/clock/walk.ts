/**
 * The clock as a walk over every statement of every task: what the closed form is tested against, and where
 * the events, the lifetimes of UB tiles and the occupancy of a timeline come from.
 */
import { defined } from "../defined.js";
import { evaluate } from "../linear.js";
import { outputOf } from "../func.js";
import { accessLookup, ubBuffers } from "../regions.js";
import { blockPartition } from "../task/index.js";
import {
  accessesOf,
  ubBytes,
  type MovingStmt,
  pipes,
  type Pipe,
  type Region,
  type SyncStmt,
  type UbBuffer,
} from "../tile.js";
import { at, invariant } from "../types.js";
import { cyclesOfCore, resultOf, type ClockResult, type Clocked, type CoreTime } from "./clock.js";
import { execution, type Step } from "./execution.js";
import { never, Recurrence, type Vector } from "./max-plus.js";
import { sizesOf, type StatementWork, type TransferBytes } from "./statement.js";

/**
 * Execution of a statement on a hardware pipe of a core. `start`: cycles from the start of the program.
 * `cycles`: duration.
 */
export interface TimelineEvent {
  readonly core: number;
  readonly pipe: Pipe;
  readonly name: MovingStmt["op"];
  /** Names of the buffers that the statement reads; `to` is the buffer that it writes. */
  readonly from: readonly string[];
  readonly to: string;
  readonly start: number;
  readonly cycles: number;
  /** Elements that passed through global memory. */
  readonly bytes: number;
}

/** Wait of a hardware pipe at a sync. `start`: cycles from the start of the program. `cycles`: duration. */
export interface Wait {
  readonly core: number;
  readonly pipe: Pipe;
  /** The pipe that it waits for. */
  readonly for: Pipe;
  readonly start: number;
  readonly cycles: number;
}

/**
 * Totals of one core after the execution of a program: number of tasks, end cycle, and busy cycles of each
 * hardware pipe.
 */
export interface CoreTotal {
  readonly tasks: number;
  readonly end: number;
  readonly busy: Readonly<Record<Pipe, number>>;
}

/** Region of the output, in elements, that one statement of a task writes. */
export interface OutputTile {
  readonly core: number;
  /** In program order, from 0. */
  readonly task: number;
  readonly offsets: readonly number[];
  readonly sizes: readonly number[];
}

/**
 * Lifetime of a tile in the unified buffer (UB) of core 0, in cycles. `start`: first write of the tile.
 * `end`: last read of the tile.
 */
export interface Lifetime {
  readonly buffer: string;
  readonly address: number;
  readonly bytes: number;
  readonly start: number;
  readonly end: number;
}

/**
 * Step of the use of the unified buffer (UB) over time: the number of bytes in use from `cycle` until the
 * next step.
 */
export interface Occupancy {
  readonly cycle: number;
  readonly bytes: number;
}

/** Result of the cycle model with a timeline of the execution. */
export interface Walked extends ClockResult {
  /** The first events of each core; `dropped` counts the rest. */
  readonly events: readonly TimelineEvent[];
  readonly dropped: number;
  /** Waits between the kept events. */
  readonly waits: readonly Wait[];
  /** One for each of `cores`. */
  readonly coreTotals: readonly CoreTotal[];
  /** The first boxes of the output, as they are written. */
  readonly outputTiles: readonly OutputTile[];
  /** UB tiles of core 0, the first of them. */
  readonly lifetimes: readonly Lifetime[];
  /** On core 0, at each change; the first changes. */
  readonly occupancy: readonly Occupancy[];
}

/** Maximum number of events in a timeline, for all cores together. */
export const maxEvents = 20_000;
/** Maximum number of lifetimes of UB tiles in a timeline ({@link Walked}). */
export const maxLifetimes = 2_000;
/** Maximum number of output tiles in a timeline ({@link Walked}). */
export const maxOutputTiles = 4_000;
const maxOccupancy = 256;

/**
 * Returns the result of the cycle model with a timeline, by simulating every statement. `tasks`: number of
 * tasks. `transferred`: bytes that all cores together transfer in global memory, by operand.
 */
export function walk(program: Clocked, tasks: number, transferred: TransferBytes): Walked {
  const walker = new Walker(program, tasks, transferred);
  walker.run();
  return walker.result();
}

/** Returns the bytes that all cores together transfer in global memory, as one number for each operand. */
export function transferredByWalk({ func, workOf }: Clocked): TransferBytes {
  const env = new Map<string, number>();
  const transferred = func.operands.map(() => 0);
  for (const step of execution(func.body, env)) {
    if (step.op === "task" || step.op === "sync") continue;
    const { work, operand } = workOf(
      step,
      sizesOf(step).map((size) => evaluate(size, env)),
    );
    transferred[operand] = at(transferred, operand) + work.touched;
  }
  return transferred;
}

/**
 * Returns the result of the cycle model for a program by simulating every statement, without a timeline.
 * `tasks`: number of tasks.
 */
export function cyclesByWalk(program: Clocked, tasks: number): ClockResult {
  const walker = new Walker(program, tasks, transferredByWalk(program));
  walker.run();
  return walker.total();
}

/**
 * Returns the bytes of the unified buffer (UB) in use on core 0 over time. Only the first 256 changes are
 * returned; later ones are dropped. The list is empty if the program has no UB buffers.
 */
export const occupancyOn = (
  program: Clocked,
  tasks: number,
  transferred: TransferBytes,
): readonly Occupancy[] =>
  ubBuffers(program.func).size === 0 ? [] : new Walker(program, tasks, transferred).occupancy();

/** Steps of a walk between two looks at whether it can stop. */
const stepsBetweenLooks = 1024;

const recurrence = new Recurrence(1);

class Core {
  /**
   * Times at which the pipes are free, then one time for each sync with a lag. This is when the awaited pipe
   * was free at the sync's previous run.
   */
  readonly ready: Vector;
  readonly busy: Record<Pipe, number> = { MTE2: 0, V: 0, MTE3: 0, S: 0 };
  private readonly lagged = new Map<SyncStmt, number>();
  events = 0;
  tasks = 0;

  readonly transferred: number[];

  constructor(start: Clocked["start"], operands: number) {
    this.ready = pipes.map((pipe) => start[pipe]);
    this.transferred = new Array<number>(operands).fill(0);
  }

  get time(): CoreTime {
    return {
      end: Math.max(...pipes.map((pipe) => this.free(pipe))),
      busy: this.busy,
      transferred: this.transferred,
    };
  }

  free(pipe: Pipe): number {
    return at(this.ready, rowOf[pipe]);
  }

  runs(pipe: Pipe, cycles: number): void {
    recurrence.delay(this.ready, rowOf[pipe], cycles);
    this.busy[pipe] += cycles;
  }

  sync(stmt: SyncStmt, cycles: number): void {
    const [from, to] = [rowOf[stmt.from], rowOf[stmt.to]];
    if (stmt.lag === 0) {
      recurrence.wait(this.ready, to, from, cycles);
      return;
    }
    const memory = this.lagged.get(stmt) ?? this.ready.push(never) - 1;
    this.lagged.set(stmt, memory);
    recurrence.waitForEarlier(this.ready, to, from, memory, cycles);
  }
}

const rowOf = Object.fromEntries(pipes.map((pipe, row) => [pipe, row])) as Readonly<Record<Pipe, number>>;

class Walker {
  private readonly cores: Core[];
  private readonly env = new Map<string, number>();
  private readonly events: TimelineEvent[] = [];
  private readonly waits: Wait[] = [];
  private readonly outputTiles: OutputTile[] = [];
  private readonly output: string;
  private dropped = 0;
  private readonly lives = new Lives();
  /** Pipes that fill UB tiles. */
  private readonly writers = new Set<Pipe>();
  private readonly accesses: ReturnType<typeof accessLookup>;
  private readonly moves = new Map<MovingStmt, Transfer>();
  private readonly cyclesOfWork: (entry: StatementWork) => number;
  private task = -1;
  private index = 0;

  constructor(
    private readonly program: Clocked,
    private readonly tasks: number,
    transferred: TransferBytes,
  ) {
    this.cyclesOfWork = program.pricing(transferred);
    this.accesses = accessLookup(program.func);
    this.output = outputOf(program.func).name;
    this.cores = Array.from(
      { length: program.cores },
      () => new Core(program.start, program.func.operands.length),
    );
  }

  run(): void {
    for (const step of execution(this.program.func.body, this.env)) this.step(step);
  }

  /**
   * Returns the UB occupancy of core 0 over time. Stops the walk once no later statement can change the
   * result.
   */
  occupancy(): readonly Occupancy[] {
    let steps = 0;
    for (const step of execution(this.program.func.body, this.env)) {
      this.step(step);
      if (this.index > 0 || (++steps % stepsBetweenLooks === 0 && this.settled())) break;
    }
    return occupancyOf(this.lives.all);
  }

  /**
   * True if the first changes of occupancy are final: they precede everything that live tiles and later
   * writers can still change.
   */
  private settled(): boolean {
    const { core, lives } = this;
    const starts = [...this.writers].map((pipe) => core.free(pipe));
    const until = Math.min(...starts, ...lives.live.map(({ end }) => end));
    const cycles = lives.all.flatMap(({ start, end }) => [start, end].filter((cycle) => cycle < until));
    return new Set(cycles).size >= maxOccupancy;
  }

  private step(step: Step): void {
    if (step.op === "task") {
      this.task++;
      while (this.task >= blockPartition(this.tasks, this.cores.length, this.index).to) this.index++;
      this.core.tasks++;
    } else if (step.op === "sync") this.sync(step);
    else this.move(step);
  }

  total(): ClockResult {
    const { program } = this;
    const last = this.cores
      .map((core) => core.time)
      .reduce((slowest, core) =>
        cyclesOfCore(program, core) > cyclesOfCore(program, slowest) ? core : slowest,
      );
    return resultOf(program, this.tasks, last);
  }

  result(): Walked {
    const { lives, events, dropped, waits, outputTiles } = this;
    const coreTotals = this.cores.map(({ tasks, busy, time }) => ({ tasks, end: time.end, busy }));
    const residency = { lifetimes: lives.all, occupancy: occupancyOf(lives.all) };
    return { ...this.total(), events, dropped, waits, coreTotals, outputTiles, ...residency };
  }

  private get core(): Core {
    return at(this.cores, this.index);
  }

  private sync(stmt: SyncStmt): void {
    const { core } = this;
    const start = core.free(stmt.to);
    core.sync(stmt, this.program.waitOf(stmt));
    const until = core.free(stmt.to);
    if (until <= start) return;
    if (core.events >= this.eventsOfCore) return;
    this.waits.push({ core: this.index, pipe: stmt.to, for: stmt.from, start, cycles: until - start });
  }

  private move(stmt: MovingStmt): void {
    const { core } = this;
    const sizes = sizesOf(stmt).map((size) => evaluate(size, this.env));
    const entry = this.program.workOf(stmt, sizes);
    const { pipe, work, operand } = entry;
    const cycles = this.cyclesOfWork(entry);
    const start = core.free(pipe);
    core.runs(pipe, cycles);
    core.transferred[operand] = at(core.transferred, operand) + work.touched;
    if (this.index === 0) {
      for (const { buffer, write } of this.accesses(stmt)) {
        if (write) {
          this.writers.add(pipe);
          this.lives.written(buffer, start, core.free(pipe));
        } else this.lives.read(buffer, core.free(pipe));
      }
    }
    const { from, to, region } = this.transferOf(stmt);
    if (region?.buffer === this.output) this.storeOutput(region);
    if (core.events >= this.eventsOfCore) {
      this.dropped++;
      return;
    }
    core.events++;
    this.events.push({
      core: this.index,
      pipe,
      name: stmt.op,
      from,
      to,
      start,
      cycles,
      bytes: work.bytes,
    });
  }

  /**
   * Returns the buffers and the region of a moving statement. Statements run many times, so each is analysed
   * once.
   */
  private transferOf(stmt: MovingStmt): Transfer {
    const move = this.moves.get(stmt);
    if (move !== undefined) return move;
    const accesses = accessesOf(stmt).filter(({ temporary }) => temporary !== true);
    const written = accesses.find(({ write }) => write);
    invariant(written !== undefined, "a statement that moves elements writes some");
    const from = accesses.flatMap(({ buffer, write }) => (write ? [] : [buffer]));
    const transfer = { from, to: written.buffer, ...defined({ region: written.region }) };
    this.moves.set(stmt, transfer);
    return transfer;
  }

  private get eventsOfCore(): number {
    return Math.floor(maxEvents / this.cores.length);
  }

  private storeOutput({ offsets, sizes }: Region): void {
    if (this.outputTiles.length >= maxOutputTiles) return;
    const value = (forms: Region["offsets"]): number[] => forms.map((entry) => evaluate(entry, this.env));
    this.outputTiles.push({
      core: this.index,
      task: this.task,
      offsets: value(offsets),
      sizes: value(sizes),
    });
  }
}

interface Transfer {
  readonly from: readonly string[];
  readonly to: string;
  /** Absent where a whole tile is written. */
  readonly region?: Region;
}

/** Follows what each UB copy holds, and until when it is read. */
class Lives {
  readonly all: Lifetime[] = [];
  /** The tile each buffer holds: its place in `all`, and how often the buffer was written. */
  private readonly latest = new Map<string, { place: number; writes: number }>();

  /** Tiles that may still be read. */
  get live(): Lifetime[] {
    return [...this.latest.values()].flatMap(({ place }) => this.all[place] ?? []);
  }

  written(buffer: UbBuffer, start: number, end: number): void {
    const writes = (this.latest.get(buffer.name)?.writes ?? -1) + 1;
    this.latest.set(buffer.name, { place: this.all.length, writes });
    if (this.all.length >= maxLifetimes) return;
    const address = buffer.addresses?.[writes % buffer.buffers] ?? 0;
    this.all.push({ buffer: buffer.name, address, bytes: ubBytes(buffer), start, end });
  }

  read(buffer: UbBuffer, end: number): void {
    const place = this.latest.get(buffer.name)?.place ?? -1;
    const lifetime = this.all[place];
    if (lifetime !== undefined) this.all[place] = { ...lifetime, end: Math.max(lifetime.end, end) };
  }
}

/**
 * Returns the number of bytes in use over time, computed from the lifetimes of tiles, in ascending order of
 * cycles. Only the first 256 steps are returned; later ones are dropped.
 */
function occupancyOf(lifetimes: readonly Lifetime[]): Occupancy[] {
  const edges = lifetimes.flatMap(({ bytes, start, end }) => [
    { cycle: start, bytes },
    { cycle: end, bytes: -bytes },
  ]);
  edges.sort((a, b) => a.cycle - b.cycle || a.bytes - b.bytes);
  const points: { cycle: number; bytes: number }[] = [];
  let bytesInUse = 0;
  for (const { cycle, bytes } of edges) {
    bytesInUse += bytes;
    const last = points[points.length - 1];
    if (last?.cycle === cycle) last.bytes = bytesInUse;
    else points.push({ cycle, bytes: bytesInUse });
  }
  return points.slice(0, maxOccupancy);
}
