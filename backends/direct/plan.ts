/**
 * The plan of a call that reads the caller's arrays where they are, and writes the output in the same pass:
 * that of the one gather over whole tensors. Shapes decide whether it moves less than copies into a memory of
 * WebAssembly would, never index values.
 */
import { derivedOnce } from "../../ir/derived-once.js";
import { isMove } from "../../ir/access.js";
import { stepsOf } from "../../ir/addressing.js";
import { inputsOf, outputBytes, outputOf, type Operand, type TileFunc } from "../../ir/func.js";
import { byteCount, elementCount, type Shape } from "../../ir/types.js";
import type { GatherPlan } from "../plan/gather.js";
import { planTogether } from "../plan/plan-together.js";
import { indexInputs } from "../index-inputs.js";
import { callTime, walkTime } from "./times.js";
import { GatherWalk, rowOf } from "./walk.js";

/**
 * Plan by which the direct executor runs a gather: it reads the caller's arrays without copies into
 * WebAssembly memory, and writes the output row by row.
 */
export interface DirectPlan {
  readonly tile: TileFunc;
  readonly gather: GatherPlan;
  readonly sizes: Shape;
  /** Number of rows of the output; a row is contiguous in data and output, with one set of index values. */
  readonly rows: number;
  readonly rowElements: number;
  /**
   * Bytes that are moved at once. The row size, the address of the first row and the steps between rows are
   * multiples of this number.
   */
  readonly unit: 1 | 2 | 4 | 8;
  /** Inputs with indices, of which a call keeps a copy for its report. */
  readonly indices: readonly Operand[];
  /** Position, in elements of the input, of the first value of each index operand. */
  readonly starts: readonly number[];
  /** Iterators over the rows, by unit in bytes. Each is created for the first call that needs it. */
  readonly walks: Map<number, GatherWalk>;
}

const weighedOnce = derivedOnce(weighed);

/**
 * Returns the plan by which the direct executor runs a gather, without copies of the caller's arrays.
 * Undefined if {@link planDirect} has no plan, or if copying to WebAssembly is estimated to be faster.
 */
export function directPlanOf(tile: TileFunc): DirectPlan | undefined {
  const plan = weighedOnce(tile);
  return plan === "copied" ? undefined : plan;
}

function weighed(tile: TileFunc): DirectPlan | "copied" {
  const plan = planDirect(tile);
  return plan !== undefined && movesLess(plan) ? plan : "copied";
}

/**
 * Returns the plan by which the direct executor runs a gather, even if copying to WebAssembly would be
 * faster. Undefined if the program has no gather or computes values, or if maps differ between tiles.
 */
export function planDirect(tile: TileFunc): DirectPlan | undefined {
  const gather = planTogether(tile);
  // Values are computed by WebAssembly.
  if (gather === undefined || !isMove(gather.stmt.map)) return undefined;
  const { addresses } = gather;
  const sizes = outputOf(tile).type.shape;
  const by = stepsOf(addresses.data, sizes.length);
  const { outer, rowElements } = rowOf(sizes, by, gather.last);
  const bytes = outputBytes(tile);
  const { at: start, terms } = addresses.data;
  const between = terms.filter(({ of }) => of.kind !== "dim" || of.dim < outer);
  const steps = [rowElements, start, ...between.map((term) => term.by)];
  const unit = ([8, 4, 2] as const).find((size) => steps.every((step) => (step * bytes) % size === 0)) ?? 1;
  return {
    tile,
    gather,
    sizes,
    rows: elementCount(sizes.slice(0, outer)),
    rowElements,
    unit,
    indices: indexInputs(tile),
    starts: gather.indexSteps.map(({ form }) => form.at),
    walks: new Map(),
  };
}

/**
 * Returns the iterator over the rows of a plan, with addresses in units of `unit` bytes. The plan caches the
 * iterator in `walks`.
 */
export function gatherWalkOf(
  { gather, sizes, tile, walks }: DirectPlan,
  unit: DirectPlan["unit"],
): GatherWalk {
  const cached = walks.get(unit);
  if (cached !== undefined) return cached;
  const scale = outputBytes(tile) / unit;
  const walk = new GatherWalk(tile, {
    ...gather,
    address: gather.addresses.data,
    rank: sizes.length,
    scale,
  });
  walks.set(unit, walk);
  return walk;
}

/** True if the walk takes at most as long as copies of the inputs and a call of WebAssembly. */
function movesLess(plan: DirectPlan): boolean {
  const { rowElements, rows, sizes, tile, unit } = plan;
  const rowBytes = rowElements * outputBytes(tile);
  const copied = inputsOf(tile).reduce((sum, { type }) => sum + byteCount(type), 0);
  return walkTime(gatherWalkOf(plan, unit), sizes, rows, rowBytes, unit) <= copied + callTime;
}
