/**
 * wasm: a tile program as one WebAssembly function over one memory that holds the tensors and a UB per thread.
 *
 * `run(from, to, ub)` runs tasks [from, to) in a unified buffer at byte `ub` and returns the lowest number of an output
 * element whose index is out of range, or 2^32 - 1. Element size, index type, policy, strides and addresses are constants
 * of the code; what it does is written down in the plan.
 */
import { CompileError, error } from "../../ir/diagnostic.js";
import type { TileFunc } from "../../ir/func.js";
import { isConstant, sub } from "../../ir/linear.js";
import { ubBuffers } from "../../ir/regions.js";
import { ubBytes, type ForStmt, type Stmt } from "../../ir/tile.js";
import { assertNever, byteCount, InternalError, invariant } from "../../ir/types.js";
import { maxArrayBytes } from "../memory.js";
import { emitBox } from "./box.js";
import { Context } from "./context.js";
import { emitGather } from "./gather.js";
import { emitSites } from "./sites.js";
import { maxPages, pageBytes, type WasmModule } from "./instructions.js";
import { pagesFor, type WasmLayout } from "./layout.js";
import type { WasmPlan } from "./plan.js";

export interface WasmKernel {
  readonly module: WasmModule;
  readonly layout: WasmLayout;
  readonly tasks: number;
}

/** Throws a CompileError (TC502) when the tensors do not fit a 32-bit memory, or index arithmetic 53 bits. */
export function emitWasm(plan: WasmPlan, threads = 1): WasmKernel {
  const context = new Context(plan);
  const pages = pagesFor(context.layout, threads);
  if (pages > maxPages) {
    const [bytes, limit] = [pages * pageBytes, maxPages * pageBytes];
    throw new CompileError([
      error("TC502", `the fast executor needs ${bytes} B, over the ${limit} B of a WebAssembly memory`, {
        span: plan.source.span,
        hint: `${fitsArrays(plan.source) ? "use the checked executor, or " : ""}split the tensors`,
        data: { bytes, limit },
      }),
    ]);
  }
  emitTasks(context);
  const { code, layout } = context;
  return {
    module: {
      name: "run",
      params: code.locals.slice(0, 3),
      result: "i32",
      locals: code.locals,
      body: code.body,
      memory: { pages, shared: threads > 1 },
    },
    layout,
    tasks: plan.gather === undefined ? 0 : plan.nest.tasks,
  };
}

/** Whether the checked executor, which has an array for each tensor and one for UB, has room. */
function fitsArrays(func: TileFunc): boolean {
  const ub = [...ubBuffers(func).values()].reduce((sum, buffer) => sum + buffer.buffers * ubBytes(buffer), 0);
  return [ub, ...func.operands.map(({ type }) => byteCount(type))].every((bytes) => bytes <= maxArrayBytes);
}

function emitTasks(context: Context): void {
  const { code, plan } = context;
  const { loops, body, tasks } = plan.nest;
  code.const(-1).set(context.bad);
  const task = code.local("task");
  code.get(context.from).set(task);
  code.block((done) => {
    code.loop((next) => {
      code.get(task).get(context.to).op("i32.ge_u").brIf(done);
      code.block((skip) => {
        let inner = tasks;
        const variables = (k: number): void => {
          const loop = loops[k];
          if (loop === undefined) {
            emitStmts(context, body);
            return;
          }
          const { stmt, trips } = loop;
          inner /= trips;
          code.comment(stmt, false);
          const variable = context.iv(stmt);
          const type = code.typeOf(variable);
          code.get(task);
          if (inner > 1) code.const(inner).op("i32.div_u");
          if (k > 0) code.const(trips).op("i32.rem_u");
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

function emitStmts(context: Context, body: readonly Stmt[]): void {
  const { code, plan } = context;
  for (const stmt of body) {
    if (stmt.op === "alloc" || stmt.op === "sync") continue;
    const elided = plan.elided.has(stmt);
    code.comment(stmt, elided);
    if (elided) continue;
    switch (stmt.op) {
      case "for":
        emitLoop(context, stmt);
        break;
      case "load":
      case "store": {
        const box = plan.boxes.get(stmt);
        invariant(box !== undefined, `a ${stmt.op} is elided or has a plan`);
        emitBox(context, box);
        break;
      }
      case "gather":
        if (plan.gather?.stmt !== stmt) throw new InternalError("the gather has no plan");
        if (plan.gather.kind === "gather") emitGather(context, plan.gather);
        else emitSites(context, plan.gather);
        break;
      default:
        assertNever(stmt);
    }
  }
}

function emitLoop(context: Context, stmt: ForStmt): void {
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
