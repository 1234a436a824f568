/**
 * The rows of data that a gather fetches from global memory, by the index values: outputs that share an index and lie together
 * in the data move as one.
 */
import { plainSites, gatheredTable, indexed } from "../../ir/access.js";
import { addressOf, siteStrides, stepsOf } from "../../ir/addressing.js";
import { inputOf, type TileFunc } from "../../ir/func.js";
import { constant, loopPart } from "../../ir/linear.js";
import { indexRule, resolveIndex, type IndexRule } from "../../ir/policy.js";
import type { ForStmt, GatherStmt } from "../../ir/tile.js";
import { at, bytesOf, strides } from "../../ir/types.js";
import { indexReader, tensorOf, type HostInputs } from "../memory.js";
import type { Counter } from "./counter.js";
import { indexValues, type IndexValues } from "./index-values.js";
import { forEachGroup } from "./iteration-groups.js";
import { Runs } from "./runs.js";

/** A site as the scan reads it: positions in its tensor, steps in elements. */
interface Looked {
  readonly values: IndexValues;
  readonly exact: (position: number) => bigint;
  readonly rule: IndexRule;
  /** Elements of data between neighbouring values. */
  readonly stride: number;
  readonly by: readonly number[];
}

export function countRows(
  func: TileFunc,
  stmt: GatherStmt,
  loops: readonly ForStmt[],
  inputs: HostInputs,
  counter: Counter,
): void {
  const { map, to } = stmt;
  const rank = to.sizes.length;
  const data = inputOf(func, gatheredTable).type;
  const address = addressOf(map.results, {
    offsets: data.shape.map(() => constant(0)),
    strides: strides(data.shape),
  });
  const by = stepsOf(address, rank);
  const places = plainSites(map).map(({ value }) =>
    addressOf(value.at, {
      offsets: at(stmt.origins, value.table - 1),
      strides: strides(inputOf(func, value.table).type.shape),
    }),
  );
  const tables = new Map<number, Pick<Looked, "values" | "exact">>();
  const sites = siteStrides(address, plainSites(map).length).map((stride, site): Looked => {
    const own = at(plainSites(map), site);
    const operand = inputOf(func, own.value.table);
    const tensor = tensorOf(inputs, operand);
    const table = tables.get(own.value.table) ?? {
      values: indexValues(tensor),
      exact: indexReader(tensor.bytes, operand.type.dtype).exact,
    };
    tables.set(own.value.table, table);
    const rule = indexRule(own, operand.type.dtype);
    return { ...table, rule, stride, by: stepsOf(at(places, site), rank) };
  });
  const starts = places.map(loopPart);
  const follows = indexed(map);
  const firstFollowed = Math.min(...follows);
  const elementBytes = bytesOf(data.dtype);
  forEachGroup(loops, [...to.sizes, ...starts], (values, times) => {
    counter.transfers += times;
    const sizes = values.slice(0, rank);
    if (sizes.includes(0)) return;
    const runs = rowsOf(sizes, by, follows, firstFollowed, sites, values.slice(rank));
    runs.report(counter, elementBytes, times);
  });
}

/** The rows of one tile, as runs of data elements. */
function rowsOf(
  sizes: readonly number[],
  by: readonly number[],
  follows: ReadonlySet<number>,
  firstFollowed: number,
  sites: readonly Looked[],
  starts: readonly number[],
): Runs {
  const { outer, length } = rowOf(sizes, by, follows);
  const first = Math.min(outer, firstFollowed);
  const runs = new Runs();
  const positions = [...starts];
  const advance = (d: number, times: number): void => {
    for (let s = 0; s < positions.length; s++) {
      positions[s] = (positions[s] ?? 0) + times * (sites[s]?.by[d] ?? 0);
    }
  };
  /** The innermost dim that is walked, from a place in the data. */
  const line = (d: number, from: number): void => {
    const [size, step] = d < outer ? [at(sizes, d), at(by, d)] : [1, 0];
    const [only] = sites;
    if (only !== undefined && sites.length === 1) {
      lineOfOne(only, at(positions, 0), only.by[d] ?? 0, size, from, step, length, runs);
      return;
    }
    for (let k = 0, start = from; k < size; k++, start += step) {
      let address = start;
      for (let s = 0; s < sites.length && address >= 0; s++) {
        const site = at(sites, s);
        const element = lookUp(site, at(positions, s) + k * (site.by[d] ?? 0));
        address = element < 0 ? -1 : address + element * site.stride;
      }
      if (address >= 0) runs.add(address, length);
    }
  };
  const walk = (d: number, from: number): void => {
    if (d >= outer - 1) {
      line(d, from);
      return;
    }
    const [size, step] = [at(sizes, d), at(by, d)];
    for (let k = 0; k < size; k++) {
      walk(d + 1, from + k * step);
      advance(d, 1);
    }
    advance(d, -size);
  };
  walk(first, 0);
  for (let d = first - 1; d >= 0; d--) runs.repeat(at(sizes, d), at(by, d));
  return runs;
}

/** A line of elements that one index each picks: the loop that a large gather spends its counting in. */
function lineOfOne(
  site: Looked,
  firstPosition: number,
  positionStep: number,
  size: number,
  from: number,
  step: number,
  length: number,
  runs: Runs,
): void {
  const { values, stride } = site;
  const { below } = site.rule;
  for (let k = 0; k < size; k++) {
    const position = firstPosition + k * positionStep;
    const value = values[position] ?? 0;
    const element = value >= 0 && value < below ? value : resolved(site, position, value);
    if (element >= 0) runs.add(from + k * step + element * stride, length);
  }
}

/** What the value at a position names; below zero: nothing. */
function lookUp(site: Looked, position: number): number {
  const value = site.values[position] ?? 0;
  return value >= 0 && value < site.rule.below ? value : resolved(site, position, value);
}

const resolved = ({ rule, exact }: Looked, position: number, value: number): number =>
  resolveIndex(rule, value, () => exact(position));

/** Output dims from `outer` on share an index and are `length` neighbours in the data. */
function rowOf(
  sizes: readonly number[],
  by: readonly number[],
  follows: ReadonlySet<number>,
): { readonly outer: number; readonly length: number } {
  let outer = sizes.length;
  let length = 1;
  while (outer > 0 && !follows.has(outer - 1) && by[outer - 1] === length) {
    outer--;
    length *= at(sizes, outer);
  }
  return { outer, length };
}
