/**
 * The clock in closed form: the number of the walk over every statement (walk.ts), at a cost that grows with
 * the logarithm of the trips.
 *
 * A statement is a max-plus matrix over the pipes and the syncs that look one run back. A body is the product
 * of its statements; iterations that are alike are a power. Which are alike is shown from sizes and bounds
 * alone: in compiled programs all but the last of a loop. Bodies of the same sizes are made once. A core's
 * block of tasks is a few powers, applied to the times at which its pipes are ready.
 */
import { blockPartition, type TaskRange } from "../task/index.js";
import { type Pipe, type SyncStmt } from "../tile.js";
import { at } from "../types.js";
import { least, type LoopOffsets } from "../intervals/minima.js";
import { cyclesOfCore, type Clocked, type CoreTime } from "./clock.js";
import { MaxPlus, never, type Matrix, type Vector } from "./max-plus.js";
import { runsOf, type BodyPlan, type LoopPlan, type ClockPlan } from "./plan.js";
import type { StatementWork, TransferBytes } from "./statement.js";

/**
 * Result of the closed-form cycle model: the state of the core that finishes last, and the effort of the
 * model itself (matrix products and cores that it computed).
 */
export interface Closed {
  /** The core that finishes last. */
  readonly last: CoreTime;
  /** `products`: matrix products computed. `evaluated`: cores whose cycles were computed. */
  readonly products: number;
  readonly evaluated: number;
}

/**
 * Returns the state of the core that finishes last, with its end cycle and bytes (closed-form cycle model).
 * Matrix products over the loops of `plan` replace a walk over every statement. `plan`: result of `planOf`
 * for the program.
 */
export const closed = (program: Clocked, plan: ClockPlan): Closed => new Composer(program, plan).closed();

/** Returns the bytes that all cores together transfer in global memory, as one number for each operand. */
export const transferredBy = (program: Clocked, plan: ClockPlan): TransferBytes =>
  new Composer(program, plan).transferred();

/**
 * Returns the number of tasks of a plan: the total number of iterations of the innermost parallel loop, or 1
 * without parallel loops.
 */
export function tasksOf({ nest }: ClockPlan): number {
  const from = (depth: number, offsets: LoopOffsets): number => {
    const loop = nest[depth];
    if (loop === undefined) return 1;
    return runsOf(loop, offsets).reduce(
      (sum, run) => sum + run.count * from(depth + 1, shiftedBy(offsets, loop, run.from)),
      0,
    );
  };
  return from(0, []);
}

function shiftedBy(offsets: LoopOffsets, { id }: LoopPlan, offset: number): LoopOffsets {
  const result = [...offsets];
  result[id] = offset;
  return result;
}

/** Effect of a stretch of a program on its core: delays, busy cycles and transferred bytes. */
interface Effect {
  readonly matrix: Matrix;
  /** Cycles by pipe, in the plan's order. */
  readonly busy: readonly number[];
  /** Bytes by operand. */
  readonly transferred: TransferBytes;
}

/** A body, or an iteration of the nest, with its sizes known. Equal ones are one object. */
interface Node {
  readonly id: number;
  readonly tasks: number;
  /** Nodes that an iteration of the nest repeats; empty for a body. */
  readonly runs: readonly Repeated[];
  /** Bytes by operand. */
  transferred(): TransferBytes;
  effect(): Effect;
  /** The effects of 1, 2, 4, … of it, as far as they were asked for. */
  readonly powers: Effect[];
}

interface Repeated {
  readonly count: number;
  readonly node: Node;
}

/** A statement whose sizes are known. */
type Sized =
  | { readonly op: "move"; readonly sizes: readonly number[]; readonly entry: () => StatementWork }
  | { readonly op: "sync"; readonly stmt: SyncStmt; readonly lagged?: number }
  | { readonly op: "loop"; readonly runs: readonly Repeated[] };

const runsKey = (runs: readonly Repeated[]): string =>
  runs.map(({ count, node }) => `${count}x${node.id}`).join("+");

function sizesKey(sized: Sized): string {
  if (sized.op === "sync") return "";
  return sized.op === "move" ? sized.sizes.join(",") : runsKey(sized.runs);
}

function add(sums: number[], values: readonly number[], times = 1): void {
  for (let k = 0; k < values.length; k++) sums[k] = at(sums, k) + times * at(values, k);
}

/** Returns a function that computes its value once. */
function once<T extends object>(compute: () => T): () => T {
  let cached: T | undefined;
  return () => (cached ??= compute());
}

class Composer {
  private readonly algebra: MaxPlus;
  private readonly nodes = new Map<string, Node>();
  private readonly root: Node;
  private readonly cyclesOfWork: (entry: StatementWork) => number;

  constructor(
    private readonly program: Clocked,
    private readonly plan: ClockPlan,
  ) {
    this.algebra = new MaxPlus(plan.pipes.length + plan.lagged);
    this.root = this.nest(0, []);
    this.cyclesOfWork = program.pricing(this.root.transferred());
  }

  /** Returns the bytes that all cores transfer, by operand. */
  transferred(): TransferBytes {
    return this.root.transferred();
  }

  /**
   * Returns the first core with the longest time. No block takes longer than one of as many tasks that are
   * each as slow as the slowest, and later blocks are no longer than earlier ones: the first core to reach
   * that is the one.
   */
  closed(): Closed {
    const { root } = this;
    const slowest = this.slowest();
    const { cores } = this.program;
    const first = blockPartition(root.tasks, cores, 0);
    const max = this.cycles(this.run([{ count: first.to - first.from, node: slowest }]));
    let last = this.run(blockOf(root, first));
    let evaluated = 1;
    for (; evaluated < cores && this.cycles(last) < max; evaluated++) {
      const done = this.run(blockOf(root, blockPartition(root.tasks, cores, evaluated)));
      if (this.cycles(done) > this.cycles(last)) last = done;
    }
    return { last, products: this.algebra.products, evaluated };
  }

  private cycles(core: CoreTime): number {
    return cyclesOfCore(this.program, core);
  }

  /** Returns a task as slow in every respect as any of the program. */
  private slowest(): Node {
    const tasks = [...this.nodes.values()].filter((node) => node.tasks === 1 && node.runs.length === 0);
    if (tasks.length === 1 && tasks[0] !== undefined) return tasks[0];
    const [first = this.nothing(), ...others] = tasks.map((node) => this.power(node, 0));
    const effect: Effect = {
      matrix: first.matrix.map((value, k) => Math.max(value, ...others.map(({ matrix }) => at(matrix, k)))),
      busy: first.busy.map((cycles, k) => Math.max(cycles, ...others.map(({ busy }) => at(busy, k)))),
      transferred: first.transferred.map((bytes, k) =>
        Math.max(bytes, ...others.map(({ transferred }) => at(transferred, k))),
      ),
    };
    const { transferred } = effect;
    return { id: -1, tasks: 1, runs: [], transferred: () => transferred, effect: () => effect, powers: [] };
  }

  /**
   * Runs one core from its start to the end of some repeated work. Returns its end, its busy cycles by pipe
   * and its bytes by operand.
   */
  private run(work: readonly Repeated[]): CoreTime {
    const { pipes } = this.plan;
    const { start } = this.program;
    let ready: Vector = new Array<number>(this.algebra.size).fill(never);
    for (let k = 0; k < pipes.length; k++) ready[k] = start[at(pipes, k)];
    const busy: Record<Pipe, number> = { MTE2: 0, V: 0, MTE3: 0, S: 0 };
    const transferred = this.none();
    for (const { count, node } of work) {
      for (const effect of this.factors(node, count)) {
        ready = this.algebra.apply(effect.matrix, ready);
        for (let k = 0; k < pipes.length; k++) busy[at(pipes, k)] += at(effect.busy, k);
        add(transferred, effect.transferred);
      }
    }
    const end = Math.max(start.MTE2, start.V, start.MTE3, start.S, ...ready.slice(0, pipes.length));
    return { end, busy, transferred };
  }

  /** Returns an iteration of the nest from its loop `depth` on. */
  private nest(depth: number, offsets: LoopOffsets): Node {
    const loop = this.plan.nest[depth];
    if (loop === undefined) return this.body(this.plan.task, offsets, 1);
    const runs = this.repeated(loop, offsets, (within) => this.nest(depth + 1, within));
    const tasks = runs.reduce((sum, { count, node }) => sum + count * node.tasks, 0);
    return this.node(`nest ${runsKey(runs)}`, tasks, runs, [{ op: "loop", runs }]);
  }

  private body(plan: BodyPlan, offsets: LoopOffsets, tasks: number): Node {
    const sized = plan.items.map((item): Sized => {
      switch (item.op) {
        case "move": {
          const sizes = item.sizes.map((size) => least(size, offsets));
          return { op: "move", sizes, entry: once(() => this.program.workOf(item.stmt, sizes)) };
        }
        case "sync":
          return item;
        case "loop":
          return {
            op: "loop",
            runs: this.repeated(item.loop, offsets, (within) => this.body(item.body, within, 0)),
          };
      }
    });
    const key = `body ${plan.id} ${sized.map(sizesKey).join(" ")}`;
    return this.node(key, tasks, [], sized);
  }

  private repeated(loop: LoopPlan, offsets: LoopOffsets, within: (offsets: LoopOffsets) => Node): Repeated[] {
    return runsOf(loop, offsets).map(({ from, count }) => ({
      count,
      node: within(shiftedBy(offsets, loop, from)),
    }));
  }

  private node(key: string, tasks: number, runs: readonly Repeated[], body: readonly Sized[]): Node {
    const node = this.nodes.get(key);
    if (node !== undefined) return node;
    const transferred = once(() => this.transferredBy(body));
    const effect = (): Effect => ({ ...this.sequence(body), transferred: transferred() });
    const made: Node = { id: this.nodes.size, tasks, runs, transferred, effect, powers: [] };
    this.nodes.set(key, made);
    return made;
  }

  /** Returns 0 bytes for each operand. */
  private none(): number[] {
    return this.program.func.operands.map(() => 0);
  }

  private nothing(): Effect {
    return { matrix: this.algebra.identity(), busy: this.plan.pipes.map(() => 0), transferred: this.none() };
  }

  private transferredBy(body: readonly Sized[]): TransferBytes {
    const transferred = this.none();
    for (const sized of body) {
      if (sized.op === "move") {
        const { work, operand } = sized.entry();
        transferred[operand] = at(transferred, operand) + work.touched;
      } else if (sized.op === "loop")
        for (const { count, node } of sized.runs) add(transferred, node.transferred(), count);
    }
    return transferred;
  }

  private sequence(body: readonly Sized[]): Omit<Effect, "transferred"> {
    const { algebra, program } = this;
    const { pipes } = this.plan;
    let matrix = algebra.identity();
    const busy = pipes.map(() => 0);
    for (const sized of body) {
      switch (sized.op) {
        case "move": {
          const entry = sized.entry();
          const cycles = this.cyclesOfWork(entry);
          const k = pipes.indexOf(entry.pipe);
          algebra.delay(matrix, k, cycles);
          busy[k] = at(busy, k) + cycles;
          break;
        }
        case "sync": {
          const { stmt, lagged } = sized;
          const [from, to] = [pipes.indexOf(stmt.from), pipes.indexOf(stmt.to)];
          const cycles = program.waitOf(stmt);
          if (lagged === undefined) algebra.wait(matrix, to, from, cycles);
          else algebra.waitForEarlier(matrix, to, from, pipes.length + lagged, cycles);
          break;
        }
        case "loop":
          for (const { count, node } of sized.runs) {
            for (const effect of this.factors(node, count)) {
              matrix = algebra.after(effect.matrix, matrix);
              effect.busy.forEach((cycles, k) => {
                busy[k] = at(busy, k) + cycles;
              });
            }
          }
      }
    }
    return { matrix, busy };
  }

  /** Effects whose product is that of `count` in a row. */
  private factors(node: Node, count: number): Effect[] {
    const factors: Effect[] = [];
    for (let k = 0, rest = count; rest > 0; k++, rest = Math.floor(rest / 2)) {
      const effect = this.power(node, k);
      if (rest % 2 === 1) factors.push(effect);
    }
    return factors;
  }

  /** Returns the effect of 2^k in a row. */
  private power(node: Node, k: number): Effect {
    const power = node.powers[k];
    if (power !== undefined) return power;
    const effect = k === 0 ? node.effect() : this.squared(this.power(node, k - 1));
    node.powers[k] = effect;
    return effect;
  }

  private squared({ matrix, busy, transferred }: Effect): Effect {
    return {
      matrix: this.algebra.after(matrix, matrix),
      busy: busy.map((cycles) => 2 * cycles),
      transferred: transferred.map((bytes) => 2 * bytes),
    };
  }
}

/**
 * Returns a range of tasks, in order, as nodes of the loop nest with repeat counts. An iteration that is only
 * partly in the range is given by its inner nodes.
 */
function blockOf(node: Node, { from, to }: TaskRange): Repeated[] {
  if (from <= 0 && to >= node.tasks) return [{ count: 1, node }];
  const block: Repeated[] = [];
  let before = 0;
  for (const { count, node: inner } of node.runs) {
    const { tasks } = inner;
    const [start, end] = [Math.max(from - before, 0), Math.min(to - before, tasks * count)];
    before += tasks * count;
    if (start >= end) continue;
    const [first, last] = [Math.ceil(start / tasks), Math.floor(end / tasks)];
    if (first > last) {
      block.push(...blockOf(inner, { from: start - last * tasks, to: end - last * tasks }));
      continue;
    }
    if (start < first * tasks)
      block.push(...blockOf(inner, { from: start - (first - 1) * tasks, to: tasks }));
    if (last > first) block.push({ count: last - first, node: inner });
    if (end > last * tasks) block.push(...blockOf(inner, { from: 0, to: end - last * tasks }));
  }
  return block;
}
