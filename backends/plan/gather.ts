/**
 * A gather as every machine carries it out: where its elements lie, at which output dim each index value is
 * read, how far what was read there serves, and what an element without an index has. How many bytes move at
 * a time is the machine's to add.
 */
import { defined } from "../../ir/defined.js";
import { fillBytes, isMove, reductionDim, type AccessMap } from "../../ir/access.js";
import type { GatherAddresses } from "../../ir/addressing.js";
import { inputsOf, outputOf, type TileFunc } from "../../ir/func.js";
import { rangesOf } from "../../ir/intervals/intervals.js";
import { constant, dimsOf, indicesOf, type Linear } from "../../ir/linear.js";
import { boundOf, type Ranges } from "../../ir/intervals/range.js";
import { sizeRanges } from "../../ir/symbols/symbols.js";
import { mayReport } from "../../ir/policy.js";
import type { ForStmt, GatherStmt } from "../../ir/tile.js";
import { at, type Shape, type TensorType } from "../../ir/types.js";
import { valuePlan, type ValuePlan } from "../../ir/values/index.js";
import { indexSteps, type IndexStep } from "../index-walk.js";
import { pageAlong, type PagedDims } from "./page.js";
import { stagesOf, type Stage } from "./stages.js";

/**
 * Machine-independent plan of a gather: addresses, stages at which index values are read, and the bytes of an
 * output element that has no source element.
 */
export interface GatherPlan {
  readonly stmt: GatherStmt;
  /** Loops around the gather, outermost first. */
  readonly loops: readonly ForStmt[];
  readonly addresses: GatherAddresses;
  /** Ranges of dims, index operands and loop variables. */
  readonly ranges: Ranges;
  /** Steps that give the index operands their values, in the order of the map. */
  readonly indexSteps: readonly IndexStep[];
  readonly stages: readonly Stage[];
  /**
   * The innermost output dim that an index operand, or a quotient or remainder in the data's address,
   * follows. -1: none.
   */
  readonly last: number;
  /** Page along the dim `last`, if the gather takes the elements of that dim page by page. */
  readonly page?: PagedDims;
  /** Plan of the computation of an element; absent if elements move without change. */
  readonly values?: ValuePlan;
  /** Bytes of an output element that has no source element. */
  readonly fill: Uint8Array;
  /** True if an element of the output may have no source element. */
  readonly mayBeNone: boolean;
  /**
   * True if the gather may report an index value: one out of range by its policy, or the end of a segment
   * that is too long.
   */
  readonly reports: boolean;
}

/** Gather statement and the enclosing loops, outermost first. */
export interface GatherAt {
  readonly stmt: GatherStmt;
  readonly loops: readonly ForStmt[];
}

/**
 * Returns the plan of a gather. `addresses`: addresses of the gather's operands in the memories of a machine.
 */
export function planGather(
  func: TileFunc,
  { stmt, loops }: GatherAt,
  addresses: GatherAddresses,
): GatherPlan {
  const { map } = stmt;
  const inputs = inputsOf(func).map(({ type }) => type);
  const steps = indexSteps(map, addresses.indices, func.operands);
  const moves = isMove(map);
  const stages = moves
    ? stagesOf(addresses.indices, addresses.data)
    : stagesOf(
        // Those of terms stand behind all others.
        steps.filter(({ inReduction }) => !inReduction).map(({ form }) => form),
        constant(0),
        addresses.reads.filter((address) => !isReadInReduction(address, steps, map)),
      );
  const last = at(stages, stages.length - 1).dim;
  const page = moves ? pageAlong(last, withinStages(addresses.data, last), addresses.indices) : undefined;
  return {
    stmt,
    loops,
    addresses,
    ranges: rangesOf(map, inputs, maxSizesOf(stmt.to.sizes, loops), {
      loops,
      symbols: sizeRanges(func.symbolic?.symbols ?? []),
    }),
    indexSteps: steps,
    stages,
    last,
    ...defined({ page }),
    ...(moves ? {} : { values: valuesOf(map, inputs) }),
    fill: fillOf(map, func),
    mayBeNone: steps.some(({ rule, inReduction }) => !inReduction && rule?.mayBeNone === true),
    reports: mayReport(map),
  };
}

/**
 * True if each reduction element reads an element of its own. That is so if `address` depends on the
 * reduction dim, or on an index value inside the reduction.
 */
export const isReadInReduction = (
  address: Linear,
  indices: readonly IndexStep[],
  map: Pick<AccessMap, "domain" | "reduced">,
): boolean =>
  map.reduced !== undefined &&
  (dimsOf(address).includes(reductionDim(map)) || indicesOf(address).some((s) => at(indices, s).inReduction));

const valuesOf = ({ value, reads }: AccessMap, inputs: readonly TensorType[]): ValuePlan =>
  valuePlan(
    value,
    reads.map(({ table }) => at(inputs, table).dtype),
  );

const fillOf = (map: AccessMap, func: TileFunc): Uint8Array => fillBytes(map, outputOf(func).type.dtype);

/** Returns an address without its steps along the dims of a row. */
const withinStages = (address: Linear, last: number): Linear => ({
  at: address.at,
  terms: address.terms.filter((term) => term.of.kind !== "dim" || term.of.dim <= last),
});

/** Returns the maximum of each size over all iterations of `loops`, at least 0. */
export const maxSizesOf = (sizes: readonly Linear[], loops: readonly ForStmt[]): Shape =>
  sizes.map((size) => Math.max(0, boundOf(size, { loops }, "most")));
