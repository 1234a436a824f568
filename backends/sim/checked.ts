/**
 * sim, the checked executor: runs a tile program statement by statement in an explicit UB arena.
 *
 * UB starts poisoned. A read of bytes never written, an access outside a buffer, a race between pipes, a
 * write over another operand and an output element written twice or never all stop the run and name the
 * statement. Memory is the tensors and one unified buffer, whatever the number of tiles.
 */
import { fillBytes, gatheredTable, isMove, isRead } from "../../ir/access.js";
import {
  gatherAddresses,
  outputPosition,
  indexStrides,
  startOf,
  stepsOf,
  fullReduction,
  placeIn,
  type Place,
} from "../../ir/addressing.js";
import {
  inputOf,
  inputsOf,
  keyOf,
  operandNamed,
  outputBytes,
  outputOf,
  inoutOf,
  type TileFunc,
} from "../../ir/func.js";
import { constant, evaluate, isAffine, loopForm, indicesOf, type Linear } from "../../ir/linear.js";
import { outOfRange } from "../../ir/policy.js";
import { accessLookup, pipeOf, typeOfBuffer, ubBuffers } from "../../ir/regions.js";
import { targetFacts, type Target } from "../../ir/target.js";
import { statementsOf, taskOfTile } from "../../ir/task/index.js";
import {
  computationIn,
  ubBytes,
  walkedSizes,
  ubEnd,
  type FillStmt,
  type GatherStmt,
  type LoadStmt,
  type MovingStmt,
  type Region,
  type ScatterStmt,
  type Stmt,
  type StoreStmt,
  type UbBuffer,
} from "../../ir/tile.js";
import {
  assertNever,
  at,
  byteCount,
  contiguousRun,
  bytesFor,
  elementCount,
  elementsInByte,
  invariant,
  isPacked,
  meanBytes,
  strides,
  type DType,
  type Shape,
  type TensorType,
} from "../../ir/types.js";
import {
  allocateArray,
  copyBytes,
  indexReader,
  inputTensor,
  shiftPacked,
  type HostInputs,
  type IndexReader,
} from "../memory.js";
import { indexOutOfRange } from "../resolved-indices.js";
import { IndexWalk, indexSteps, reductionRange, type IndexStep, type ReductionRun } from "../index-walk.js";
import { checkTensors } from "../values.js";
import {
  evaluator,
  reductionsIn,
  valuePlan,
  wordsOfSum,
  type Evaluator,
  type Taken,
} from "../../ir/values/index.js";
import { pointsOf } from "../region-points.js";
import { emptyOutputSteps } from "../empty-output.js";
import { indexInputs } from "../index-inputs.js";
import { drained, inSlices, type LongRunOptions } from "../long-run.js";
import type { SimReport } from "../report.js";
import { writeBits, elementBits, type CheckedMemory } from "./memory.js";
import { BurstRun } from "./counter.js";
import { execution } from "../../ir/clock/execution.js";
import { counterOf, newCounters, summarize, type Counters, type Counts } from "./summary.js";
import { scatterInIteration } from "../../ir/scatter-over-tensors.js";
import { scatterSteps } from "./scatter.js";
import { UbArena } from "./ub-arena.js";
import { WrittenElements } from "./written-elements.js";

/** Result of a run on the checked executor: the output's bytes and a report. */
export interface SimResult {
  /** The output's elements, row-major. */
  readonly output: Uint8Array;
  readonly report: SimReport;
}

/**
 * Executes a tile program in the checked executor and returns the output with a report. Throws a RunError
 * (TC601 to TC606) for an invalid operation, and a CompileError (TC702) for inputs of a wrong size.
 */
export const simulateChecked = (func: TileFunc, inputs: HostInputs, target: Target): SimResult =>
  drained(new Machine(func, inputs, target).steps());

/**
 * Executes a tile program in the checked executor, in time slices. Resolves to the output and a report.
 * Rejects with the errors of {@link simulateChecked} and with the signal's reason.
 */
export function simulateCheckedLong(
  func: TileFunc,
  inputs: HostInputs,
  target: Target,
  options: LongRunOptions,
): Promise<SimResult> {
  const { tasks } = taskOfTile(func).nest;
  return inSlices(new Machine(func, inputs, target).steps(), (share) => share * tasks, tasks, options);
}

/**
 * Returns the traffic and statement counts of a scatter program for an execution without errors. Only the
 * values of index tensors are read.
 */
export function countScatter(func: TileFunc, inputs: HostInputs, target: Target): Counts {
  const indices = indexInputs(func);
  const placed = inputsOf(func).map((operand) => {
    const { type } = operand;
    const tensor = indices.includes(operand)
      ? inputTensor(inputs, operand)
      : { type, bytes: allocateArray(byteCount(type), keyOf(operand)) };
    return [keyOf(operand), tensor] as const;
  });
  const machine = new Machine(func, Object.fromEntries(placed), target);
  for (const _ of machine.executed()) continue;
  return machine.counts();
}

/** An address of a gather, as one iteration of the loops makes it: elements from the start of a memory. */
interface Address {
  readonly memory: CheckedMemory;
  readonly start: number;
  readonly by: readonly number[];
}

/** A form in the dims of a tile and the index operands of a map, as one iteration of the loops makes it. */
interface Form {
  readonly start: number;
  readonly by: readonly number[];
  /** Along each index operand. */
  readonly strides: readonly number[];
  /** The form itself, where it is not linear in dims and index operands. */
  readonly fullBytes?: Linear;
}

/**
 * Memory of an input that a gather reads for index values, or for values other than the data. It begins at
 * the first element of a region.
 */
interface TableMemory {
  readonly memory: CheckedMemory;
  /** Reader of index values; absent if the table holds none. */
  readonly read?: IndexReader;
  /** Record of what this gather has read of the table; present if the table is read in place. */
  readonly counted?: { readonly run: BurstRun; readonly marks: Marks };
}

/** An index operand's step: where its value lies, and in which memory; without one it is the sum itself. */
interface IndexRead {
  readonly step: IndexStep;
  readonly form: Form;
  /** Elements that the address advances for each element along a row. */
  readonly along: number;
  readonly table: TableMemory | undefined;
  /** True if it reads by other index operands. */
  readonly nested: boolean;
  /** Value of the linear part of `form` at the start of the current line, in elements. */
  start: number;
}

/**
 * Marks the elements seen in the current turn. A new turn is O(1): a generation byte, cleared every 255
 * turns.
 */
class Marks {
  private readonly passes: Uint8Array;
  private pass = 0;

  constructor(elements: number) {
    this.passes = allocateArray(elements, "a mark for each index");
  }

  begin(): this {
    if (this.pass === 255) {
      this.passes.fill(0);
      this.pass = 0;
    }
    this.pass++;
    return this;
  }

  /** True if an element is seen for the first time in the current pass; marks it as seen. */
  first(element: number): boolean {
    if (this.passes[element] === this.pass) return false;
    this.passes[element] = this.pass;
    return true;
  }
}

/** An element that a value is made from. */
interface ValueRead {
  readonly memory: CheckedMemory;
  readonly form: Form;
  /**
   * Callback for each element that is read from global memory: takes its byte address there and its number.
   */
  readonly counted?: (place: number, element: number) => void;
}

/** Evaluator of output elements, and the elements that it reads. */
interface Values {
  readonly evaluator: Evaluator;
  readonly reads: readonly ValueRead[];
}

/** The terms that a gather takes in, and where what they come to is kept until the next run. */
interface Run extends ReductionRun {
  readonly isLast: boolean;
  readonly sum: Address;
  /** The coordinates in front of an element's own of each word of its sum. */
  readonly words: readonly (readonly number[])[];
  /** Absent where all terms count. */
  readonly count: Address | undefined;
}

/** State of a gather in one iteration of the loops. */
interface Gathering {
  readonly stmt: GatherStmt;
  readonly data: { readonly memory: CheckedMemory; readonly form: Form };
  readonly to: Address;
  /** Memory of the inputs whose accesses are checked and counted one by one; undefined for other inputs. */
  readonly tables: readonly (TableMemory | undefined)[];
  readonly walk: IndexWalk;
  /**
   * Index operands of the element itself (`reads`) and of each of its reduction elements (`reductionReads`).
   */
  readonly reads: readonly IndexRead[];
  readonly reductionReads: readonly IndexRead[];
  /** The bytes of an element that has none. */
  readonly fill: Uint8Array;
  /** The number of the output element in the output tensor. */
  readonly position: Pick<Address, "start" | "by"> | undefined;
  /** Bytes of an element. */
  readonly size: number;
  /**
   * Bursts of the data (`fetched`) and of the output (`put`); undefined for an operand that is not in global
   * memory.
   */
  readonly fetched: BurstRun | undefined;
  readonly put: BurstRun | undefined;
  /** Coordinates of the element at hand in the tile, and behind them r. */
  readonly point: number[];
  /** Rank of the output tile. */
  readonly rank: number;
  /** Computation of an element; undefined if elements move without change. */
  readonly values: Values | undefined;
  /** Present if the gather takes in only some of the reduction elements in this iteration. */
  readonly run: Run | undefined;
  /** True if the elements of a line share their index operands and lie together, and move as one. */
  readonly together: boolean;
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
  private readonly views = new Map<Uint8Array, DataView>();
  private readonly marks = new Map<string, Marks>();
  private readonly outputElements: number;
  /** Bytes of an output element. */
  private readonly elementBytes: number;
  /** Output elements that were gathered, or points of the domain that a scatter has taken. */
  private done = 0;
  /** Number of these in the whole program. */
  private readonly toDo: number;
  /** The first output element whose index is out of range. */
  private firstBad = Infinity;
  /** By the tile that sums are kept in, the term that is next. */
  private readonly next = new Map<string, number>();
  /** Elements that points write, in a program with a scatter. */
  private readonly scattered: WrittenElements | undefined;
  /** Memory of the caller that the run writes at its end. */
  private readonly inPlace: Uint8Array | undefined;
  private tasks = 0;
  private gathers = 0;
  private syncs = 0;

  constructor(
    private readonly func: TileFunc,
    private readonly inputs: HostInputs,
    private readonly target: Target,
  ) {
    checkTensors(func, inputs);
    const { shape } = outputOf(func).type;
    this.outputElements = elementCount(shape);
    this.elementBytes = outputBytes(func);
    this.output = allocateArray(this.outputElements * this.elementBytes, "the output");
    this.outputWritten = allocateArray(this.outputElements, "a mark for each output element");
    this.buffers = ubBuffers(func);
    this.accesses = accessLookup(func);
    this.counters = newCounters(func, target);
    const inout = inoutOf(func);
    this.inPlace = inout === undefined ? undefined : inputTensor(inputs, inout).bytes;
    if (this.inPlace !== undefined) this.output.set(this.inPlace);
    const stmt = computationIn(func.body);
    const scattered = stmt?.op === "scatter" ? stmt.map : undefined;
    this.scattered =
      scattered === undefined
        ? undefined
        : new WrittenElements(
            { map: scatterInIteration(func) ?? scattered, operands: func.operands, inputs },
            this.outputElements,
          );
    this.toDo = scattered === undefined ? this.outputElements : elementCount(scattered.domain);
    this.arena = new UbArena(func.schedule.ubBytes ?? target.ubBytes, this.buffers);
    this.position = elementCount(shape) === 0 ? undefined : outputPosition(func, taskOfTile(func));
  }

  /**
   * Yields the share of the output or of the points that is done, after each statement and inside long ones.
   */
  *executed(): Generator<number, void> {
    yield* emptyOutputSteps(this.func, this.inputs);
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
        case "scatter":
          yield* this.scatter(step);
          break;
        case "fill":
          this.fill(step);
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
      yield this.share();
    }
  }

  /** Judges what was executed, too. */
  *steps(): Generator<number, SimResult> {
    yield* this.executed();
    const map = taskOfTile(this.func).gather?.stmt.map;
    if (this.firstBad !== Infinity && map !== undefined) {
      const { operands } = this.func;
      throw indexOutOfRange({ map, operands, tile: this.func, inputs: this.inputs }, this.firstBad);
    }
    this.scattered?.judge();
    const missing = this.outputWritten.indexOf(0);
    if (missing !== -1 && this.inPlace === undefined) {
      const last = at(this.func.body, this.func.body.length - 1);
      throw this.arena.trap("TC606", `output element ${missing} was never written`, last);
    }
    const report = this.report();
    if (this.inPlace === undefined) return { output: this.output, report };
    // The run is not rejected: the caller's memory becomes the output.
    this.inPlace.set(this.output);
    return { output: this.inPlace, report };
  }

  private share(): number {
    return this.toDo === 0 ? 1 : this.done / this.toDo;
  }

  /**
   * Takes the next copy of what the statement writes, and checks its accesses against those of other pipes.
   */
  private begin(stmt: MovingStmt): void {
    const accesses = this.accesses(stmt);
    for (const { buffer, write, updates } of accesses) {
      if (!write || updates === true) continue;
      this.arena.switchCopy(buffer.name);
    }
    const pipe = pipeOf(stmt, this.func);
    invariant(pipe !== undefined, `${stmt.op} runs on a pipe`);
    this.arena.issue(stmt, pipe, accesses);
    for (const { buffer, write, updates } of accesses) {
      if (write && updates !== true && !this.carries(stmt, buffer.name)) this.arena.clear(buffer);
    }
  }

  /**
   * True if a statement continues from what a tile already holds: a gather of any reduction chunk but the
   * first.
   */
  private carries(stmt: Stmt, name: string): boolean {
    return (
      stmt.op === "gather" &&
      stmt.chunk?.into.includes(name) === true &&
      evaluate(stmt.chunk.from, this.env) > 0
    );
  }

  private load(stmt: LoadStmt): void {
    this.begin(stmt);
    this.transfer(stmt, stmt.from, this.inside(stmt.from, stmt), this.fullBuffer(stmt.to));
  }

  private store(stmt: StoreStmt): void {
    this.begin(stmt);
    this.transfer(stmt, stmt.to, this.fullBuffer(stmt.from), this.inside(stmt.to, stmt));
  }

  /**
   * Copies a box row by row; a burst is what lies together in global memory. Packed rows that begin inside a
   * byte are shifted to where one begins.
   */
  private transfer(stmt: LoadStmt | StoreStmt, region: Region, from: Address, to: Address): void {
    const operand = operandNamed(this.func, region.buffer);
    invariant(operand !== undefined, `%${region.buffer} is no parameter`);
    const counter = counterOf(this.counters, operand);
    const { dtype, shape } = operand.type;
    const size = meanBytes(dtype);
    const sizes = this.sizes(region);
    const count = elementCount(sizes);
    counter.transfers++;
    const run = contiguousRun(sizes, shape) * size;
    if (count > 0) counter.burst(run, (count * size) / run);
    const length = sizes[sizes.length - 1] ?? 1;
    const rowBytes = bytesFor(length, dtype);
    for (const row of pointsOf(sizes.slice(0, -1))) {
      const [source, target] = [byteOf(from, row), byteOf(to, row)];
      const beyond = elementOf(from, row) % elementsInByte(dtype);
      this.check(from.memory, source, bytesFor(beyond + length, dtype), stmt, false);
      this.check(to.memory, target, rowBytes, stmt, true);
      if (isPacked(dtype) && beyond > 0)
        shiftPacked(to.memory.bytes.subarray(target), from.memory.bytes.subarray(source), dtype, {
          beyond,
          length,
        });
      else copyBytes(to.memory.bytes, target, from.memory.bytes, source, rowBytes);
      if (to.memory.ub === undefined) this.markOutput(target, rowBytes, stmt);
    }
  }

  private *gather(stmt: GatherStmt): Generator<number> {
    this.begin(stmt);
    this.gathers++;
    const gathering = this.gatheringOf(stmt);
    const { fetched, put, tables, run } = gathering;
    const sizes = this.sizes(stmt.to);
    const length = sizes[sizes.length - 1] ?? 1;
    let transferred = 0;
    for (const row of pointsOf(sizes.slice(0, -1))) {
      for (let from = 0; from < length; from += elementsAtOnce) {
        const count = Math.min(elementsAtOnce, length - from);
        this.line(gathering, row, from, count);
        if (run?.isLast !== false) this.done += count;
        transferred += count;
        if (transferred < elementsAtOnce) continue;
        transferred = 0;
        yield this.share();
      }
    }
    for (const bursts of [fetched, put, ...tables.map((table) => table?.counted?.run)]) bursts?.end();
  }

  /** Checks the regions of a gather and counts its transfers. Returns the gather as it runs line by line. */
  private gatheringOf(stmt: GatherStmt): Gathering {
    const fetching = counterOf(this.counters, inputOf(this.func, gatheredTable));
    const putting = counterOf(this.counters, outputOf(this.func));
    const forms = gatherAddresses(stmt, (region) => this.placeOf(region));
    const tables = stmt.from.map((region, table) => this.tableMemory(region, table, stmt));
    this.checkInside(stmt.to, stmt);
    const to = { memory: this.memoryOf(stmt.to.buffer), ...this.address(forms.output, stmt) };
    const data = {
      memory: this.memoryOf(at(stmt.from, gatheredTable).buffer),
      form: this.form(forms.data, stmt, stmt.map.indices.length),
    };
    const fullMap = fullReduction(stmt.map, stmt.chunk);
    const walk = new IndexWalk(indexSteps(fullMap, forms.indices, this.func.operands));
    const rank = stmt.to.sizes.length;
    const indexReads = walk.steps.map((step): IndexRead => {
      const table = step.table === undefined ? undefined : tables[step.table];
      invariant(
        step.table === undefined || table !== undefined,
        `an index operand reads input ${step.table}`,
      );
      const form = this.form(step.form, stmt, stmt.map.indices.length);
      return {
        step,
        form,
        along: form.by[rank - 1] ?? 0,
        table,
        nested: indicesOf(step.form).length > 0,
        start: 0,
      };
    });
    const reads = indexReads.filter(({ step }) => !step.inReduction);
    const fetched = data.memory.ub === undefined ? new BurstRun(fetching) : undefined;
    const put = to.memory.ub === undefined ? new BurstRun(putting) : undefined;
    if (fetched !== undefined) fetching.transfers++;
    const run = this.runOf(stmt);
    // The last run of its terms writes.
    if (put !== undefined && run?.isLast !== false) putting.transfers++;
    return {
      stmt,
      data,
      to,
      tables,
      walk,
      reads,
      reductionReads: indexReads.filter(({ step }) => step.inReduction),
      fill: fillBytes(stmt.map, outputOf(this.func).type.dtype),
      position: this.position === undefined ? undefined : this.address(this.position, stmt),
      size: outputBytes(this.func),
      fetched,
      put,
      values: this.valuesOf(stmt, forms.reads, fetched, tables),
      run,
      point: walkedSizes(stmt).map(() => 0),
      rank,
      together:
        isMove(stmt.map) &&
        [data.form, ...reads.map(({ form }) => form)].every(({ fullBytes }) => fullBytes === undefined) &&
        reads.every(({ along }) => along === 0) &&
        to.by[rank - 1] === 1 &&
        data.form.by[rank - 1] === 1,
    };
  }

  private fill(stmt: FillStmt): void {
    this.begin(stmt);
    const buffer = this.buffers.get(stmt.to);
    invariant(buffer !== undefined, `%${stmt.to} has an alloc`);
    const element = fillBytes({ fill: stmt.bits }, buffer.dtype);
    const to = this.fullBuffer(stmt.to);
    for (const point of pointsOf(buffer.shape)) {
      const byte = byteOf(to, point);
      this.check(to.memory, byte, element.length, stmt, true);
      to.memory.bytes.set(element, byte);
    }
  }

  private *scatter(stmt: ScatterStmt): Generator<number> {
    this.begin(stmt);
    this.gathers++;
    for (const region of [...stmt.from, stmt.to]) this.checkInside(region, stmt);
    const { func, env, scattered } = this;
    invariant(scattered !== undefined, "a program with a scatter notes what it writes");
    const toOutput = this.placeInOutput(stmt);
    const runs: BurstRun[] = [];
    const steps = scatterSteps(
      {
        func,
        env,
        placeOf: (region) => this.placeOf(region),
        memoryOf: (name) => this.memoryOf(name),
        check: (...access) => {
          this.check(...access);
        },
        counting: (number) => {
          const operand = at(func.operands, number);
          const counter = counterOf(this.counters, operand);
          counter.transfers++;
          const run = new BurstRun(counter);
          runs.push(run);
          const size = meanBytes(operand.type.dtype);
          if (operand.role === "output")
            return (byte) => {
              run.add(byte, size);
              this.markOutput(byte, size, stmt);
            };
          const marks = this.marksOf(operand.name, operand.type).begin();
          return (byte, element) => {
            if (marks.first(element)) run.add(byte, size);
          };
        },
        rejected: (point) => {
          scattered.reject(point, env);
        },
        wrote: (point, coords) => {
          scattered.write(point, toOutput(coords));
        },
      },
      stmt,
    );
    for (const points of steps) {
      this.done += points;
      yield this.share();
    }
    for (const run of runs) run.end();
  }

  /** Returns the number of an output element by its coordinates in the region that a scatter writes. */
  private placeInOutput({ to }: ScatterStmt): (coords: readonly number[]) => number {
    const output = outputOf(this.func);
    const by = strides(output.type.shape);
    const stored = statementsOf(this.func).flatMap(({ stmt }) =>
      stmt.op === "store" && stmt.from === to.buffer ? [stmt.to] : [],
    );
    const [first] = stored;
    const offsets = to.offsets.map((offset, k) => {
      const inTile = evaluate(offset, this.env);
      const form = to.buffer === output.name ? undefined : first?.offsets[k];
      return inTile + (form === undefined ? 0 : evaluate(form, this.env));
    });
    return (coords) => coords.reduce((sum, coord, k) => sum + (coord + at(offsets, k)) * at(by, k), 0);
  }

  /**
   * Gathers elements [from, from + count) of a row of the output tile; `row` has the coordinates of the outer
   * dims.
   */
  private line(gathering: Gathering, row: readonly number[], from: number, count: number): void {
    const { stmt, data, to, walk, reads, fill, size, fetched, put, point, rank, values, run } = gathering;
    const d = row.length;
    for (let k = 0; k < d; k++) point[k] = row[k] ?? 0;
    if (d < rank) point[d] = from;
    for (const read of reads) read.start = elementOf(read.form, point);
    const target = to.memory.first + elementOf(to, point) * size;
    const targetStep = (to.by[d] ?? 0) * size;
    const [source, sourceStep] = [elementOf(data.form, point), data.form.by[d] ?? 0];
    const together = gathering.together ? count : 1;
    const length = together * size;
    for (let k = 0; k < count; k += together) {
      if (d < rank) point[d] = from + k;
      let ended = 0;
      for (const read of reads) {
        // What is read at dims alone is read whatever the others name.
        if (ended < 0 && read.nested) continue;
        const element = this.take(walk, read, read.start + k * read.along, point, stmt);
        if (ended === 0) ended = element;
      }
      if (ended === outOfRange) this.rejected(gathering);
      if (run?.isLast === false) {
        if (ended === 0) this.commit(run, gathering, this.takenIn(gathering));
        continue;
      }
      const written = target + k * targetStep;
      this.check(to.memory, written, length, stmt, true);
      if (ended < 0) {
        for (let byte = written; byte < written + length; byte += size) to.memory.bytes.set(fill, byte);
      } else if (values !== undefined) {
        const taken = this.takenIn(gathering);
        const bits = values.evaluator.element(
          (read) => this.bitsOf(at(values.reads, read), point, walk.indices, stmt),
          taken,
        );
        writeBits(to.memory.view, written, bits, size);
      } else {
        const element = this.at(data.form, source + k * sourceStep, point, walk.indices);
        const read = data.memory.first + element * size;
        this.check(data.memory, read, length, stmt, false);
        if (together === 1) moveElement(to.memory.view, written, data.memory.view, read, size);
        else copyBytes(to.memory.bytes, written, data.memory.bytes, read, length);
        fetched?.add(read, length);
      }
      if (put !== undefined) {
        this.markOutput(written, length, stmt);
        put.add(written, length);
      }
    }
  }

  /** Records that the current element has an index value out of range. */
  private rejected({ position, point }: Gathering): void {
    if (position !== undefined) this.firstBad = Math.min(this.firstBad, elementOf(position, point));
  }

  /** Returns the state of the current element's reduction after the reduction elements of this run. */
  private takenIn(gathering: Gathering): Taken {
    const { stmt, walk, reductionReads, point, rank, values, run } = gathering;
    invariant(values !== undefined, "elements with terms are computed");
    const { evaluator: computes, reads } = values;
    const taken = run === undefined || run.from === 0 ? computes.start() : this.kept(run, gathering);
    const bitsAt = (read: number): number => this.bitsOf(at(reads, read), point, walk.indices, stmt);
    const [first, end] = reductionRange(stmt.map, walk.indices, run);
    for (let r = first; r < end; r++) {
      point[rank] = r;
      let ended = 0;
      for (const read of reductionReads) {
        if (ended < 0 && read.nested) continue;
        const element = this.take(walk, read, elementOf(read.form, point), point, stmt);
        if (ended === 0) ended = element;
      }
      if (ended === outOfRange) {
        this.rejected(gathering);
        break;
      }
      if (ended === 0) computes.take(taken, bitsAt);
    }
    return taken;
  }

  /**
   * Returns the run of a gather in this iteration of the loops; undefined for one with all terms. Traps where
   * another term is next.
   */
  private runOf(stmt: GatherStmt): Run | undefined {
    const { chunk, map } = stmt;
    const [reduction] = reductionsIn(map.value);
    if (chunk === undefined || reduction === undefined) return undefined;
    const [from, to] = [evaluate(chunk.from, this.env), evaluate(chunk.to, this.env)];
    const [sum, count] = chunk.into;
    invariant(sum !== undefined, "what terms come to is kept in a tile");
    const next = this.next.get(sum) ?? 0;
    if (from !== next) {
      const message = `%${sum} accumulates the reduction elements ${from} to ${to}, and element ${next} is next`;
      throw this.arena.trap("TC606", message, stmt);
    }
    const isLast = to === chunk.of;
    const words = wordsOfSum(reduction.how);
    this.next.set(sum, isLast ? 0 : to);
    return {
      from,
      to,
      isLast,
      sum: this.fullBuffer(sum),
      words: words === 1 ? [[]] : Array.from({ length: words }, (_, k) => [k]),
      count: count === undefined ? undefined : this.fullBuffer(count),
    };
  }

  /** Returns the state of the current element's reduction that the runs before this one stored. */
  private kept({ from, words, sum, count }: Run, gathering: Gathering): Taken {
    const { stmt, point, rank, values } = gathering;
    invariant(values !== undefined, "elements with terms are computed");
    const bits = (address: Address, word: readonly number[] = []): number => {
      const byte = byteOf(address, [...word, ...point.slice(0, rank)]);
      this.check(address.memory, byte, 4, stmt, false);
      return address.memory.view.getUint32(byte, true);
    };
    return values.evaluator.ofWords(
      words.map((word) => bits(sum, word)),
      count === undefined ? from : bits(count),
    );
  }

  private commit({ words, sum, count }: Run, gathering: Gathering, taken: Taken): void {
    const { stmt, point, rank, values } = gathering;
    const put = (address: Address, bits: number, word: readonly number[] = []): void => {
      const byte = byteOf(address, [...word, ...point.slice(0, rank)]);
      this.check(address.memory, byte, 4, stmt, true);
      address.memory.view.setUint32(byte, bits, true);
    };
    values?.evaluator.words(taken).forEach((bits, k) => {
      put(sum, bits, at(words, k));
    });
    if (count !== undefined) put(count, taken.count);
  }

  /**
   * Returns the evaluator of elements and the memories that it reads; undefined if elements move without
   * change.
   */
  private valuesOf(
    stmt: GatherStmt,
    forms: readonly Linear[],
    fetched: BurstRun | undefined,
    tables: readonly (TableMemory | undefined)[],
  ): Values | undefined {
    const { map, from } = stmt;
    if (isMove(map)) return undefined;
    const types = map.reads.map(({ table }) => inputOf(this.func, table).type.dtype);
    const reads = map.reads.map(({ table }, k): ValueRead => {
      const memory = this.memoryOf(at(from, table).buffer);
      const form = this.form(at(forms, k), stmt, map.indices.length);
      if (memory.ub !== undefined) return { memory, form };
      if (table === gatheredTable)
        return { memory, form, counted: (place) => fetched?.add(place, memory.elementBytes) };
      const counted = tables[table]?.counted;
      const count = (place: number, element: number): void => {
        if (counted?.marks.first(element) === true) counted.run.add(place, memory.elementBytes);
      };
      return { memory, form, counted: count };
    });
    return { evaluator: evaluator(valuePlan(map.value, types)), reads };
  }

  /** Returns the bits of an element that a value is made from. */
  private bitsOf(
    { memory, form, counted }: ValueRead,
    point: readonly number[],
    indices: readonly number[],
    stmt: GatherStmt,
  ): number {
    const element = this.at(form, elementOf(form, point), point, indices);
    const place = memory.first + element * memory.elementBytes;
    this.check(memory, Math.floor(place), Math.ceil(memory.elementBytes), stmt, false);
    counted?.(place, element);
    return elementBits(memory, element);
  }

  /**
   * Returns a form at a point of the tile. `linear`: what its loop and dim parts come to there, where it is
   * linear.
   */
  private at(form: Form, linear: number, point: readonly number[], indices: readonly number[]): number {
    if (form.fullBytes !== undefined) return evaluate(form.fullBytes, this.env, { dims: point, indices });
    let sum = linear;
    for (let s = 0; s < indices.length; s++) sum += (form.strides[s] ?? 0) * (indices[s] ?? 0);
    return sum;
  }

  /** Takes what an index operand names: below zero where that ends the element. */
  private take(
    walk: IndexWalk,
    { step, form, table }: IndexRead,
    linear: number,
    point: readonly number[],
    stmt: GatherStmt,
  ): number {
    if (table?.read === undefined) return walk.takeSum(step, point, this.env);
    const { memory, read, counted } = table;
    const position = this.at(form, linear, point, walk.indices);
    const byte = memory.first + position * memory.elementBytes;
    this.check(memory, byte, memory.elementBytes, stmt, false);
    if (counted?.marks.first(position) === true) counted.run.add(byte, memory.elementBytes);
    return walk.take(step, read(position), read, position);
  }

  /**
   * Returns the memory of an input that index operands read, or of one but the data that values are made
   * from; undefined for the data alone.
   */
  private tableMemory(region: Region, table: number, stmt: GatherStmt): TableMemory | undefined {
    this.checkInside(region, stmt);
    const isIndex = stmt.map.indices.some(({ value }) => isRead(value) && value.table === table);
    if (table === gatheredTable && !isIndex) return undefined;
    const operand = inputOf(this.func, table);
    const { type } = operand;
    const memory = this.memoryOf(region.buffer);
    const counter = counterOf(this.counters, operand);
    if (memory.ub === undefined && table !== gatheredTable) counter.transfers++;
    const read = isIndex ? { read: indexReader(memory.bytes.subarray(memory.first), type.dtype) } : {};
    if (memory.ub !== undefined) return { memory, ...read };
    const marks = this.marksOf(region.buffer, type).begin();
    return { memory, ...read, counted: { run: new BurstRun(counter), marks } };
  }

  /** Returns an address that no index operand moves, as this iteration of the loops makes it. */
  private address(
    form: Linear,
    stmt: GatherStmt,
  ): { readonly start: number; readonly by: readonly number[] } {
    return { start: evaluate(loopForm(form), this.env), by: stepsOf(form, walkedSizes(stmt).length) };
  }

  /** Returns a form of a gather, as this iteration of the loops makes it. */
  private form(form: Linear, stmt: GatherStmt, indices: number): Form {
    if (!isAffine(form)) return { start: 0, by: [], strides: [], fullBytes: form };
    return { ...this.address(form, stmt), strides: indexStrides(form, indices) };
  }

  private check(memory: CheckedMemory, start: number, length: number, stmt: Stmt, write: boolean): void {
    const { ub, first, end } = memory;
    if (ub === undefined) {
      if (start < 0 || start + length > end) {
        throw this.arena.trap(
          "TC603",
          `bytes ${start} to ${start + length} lie outside %${memory.name}`,
          stmt,
        );
      }
      return;
    }
    if (start < first || start + length > end) {
      throw this.arena.trap("TC603", `UB bytes ${start} to ${start + length} lie outside %${ub.name}`, stmt);
    }
    if (write) this.arena.markWritten(start, length);
    else this.arena.checkWritten(start, length, ub.name, stmt);
  }

  private markOutput(start: number, length: number, stmt: Stmt): void {
    if (this.scattered !== undefined) {
      this.markOfTask(start, length, stmt);
      return;
    }
    const end = (start + length) / this.elementBytes;
    for (let element = start / this.elementBytes; element < end; element++) {
      if (this.outputWritten[element] === 1) {
        throw this.arena.trap("TC606", `output element ${element} is written twice`, stmt);
      }
      this.outputWritten[element] = 1;
    }
  }

  /**
   * Marks output elements as written by the current task of a scatter. The same task may write an element
   * again; throws TC606 if another task wrote it.
   */
  private markOfTask(start: number, length: number, stmt: Stmt): void {
    const [first, end] = [start / this.elementBytes, (start + length) / this.elementBytes];
    const other = this.scattered?.otherTask(first, end, this.tasks);
    if (other !== undefined)
      throw this.arena.trap("TC606", `output element ${other} is written by two tasks`, stmt);
    this.outputWritten.fill(1, first, end);
  }

  /** Returns a region of a tensor, which it must not leave. */
  private inside(region: Region, stmt: Stmt): Address {
    this.checkInside(region, stmt);
    const place = this.placeOf(region);
    const start = evaluate(startOf(place), this.env);
    return { memory: this.memoryOf(region.buffer), start, by: place.strides };
  }

  /** Returns a UB tile from its origin. */
  private fullBuffer(name: string): Address {
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

  private marksOf(name: string, { shape }: TensorType): Marks {
    const marks = this.marks.get(name) ?? new Marks(elementCount(shape));
    this.marks.set(name, marks);
    return marks;
  }

  private viewOf(bytes: Uint8Array): DataView {
    const view = this.views.get(bytes) ?? new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.views.set(bytes, view);
    return view;
  }

  private placeOf(region: Region): Place {
    return placeIn(this.func, this.buffers, region);
  }

  private memoryOf(name: string): CheckedMemory {
    const operand = operandNamed(this.func, name);
    if (operand !== undefined) {
      const isOutput = operand.role === "output" || operand.inout === true;
      const bytes = isOutput ? this.output : inputTensor(this.inputs, operand).bytes;
      const view = this.viewOf(bytes);
      const end = bytes.byteLength;
      const { dtype } = operand.type;
      return { bytes, view, first: 0, end, dtype, elementBytes: meanBytes(dtype), name };
    }
    const ub = this.buffers.get(name);
    invariant(ub !== undefined, `%${name} has no alloc`);
    const first = this.arena.address(ub);
    const { bytes } = this.arena;
    const end = first + ubBytes(ub);
    const { dtype } = ub;
    return { bytes, view: this.viewOf(bytes), first, end, dtype, elementBytes: meanBytes(dtype), name, ub };
  }

  private typeOf(name: string): { readonly dtype: DType; readonly shape: Shape } {
    const type = typeOfBuffer(this.func, this.buffers, name);
    invariant(type !== undefined, `%${name} is not defined`);
    return type;
  }

  private sizes(region: Region): number[] {
    return region.sizes.map((form) => evaluate(form, this.env));
  }

  /** Returns the counts of what was moved so far. */
  counts(): Counts {
    const { counters, tasks, gathers, syncs, buffers } = this;
    return { counters, tasks, gathers, syncs, ubPeak: ubEnd(buffers.values()) };
  }

  private report(): SimReport {
    const { func, target, inputs } = this;
    return summarize(func, target, inputs, this.counts(), { executor: "checked", copiedBytes: 0 });
  }
}

/** Returns the element of a memory at a point of a tile; the point may leave out inner dims. */
function elementOf({ start, by }: Pick<Address, "start" | "by">, point: readonly number[]): number {
  let element = start;
  for (let d = 0; d < point.length; d++) element += (point[d] ?? 0) * (by[d] ?? 0);
  return element;
}

/**
 * Returns the byte address of the element at a point. A packed element has the address of the byte that it
 * shares.
 */
const byteOf = (address: Address, point: readonly number[]): number =>
  address.memory.first + Math.floor(elementOf(address, point) * address.memory.elementBytes);

/**
 * Copies the bits of one element of `size` bytes (1, 2 or a multiple of 4) between two buffers. `target` and
 * `source`: byte offsets in `to` and `from`.
 */
function moveElement(to: DataView, target: number, from: DataView, source: number, size: number): void {
  switch (size) {
    case 1:
      to.setUint8(target, from.getUint8(source));
      break;
    case 2:
      to.setUint16(target, from.getUint16(source, true), true);
      break;
    default:
      for (let k = 0; k < size; k += 4) to.setUint32(target + k, from.getUint32(source + k, true), true);
  }
}
