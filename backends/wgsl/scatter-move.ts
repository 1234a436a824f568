/**
 * Plan of a scatter's kernel: the steps in which a device takes its points, one dispatch each. Tiles and
 * schedules do not matter: all points are taken side by side, and their order is kept by owners.
 *
 * `base`: copies the base, where the output is memory of its own. `clear`, `own`: each element, or each row,
 * is owned by the point whose value stays. `compare`: finds points whose element another point owns, where
 * that is an error. `check`: looks at index values before anything is written in place. `write`: writes the
 * points.
 */
import { baseFill, gatheredTable, isMove, isOrderFree, isRead, type AccessMap } from "../../ir/access.js";
import { elementAddress, type GatherAddresses } from "../../ir/addressing.js";
import { CompileError, error } from "../../ir/diagnostic.js";
import { defined } from "../../ir/defined.js";
import {
  elementsOf,
  inputOf,
  inputsOf,
  outputBytes,
  outputOf,
  outputPlace,
  isInPlace,
  type TileFunc,
} from "../../ir/func.js";
import { dimRanges, reductionLength } from "../../ir/intervals/intervals.js";
import {
  add,
  constant,
  dim,
  dimsOf,
  div,
  evaluate,
  isConstant,
  scale,
  type Env,
  type Linear,
} from "../../ir/linear.js";
import { residue } from "../../ir/intervals/range.js";
import { mayReject } from "../../ir/policy.js";
import { domainOver, extentsOver } from "../../ir/symbols/symbols.js";
import { carryingDims } from "../../ir/tiling/point-order.js";
import { flatten, type GatherStmt, type ScatterStmt } from "../../ir/tile.js";
import { needsOwners } from "../../ir/wgsl-limits.js";
import { at, elementCount, invariant, type DType, type Shape } from "../../ir/types.js";
import { typeOf, valuePlan, type Combination } from "../../ir/values/index.js";
import { tellingPoints } from "../check-points.js";
import { combinedValue } from "../plan/combined-value.js";
import { planGather } from "../plan/gather.js";
import { scatterMapOf } from "../scatter-map.js";
import type { Arithmetic } from "./arithmetic.js";
import {
  needsInt128,
  startsAtMultiples,
  sumInWords,
  type AccessWords,
  type GatherMove,
  type IndexMove,
} from "./gather-move.js";
import { proveValue, type ProvedValue } from "./value-proofs.js";

/**
 * Layout of the array `owner` in a scatter's kernel. An entry records which point's value stays in one output
 * element, or in one row.
 */
export interface Owners {
  /** Extents of the domain, with 1 along each dim whose points all have the same owner. */
  readonly points: Shape;
  /** Index of a point's entry in `owner`, as a linear form of dims and index values. */
  readonly entry: Linear;
  /** Number of entries, over dynamic sizes. */
  readonly entries: Linear;
  /**
   * True if the first point owns an element and further points are an error; false if the last point owns it.
   */
  readonly isFirst: boolean;
}

/** Operation by which a scatter combines an output element with a point's value, for example a sum. */
export interface CombinedPoints {
  readonly how: Combination;
  /** Type of the output element; `from`: type of the point's value. */
  readonly dtype: DType;
  readonly from: DType;
  /** Arithmetic that gives the new element: read 0 is the old element, read 1 the point's value. */
  readonly step: ProvedValue;
}

/**
 * Way in which a lane writes a point's value. `store`: whole words. `owned bits`: bits of one word, written
 * only by the point that owns the element. `exchange`, `add`: atomic compare-exchange, atomic addition.
 */
export type Writing = "store" | "owned bits" | "exchange" | "add";

/**
 * Dispatch of a scatter's kernel. `base`: fills the output. `clear`, `own`, `compare`: find the point that
 * owns each element. `check`: checks index values. `write`: writes the points' values. `lanes`: number of
 * lanes that have something to do, the largest of the listed numbers, over dynamic sizes.
 */
export type PointStep = { readonly lanes: readonly Linear[] } & (
  | {
      readonly kind: "base";
      /** Lanes that write words of the base, from the first lane on. */
      readonly copies: Linear;
      /** Lanes that clear an owner, from the first lane on. */
      readonly clears: Linear;
    }
  | { readonly kind: "clear" | "own" | "compare" | "check"; readonly points: Shape }
  /**
   * `carrying`: dims whose points one lane takes in order, `carried` of them. Points that differ in another dim
   * have different lanes.
   */
  | { readonly kind: "write"; readonly carrying: readonly number[]; readonly carried: Linear }
);

/**
 * Returns the name of the WGSL entry point of a step, for example `base_points`. Not for the last step, whose
 * entry point is `main`.
 */
export const entryOfStep = ({ kind }: PointStep): string => `${kind}_points`;

/**
 * Plan of a scatter's kernel: the element that each point writes, the elements per lane, the way of writing,
 * and the dispatches.
 */
export interface ScatterMove {
  readonly kind: "scatter";
  readonly stmt: ScatterStmt;
  readonly map: AccessMap;
  /** Plan that computes a point's index values and value, in the form of a gather over the domain. */
  readonly point: GatherMove;
  /** Row-major index of the output element that a point writes. */
  readonly written: Linear;
  /** Number of elements of the output, over dynamic sizes. */
  readonly elements: Linear;
  readonly inPlace: boolean;
  /** Elements along the innermost dim that a lane writes together. */
  readonly group: number;
  /** Words of one access of the output and of what is copied to it. */
  readonly width: AccessWords;
  /** True if a lane reads or computes the elements of a group one by one, and packs them into a word. */
  readonly packs: boolean;
  readonly writing: Writing;
  readonly owners?: Owners;
  readonly combined?: CombinedPoints;
  readonly steps: readonly PointStep[];
  /** True if a run may be rejected. */
  readonly reports: boolean;
}

/**
 * Returns the plan of a scatter's WebGPU kernel. Throws a CompileError (TC505) if the tiles change the order
 * of the points, or if one lane would take more than 2^20 points.
 */
export function scatterMove(func: TileFunc, arithmetic: Arithmetic): ScatterMove {
  const map = scatterMapOf(func);
  const stmt = flatten(func.body).find((one) => one.op === "scatter");
  invariant(stmt?.op === "scatter", "a scatter's program has its statement");
  const output = outputOf(func);
  const size = outputBytes(func);
  const inPlace = isInPlace(func);
  const written = elementOf(func, map.write.table, map.write.at);
  const point = pointMove(func, map, arithmetic);
  const combined = combinedPoints(func, map, arithmetic);
  const { group, width, packs } = unitOf(func, map, written, point.addresses);
  const isUnique = map.write.duplicates === "unique";
  const owners = needsOwners(map.write, size) ? ownersOf(func, map) : undefined;
  const isShared = group * size < 4;
  const writing = ((): Writing => {
    if (isShared) return owners === undefined ? "exchange" : "owned bits";
    if (combined === undefined || isUnique || !isOrderFree(map.write, output.type.dtype)) return "store";
    return combined.how === "add" ? "add" : "exchange";
  })();
  const carrying =
    combined !== undefined && !isOrderFree(map.write, output.type.dtype) ? carryingDims(map) : [];
  refuseLongWalks(func, map, carrying);
  const count = elementCount(map.domain);
  const extents = domainOver(map.domain, func.symbolic?.domain);
  const telling = tellingPoints(map);
  const lookups = productOf(extents.filter((_, d) => at(telling, d) !== 1));
  const ofPoints = (kind: "clear" | "own" | "compare" | "check"): PointStep => ({
    kind,
    points: telling,
    lanes: [lookups],
  });
  const elements = elementsOf(func, output);
  const copies = div(add(scale(elements, size), constant(4 * width - 1)), 4 * width);
  const along = (isCarried: boolean): Linear =>
    productOf(extents.filter((_, d) => carrying.includes(d) === isCarried));
  const clears = owners?.entries ?? constant(0);
  const first: readonly PointStep[] = inPlace
    ? owners === undefined
      ? mayReject(map) && point.reports
        ? [ofPoints("check")]
        : []
      : [ofPoints("clear")]
    : [{ kind: "base", copies, clears, lanes: largestOf([copies, clears]) }];
  const steps: readonly PointStep[] =
    count === 0
      ? inPlace
        ? []
        : first
      : [
          ...first,
          ...(owners === undefined ? [] : [ofPoints("own")]),
          ...(owners?.isFirst === true ? [ofPoints("compare")] : []),
          { kind: "write", lanes: [scale(along(false), 1 / group)], carrying, carried: along(true) },
        ];
  return {
    kind: "scatter",
    stmt,
    map,
    point,
    written,
    elements,
    inPlace,
    group,
    width,
    packs,
    writing,
    ...defined({ owners, combined }),
    steps: elementCount(output.type.shape) === 0 ? [] : steps,
    reports: point.reports || owners?.isFirst === true,
  };
}

/** Returns the product of extents, at most one of which is dynamic. */
function productOf(extents: readonly Linear[]): Linear {
  const dynamic = extents.filter((extent) => !isConstant(extent));
  invariant(dynamic.length <= 1, "one extent is dynamic");
  const product = extents.reduce((all, extent) => all * (isConstant(extent) ? extent.at : 1), 1);
  return scale(dynamic[0] ?? constant(1), product);
}

/** Returns numbers with the same maximum as `numbers`: one number if only one may be the largest. */
function largestOf(numbers: readonly Linear[]): readonly Linear[] {
  if (numbers.every(isConstant)) return [constant(Math.max(...numbers.map((number) => number.at)))];
  return numbers.filter((number) => !isConstant(number) || number.at > 0);
}

/** Returns the number of the element of an operand at some coordinates. */
const elementOf = ({ operands }: TileFunc, table: number, coords: readonly Linear[]): Linear =>
  elementAddress(at(operands, table).type.shape, coords);

/**
 * Returns the plan that computes the index values and the value of one point of a scatter. The plan has the
 * form of a gather over the domain.
 */
function pointMove(func: TileFunc, map: AccessMap, arithmetic: Arithmetic): GatherMove {
  const { domain } = map;
  const fullRegion = (buffer: string, shape: Shape) => ({
    buffer,
    offsets: shape.map(() => constant(0)),
    sizes: shape.map(constant),
  });
  const stmt: GatherStmt = {
    op: "gather",
    from: inputsOf(func).map(({ name, type }) => fullRegion(name, type.shape)),
    to: fullRegion(outputOf(func).name, domain),
    map,
    origins: inputsOf(func)
      .slice(gatheredTable + 1)
      .map(({ type }) => type.shape.map(() => constant(0))),
  };
  const addresses: GatherAddresses = {
    data: constant(0),
    reads: map.reads.map(({ table, at: coords }) => elementOf(func, table, coords)),
    indices: map.indices.map(({ value }) => (isRead(value) ? elementOf(func, value.table, value.at) : value)),
    // Points are numbered in the order of the domain.
    output: elementAddress(
      domain,
      domain.map((_, d) => dim(d)),
    ),
  };
  const plan = planGather(func, { stmt, loops: [] }, addresses);
  const ranges = { ...plan.ranges, dims: dimRanges(domain, map) };
  const types = map.reads.map(({ table }) => inputOf(func, table).type.dtype);
  const values =
    map.write.combine === "set" && isMove(map) ? undefined : (plan.values ?? valuePlan(map.value, types));
  return {
    kind: "gather",
    stmt,
    unit: { how: "words", group: 1, width: 1 },
    widths: func.operands.map(() => 1),
    sizes: stmt.to.sizes,
    tile: domain,
    addresses,
    ...(values === undefined ? {} : { values: proveValue(values, reductionLength(map), arithmetic) }),
    indices: plan.indexSteps.map((step): IndexMove => ({
      ...step,
      biased: false,
      words: 1,
      ...(step.table === undefined ? {} : { dtype: inputOf(func, step.table).type.dtype }),
      int128: needsInt128(step, stmt),
      ...defined({ inWords: sumInWords(func, step, plan, ranges) }),
      four: false,
    })),
    ranges,
    resolved: [],
    sharing: [],
    maybeEmpty: [],
    inSoftware: false,
    reductionUnroll: 1,
    fill: plan.fill,
    reports: plan.reports,
  };
}

/**
 * Returns the operation by which a scatter combines a point's value with an output element, with types and
 * arithmetic steps. Undefined if the value replaces the element (`set`).
 */
function combinedPoints(func: TileFunc, map: AccessMap, arithmetic: Arithmetic): CombinedPoints | undefined {
  const { combine } = map.write;
  if (combine === "set") return undefined;
  const { dtype } = outputOf(func).type;
  const from = typeOf(
    map.value,
    map.reads.map(({ table }) => inputOf(func, table).type.dtype),
  );
  const step = combinedValue(combine, dtype, { kind: "read", read: 0 }, { kind: "read", read: 1 }, from);
  return { how: combine, dtype, from, step: proveValue(valuePlan(step, [dtype, from]), 0, arithmetic) };
}

/**
 * Returns the layout of a scatter's array `owner`: one entry per output element, or one per row if all
 * elements of each row have the same owner.
 */
function ownersOf(func: TileFunc, map: AccessMap): Owners {
  const points = tellingPoints(map);
  const isPerRow = (coord: Linear): boolean =>
    dimsOf(coord).length > 0 && dimsOf(coord).every((d) => at(points, d) === 1 && at(map.domain, d) !== 1);
  const { shape } = outputOf(func).type;
  const over = extentsOver(shape, func.symbolic?.outermost[outputPlace(func)] ?? null);
  const rows = shape.map((extent, k) => (isPerRow(at(map.write.at, k)) ? 1 : extent));
  const kept = map.write.at.map((coord) => (isPerRow(coord) ? constant(0) : coord));
  return {
    points,
    entry: elementAddress(rows, kept),
    entries: productOf(over.filter((_, k) => !isPerRow(at(map.write.at, k)))),
    isFirst: map.write.duplicates === "error",
  };
}

/** Elements that a lane writes together, the words of one access, and how the elements come into them. */
type PointUnit = Pick<ScatterMove, "group" | "width" | "packs">;

/**
 * Returns how many neighbouring elements along the innermost dim a lane writes at a time, and the access
 * width in 32-bit words.
 */
function unitOf(func: TileFunc, map: AccessMap, written: Linear, addresses: GatherAddresses): PointUnit {
  const size = outputBytes(func);
  const last = map.domain.length - 1;
  const extent = map.domain[last] ?? 1;
  const alone: PointUnit = { group: 1, width: 1, packs: false };
  if (map.write.combine !== "set" || last < 0 || elementCount(map.domain) === 0) return alone;
  // No two points of a group write one element, and no index value is another within it.
  if (extent === 1 || at(tellingPoints(map), last) !== 1) return alone;
  const starts = (form: Linear, group: number): boolean => startsAtMultiples(form, last, group, []);
  const fills = (number: Linear, group: number): boolean => residue(number, group, []) === 0;
  const along = at(domainOver(map.domain, func.symbolic?.domain), last);
  const isWritten = (group: number): boolean =>
    fills(along, group) && fills(elementsOf(func, outputOf(func)), group) && starts(written, group);
  const source = map.reads[0]?.table;
  if (isMove(map) && source !== undefined && source !== outputPlace(func)) {
    const isTable = map.indices.some(
      ({ value }) => isRead(value) && (value.table === source || value.table === gatheredTable),
    );
    const updates = elementsOf(func, inputOf(func, source));
    for (const width of isTable ? ([1] as const) : ([4, 2, 1] as const)) {
      const group = (4 * width) / size;
      if (group >= 1 && isWritten(group) && fills(updates, group) && starts(at(addresses.reads, 0), group))
        return { group, width, packs: false };
    }
  }
  const perWord = Math.max(1, 4 / size);
  return isWritten(perWord) ? { group: perWord, width: 1, packs: perWord > 1 } : alone;
}

/** Points that one lane takes in order, at most: beyond, a device may take a lane for hung. */
const maxWalk = 2 ** 20;

/**
 * Throws a CompileError (TC505) if one lane would take more than 2^20 points in order. `carrying`: dims whose
 * points one lane takes in order.
 */
function refuseLongWalks(func: TileFunc, map: AccessMap, carrying: readonly number[]): void {
  const points = carrying.reduce((product, d) => product * at(map.domain, d), 1);
  if (points <= maxWalk) return;
  const { dtype } = outputOf(func).type;
  const message = `@${func.name} takes the ${map.write.combine} of ${dtype} from ${points} points in order, and a lane of WebGPU takes ${maxWalk} at most`;
  const hint =
    "run it on reference or sim; where no two points write one element, state duplicates = unique, and any number is taken";
  throw new CompileError([
    error("TC505", message, { span: func.span, hint, data: { points, limit: maxWalk } }),
  ]);
}

/** Number of lanes in a workgroup of a scatter's kernel. */
export const pointLanes = 64;

/**
 * Returns the numbers of lanes at which the work of a step changes, ascending, for given dynamic sizes. The
 * last is the number of lanes that have something to do.
 */
export const laneBounds = (step: PointStep, sizes: Env): readonly number[] =>
  (step.kind === "base" ? [step.copies, step.clears] : step.lanes)
    .map((form) => evaluate(form, sizes))
    .sort((a, b) => a - b);

/** True if the scatter's kernel declares the output words as WGSL atomics. */
export const isAtomic = ({ writing }: ScatterMove): boolean => writing !== "store";

/** Returns the bits that fill the output before any point writes. Undefined if the base is an operand. */
export const filledBase = (map: AccessMap): string | undefined => baseFill(map.write);
