/**
 * wgsl: a planned kernel as text. One case per tile statement; nothing is decided here.
 *
 * Elements move as 32-bit words whatever their type, and no two lanes write one word, unless atomically.
 */
import { checkArgument } from "../../ir/argument.js";
import { CompileError } from "../../ir/diagnostic.js";
import type { DynamicTile, TileFunc } from "../../ir/func.js";
import { dynamicFormOf } from "../../ir/symbols/dynamic.js";
import { printStmtHead, printTypes } from "../../ir/text/print.js";
import { ubBytes, type Stmt } from "../../ir/tile.js";
import { assertNever, at, InternalError, invariant } from "../../ir/types.js";
import { emitBindings } from "./bindings.js";
import { WgslContext } from "./context.js";
import { emitGather, emitGatherHelpers } from "./gather.js";
import type { GatherMove } from "./gather-move.js";
import { kernelAt, type DynamicKernel } from "./kernel-at.js";
import { defaultLimits } from "../../ir/wgsl-limits.js";
import type { WgslKernel } from "./kernel.js";
import { emitLoad } from "./load.js";
import { emitPlain } from "./plain.js";
import {
  arrayOf,
  asBinding,
  planWgsl,
  stepsBefore,
  type WgslMove,
  type WgslOptions,
  type WgslPlan,
} from "./plan.js";
import { nativeArithmetic } from "./arithmetic.js";
import { emitScatterKernel } from "./scatter.js";
import { isNative } from "./value-proofs.js";
import { emitWorkgroupLoops } from "./workgroup-loops.js";

/**
 * Emits the WGSL kernel of a tile program. Throws a CompileError: TC505 for a scatter without a kernel, TC502
 * if the program exceeds the device limits. TC502 also reports loops, sizes or values that a WGSL kernel
 * cannot express.
 */
export function emitWgsl(func: TileFunc, options: WgslOptions = {}): WgslKernel {
  checkArgument("emitWgsl", "tile program", func);
  const form = dynamicFormOf(func);
  const shared = form === undefined ? undefined : emitDynamic(form.program, options);
  return shared === undefined ? emitText(planWgsl(func, options)) : kernelAt(shared, func);
}

/**
 * Returns one kernel for all sizes of a program with dynamic sizes. Undefined if no kernel is proved to work
 * for all sizes.
 */
export function emitDynamic(program: DynamicTile, options: WgslOptions): DynamicKernel | undefined {
  try {
    const plan = planWgsl(program, options);
    return { plan, kernel: emitText(plan), limits: options.limits ?? defaultLimits };
  } catch (thrown) {
    if (thrown instanceof CompileError) return undefined;
    throw thrown;
  }
}

/** Emits the WGSL kernel of a plan: text, bindings and dispatch. */
export function emitText(plan: WgslPlan): WgslKernel {
  const { lanes, grid, bindings, workgroupBytes, func, gather, scatter } = plan;
  const code =
    scatter !== undefined
      ? emitScatterKernel(plan, scatter)
      : gather !== undefined
        ? emitKernel(plan, gather)
        : idleKernel;
  const before = scatter === undefined ? [] : stepsBefore(scatter.move, scatter);
  return {
    code,
    entryPoint: "main",
    ...(before.length === 0 ? {} : { before }),
    ...(scatter === undefined ? {} : { laneBounds: scatter.laneBounds }),
    workgroupSize: [lanes.x, lanes.y],
    dispatch: grid.dispatch,
    bindings: bindings.map(asBinding),
    workgroupBytes,
    operands: func.operands,
  };
}

/** The kernel of an output without elements, which is never launched. */
const idleKernel = "@compute @workgroup_size(1)\nfn main() {\n}\n";

/** Returns the WGSL text of a kernel: bindings, workgroup memory, helper functions and `main`. */
function emitKernel(plan: WgslPlan, gather: GatherMove): string {
  const context = new WgslContext(plan);
  const { out, lanes, names } = context;
  const { func } = plan;
  const types = printTypes(func).map((type, k) => `%${at(func.operands, k).name}: ${type}`);
  out.line(`// @${func.name}(${types.join(", ")})`);
  if (gather.values !== undefined && isNative(gather.values)) out.line(`// ${nativeArithmetic}`);
  emitBindings(context);
  if (gather.staged !== undefined) {
    const { buffer, stagedWidth: width } = gather.staged;
    out.line(`// ${printStmtHead({ op: "alloc", buffer })}`);
    const bytes = Math.max(4 * width, ubBytes(buffer));
    out.line(
      `var<workgroup> ${names.buffer(buffer.name)}: ${arrayOf({ bytes, width, atomic: false, isDynamic: false })};`,
    );
  }
  out.line("");
  emitGatherHelpers(context, gather);
  const moves = new Map<Stmt, WgslMove>(plan.moves.map((move) => [move.stmt, move]));
  const body = out.aside(() => {
    emitWorkgroupLoops(context);
    emitStmts(context, plan.nest.body, moves);
  });
  const { x, y } = lanes.shape;
  const builtins = [
    ...(plan.grid.folded || plan.grid.dispatch.some((size) => size > 1)
      ? ["@builtin(workgroup_id) group: vec3u"]
      : []),
    ...(lanes.used.has("lane") ? ["@builtin(local_invocation_id) lane: vec3u"] : []),
    ...(lanes.used.has("lane_index") ? ["@builtin(local_invocation_index) lane_index: u32"] : []),
  ];
  out.line(`@compute @workgroup_size(${y === 1 ? x : `${x}, ${y}`})`);
  out.block(`fn main(${builtins.join(", ")})`, () => {
    out.append(body);
  });
  return out.toString();
}

/** Emits the WGSL code of statements in order. `moves`: plan of each statement except allocs and loops. */
function emitStmts(context: WgslContext, body: readonly Stmt[], moves: ReadonlyMap<Stmt, WgslMove>): void {
  const { out, names } = context;
  for (const stmt of body) {
    if (stmt.op === "alloc") continue;
    if (stmt.op === "for") {
      out.line(`// ${printStmtHead(stmt)}`);
      const name = names.iv(stmt.iv);
      const range = `var ${name} = ${context.form(stmt.lower)}; ${name} < ${context.form(stmt.upper)}`;
      out.block(`for (${range}; ${name} += ${stmt.step}u)`, () => {
        emitStmts(context, stmt.body, moves);
      });
      continue;
    }
    const move = moves.get(stmt);
    invariant(move !== undefined, "every statement has a move");
    out.line(`// ${printStmtHead(stmt)}${move.kind === "elided" ? ` (${move.because})` : ""}`);
    emitMove(context, move);
  }
}

/** Emits the WGSL code of a statement's plan. An elided statement has no code. */
function emitMove(context: WgslContext, move: WgslMove): void {
  switch (move.kind) {
    case "elided":
      break;
    case "plain":
      emitPlain(context.out, move.stmt);
      break;
    case "load":
      emitLoad(context, move);
      break;
    case "gather":
      emitGather(context, move);
      break;
    case "scatter":
      throw new InternalError("a scatter has a kernel of its own");
    default:
      assertNever(move);
  }
}
