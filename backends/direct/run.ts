/** A call that reads the caller's arrays where they are: the walk of its plan, stage by stage of index values, row by row. */
import { gatheredTable } from "../../ir/access.js";
import { inputOf, inputsOf, outputOf } from "../../ir/func.js";
import { evaluate, type Env } from "../../ir/linear.js";
import { outOfRange, resolveIndex } from "../../ir/policy.js";
import { at } from "../../ir/types.js";
import {
  indexList,
  indexOutOfRange,
  indexReader,
  tensorOf,
  unitsOf,
  type HostInputs,
  type IndexReader,
  type UnitArray,
} from "../memory.js";
import { SiteWalk } from "../site-values.js";
import { shortRowBytes, type DirectPlan, type DirectSite } from "./plan.js";

/** The index values of a site in memory: 64-bit ones as two words each. */
interface Values {
  readonly site: DirectSite;
  readonly words: Exclude<ReturnType<typeof indexList>, BigInt64Array | BigUint64Array>;
  readonly wordsEach: 1 | 2;
  readonly exact: (position: number) => bigint;
  /** Units of the data between neighbouring values. */
  readonly stride: number;
}

/** Where a walk reads and writes, in units of the element type. */
interface Arrays {
  readonly source: UnitArray;
  readonly target: UnitArray;
  /** Units of a row. */
  readonly row: number;
  /** Throws where the value of output units is out of range; gives them the fill where they have no element. */
  readonly ended: (element: number, from: number, units: number) => void;
}

/**
 * Gathers output elements [from, to) of the outermost dim into `output`. Throws a RunError (TC601) for the first output element with an
 * index out of range.
 */
export function runDirect(
  plan: DirectPlan,
  inputs: HostInputs,
  output: Uint8Array,
  from = 0,
  to = plan.sizes[0] ?? 1,
): void {
  const { gather, sizes, by, outBy, outer, stages, direct, tile } = plan;
  const { dtype } = outputOf(tile).type;
  const { units: source, per } = unitsOf(tensorOf(inputs, inputOf(tile, gatheredTable)).bytes, dtype);
  const { units: target } = unitsOf(output, dtype);
  const fill = gather.fill.some((byte) => byte !== 0) ? unitsOf(gather.fill, dtype).units : undefined;
  const values = direct?.map((site) => valuesOf(plan, site, inputs, per));
  const last = gather.last;

  const ended = (element: number, start: number, units: number): void => {
    if (element === outOfRange)
      throw indexOutOfRange({ map: gather.stmt.map, operands: tile.operands, inputs }, start / per);
    if (fill === undefined) return;
    for (let k = 0; k < units; k++) target[start + k] = fill[k % fill.length] ?? 0;
  };
  const arrays: Arrays = { source, target, row: plan.rowElements * per, ended };

  const dims = sizes.map(() => 0);
  const walk = new SiteWalk(gather.sites);
  const readers =
    gather.sites.length === values?.length
      ? []
      : inputsOf(tile).map((operand, table) =>
          gather.sites.some((step) => step.table === table)
            ? indexReader(tensorOf(inputs, operand).bytes, operand.type.dtype)
            : undefined,
        );
  /** All inside dims up to `d`, whose element of the data begins at `a` as far as it is known, and of the output at `o`. */
  const enter = (d: number, a: number, o: number): void => {
    const stage = stages.get(d);
    let address = a;
    if (stage !== undefined && d === last && values !== undefined) {
      for (const own of values) {
        const element = elementAt(own, placeOf(own, dims));
        if (element < 0) {
          ended(element, o, inside(d));
          return;
        }
        address += element * own.stride;
      }
    } else if (stage !== undefined) {
      for (const site of stage.sites) {
        const element = walk.takeFrom(at(walk.steps, site), readers, dims, noLoops);
        if (element < 0) {
          ended(element, o, inside(d));
          return;
        }
      }
      if (stage.adds.terms.length > 0)
        address += evaluate(stage.adds, noLoops, { dims, sites: walk.sites }) * per;
    }
    const inner = d + 1;
    if (inner >= outer) {
      copyRow(arrays, address, o);
      return;
    }
    const [first, end] = inner === 0 ? [from, to] : [0, at(sizes, inner)];
    const [step, outStep] = [at(by, inner) * per, at(outBy, inner) * per];
    const count = end - first;
    const [dataStart, outStart] = [address + first * step, o + first * outStep];
    dims[inner] = first;
    if (inner === outer - 1 && inner === last && values !== undefined)
      lines(arrays, values, inner, dims, count, dataStart, step, outStart);
    else
      for (let k = 0; k < count; k++) {
        dims[inner] = first + k;
        enter(inner, dataStart + k * step, outStart + k * outStep);
      }
    dims[inner] = 0;
  };
  const inside = (d: number): number => (d === -1 ? target.length : at(outBy, d) * per);
  enter(-1, gather.addresses.data.at * per, 0);
}

const noLoops: Env = new Map();

function valuesOf({ tile }: DirectPlan, site: DirectSite, inputs: HostInputs, per: number): Values {
  const operand = inputOf(tile, site.table);
  const { bytes } = tensorOf(inputs, operand);
  const { dtype } = operand.type;
  const list = indexList(bytes, dtype);
  const stride = site.stride * per;
  let reader: IndexReader | undefined;
  const exact = (position: number): bigint => (reader ??= indexReader(bytes, dtype)).exact(position);
  if (!(list instanceof BigInt64Array || list instanceof BigUint64Array))
    return { site, words: list, wordsEach: 1, exact, stride };
  const { buffer, byteOffset, byteLength } = list;
  const Words = list instanceof BigInt64Array ? Int32Array : Uint32Array;
  return { site, words: new Words(buffer, byteOffset, byteLength / 4), wordsEach: 2, exact, stride };
}

function placeOf({ site: { first, by } }: Values, dims: readonly number[]): number {
  let place = first;
  for (let d = 0; d < dims.length; d++) place += (by[d] ?? 0) * (dims[d] ?? 0);
  return place;
}

/** The element that the value at a place names; below zero: none. */
function elementAt(values: Values, place: number): number {
  const { words, wordsEach } = values;
  let value = words[place * wordsEach] ?? 0;
  if (wordsEach === 2) value = (words[2 * place + 1] ?? 0) * 2 ** 32 + (value >>> 0);
  return value >= 0 && value < values.site.rule.below ? value : resolved(values, place, value);
}

// By itself: a closure in a loop would be made for each element.
const resolved = ({ site, exact }: Values, place: number, value: number): number =>
  resolveIndex(site.rule, value, () => exact(place));

/** Rows along the last dim that is walked, each by its own values. */
function lines(
  arrays: Arrays,
  values: readonly Values[],
  dim: number,
  dims: readonly number[],
  count: number,
  from: number,
  step: number,
  into: number,
): void {
  const [only] = values;
  if (only !== undefined && values.length === 1) {
    linesOfOne(arrays, only, placeOf(only, dims), at(only.site.by, dim), count, from, step, into);
    return;
  }
  const { row, ended } = arrays;
  const first = values.map((own) => placeOf(own, dims));
  for (let k = 0; k < count; k++) {
    let address = from + k * step;
    for (let s = 0; s < values.length; s++) {
      const own = at(values, s);
      const element = elementAt(own, at(first, s) + k * at(own.site.by, dim));
      if (element < 0) {
        ended(element, into + k * row, row);
        address = -1;
        break;
      }
      address += element * own.stride;
    }
    if (address >= 0) copyRow(arrays, address, into + k * row);
  }
}

/** Rows that one value each picks: the loop that a call spends its time in. */
function linesOfOne(
  arrays: Arrays,
  values: Values,
  firstPlace: number,
  placeStep: number,
  count: number,
  from: number,
  step: number,
  into: number,
): void {
  if (arrays.row === 1 && values.wordsEach === 1) {
    elementsOfOne(arrays, values, firstPlace, placeStep, count, from, step, into);
    return;
  }
  const { row, ended } = arrays;
  const { stride } = values;
  for (let k = 0; k < count; k++) {
    const [address, o] = [from + k * step, into + k * row];
    const element = elementAt(values, firstPlace + k * placeStep);
    if (element < 0) ended(element, o, row);
    else copyRow(arrays, address + element * stride, o);
  }
}

/** The same of rows that are one unit long. */
function elementsOfOne(
  { source, target, ended }: Arrays,
  values: Values,
  firstPlace: number,
  placeStep: number,
  count: number,
  from: number,
  step: number,
  into: number,
): void {
  const { stride, words } = values;
  const { below } = values.site.rule;
  for (let k = 0; k < count; k++) {
    const place = firstPlace + k * placeStep;
    const value = words[place] ?? 0;
    const element = value >= 0 && value < below ? value : resolved(values, place, value);
    if (element >= 0) target[into + k] = source[from + k * step + element * stride] ?? 0;
    else ended(element, into + k, 1);
  }
}

/** Whether a loop copies a row in less time than the engine's call. */
const isShort = ({ source, row }: Arrays): boolean => row * source.BYTES_PER_ELEMENT <= shortRowBytes;

function copyRow(arrays: Arrays, from: number, into: number): void {
  const { source, target, row } = arrays;
  if (isShort(arrays)) for (let k = 0; k < row; k++) target[into + k] = source[from + k] ?? 0;
  else target.set(source.subarray(from, from + row), into);
}
