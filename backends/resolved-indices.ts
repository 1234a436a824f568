/**
 * Index values that output elements of a program need, on the host: what they name, and the error of a bad
 * one.
 */
import { checkArgument } from "../ir/argument.js";
import {
  coordsOf,
  dataCoords,
  gatheredTable,
  isRead,
  isScatter,
  writtenIndices,
  type AccessMap,
} from "../ir/access.js";
import { addressOf } from "../ir/addressing.js";
import { error, RunError } from "../ir/diagnostic.js";
import { keyOf, outputOf, type Operand, type TileFunc } from "../ir/func.js";
import { iterationWriting } from "../ir/iteration.js";
import { constant, evaluateExact, indicesOf, type Env, type Linear } from "../ir/linear.js";
import { at, formatShape, InternalError, strides } from "../ir/types.js";
import {
  describeBadIndex,
  describeDuplicate,
  resolvingIndices,
  type DuplicatePoints,
  type IndexFunction,
  type IndexLocation,
  type IndexResolution,
  type ResolvedIndex,
  type ScatterPoint,
} from "./bad-index.js";
import { IndexWalk, indexSteps, type IndexStep } from "./index-walk.js";
import { coordinates, indexReader, inputTensor, type HostInputs } from "./memory.js";
import { joinRuns } from "./plan/join-runs.js";

/**
 * Access map and its operands: the inputs in order, then the output. Error reports use both to find the input
 * that holds an out-of-range index value, and the value's position in the input.
 */
export interface MappedOperands {
  readonly map: AccessMap;
  readonly operands: readonly Operand[];
  /** The tile program that ran, whose map relates coordinates inside its regions. */
  readonly tile?: TileFunc;
  /** Values of the loop variables in the map; absent for a map without loop variables. */
  readonly env?: Env;
}

/** Access map with the operands of the map and the tensors of the inputs. */
export interface MappedInputs extends MappedOperands {
  readonly inputs: HostInputs;
}

/**
 * Resolves the index operands of one output element (of one point, for a scatter), and returns them. Yields
 * the position of each index value to read, and takes the value as the argument of `next`, as {@link
 * resolvingIndices} does.
 */
export function indicesAt(
  { map: stated, operands, tile, env: loops = noLoops }: MappedOperands,
  point: readonly number[],
): IndexResolution {
  const iteration = tile === undefined ? undefined : iterationWriting(joinRuns(tile), point);
  const map = iteration?.gather.map ?? stated;
  const [env, dims] = [iteration?.env ?? loops, iteration?.dims ?? point];
  const forms = map.indices.map(({ value }) => {
    if (!isRead(value)) return value;
    const { shape } = at(operands, value.table).type;
    const origin = iteration?.gather.origins[value.table - 1] ?? shape.map(() => constant(0));
    return addressOf(value.at, { offsets: origin, strides: strides(shape) });
  });
  const walked = indexSteps(map, forms, operands);
  const steps = walked.map(({ index, form, rule, wrapNegativeBy, ...step }): IndexFunction => ({
    ...step,
    ...pickedBy(map, operands, index),
    at: (d, s) => evaluateExact(form, d, s, env),
    ...(rule === undefined ? {} : { rule: () => rule }),
    ...(wrapNegativeBy === undefined ? {} : { wrapNegativeBy: () => wrapNegativeBy }),
  }));
  const tables = operands.map((operand) => ({ ...operand, key: keyOf(operand) }));
  return resolvingIndices(
    {
      operands: tables,
      steps,
      reduced: map.reduced,
      numbers: {},
      ...(isScatter(map) ? { scatter: scatterPoint(walked) } : {}),
    },
    point,
    dims,
  );
}

/**
 * Returns the state of one point of a scatter before any index operand is resolved. `steps`: steps that
 * compute the index operands.
 */
function scatterPoint(steps: readonly IndexStep[]): ScatterPoint {
  const walk = new IndexWalk(steps);
  return {
    lacks: (index) => walk.lacks(at(steps, index)),
    endsAt: (index, element) => walk.endsAt(at(steps, index), element),
    ended: () => walk.ended,
  };
}

/**
 * Returns the dim along which index operand `index` selects elements: as a number (`axis`), and as a phrase
 * for messages (`picks`), for example `dim 1 of data`. `axis` is -1 if the operand selects along no dim, such
 * as a bound of a segment.
 */
export function pickedBy(
  map: AccessMap,
  operands: readonly Operand[],
  index: number,
): Pick<IndexLocation, "axis" | "picks"> {
  const { segment } = map.reduced ?? {};
  if (segment?.from === index) return { axis: -1, picks: "the start of a segment" };
  if (segment?.to === index) return { axis: -1, picks: "the end of a segment" };
  const along = (coords: readonly Linear[]): number =>
    coords.findIndex((coord) => indicesOf(coord).includes(index));
  const written = isScatter(map) ? along(map.write.at) : -1;
  if (written !== -1) return { axis: written, picks: `dim ${written} of ${keyOf(outputOf({ operands }))}` };
  const axis = along(dataCoords(map));
  if (axis !== -1) return { axis, picks: `dim ${axis} of ${keyOf(at(operands, gatheredTable))}` };
  for (const { value } of map.indices) {
    if (!isRead(value)) continue;
    const dim = along(value.at);
    if (dim !== -1) return { axis, picks: `dim ${dim} of ${keyOf(at(operands, value.table))}` };
  }
  // Of a bag, what nothing is read by says where the first one begins.
  const isUsed = map.indices.some((other) => coordsOf(other).some((form) => indicesOf(form).includes(index)));
  return { axis, picks: segment !== undefined && !isUsed ? "the start of the first segment" : "a sum" };
}

const noLoops: Env = new Map();

/**
 * Returns the error (TC601) for a failed execution with an index out of range. `outputElement`: row-major
 * index of the first output element with an index out of range.
 */
export function indexOutOfRange(mapped: MappedInputs, outputElement: number): RunError {
  checkArgument("indexOutOfRange", "program", mapped);
  return badIndexAt(mapped, pointOf(mapped, outputElement));
}

/**
 * Returns the error (TC601) for the first out-of-range index operand of an output element, or of a point of a
 * scatter. Throws an InternalError if no index operand is out of range.
 */
export function badIndexAt(mapped: MappedInputs, point: readonly number[]): RunError {
  const bad = resolvedIndices(mapped, [...point]).find(({ rejected }) => rejected);
  if (bad === undefined)
    throw new InternalError(`output point ${formatShape(point)} was reported, and its indices are in range`);
  return badIndex(bad, writtenIndices(mapped.map).has(bad.at.index));
}

/** Returns the coordinates of an output element. `outputElement`: row-major index of the element. */
export const pointOf = ({ operands }: Pick<MappedOperands, "operands">, outputElement: number): number[] =>
  coordinates(outputElement, outputOf({ operands }).type.shape);

/**
 * Returns the index operands of one output element (of one point, for a scatter) with values from the host
 * tensors. The list ends with the first value that selects no element or is rejected.
 */
export function resolvedIndices(mapped: MappedInputs, point: readonly number[]): readonly ResolvedIndex[] {
  const walk = indicesAt(mapped, point);
  let step = walk.next();
  while (step.done !== true) {
    const [table, position] = step.value;
    const operand = at(mapped.operands, table);
    const { bytes } = inputTensor(mapped.inputs, operand);
    step = walk.next(indexReader(bytes, operand.type.dtype).exact(position));
  }
  return step.value;
}

/**
 * Returns the error (TC607) for two points of a scatter that write the same element, which the program
 * forbids. `extents`: extents of the domain in which points are numbered.
 */
export function duplicateWrite(
  { map, operands }: MappedOperands,
  extents: readonly number[],
  duplicate: DuplicatePoints,
): RunError {
  const output = outputOf({ operands });
  const { message, data } = describeDuplicate({ ...output, key: keyOf(output) }, extents, duplicate);
  const otherwise =
    map.write.combine === "set" ? "let the later point win: duplicates = last" : "leave out duplicates";
  return new RunError([error("TC607", message, { hint: `correct the indices, or ${otherwise}`, data })]);
}

/**
 * Returns the error (TC601) for an out-of-range value of an index operand. `isWritten`: true if the index
 * determines the written position, which changes the hint.
 */
export function badIndex(index: ResolvedIndex, isWritten = false): RunError {
  const { segment } = index;
  const hint =
    segment === undefined
      ? `correct the index, or choose another policy: --oob ${isWritten ? "clamp, wrap or skip" : "clamp, zero or wrap"}`
      : `correct the offsets, or raise the limit: --longest-bag ${segment.elements}, or most ${segment.elements} in a .tir file`;
  const { message, data } = describeBadIndex(index);
  return new RunError([error("TC601", message, { hint, data })]);
}
