/**
 * A kernel as data, before any text: grid, lanes, bindings, workgroup memory, and what becomes of each
 * statement.
 *
 * Parallel loops become workgroups. Copies that a kernel does not need are elided: it reads its indices and
 * writes its output in global memory, and stages only the data of a full load.
 */
import { refuseScatter } from "../refuse-scatter.js";
import { gatheredTable } from "../../ir/access.js";
import { CompileError, throwIfErrors, type Diagnostic } from "../../ir/diagnostic.js";
import { singleCopies } from "../moves.js";
import { inputOf, keyOf, outputOf, type TileFunc } from "../../ir/func.js";
import { readsAlone, webgpu, type Target } from "../../ir/target.js";
import { taskOfTile, type ParallelNest, type Task } from "../../ir/task/index.js";
import { flatten, ubBytes, type LoadStmt, type Stmt, type StoreStmt, type SyncStmt } from "../../ir/tile.js";
import {
  alignUp,
  at,
  byteCount,
  elementCount,
  meanBytes,
  type DType,
  InternalError,
  type TensorType,
} from "../../ir/types.js";
import { defaultLimits, type WgslLimits } from "../../ir/wgsl-limits.js";
import { namesOf, type Names } from "../names.js";
import { joinRuns } from "../plan/join-runs.js";
import { gatherMove, type GatherMove, type AccessWords } from "./gather-move.js";
import { dispatchOf, isFolded, type WorkgroupGrid } from "./grid.js";
import type { LoadMove } from "./load-move.js";
import { keysWith, type WgslBinding } from "./kernel.js";
import type { Arithmetic } from "./arithmetic.js";
import { branchesOnFullTiles, lanesFor, type LaneShape } from "./lanes.js";
import type { PlainStmt } from "./plain.js";
import { sizeNames } from "./sizes.js";
import type { LimitedKernel } from "./needed-limits.js";
import { beyondLimits, beyondU32, beyondInt128, tooManyTasks, unevenRows, unknownForms } from "./refusals.js";

/** Options of {@link planWgsl}: device limits, target and f32 arithmetic. */
export interface WgslOptions {
  /** Default: the limits that every device has. */
  readonly limits?: WgslLimits;
  /** Whose `laneBytes` neighbouring lanes read side by side. Default: the webgpu target. */
  readonly target?: Target;
  /**
   * `native`: f32 as the device has it, whose bits are its own. Default: `proved`, the bits of the reference.
   */
  readonly arithmetic?: Arithmetic;
}

/**
 * Layout of an element type in 32-bit words: bytes of an element, elements in a word, and words in an
 * element.
 */
export interface ElementWords {
  /** Bytes. */
  readonly size: number;
  /** Elements in one word: 1, 2, 4; 8 and 16 of packed ones. */
  readonly perWord: number;
  /** Words in one element: 1, 2, 4. */
  readonly wordsPer: number;
}

/**
 * Buffer that a kernel binds. `width`: number of 32-bit words of one access. `atomic`: true if the words are
 * declared as WGSL atomics.
 */
export interface BoundBuffer extends WgslBinding {
  /** Words of one access. */
  readonly width: AccessWords;
  readonly atomic: boolean;
}

/** Plan of a statement for which a kernel has no code. `because`: the reason, as printed. */
export interface ElidedMove {
  readonly kind: "elided";
  readonly stmt: LoadStmt | StoreStmt | SyncStmt;
  readonly because: string;
}

/** Plan of a statement whose code follows from the statement alone, such as a barrier. */
export interface PlainMove {
  readonly kind: "plain";
  readonly stmt: PlainStmt;
}

/**
 * Plan of one statement in a WGSL kernel: a gather, a load, a statement without code, or a statement without
 * decisions.
 */
export type WgslMove = GatherMove | LoadMove | ElidedMove | PlainMove;

/**
 * Plan of a WGSL kernel: all decisions that precede the kernel's text, such as grid, lanes and bindings.
 * {@link planWgsl} makes it.
 */
export interface WgslPlan {
  readonly func: TileFunc;
  readonly names: Names;
  readonly nest: ParallelNest;
  readonly grid: WorkgroupGrid;
  readonly lanes: LaneShape;
  readonly element: ElementWords;
  readonly bindings: readonly BoundBuffer[];
  /**
   * True if a tile that is full takes a branch of its own, in which every loop has a constant number of
   * turns.
   */
  readonly branchesOnFullTiles: boolean;
  /** True if lanes that take one unit at most test for the end of a short tile, in the place of a loop. */
  readonly guardsShortTiles: boolean;
  /** Numbers that sizes tell, in the order of the struct that holds them. */
  readonly sizes: readonly string[];
  /** Bytes of workgroup memory. */
  readonly workgroupBytes: number;
  /** Absent where there is nothing to write. */
  readonly gather?: GatherMove;
  /** In program order. */
  readonly moves: readonly WgslMove[];
  /** Diagnostics for features that the program states and the kernel does not have. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Returns the plan of the WGSL kernel of a tile program. Throws a CompileError: TC505 for a scatter, TC502 if
 * no kernel within the device limits can compute the program. With dynamic sizes, the plan holds for every
 * size, and its grid and bytes are those of the largest sizes. The device limits are checked again for each
 * size.
 */
export function planWgsl(source: TileFunc, options: WgslOptions = {}): WgslPlan {
  refuseScatter(source, "WGSL");
  const func = joinRuns(source);
  const device = { limits: options.limits ?? defaultLimits, target: options.target ?? webgpu };
  const task = taskOfTile(func);
  const { nest } = task;
  throwIfErrors(unknownForms(nest));
  const element = elementWords(inputOf(func, gatheredTable).type.dtype);
  const { arithmetic = "proved" } = options;
  const gather = planGather(func, task, { laneBytes: device.target.laneBytes, arithmetic });
  const folded = isFolded(nest, device.limits);
  const dispatch = dispatchOf(nest, folded, device.limits.maxComputeWorkgroupsPerDimension);
  const sizes = sizeNames(func, nest, folded);
  const names = namesOf(func);
  const bindings = bindingsOf(func, names, gather, sizes);
  const staged = gather?.staged?.buffer;
  const workgroupBytes = staged === undefined ? 0 : ubBytes(staged);
  throwIfErrors([
    ...beyondU32(func),
    ...(gather === undefined ? [] : beyondInt128(gather)),
    ...unevenRows(func, staged),
  ]);
  const diagnostics = singleCopies(func);
  const common = { func, names, nest, element, bindings, sizes, workgroupBytes, diagnostics };
  if (dispatch === undefined && func.symbolic === undefined)
    throw new CompileError([tooManyTasks(func, nest, device.limits)]);
  const planned =
    gather === undefined ? idlePlan : launchedPlan(gather, { dispatch, folded, element, task, device });
  const plan = { ...common, ...planned };
  throwIfErrors(beyondLimits(func, limitedBy(plan), device.limits));
  return plan;
}

type PlannedGrid = Pick<WgslPlan, "grid" | "lanes" | "moves" | "branchesOnFullTiles" | "guardsShortTiles"> &
  Partial<Pick<WgslPlan, "gather">>;

/** The plan of an output without elements, whose kernel is never launched. */
const idlePlan: PlannedGrid = {
  grid: { dispatch: [0, 0, 0], folded: false },
  lanes: { x: 1, y: 1, inRuns: false, acrossRows: false },
  branchesOnFullTiles: false,
  guardsShortTiles: false,
  moves: [],
};

interface Launch {
  readonly dispatch: WorkgroupGrid["dispatch"] | undefined;
  readonly folded: boolean;
  readonly element: ElementWords;
  readonly task: Task;
  readonly device: { readonly limits: WgslLimits; readonly target: Target };
}

/** Returns the grid, lanes and statement plans of a kernel that has output elements to write. */
function launchedPlan(
  gather: GatherMove,
  { dispatch = [0, 0, 0], folded, element, task, device }: Launch,
): PlannedGrid {
  const { nest } = task;
  const lanes = lanesFor(gather, element.size, nest.tasks, device);
  return {
    grid: { dispatch, folded },
    lanes,
    branchesOnFullTiles: branchesOnFullTiles(gather, lanes, device),
    guardsShortTiles: !readsAlone(device.target.laneBytes),
    gather,
    moves: flatten(nest.body).flatMap((stmt) => moveOf(stmt, gather, task)),
  };
}

/**
 * Returns the properties of a plan that the limits of a device bound. In a program over symbols, the sizes of
 * the bindings count as 0.
 */
const limitedBy = ({ func, bindings, grid, lanes, workgroupBytes }: WgslPlan): LimitedKernel => ({
  bindings: func.symbolic === undefined ? bindings : bindings.map((bound) => ({ ...bound, bytes: 0 })),
  dispatch: grid.dispatch,
  workgroupBytes,
  workgroupSize: [lanes.x, lanes.y],
});

function elementWords(dtype: DType): ElementWords {
  const size = meanBytes(dtype);
  return { size, perWord: Math.max(1, 4 / size), wordsPer: Math.max(1, size / 4) };
}

/**
 * Returns the plan of a program's gather; undefined if the program has no gather or its output has no
 * elements.
 */
function planGather(
  func: TileFunc,
  task: Task,
  shape: Parameters<typeof gatherMove>[3],
): GatherMove | undefined {
  const { gather } = task;
  if (gather === undefined || elementCount(outputOf(func).type.shape) === 0) return undefined;
  return gatherMove(func, task, gather, shape);
}

/**
 * Returns the buffers that a kernel binds, in binding order. They are the operands, `status` if the kernel
 * reports indices out of range, and `sizes` if sizes are dynamic.
 */
function bindingsOf(
  func: TileFunc,
  names: Names,
  gather: GatherMove | undefined,
  sizes: readonly string[],
): BoundBuffer[] {
  const keys = keysWith(func);
  const output = outputOf(func);
  const merged = gather?.unit.how === "packed" && gather.unit.shared.by === "merged";
  const widthOf = (operand: number): AccessWords => (gather === undefined ? 1 : at(gather.widths, operand));
  const operands = func.operands.map((operand, binding): BoundBuffer => ({
    binding,
    name: names.buffer(operand.name),
    role: operand.role,
    key: keyOf(operand),
    access: operand === output ? "read_write" : "read",
    bytes: bindingBytes(operand.type, widthOf(binding)),
    width: widthOf(binding),
    atomic: operand === output && merged,
  }));
  const reports = gather?.reports === true;
  const named = <R extends keyof typeof keys>(role: R) => ({ name: role, role, key: keys[role] });
  const status = { ...named("status"), access: "read_write", bytes: 4, atomic: true } as const;
  const paramsBinding = {
    ...named("sizes"),
    access: "uniform",
    bytes: 4 * sizes.length,
    atomic: false,
  } as const;
  return [...operands, ...(reports ? [status] : []), ...(sizes.length > 0 ? [paramsBinding] : [])].map(
    (bound, binding) => ({ width: 1, ...bound, binding }),
  );
}

/** Returns a bound buffer without `width` and `atomic`, which only the emitter of the kernel uses. */
export const asBinding = ({ width: _width, atomic: _atomic, ...binding }: BoundBuffer): WgslBinding =>
  binding;

/**
 * Returns the size of a binding in bytes: the bytes of the tensor rounded up to 4, and at least one access of
 * `width` words. A tensor without elements also has one access.
 */
export const bindingBytes = (type: TensorType, width: AccessWords): number =>
  Math.max(4 * width, alignUp(byteCount(type), 4));

/**
 * Returns a list with the plan of one statement; an empty list for a loop or an alloc, which need no plan.
 * Throws an InternalError for a scatter or fill.
 */
function moveOf(stmt: Stmt, gather: GatherMove, task: Task): WgslMove[] {
  const { staged } = gather;
  if (stmt.op === "for" || stmt.op === "alloc") return [];
  if (stmt.op === "load") return [loaded(stmt, staged, task)];
  if (stmt.op === "gather") return [gather];
  if (stmt.op === "store") return [{ kind: "elided", stmt, because: "written where it goes" }];
  if (stmt.op === "sync" && staged === undefined)
    return [{ kind: "elided", stmt, because: "no workgroup memory" }];
  if (stmt.op === "scatter" || stmt.op === "fill") throw new InternalError("a scatter has a plan");
  return [{ kind: "plain", stmt }];
}

function loaded(stmt: LoadStmt, staged: LoadMove | undefined, task: Task): LoadMove | ElidedMove {
  if (task.loads.get(stmt.to)?.stmt !== stmt) return { kind: "elided", stmt, because: "nothing reads it" };
  return staged?.stmt === stmt ? staged : { kind: "elided", stmt, because: "read where it lies" };
}
