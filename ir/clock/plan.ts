/**
 * A tile program as the closed form sees it: a perfect nest of parallel loops around what a task runs, sizes
 * and bounds as minima of affine forms (intervals/minima.ts), and for each loop what inside it depends on how
 * far it is.
 */
import type { TileFunc } from "../func.js";
import type { Linear } from "../linear.js";
import { pipeOf } from "../regions.js";
import { type MovingStmt, pipes, type ForStmt, type Pipe, type Stmt, type SyncStmt } from "../tile.js";
import {
  addScaled,
  constantForm,
  falling,
  minimumOf,
  least,
  offsetForm,
  unchangedUpTo,
  type Falling,
  type Form,
  type Minimum,
  type LoopOffsets,
} from "../intervals/minima.js";
import { sizesOf } from "./statement.js";

/**
 * Loop in a plan for the closed-form cycle model: the step, the distance between the bounds, and the
 * dependence of inner sizes on the loop's offset. The offset is the distance of the loop variable from the
 * lower bound.
 */
export interface LoopPlan {
  readonly id: number;
  readonly step: number;
  /** Distance from the lower bound to the upper bound. */
  readonly span: Minimum;
  /** Dependence of the sizes and spans inside the loop on the loop's offset. */
  readonly falling: readonly Falling[];
}

/**
 * Item of a body in a plan for the closed-form cycle model: a statement that reads or writes elements, a
 * sync, or a loop.
 */
export type Item =
  | { readonly op: "move"; readonly stmt: MovingStmt; readonly sizes: readonly Minimum[] }
  /** `lagged`: position, from 0, among the syncs with lag 1; absent for lag 0. */
  | { readonly op: "sync"; readonly stmt: SyncStmt; readonly lagged?: number }
  | { readonly op: "loop"; readonly loop: LoopPlan; readonly body: BodyPlan };

/** Body of a loop or task in a plan for the closed-form cycle model. `id`: unique within the plan. */
export interface BodyPlan {
  readonly id: number;
  readonly items: readonly Item[];
}

/**
 * Plan for the closed-form cycle model: a tile program as a perfect nest of parallel loops around one task
 * body.
 */
export interface ClockPlan {
  /** Parallel loops, outermost first. */
  readonly nest: readonly LoopPlan[];
  readonly task: BodyPlan;
  /** Number of syncs whose `lag` is 1. */
  readonly lagged: number;
  /** Pipes that statements run on or wait for. */
  readonly pipes: readonly Pipe[];
}

/**
 * Returns the plan of a program for the closed-form cycle model. Undefined for some hand-written programs: a
 * parallel loop has statements beside it, or a loop bound is not a minimum of sums.
 */
export function planOf(func: TileFunc): ClockPlan | undefined {
  const planner = new Planner(func);
  const plan = planner.nest(func.body, new Map());
  return planner.applies ? plan : undefined;
}

type Variables = ReadonlyMap<string, Form>;

class Planner {
  applies = true;
  private loops = 0;
  private bodies = 0;
  private lagged = 0;
  /** Sizes and spans so far. */
  private readonly minima: Minimum[] = [];
  private readonly pipes = new Set<Pipe>();

  constructor(private readonly func: TileFunc) {}

  nest(body: readonly Stmt[], variables: Variables): ClockPlan {
    const rest = body.filter((stmt) => stmt.op !== "alloc");
    const parallel = rest.find((stmt) => stmt.op === "for" && stmt.mode === "parallel");
    if (parallel?.op !== "for") {
      const task = this.body(rest, variables);
      return { nest: [], task, lagged: this.lagged, pipes: pipes.filter((pipe) => this.pipes.has(pipe)) };
    }
    if (rest.length > 1) this.applies = false;
    const { loop, inner } = this.loop(parallel, variables, (within) => this.nest(parallel.body, within));
    return { ...inner, nest: [loop, ...inner.nest] };
  }

  private body(stmts: readonly Stmt[], variables: Variables): BodyPlan {
    const id = this.bodies++;
    return { id, items: stmts.flatMap((stmt) => this.item(stmt, variables)) };
  }

  private item(stmt: Stmt, variables: Variables): Item[] {
    if (stmt.op === "alloc") return [];
    if (stmt.op === "sync") {
      this.pipes.add(stmt.from).add(stmt.to);
      return [stmt.lag === 0 ? { op: "sync", stmt } : { op: "sync", stmt, lagged: this.lagged++ }];
    }
    if (stmt.op === "for") {
      const { loop, inner } = this.loop(stmt, variables, (within) => this.body(stmt.body, within));
      return [{ op: "loop", loop, body: inner }];
    }
    const pipe = pipeOf(stmt, this.func);
    if (pipe !== undefined) this.pipes.add(pipe);
    return [{ op: "move", stmt, sizes: sizesOf(stmt).map((size) => this.minimum(size, variables)) }];
  }

  /** Returns a loop, and what `within` makes of its body where the loop's variable is known. */
  private loop<T>(
    { iv, lower, upper, step }: ForStmt,
    variables: Variables,
    within: (variables: Variables) => T,
  ): { readonly loop: LoopPlan; readonly inner: T } {
    const id = this.loops++;
    const [start = constantForm(0), ...others] = this.forms(lower, variables);
    if (others.length > 0) this.applies = false;
    const span = this.forms(upper, variables).map((end) => addScaled(end, start, -1));
    this.minima.push(span);
    const [firstMinimum, firstLoop] = [this.minima.length, this.loops];
    const inner = within(new Map([...variables, [iv, addScaled(start, offsetForm(id), 1)]]));
    const inside = new Set(Array.from({ length: this.loops - firstLoop }, (_, k) => firstLoop + k));
    const owed = this.minima.slice(firstMinimum).flatMap((minimum) => falling(minimum, id, inside));
    return { loop: { id, step, span, falling: owed }, inner };
  }

  private minimum(linear: Linear, variables: Variables): Minimum {
    const minimum = this.forms(linear, variables);
    this.minima.push(minimum);
    return minimum;
  }

  private forms(linear: Linear, variables: Variables): Minimum {
    const forms = minimumOf(linear, variables);
    if (forms === undefined) this.applies = false;
    return forms ?? [constantForm(0)];
  }
}

/**
 * Group of `count` consecutive iterations of a loop that take equal time. `from`: distance of the first
 * iteration from the loop's lower bound.
 */
export interface LikeIterations {
  readonly from: number;
  readonly count: number;
}

/**
 * Returns the iterations of a loop in order, in groups of equal time. Iterations that cannot be proved equal
 * are in separate groups. `offsets`: distances of the outer loops' variables from the lower bounds.
 */
export function runsOf(loop: LoopPlan, offsets: LoopOffsets): LikeIterations[] {
  const { step } = loop;
  const trips = Math.max(0, Math.ceil(least(loop.span, offsets) / step));
  if (trips === 0) return [];
  const alike = Math.min(trips, Math.max(1, Math.floor(unchangedUpTo(loop.falling, offsets) / step) + 1));
  const runs: LikeIterations[] = [{ from: 0, count: alike }];
  for (let k = alike; k < trips; k++) runs.push({ from: k * step, count: 1 });
  return runs;
}
