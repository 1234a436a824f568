/**
 * A kernel as data, before any text: grid, lanes, bindings, workgroup memory, and what becomes of each
 * statement.
 *
 * Parallel loops become workgroups. Copies that a kernel does not need are elided: it reads its indices and
 * writes its output in global memory, and stages only the data of a full load.
 */
import { gatheredTable } from "../../ir/access.js";
import { CompileError, throwIfErrors, type Diagnostic } from "../../ir/diagnostic.js";
import { singleCopies } from "../moves.js";
import { inputOf, keyOf, outputOf, isInPlace, type TileFunc } from "../../ir/func.js";
import { evaluate, isConstant, type Env } from "../../ir/linear.js";
import { runtimeParamNames } from "../../ir/symbols/dynamic.js";
import { readsAlone, webgpu, type Target } from "../../ir/target.js";
import { taskOfTile, type ParallelNest, type Task } from "../../ir/task/index.js";
import {
  flatten,
  hasScatter,
  ubBytes,
  type FillStmt,
  type LoadStmt,
  type Stmt,
  type StoreStmt,
  type SyncStmt,
} from "../../ir/tile.js";
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
import { keysWith, type KernelStep, type WgslBinding } from "./kernel.js";
import type { Arithmetic } from "./arithmetic.js";
import { branchesOnFullTiles, lanesFor, type LaneShape } from "./lanes.js";
import type { PlainStmt } from "./plain.js";
import {
  entryOfStep,
  filledBase,
  isAtomic,
  laneBounds,
  pointLanes,
  scatterMove,
  type Owners,
  type ScatterMove,
} from "./scatter-move.js";
import { sizeNames } from "./sizes.js";
import type { LimitedKernel } from "./needed-limits.js";
import { beyondLimits, beyondU32, beyondInt128, tooManyTasks, unevenRows, unknownForms } from "./refusals.js";

/** Options of {@link planWgsl}: device limits, target and f32 arithmetic. */
export interface WgslOptions {
  /** Default: the limits that every device has. */
  readonly limits?: WgslLimits;
  /**
   * Target; its `laneBytes` is the number of bytes that neighbouring lanes read together. Default: webgpu.
   */
  readonly target?: Target;
  /**
   * `native`: f32 as the device has it, whose bits are its own. Default: `proved`, the bits of the reference.
   */
  readonly arithmetic?: Arithmetic;
}

/** Sizes of an element type: bytes per element, elements per 32-bit word, and 32-bit words per element. */
export interface ElementWords {
  /** Bytes of one element. */
  readonly size: number;
  /** Elements in one 32-bit word: 1, 2 or 4; for packed elements 8 or 16. */
  readonly perWord: number;
  /** Words in one element: 1, 2, 4. */
  readonly wordsPer: number;
}

/**
 * Buffer that a kernel binds. `width`: number of 32-bit words of one access. `atomic`: true if the words are
 * WGSL atomics. `isDynamic`: true if the size depends on dynamic sizes.
 */
export interface BoundBuffer extends WgslBinding {
  /** Words of one access. */
  readonly width: AccessWords;
  readonly atomic: boolean;
  readonly isDynamic: boolean;
}

/** Plan of a statement for which a kernel has no code. `because`: the reason, as printed. */
export interface ElidedMove {
  readonly kind: "elided";
  readonly stmt: LoadStmt | StoreStmt | FillStmt | SyncStmt;
  readonly because: string;
}

/** Plan of a statement that needs no decisions, for example a barrier. */
export interface PlainMove {
  readonly kind: "plain";
  readonly stmt: PlainStmt;
}

/**
 * Plan of one statement in a WGSL kernel: a gather, a scatter, a load, or a statement without code or
 * decisions.
 */
export type WgslMove = GatherMove | ScatterMove | LoadMove | ElidedMove | PlainMove;

/**
 * Plan of a WGSL kernel: all decisions that are made before the text is emitted, for example grid, lanes and
 * bindings.
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
  /** Absent in a scatter, and where there is nothing to write. */
  readonly gather?: GatherMove;
  /**
   * Scatter, with the dispatch of each of its steps; absent in a gather, and where there is nothing to write.
   */
  readonly scatter?: PlannedScatter;
  /** In program order. */
  readonly moves: readonly WgslMove[];
  /** Diagnostics for features that the program states and the kernel does not have. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Dispatch size (in workgroups) of each step of a scatter's kernel, in order, with {@link laneBounds}. */
export interface StepLaunches {
  readonly laneBounds: readonly (readonly number[])[];
  readonly dispatches: readonly WorkgroupGrid["dispatch"][];
}

/** Plan of a scatter in a kernel, with the launches of the steps; of dynamic sizes, those of the largest. */
export interface PlannedScatter extends StepLaunches {
  readonly move: ScatterMove;
}

/**
 * Returns the launches of the steps of a scatter's kernel for given dynamic sizes. Throws a CompileError
 * (TC502) for more workgroups than a device has.
 */
export function launchesAt(
  func: TileFunc,
  { steps }: ScatterMove,
  sizes: Env,
  limits: WgslLimits,
): StepLaunches {
  const max = limits.maxComputeWorkgroupsPerDimension;
  const bounds = steps.map((step) => laneBounds(step, sizes));
  const dispatches = bounds.map((ofStep) => {
    const trips = Math.ceil((ofStep.at(-1) ?? 0) / pointLanes);
    const dispatch = dispatchOf({ loops: [{ trips }], tasks: trips }, trips > max, max);
    if (dispatch === undefined) throw new CompileError([tooManyTasks(func, { tasks: trips }, limits)]);
    return dispatch;
  });
  return { laneBounds: bounds, dispatches };
}

/** Returns the steps of a scatter's kernel but the last, whose entry point is `main`. */
export const stepsBefore = ({ steps }: ScatterMove, { dispatches }: StepLaunches): readonly KernelStep[] =>
  steps.slice(0, -1).map((step, k) => ({ entryPoint: entryOfStep(step), dispatch: at(dispatches, k) }));

/**
 * Returns the plan of the WGSL kernel of a tile program; with dynamic sizes, the grid and bytes are for the
 * largest sizes. Throws a CompileError: TC505 for a scatter that WebGPU does not support; TC502 if WGSL
 * cannot express a statement or the kernel exceeds a device limit.
 */
export function planWgsl(source: TileFunc, options: WgslOptions = {}): WgslPlan {
  const device = { limits: options.limits ?? defaultLimits, target: options.target ?? webgpu };
  const { arithmetic = "proved" } = options;
  if (hasScatter(source.body) || isInPlace(source))
    return planScatterKernel(source, device.limits, arithmetic);
  const func = joinRuns(source);
  const task = taskOfTile(func);
  const { nest } = task;
  throwIfErrors(unknownForms(nest));
  const element = elementWords(inputOf(func, gatheredTable).type.dtype);
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
 * Returns the plan of a scatter's kernel. Throws a CompileError: TC502 if the kernel exceeds a device limit;
 * TC505 if no kernel can run the scatter.
 */
function planScatterKernel(func: TileFunc, limits: WgslLimits, arithmetic: Arithmetic): WgslPlan {
  const move = scatterMove(func, arithmetic);
  throwIfErrors(beyondInt128(move.point));
  const largest = maxEnv(func);
  const launches = launchesAt(func, move, largest, limits);
  const sizes = runtimeParamNames(func);
  const names = namesOf(func);
  const plan: WgslPlan = {
    func,
    names,
    nest: taskOfTile(func).nest,
    element: elementWords(outputOf(func).type.dtype),
    bindings: scatterBindings(func, names, move, sizes),
    sizes,
    workgroupBytes: 0,
    diagnostics: singleCopies(func),
    ...idlePlan,
    ...(move.steps.length === 0
      ? {}
      : {
          grid: { dispatch: at(launches.dispatches, move.steps.length - 1), folded: false },
          lanes: { x: pointLanes, y: 1, inRuns: false, acrossRows: false },
          scatter: { move, ...launches },
          moves: flatten(func.body).flatMap((stmt) => moveOfScatter(stmt, move)),
        }),
  };
  throwIfErrors(beyondLimits(func, limitedBy(plan), limits));
  return plan;
}

/** Returns the maximum sizes of a program's symbols, by name. */
const maxEnv = ({ symbolic }: TileFunc): Env =>
  new Map((symbolic?.symbols ?? []).map(({ name, most }) => [name, most]));

/**
 * Returns the buffers that a scatter's kernel binds: operands, `status` if a run may be rejected, `owner` if
 * the kernel stores which point determines each element, and `sizes` if sizes are dynamic. For a scatter in
 * place, the base's buffer replaces the output's.
 */
function scatterBindings(
  func: TileFunc,
  names: Names,
  move: ScatterMove,
  sizes: readonly string[],
): BoundBuffer[] {
  const keys = keysWith(func);
  const output = outputOf(func);
  const { inPlace, reports, owners, width } = move;
  const target = inPlace ? inputOf(func, gatheredTable) : output;
  const source = move.point.values === undefined ? move.map.reads[0]?.table : undefined;
  const operands = func.operands.flatMap((operand, table): Omit<BoundBuffer, "binding">[] => {
    if (inPlace && operand === output) return [];
    const isBase =
      table === gatheredTable && move.map.write.base !== undefined && filledBase(move.map) === undefined;
    const wide: AccessWords = operand === target || isBase || table === source ? width : 1;
    return [
      {
        name: names.buffer(operand.name),
        role: operand.role,
        key: keyOf(operand),
        access: operand === target ? "read_write" : "read",
        bytes: bindingBytes(operand.type, wide),
        width: wide,
        atomic: operand === target && isAtomic(move),
        isDynamic: isDynamicOperand(func, table),
      },
    ];
  });
  const scratch = { width: 1, access: "read_write", atomic: true } as const;
  const status = {
    ...scratch,
    isDynamic: false,
    name: "status",
    role: "status",
    key: keys.status,
    bytes: owners?.isFirst === true ? 12 : 4,
  } as const;
  const owner = {
    ...scratch,
    name: "owner",
    role: "owner",
    key: keys.owner,
    isDynamic: owners !== undefined && !isConstant(owners.entries),
    bytes: owners === undefined ? 0 : ownerBytes(owners, maxEnv(func)),
  } as const;
  return [
    ...operands,
    ...(reports ? [status] : []),
    ...(owners === undefined ? [] : [owner]),
    ...sizesBinding(func, sizes),
  ].map((bound, binding) => ({ ...bound, binding }));
}

/**
 * Returns a list with the plan of one statement of a scatter's program. The list is empty for a loop or an
 * alloc.
 */
function moveOfScatter(stmt: Stmt, move: ScatterMove): WgslMove[] {
  const elided = (because: string): ElidedMove[] =>
    stmt.op === "load" || stmt.op === "store" || stmt.op === "fill" || stmt.op === "sync"
      ? [{ kind: "elided", stmt, because }]
      : [];
  if (stmt.op === "scatter") return stmt === move.stmt ? [move] : [];
  return elided(stmt.op === "sync" ? "no workgroup memory" : "points are taken where they lie");
}

/**
 * Returns the properties of a plan that the limits of a device bound. In a program over symbols, the sizes of
 * the bindings count as 0.
 */
const limitedBy = ({ func, bindings, grid, scatter, lanes, workgroupBytes }: WgslPlan): LimitedKernel => ({
  bindings: func.symbolic === undefined ? bindings : bindings.map((bound) => ({ ...bound, bytes: 0 })),
  dispatch: grid.dispatch,
  before: (scatter?.dispatches ?? []).map((dispatch) => ({ entryPoint: "", dispatch })),
  workgroupBytes,
  workgroupSize: [lanes.x, lanes.y],
});

function elementWords(dtype: DType): ElementWords {
  const size = meanBytes(dtype);
  return { size, perWord: Math.max(1, 4 / size), wordsPer: Math.max(1, size / 4) };
}

/**
 * Returns the plan of a program's gather. Undefined if the program has no gather or the output has no
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
 * Returns the buffers that a kernel binds, in binding order: operands, `status` if indices out of range are
 * reported, and `sizes` if sizes are dynamic.
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
    isDynamic: isDynamicOperand(func, binding),
  }));
  const reports = gather?.reports === true;
  const status = {
    name: "status",
    role: "status",
    key: keys.status,
    access: "read_write",
    bytes: 4,
    width: 1,
    atomic: true,
    isDynamic: false,
  } as const;
  return [...operands, ...(reports ? [status] : []), ...sizesBinding(func, sizes)].map((bound, binding) => ({
    ...bound,
    binding,
  }));
}

/** True if an operand's outermost extent is a symbol. */
const isDynamicOperand = ({ symbolic }: TileFunc, operand: number): boolean =>
  (symbolic?.outermost[operand] ?? null) !== null;

/** Returns a list with the uniform buffer of a kernel's runtime parameters; empty if there are none. */
const sizesBinding = (func: TileFunc, sizes: readonly string[]): readonly Omit<BoundBuffer, "binding">[] =>
  sizes.length === 0
    ? []
    : [
        {
          name: "sizes",
          role: "sizes",
          key: keysWith(func).sizes,
          access: "uniform",
          bytes: 4 * sizes.length,
          width: 1,
          atomic: false,
          isDynamic: false,
        },
      ];

/** Returns the bytes of the array `owner` for given dynamic sizes. */
export const ownerBytes = ({ entries }: Owners, sizes: Env): number =>
  4 * Math.max(1, evaluate(entries, sizes));

/** Returns the WGSL type of a bound array. The type states the array length, unless that is dynamic. */
export function arrayOf({
  bytes,
  width,
  atomic,
  isDynamic,
}: Pick<BoundBuffer, "bytes" | "width" | "atomic" | "isDynamic">): string {
  const element = atomic ? "atomic<u32>" : width === 1 ? "u32" : `vec${width}u`;
  return isDynamic ? `array<${element}>` : `array<${element}, ${bytes / 4 / width}>`;
}

/** Returns a bound buffer without the fields that only text needs. */
export const asBinding = ({
  width: _width,
  atomic: _atomic,
  isDynamic: _isDynamic,
  ...binding
}: BoundBuffer): WgslBinding => binding;

/**
 * Returns the size of a binding in bytes: the tensor size, rounded up to a multiple of 4. The minimum is one
 * access of `width` 32-bit words.
 */
export const bindingBytes = (type: TensorType, width: AccessWords): number =>
  Math.max(4 * width, alignUp(byteCount(type), 4));

/**
 * Returns a list with the plan of one statement. The list is empty for a loop or an alloc; a scatter or fill
 * throws an InternalError.
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
