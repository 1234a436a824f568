/**
 * wasm: a tile program as one WebAssembly function over one memory that holds the tensors and a UB per
 * thread.
 *
 * `run(from, to, ub, …)` runs tasks [from, to) in a unified buffer at byte `ub` and returns the lowest number of an output
 * element whose index is out of range, or 2^32 - 1. Element size, index type, policy, strides and addresses
 * are constants of the code, but for what the sizes of symbols tell: these are further parameters. What it
 * does is written down in the plan.
 */
import { dynamicFormOf } from "../../ir/symbols/dynamic.js";
import { CompileError, error } from "../../ir/diagnostic.js";
import type { TileFunc } from "../../ir/func.js";
import { isConstant, sub } from "../../ir/linear.js";
import { ubBuffers } from "../../ir/regions.js";
import { ubBytes, type ForStmt, type Stmt } from "../../ir/tile.js";
import { hasDynamicTrips } from "../../ir/task/index.js";
import { assertNever, at, byteCount, InternalError, invariant } from "../../ir/types.js";
import { maxArrayBytes } from "../memory.js";
import { emitCopy } from "./copy-region.js";
import type { WasmAmount } from "./code.js";
import { WasmContext } from "./context.js";
import { emitGather } from "./gather.js";
import { maxPages, pageBytes, type WasmModule } from "./instructions.js";
import { pagesFor, type WasmLayout } from "./layout.js";
import { planWasm, type WasmPlan } from "./plan.js";
import { emitFill, emitScatter } from "./scatter.js";
import { tripsName } from "./sizes.js";

/** WebAssembly module of a tile program, with the layout of the memory and the number of tasks. */
export interface WasmKernel {
  readonly module: WasmModule;
  readonly layout: WasmLayout;
  readonly tasks: number;
}

/**
 * Returns the plan and the WebAssembly kernel of a tile program for `threads` threads. A program with dynamic
 * sizes gets one kernel for all sizes if possible. Throws a CompileError: TC502 for a size limit, TC505 for
 * an unsupported scatter.
 */
export function emitFor(
  func: TileFunc,
  threads = 1,
): { readonly plan: WasmPlan; readonly kernel: WasmKernel } {
  const emitted = (program: TileFunc) => {
    const plan = planWasm(program);
    return { plan, kernel: emitWasm(plan, threads) };
  };
  const form = dynamicFormOf(func);
  if (form === undefined) return emitted(func);
  try {
    return emitted(form.program);
  } catch (thrown) {
    if (thrown instanceof CompileError) return emitted(func);
    throw thrown;
  }
}

/**
 * Emits the WebAssembly kernel of a plan. Throws a CompileError (TC502) if the tensors do not fit a 32-bit
 * memory, or if index arithmetic exceeds 2^53.
 */
export function emitWasm(plan: WasmPlan, threads = 1): WasmKernel {
  const context = new WasmContext(plan);
  // Code for all sizes takes the memory of each.
  const pages = plan.source.symbolic === undefined ? pagesOf(plan.source, context.layout, threads) : 1;
  emitTasks(context);
  const { code, layout } = context;
  return {
    module: {
      name: "run",
      params: code.locals.slice(0, 3 + plan.params.length),
      result: "i32",
      locals: code.locals,
      body: code.body,
      memory: { pages, shared: threads > 1 },
    },
    layout,
    tasks: hasTasks(plan) ? plan.nest.tasks : 0,
  };
}

/** True if a program has a gather or a scatter to run. False for a gather with an empty output. */
export const hasTasks = ({ gather, scatter }: WasmPlan): boolean =>
  gather !== undefined || scatter !== undefined;

/**
 * Returns the number of WebAssembly pages (64 KiB each) that a program needs. Throws a CompileError (TC502)
 * if the number exceeds the maximum.
 */
export function pagesOf(func: TileFunc, layout: WasmLayout, threads: number): number {
  const pages = pagesFor(layout, threads);
  if (pages <= maxPages) return pages;
  const [bytes, limit] = [pages * pageBytes, maxPages * pageBytes];
  throw new CompileError([
    error("TC502", `the fast executor needs ${bytes} B, over the ${limit} B of a WebAssembly memory`, {
      span: func.span,
      hint: `${fitsArrays(func) ? "use the checked executor, or " : ""}split the tensors`,
      data: { bytes, limit },
    }),
  ]);
}

/**
 * True if the arrays of the checked executor can hold the program: one array for each tensor, and one for UB.
 */
function fitsArrays(func: TileFunc): boolean {
  const ub = [...ubBuffers(func).values()].reduce((sum, buffer) => sum + buffer.buffers * ubBytes(buffer), 0);
  return [ub, ...func.operands.map(({ type }) => byteCount(type))].every((bytes) => bytes <= maxArrayBytes);
}

/**
 * Emits the loop over the tasks [from, to). The emitted code returns the row-major position of the first
 * output element with an index out of range, or -1.
 */
function emitTasks(context: WasmContext): void {
  const { code, plan } = context;
  const { loops, body } = plan.nest;
  code.const(-1).set(context.bad);
  const task = code.local("task");
  code.get(context.from).set(task);
  code.block((done) => {
    code.loop((next) => {
      code.get(task).get(context.to).op("i32.ge_u").brIf(done);
      code.block((skip) => {
        const variables = (k: number): void => {
          const loop = loops[k];
          if (loop === undefined) {
            emitStmts(context, body);
            return;
          }
          const { stmt } = loop;
          code.comment(stmt);
          const variable = context.iv(stmt);
          const type = code.typeOf(variable);
          code.get(task);
          for (const inner of divisors(context, k + 1)) code.amount(inner).op("i32.div_u");
          if (k > 0) code.amount(tripsOf(context, k)).op("i32.rem_u");
          if (type === "i64") code.op("i64.extend_i32_u");
          code.times(stmt.step, type);
          context.value(stmt.lower, type);
          code.op(`${type}.add`).set(variable);
          if (!isConstant(sub(stmt.upper, stmt.lower))) {
            // A view that the last iteration cuts short has fewer tiles.
            code.get(variable);
            context.value(stmt.upper, type);
            code.op(`${type}.ge_s`).brIf(skip);
          }
          context.inside(stmt, () => {
            variables(k + 1);
          });
        };
        variables(0);
      });
      code.advance(task, 1).br(next);
    });
  });
  code.get(context.bad);
}

const tripsOf = (context: WasmContext, k: number): WasmAmount => {
  const loop = at(context.plan.nest.loops, k);
  return context.number(loop.trips, hasDynamicTrips(loop) ? tripsName(k) : undefined);
};

/**
 * Returns factors whose product is the number of iterations of the parallel loops from loop `first` to the
 * innermost. One factor is the product of all constant trip counts; it is omitted if it is 1. Each dynamic
 * trip count is a factor of its own, in a WebAssembly local.
 */
function divisors(context: WasmContext, first: number): WasmAmount[] {
  const all = context.plan.nest.loops.slice(first).map((_, k) => tripsOf(context, first + k));
  const fixedTrips = all.reduce(
    (product, trips) => (trips.kind === "const" ? product * trips.value : product),
    1,
  );
  return [
    ...(fixedTrips > 1 ? [{ kind: "const", value: fixedTrips } as const] : []),
    ...all.filter(({ kind }) => kind === "local"),
  ];
}

/** Emits the code of the statements in a body. Allocs and syncs need no instructions. */
function emitStmts(context: WasmContext, body: readonly Stmt[]): void {
  const { code, plan } = context;
  for (const stmt of body) {
    if (stmt.op === "alloc" || stmt.op === "sync") continue;
    code.comment(stmt);
    switch (stmt.op) {
      case "for":
        emitLoop(context, stmt);
        break;
      case "load":
      case "store": {
        const copied = plan.copies.get(stmt);
        invariant(copied !== undefined, `a ${stmt.op} has a plan`);
        emitCopy(context, copied);
        break;
      }
      case "gather":
        if (plan.gather?.stmt !== stmt) throw new InternalError("the gather has no plan");
        emitGather(context, plan.gather);
        break;
      case "scatter":
        if (plan.scatter?.stmt !== stmt) throw new InternalError("the scatter has no plan");
        emitScatter(context, plan.scatter);
        break;
      case "fill": {
        const buffer = ubBuffers(plan.func).get(stmt.to);
        invariant(buffer !== undefined, `%${stmt.to} has no alloc`);
        emitFill(context, stmt, buffer);
        break;
      }
      default:
        assertNever(stmt);
    }
  }
}

/** Emits the code of a serial loop and the loop's body. */
function emitLoop(context: WasmContext, stmt: ForStmt): void {
  const { code } = context;
  const variable = context.iv(stmt);
  const type = code.typeOf(variable);
  const upper = code.local(`${stmt.iv}.end`, type);
  context.value(stmt.upper, type);
  code.set(upper);
  context.value(stmt.lower, type);
  code.set(variable);
  code.block((done) => {
    code.loop((again) => {
      code.get(variable).get(upper).op(`${type}.ge_s`).brIf(done);
      context.inside(stmt, () => {
        emitStmts(context, stmt.body);
      });
      code.advance(variable, stmt.step).br(again);
    });
  });
}
