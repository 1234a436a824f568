/**
 * A kernel as data, before any text: grid, lanes, bindings, workgroup memory, and what becomes of each statement.
 *
 * Parallel loops become workgroups. Copies that a kernel does not need are elided: it reads its indices and writes its
 * output in global memory, and stages only the data of a full load.
 */
import { gatheredTable, isPlain } from "../../ir/access.js";
import { CompileError, throwIfErrors, type Diagnostic } from "../../ir/diagnostic.js";
import { singleCopies } from "../moves.js";
import { inputOf, keyOf, outputOf, type TileFunc } from "../../ir/func.js";
import { feedingOf, locate, type Feeding } from "../../ir/regions.js";
import { webgpu, type Target } from "../../ir/target.js";
import { parallelNest, type ParallelNest } from "../../ir/tasks.js";
import { flatten, ubBytes, type LoadStmt, type Stmt, type StoreStmt, type SyncStmt } from "../../ir/tile.js";
import {
  alignUp,
  assertNever,
  at,
  byteCount,
  dtypeBytes,
  elementCount,
  type DType,
  type TensorType,
} from "../../ir/types.js";
import { sitesMove, type SitesMove } from "./sites-move.js";
import { gatherMove, type GatherMove, type Width } from "./gather-move.js";
import { gridOf, type Grid } from "./grid.js";
import type { LoadMove } from "./load-move.js";
import { defaultLimits, type WgslBinding, type WgslLimits } from "./kernel.js";
import { lanesFor, type LaneShape } from "./lanes.js";
import { namesOf } from "./names.js";
import { beyondLimits, beyondU32, beyondWide, tooManyTasks, unevenRows, unknownForms } from "./refusals.js";

/** What a plan is made against. */
export interface WgslOptions {
  /** Default: the limits that every device has. */
  readonly limits?: WgslLimits;
  /** Whose `laneBytes` neighbouring lanes read side by side. Default: the webgpu target. */
  readonly target?: Target;
}

/** How elements lie in 32-bit words. */
export interface ElementWords {
  readonly size: number;
  /** Elements in one word: 1, 2, 4. */
  readonly perWord: number;
  /** Words in one element: 1, 2, 4. */
  readonly wordsPer: number;
}

/** A storage buffer, and how the kernel reads or writes it. */
export interface BoundBuffer extends WgslBinding {
  /** Words of one access. */
  readonly width: Width;
  readonly atomic: boolean;
}

export interface ElidedMove {
  readonly kind: "elided";
  readonly stmt: LoadStmt | StoreStmt | SyncStmt;
  readonly because: string;
}

export interface BarrierMove {
  readonly kind: "barrier";
  readonly stmt: SyncStmt;
}

export type WgslMove = GatherMove | SitesMove | LoadMove | ElidedMove | BarrierMove;

/** Every decision of a kernel, before any text. */
export interface WgslPlan {
  readonly func: TileFunc;
  readonly nest: ParallelNest;
  readonly grid: Grid;
  readonly lanes: LaneShape;
  readonly element: ElementWords;
  readonly bindings: readonly BoundBuffer[];
  /** Bytes of workgroup memory. */
  readonly workgroupBytes: number;
  /** Absent where there is nothing to write. */
  readonly gather?: GatherMove | SitesMove;
  /** In program order. */
  readonly moves: readonly WgslMove[];
  /** What the program states and a kernel does not have. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Throws a CompileError (TC502) where no kernel on such a device is the program. */
export function planWgsl(func: TileFunc, options: WgslOptions = {}): WgslPlan {
  const device = { limits: options.limits ?? defaultLimits, target: options.target ?? webgpu };
  const nest = parallelNest(func.body);
  throwIfErrors(unknownForms(nest));
  const element = elementWords(inputOf(func, gatheredTable).type.dtype);
  const feeding = feedingOf(locate(func.body));
  const gather = feeding === undefined ? undefined : planGather(func, feeding, device.target);
  const bindings = bindingsOf(func, gather);
  const staged = gather?.kind === "gather" ? gather.staged?.buffer : undefined;
  const workgroupBytes = staged === undefined ? 0 : ubBytes(staged);
  const grid = gridOf(nest, device.limits);
  throwIfErrors([
    ...beyondU32(func),
    ...(gather?.kind === "sites" ? beyondWide(gather) : []),
    ...unevenRows(func, staged),
    ...beyondLimits(func, bindings, workgroupBytes, device.limits),
  ]);
  const common = { func, nest, element, bindings, workgroupBytes, diagnostics: singleCopies(func) };
  if (grid === undefined) throw new CompileError([tooManyTasks(func, nest, device.limits)]);
  if (feeding === undefined || gather === undefined) {
    return { ...common, grid: { dispatch: [0, 0, 0], folded: false }, lanes: { x: 1, y: 1 }, moves: [] };
  }
  return {
    ...common,
    grid,
    lanes: lanesFor(gather, element.size, nest.tasks, device),
    gather,
    moves: flatten(nest.body).flatMap((stmt) => moveOf(stmt, gather, feeding)),
  };
}

function elementWords(dtype: DType): ElementWords {
  const size = dtypeBytes[dtype];
  return { size, perWord: Math.max(1, 4 / size), wordsPer: Math.max(1, size / 4) };
}

/** Undefined for an empty output. */
function planGather(func: TileFunc, feeding: Feeding, target: Target): GatherMove | SitesMove | undefined {
  const { stmt } = feeding.gather;
  if (stmt.op !== "gather" || elementCount(outputOf(func).type.shape) === 0) return undefined;
  if (!isPlain(stmt.map)) return sitesMove(func, stmt, feeding);
  return gatherMove(func, stmt, feeding, target.laneBytes);
}

function bindingsOf(func: TileFunc, gather: GatherMove | SitesMove | undefined): BoundBuffer[] {
  const names = namesOf(func);
  const output = outputOf(func);
  const merged =
    gather?.kind === "gather"
      ? gather.how === "packed" && gather.shared.by === "merged"
      : gather !== undefined && gather.unit === undefined;
  const widthOf = (operand: number): Width => {
    if (gather?.kind === "gather") return at(gather.widths, operand);
    const moved = operand === gatheredTable || operand === func.operands.length - 1;
    return moved ? (gather?.unit?.width ?? 1) : 1;
  };
  const operands = func.operands.map((operand, binding): BoundBuffer => ({
    binding,
    name: names.buffer(operand.name),
    role: keyOf(operand),
    access: operand === output ? "read_write" : "read",
    ...sized(operand.type, widthOf(binding)),
    atomic: operand === output && merged,
  }));
  if (gather?.sites.some(({ rule }) => rule?.outside === "report") !== true) return operands;
  const status = { name: "status", role: "status", access: "read_write", bytes: 4 } as const;
  return [...operands, { binding: operands.length, ...status, width: 1, atomic: true }];
}

/** An array has one access at least, of a tensor without elements too. */
const sized = (type: TensorType, width: Width): Pick<BoundBuffer, "bytes" | "width"> => ({
  bytes: Math.max(4 * width, alignUp(byteCount(type), 4)),
  width,
});

function moveOf(stmt: Stmt, gather: GatherMove | SitesMove, feeding: Feeding): WgslMove[] {
  const staged = gather.kind === "gather" ? gather.staged : undefined;
  switch (stmt.op) {
    case "for":
    case "alloc":
      return [];
    case "load":
      return [loaded(stmt, staged, feeding)];
    case "gather":
      return [gather];
    case "store":
      return [{ kind: "elided", stmt, because: "written where it goes" }];
    case "sync":
      return staged === undefined
        ? [{ kind: "elided", stmt, because: "no workgroup memory" }]
        : [{ kind: "barrier", stmt }];
    default:
      return assertNever(stmt);
  }
}

function loaded(stmt: LoadStmt, staged: LoadMove | undefined, feeding: Feeding): LoadMove | ElidedMove {
  if (feeding.loads.get(stmt.to)?.stmt !== stmt) return { kind: "elided", stmt, because: "nothing reads it" };
  return staged?.stmt === stmt ? staged : { kind: "elided", stmt, because: "read where it lies" };
}
