/**
 * Number of rows of its data that a gather picks, or of its output that a scatter writes, each counted once
 * however often it is picked.
 */
import {
  dataCoords,
  gatheredTable,
  isMove,
  isInReduction,
  isRead,
  isScatter,
  walked,
  type AccessMap,
} from "../../ir/access.js";
import { elementAddress } from "../../ir/addressing.js";
import { inputOf, inputsOf, outputOf } from "../../ir/func.js";
import { dimsOf, evaluate, type Linear } from "../../ir/linear.js";
import { elementCount, type Shape } from "../../ir/types.js";
import { pointsOf } from "../region-points.js";
import { indexReader, inputTensor, type HostInputs } from "../memory.js";
import { IndexWalk, reductionRange, tensorSteps } from "../index-walk.js";
import type { MappedOperands } from "../resolved-indices.js";

/**
 * Result of {@link pickedRows}: the number of times that index values select a row, and the number of
 * different rows.
 */
export interface PickedRows {
  /**
   * Number of selections. A selection is a point, or a reduction element, that reads its own index values.
   */
  readonly picks: number;
  /** Number of different rows of the data, or of the output for a scatter. */
  readonly distinct: number;
  /** Number of selections whose index value selects no row. */
  readonly none: number;
}

/** Returns the extents of the points that index values depend on; the others are 1. */
const pickingExtents = ({ map }: MappedOperands): Shape => {
  const followed = new Set(map.indices.flatMap(({ value }) => formsIn(value).flatMap(dimsOf)));
  return map.domain.map((extent, d) => (followed.has(d) ? extent : 1));
};

const formsIn = (value: AccessMap["indices"][number]["value"]): readonly Linear[] =>
  isRead(value) ? value.at : [value];

/**
 * Returns an upper limit on the number of index values that are looked up to count the data movement of a
 * program. The limit is a measure of the time that counting takes.
 */
export function lookups(gather: MappedOperands): number {
  const { map } = gather;
  // Elements that are computed read their values one by one.
  if (!isMove(map)) return elementCount(walked(map, map.domain));
  const reductionLength = map.indices.some((_, s) => isInReduction(map, s)) ? (map.reduced?.max ?? 1) : 1;
  return elementCount(pickingExtents(gather)) * reductionLength;
}

/**
 * Counts the rows that index values select. A row spans the dims that no index value affects: a table row for
 * a lookup, one element for gather-elements.
 */
export function pickedRows(gather: MappedOperands, inputs: HostInputs): PickedRows {
  const { map, operands } = gather;
  const data = isScatter(map)
    ? elementAddress(outputOf({ operands }).type.shape, map.write.at)
    : elementAddress(inputOf({ operands }, gatheredTable).type.shape, dataCoords(map));
  const walk = new IndexWalk(tensorSteps(map, operands));
  const readers = inputsOf({ operands }).map((operand, table) =>
    walk.steps.some((step) => step.table === table)
      ? indexReader(inputTensor(inputs, operand).bytes, operand.type.dtype)
      : undefined,
  );
  const env = new Map<string, number>();
  const rows: number[] = [];
  let [picks, none] = [0, 0];
  const isTaken = (steps: typeof walk.steps, dims: readonly number[]): boolean =>
    steps.every((step) => walk.takeFrom(step, readers, dims, env) >= 0);
  const pick = (taken: boolean, dims: readonly number[]): void => {
    picks++;
    if (taken) rows.push(evaluate(data, env, { dims, indices: walk.indices }));
    else none++;
  };
  for (const dims of pointsOf(pickingExtents(gather))) {
    const taken = isTaken(walk.outerSteps, dims);
    if (!taken || walk.reductionSteps.length === 0) {
      pick(taken, [...dims, 0]);
      continue;
    }
    const [first, end] = reductionRange(map, walk.indices);
    for (let r = first; r < end; r++) {
      const here = [...dims, r];
      pick(isTaken(walk.reductionSteps, here), here);
    }
  }
  return { picks, distinct: new Set(rows).size, none };
}
