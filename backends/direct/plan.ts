/**
 * The plan of a call that reads the caller's arrays where they are, and writes the output in the same pass: that of the one gather
 * over whole tensors. Shapes decide whether it moves less than copies into a memory of WebAssembly would, never index values.
 */
import { gatherAddresses, stepsOf } from "../../ir/addressing.js";
import { inputsOf, outputOf, type TileFunc } from "../../ir/func.js";
import type { IndexRule } from "../../ir/policy.js";
import { at, byteCount, bytesOf, elementCount, strides, type Shape } from "../../ir/types.js";
import { planGather, type GatherPlan } from "../plan/gather.js";
import type { Stage } from "../plan/stages.js";
import { wholeGather } from "../plan/whole.js";
import type { SiteStep } from "../site-values.js";

/** An index value whose place in its table moves with output dims alone. */
export interface DirectSite {
  readonly site: number;
  readonly table: number;
  readonly rule: IndexRule;
  /** Its place at the first output element, and how far that moves with each dim. */
  readonly first: number;
  readonly by: readonly number[];
  /** Elements of the data between neighbouring values. */
  readonly stride: number;
}

/** The walk over the output: dims of which each takes the next stage, and rows behind the last. */
export interface DirectPlan {
  readonly tile: TileFunc;
  readonly gather: GatherPlan;
  readonly sizes: Shape;
  /** How far the address of the data moves with each output dim, in elements; and that of the output. */
  readonly by: readonly number[];
  readonly outBy: readonly number[];
  /** Dims from here on are a row: neighbours in the data and in the output. */
  readonly outer: number;
  readonly rowElements: number;
  /** By the dim that it stands at. */
  readonly stages: ReadonlyMap<number, Stage>;
  /** The values of the last stage, where dims alone lead to them and they add up to the address. */
  readonly direct?: readonly DirectSite[];
}

/** Programs never change. */
const known = new WeakMap<TileFunc, DirectPlan | "copied">();

/** Undefined where copies and WebAssembly take less, and where the tiles of a program written by hand have maps of their own. */
export function directPlanOf(tile: TileFunc): DirectPlan | undefined {
  const found = known.get(tile) ?? weighed(tile);
  known.set(tile, found);
  return found === "copied" ? undefined : found;
}

function weighed(tile: TileFunc): DirectPlan | "copied" {
  const plan = planDirect(tile);
  return plan !== undefined && movesLess(plan) ? plan : "copied";
}

/** Whatever it takes. */
export function planDirect(tile: TileFunc): DirectPlan | undefined {
  const stmt = wholeGather(tile);
  if (stmt === undefined) return undefined;
  const sizes = outputOf(tile).type.shape;
  const addresses = gatherAddresses(stmt, ({ buffer, offsets }) => {
    const { type } = at(
      tile.operands.filter(({ name }) => name === buffer),
      0,
    );
    return { offsets, strides: strides(type.shape) };
  });
  const gather = planGather(tile, { stmt, loops: [] }, addresses);
  const by = stepsOf(addresses.data, sizes.length);
  let [outer, rowElements] = [sizes.length, 1];
  while (outer > gather.last + 1 && by[outer - 1] === rowElements) rowElements *= at(sizes, --outer);
  const stages = new Map(gather.stages.map((stage) => [stage.dim, stage]));
  const innermost = stages.get(gather.last);
  const direct = innermost === undefined ? undefined : directSites(innermost, gather.sites, sizes.length);
  return {
    tile,
    gather,
    sizes,
    by,
    outBy: stepsOf(addresses.output, sizes.length),
    outer,
    rowElements,
    stages,
    ...(direct === undefined ? {} : { direct }),
  };
}

function directSites(
  { sites, adds }: Stage,
  steps: readonly SiteStep[],
  rank: number,
): readonly DirectSite[] | undefined {
  const strides = new Map(adds.terms.flatMap(({ of, by }) => (of.kind === "site" ? [[of.site, by]] : [])));
  if (adds.terms.length > strides.size || [...strides.keys()].some((site) => !sites.includes(site)))
    return undefined;
  const direct = sites.flatMap((site): DirectSite[] => {
    const { rule, table, form } = at(steps, site);
    if (rule === undefined || table === undefined || !form.terms.every(({ of }) => of.kind === "dim"))
      return [];
    return [{ site, table, rule, first: form.at, by: stepsOf(form, rank), stride: strides.get(site) ?? 0 }];
  });
  return direct.length === sites.length ? direct : undefined;
}

/** A row of no more bytes is copied by a loop, a longer one by a call of the engine's. */
export const shortRowBytes = 256;

/*
 * Times, in bytes that are copied into a memory of WebAssembly in the same time (about 0.12 ns each, measured beside
 * bench:sim's calls): a look at an index value, one that a sum or other values lead to, a byte of a row that a loop copies, a call of
 * the engine's that copies a row, and a call of WebAssembly.
 */
const lookBytes = 96;
const walkBytes = 2048;
const loopBytes = 3;
const setBytes = 800;
const callBytes = 2 ** 16;

/** Whether the walk takes less time than copies of the inputs. */
function movesLess({ direct, tile, sizes, outer, rowElements }: DirectPlan): boolean {
  const rows = elementCount(sizes.slice(0, outer));
  const row = rowElements * bytesOf(outputOf(tile).type.dtype);
  const look = direct === undefined ? walkBytes : lookBytes * Math.max(1, direct.length);
  const move = row <= shortRowBytes ? loopBytes * row : setBytes + row;
  const copied = inputsOf(tile).reduce((sum, { type }) => sum + byteCount(type), 0);
  return rows * (look + move) <= copied + callBytes;
}
