/**
 * wasm: a tile program as one WebAssembly function over one memory that holds the tensors and a UB per thread.
 *
 * `run(from, to, ub)` runs tasks [from, to) in a unified buffer at byte `ub` and returns the lowest position of an
 * index out of range, or 2^32 - 1. Element size, index type, policy, strides and addresses are constants of the code.
 */
import { CompileError, error } from "../../ir/diagnostic.js";
import type { TileFunc } from "../../ir/func.js";
import { printStmtHead } from "../../ir/text/print.js";
import { parallelNest, type ParallelNest } from "../../ir/tasks.js";
import { findGather, type Stmt } from "../../ir/tile.js";
import { emitBox } from "./box.js";
import { Context } from "./context.js";
import { emitGather } from "./gather.js";
import { maxPages, pageBytes, type WasmModule } from "./instructions.js";
import { pagesFor, type WasmLayout } from "./layout.js";

export interface WasmKernel {
  readonly module: WasmModule;
  readonly layout: WasmLayout;
  readonly tasks: number;
}

/** Throws a CompileError (TC502) when the tensors do not fit a 32-bit memory. */
export function emitWasm(func: TileFunc, threads = 1): WasmKernel {
  const context = new Context(func);
  const pages = pagesFor(context.layout, threads);
  if (pages > maxPages) {
    const [bytes, limit] = [pages * pageBytes, maxPages * pageBytes];
    throw new CompileError([
      error("TC502", `the fast executor needs ${bytes} B, over the ${limit} B of a WebAssembly memory`, {
        span: func.span,
        hint: "use the checked executor, or split the tensors",
        data: { bytes, limit },
      }),
    ]);
  }
  const nest = parallelNest(func.body);
  emitTasks(context, nest);
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
    tasks: findGather(func.body) === undefined ? 0 : nest.tasks,
  };
}

function emitTasks(context: Context, { loops, body, tasks }: ParallelNest): void {
  const { code } = context;
  code.const(-1).set(context.bad);
  const task = code.local("task");
  code.get(context.from).set(task);
  code.block((done) => {
    code.loop((next) => {
      code.get(task).get(context.to).op("i32.ge_u").brIf(done);
      code.block((skip) => {
        let inner = tasks;
        loops.forEach(({ stmt, trips }, k) => {
          code.comment(printStmtHead(stmt));
          inner /= trips;
          const variable = context.iv(stmt.iv);
          code.get(task);
          if (inner > 1) code.const(inner).op("i32.div_u");
          if (k > 0) code.const(trips).op("i32.rem_u");
          code.times(stmt.step);
          context.expr(stmt.lower);
          code.op("i32.add").set(variable);
          if (stmt.lower.kind === "const") return;
          // A view that the last iteration cuts short has fewer tiles.
          code.get(variable);
          context.expr(stmt.upper);
          code.op("i32.ge_u").brIf(skip);
        });
        emitStmts(context, body);
      });
      code.advance(task, 1).br(next);
    });
  });
  code.get(context.bad);
}

function emitStmts(context: Context, body: readonly Stmt[]): void {
  const { code } = context;
  for (const stmt of body) {
    if (stmt.op === "alloc" || stmt.op === "sync") continue;
    const skipped = context.forward.skipped.has(stmt);
    code.comment(`${printStmtHead(stmt)}${skipped ? " (in place)" : ""}`);
    if (skipped) continue;
    switch (stmt.op) {
      case "for": {
        const variable = context.iv(stmt.iv);
        const upper = code.local(`${stmt.iv}.end`);
        context.expr(stmt.upper);
        code.set(upper);
        context.expr(stmt.lower);
        code.set(variable);
        code.block((done) => {
          code.loop((again) => {
            code.get(variable).get(upper).op("i32.ge_u").brIf(done);
            emitStmts(context, stmt.body);
            code.advance(variable, stmt.step).br(again);
          });
        });
        break;
      }
      case "load":
        emitBox(context, context.placeUb(stmt.to), context.place(stmt.from), stmt.from);
        break;
      case "store":
        emitBox(context, context.place(stmt.to), context.placeUb(stmt.from), stmt.to);
        break;
      case "gather":
        emitGather(context, stmt);
        break;
    }
  }
}
