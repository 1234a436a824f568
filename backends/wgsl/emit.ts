/**
 * wgsl: a tile program as one compute kernel. One case per tile statement; text only, no device.
 *
 * Parallel loops become workgroups; lanes share a tile along its last two dims. Elements move as 32-bit words whatever
 * their type, 16 bytes at a time where rows allow, and no two lanes ever write one word.
 */
import { gatherAccesses } from "../../ir/access.js";
import { CompileError, error } from "../../ir/diagnostic.js";
import { largestValue } from "../../ir/expr.js";
import type { TileFunc } from "../../ir/func.js";
import { printExpr, printStmtHead } from "../../ir/text/print.js";
import { webgpu, type Target } from "../../ir/target.js";
import { parallelNest, type ParallelNest } from "../../ir/tasks.js";
import { findGather, flatten, type GatherStmt, type Stmt } from "../../ir/tile.js";
import { alignUp, at, byteCount, elementCount, formatType, type IndexDType } from "../../ir/types.js";
import { Context, elementWords, ubWords } from "./context.js";
import { emitExpr } from "./expr.js";
import { emitGather, emitGroupHelpers } from "./gather.js";
import { emitGrid, gridOf, type Grid } from "./grid.js";
import { defaultLimits, type WgslBinding, type WgslKernel, type WgslLimits } from "./kernel.js";
import { Lanes, laneShape, unitsTogether } from "./lanes.js";
import { Lines } from "./lines.js";
import { emitLoad } from "./load.js";
import { identifier } from "./names.js";
import { emitElement, emitPackedGather } from "./packed.js";
import { planOf, type GatherPlan } from "./plan.js";
import { emitResolver } from "./resolve.js";
import { rowDim } from "./tile-loops.js";

export interface WgslOptions {
  /** Default: the limits that every device has. */
  readonly limits?: WgslLimits;
  /** Whose `laneBytes` neighbouring lanes read side by side. Default: the webgpu target. */
  readonly target?: Target;
}

/** Throws a CompileError (TC502) when the program exceeds the limits. */
export function emitWgsl(func: TileFunc, options: WgslOptions = {}): WgslKernel {
  const { limits = defaultLimits, target = webgpu } = options;
  const stmt = findGather(func.body);
  const nest = parallelNest(func.body);
  checkForm(nest, stmt);
  const plan = stmt === undefined ? undefined : planOf(func, stmt);
  const lanes = new Lanes(
    plan === undefined || stmt === undefined
      ? { x: 1, y: 1 }
      : lanesFor(func, stmt, plan, { target, limits }),
  );
  const context = new Context(func, new Lines(), lanes);
  const bindings = bindingsOf(func, stmt);
  const workgroupBytes = [...context.buffers.values()].reduce((sum, buffer) => sum + 4 * ubWords(buffer), 0);
  checkLimits(func, limits, bindings, workgroupBytes);
  const grid = gridOf(nest, limits);
  if (stmt !== undefined && plan !== undefined) emitKernel(context, stmt, plan, nest, grid, bindings);
  return {
    code: context.out.toString(),
    entryPoint: "main",
    workgroupSize: [lanes.shape.x, lanes.shape.y],
    dispatch: stmt === undefined ? [0, 0, 0] : grid.dispatch,
    bindings,
    workgroupBytes,
    data: func.data.type,
    indices: func.indices.type,
    output: func.output.type,
  };
}

function lanesFor(func: TileFunc, stmt: GatherStmt, plan: GatherPlan, device: Required<WgslOptions>) {
  const tile = stmt.to.sizes.map((size) => largestValue(size) ?? 1);
  const y = rowDim(tile);
  const units = Math.ceil((tile[tile.length - 1] ?? 1) / plan.group);
  // Lanes of a packed gather count words of the whole tile.
  if (plan.kind === "packed") return laneShape(1, units * elementCount(tile.slice(0, -1)), units, device);
  const rows = y === undefined ? 1 : at(tile, y);
  const { size } = elementWords(func);
  const { target } = device;
  const together = plan.kind === "rows" ? unitsTogether(target, plan.group * size) : units;
  return laneShape(rows, units, together, device);
}

function bindingsOf(func: TileFunc, stmt: GatherStmt | undefined): WgslBinding[] {
  const operand = (role: "data" | "indices" | "output", binding: number): WgslBinding => ({
    binding,
    name: identifier(func[role].name),
    role,
    access: role === "output" ? "read_write" : "read",
    bytes: Math.max(4, alignUp(byteCount(func[role].type), 4)),
  });
  const operands = [operand("data", 0), operand("indices", 1), operand("output", 2)];
  if (stmt?.oob !== "error") return operands;
  return [...operands, { binding: 3, name: "status", role: "status", access: "read_write", bytes: 4 }];
}

function checkLimits(
  func: TileFunc,
  limits: WgslLimits,
  bindings: readonly WgslBinding[],
  workgroupBytes: number,
): void {
  const span = { span: func.span };
  const found = bindings.flatMap(({ name, bytes }) => {
    const most = limits.maxStorageBufferBindingSize;
    if (bytes <= most) return [];
    const hint = "split the tensor, or request a device with a higher maxStorageBufferBindingSize";
    const message = `%${name} takes ${bytes} B, over the device's maxStorageBufferBindingSize of ${most} B`;
    return [error("TC502", message, { ...span, hint, data: { bytes, limit: most } })];
  });
  const storage = limits.maxComputeWorkgroupStorageSize;
  if (workgroupBytes > storage) {
    const message = `the tile needs ${workgroupBytes} B of workgroup memory, over the device's ${storage} B`;
    const hint = "compile for the device's own target, or use residency gm";
    found.push(error("TC502", message, { ...span, hint, data: { bytes: workgroupBytes, limit: storage } }));
  }
  if (found.length > 0) throw new CompileError(found);
}

function emitKernel(
  context: Context,
  stmt: GatherStmt,
  plan: GatherPlan,
  nest: ParallelNest,
  grid: Grid,
  bindings: readonly WgslBinding[],
): void {
  const { func, out, lanes } = context;
  const types = (["data", "indices", "output"] as const).map(
    (v) => `%${func[v].name}: ${formatType(func[v].type)}`,
  );
  out.line(`// @${func.name}(${types.join(", ")})`);
  for (const { binding, name, access, role, bytes } of bindings) {
    out.line(
      `@group(0) @binding(${binding}) var<storage, ${access}> ${name}: ${arrayOf(role, plan, bytes)};`,
    );
  }
  for (const buffer of context.buffers.values()) {
    out.line(`// ${printStmtHead({ op: "alloc", buffer })}`);
    out.line(`var<workgroup> ${identifier(buffer.name)}: array<u32, ${Math.max(1, ubWords(buffer))}>;`);
  }
  out.line("");
  for (const { dim, access } of gatherAccesses(stmt.map)) {
    const resolver = {
      extent: at(func.data.type.shape, dim),
      negative: access.negative,
      oob: stmt.oob,
      dtype: func.indices.type.dtype as IndexDType,
      indices: identifier(func.indices.name),
      vectors: plan.width.indices === 4,
    };
    emitResolver(out, resolver, dim);
  }
  if (plan.kind === "packed") emitElement(context, stmt);
  if (plan.kind === "groups") emitGroupHelpers(context, stmt);
  const body = out.aside(() => {
    emitGrid(out, nest, grid);
    emitStmts(context, nest.body, plan);
  });
  const { x, y } = lanes.shape;
  const builtins = [
    ...(grid.dispatch.some((size) => size > 1) ? ["@builtin(workgroup_id) group: vec3u"] : []),
    ...(lanes.used.has("lane") ? ["@builtin(local_invocation_id) lane: vec3u"] : []),
    ...(lanes.used.has("lane_index") ? ["@builtin(local_invocation_index) lane_index: u32"] : []),
  ];
  out.line(`@compute @workgroup_size(${y === 1 ? x : `${x}, ${y}`})`);
  out.block(`fn main(${builtins.join(", ")})`, () => {
    out.append(body);
  });
}

/** Sized, so that the shapes show and no length is read at run time. */
function arrayOf(role: WgslBinding["role"], { width }: GatherPlan, bytes: number): string {
  if (role === "status") return "array<atomic<u32>, 1>";
  const words = width[role];
  return `array<${words === 1 ? "u32" : `vec${words}u`}, ${bytes / 4 / words}>`;
}

function emitStmts(context: Context, body: readonly Stmt[], plan: GatherPlan): void {
  const { out } = context;
  for (const stmt of body) {
    if (stmt.op === "alloc") continue;
    out.line(`// ${printStmtHead(stmt)}`);
    switch (stmt.op) {
      case "for": {
        const range = `var ${stmt.iv} = ${emitExpr(stmt.lower)}; ${stmt.iv} < ${emitExpr(stmt.upper)}`;
        out.block(`for (${range}; ${stmt.iv} += ${stmt.step}u)`, () => {
          emitStmts(context, stmt.body, plan);
        });
        break;
      }
      case "load":
        emitLoad(context, stmt);
        break;
      case "gather":
        if (plan.kind === "packed") emitPackedGather(context, stmt);
        else emitGather(context, stmt, plan);
        break;
      case "sync":
        out.line("workgroupBarrier();");
        break;
      case "store":
        throw new CompileError([
          error("TC502", "this program stages its output in UB; compile it for a webgpu target", {
            span: stmt.span,
          }),
        ]);
    }
  }
}

/** Hand-written programs may take forms that no schedule gives and no kernel has. */
function checkForm(nest: ParallelNest, stmt: GatherStmt | undefined): void {
  const unsupported = (message: string): CompileError =>
    new CompileError([
      error("TC502", message, { hint: "run it on sim, or write the loops as lower-to-tile does" }),
    ]);
  const left = flatten(nest.body).find((inner) => inner.op === "for" && inner.mode === "parallel");
  if (left?.op === "for") {
    throw unsupported(`parallel loop %${left.iv} is in no perfect nest of loops with constant trips`);
  }
  const size = stmt?.to.sizes.find((expr) => largestValue(expr) === undefined);
  if (size !== undefined) {
    throw unsupported(`a region's size ${printExpr(size)} is no constant and no minimum with one`);
  }
}
