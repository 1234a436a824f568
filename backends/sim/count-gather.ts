/**
 * What a gather reads in place. Index values that each output element names by its own place are counted by the box. Which rows of
 * the data a tile fetches, and which values are read by other values, the values say: they are looked up stage by stage, each once
 * for all that lies inside. Outputs that share their index values and lie together in the data move as one.
 */
import { gatheredTable, isRead, type Read } from "../../ir/access.js";
import { gatherAddresses, stepsOf, tensorPlace, type GatherAddresses } from "../../ir/addressing.js";
import { inputOf, type TileFunc } from "../../ir/func.js";
import {
  dimsOf,
  evaluate,
  isConstant,
  iv,
  loopPart,
  loopVariables,
  sitesOf,
  soleAtom,
  type Linear,
} from "../../ir/linear.js";
import { resolveIndex, type IndexRule } from "../../ir/policy.js";
import { isParam } from "../../ir/regions.js";
import type { Task } from "../../ir/task/index.js";
import type { ForStmt, GatherStmt } from "../../ir/tile.js";
import { at, bytesOf } from "../../ir/types.js";
import { indexReader, tensorOf, type HostInputs, type IndexReader } from "../memory.js";
import { beyondSteps, stagesOf, type Stage } from "../plan/stages.js";
import { siteSteps, SiteWalk, type SiteStep } from "../site-values.js";
import type { Counter } from "./counter.js";
import { indexValues, type IndexValues } from "./index-values.js";
import { forEachGroup, iterationsOf } from "./iteration-groups.js";
import { Runs } from "./runs.js";
import { counterOf, type Counters } from "./summary.js";

/** A gather of a tile program, and the loops around it. */
interface Gathering {
  readonly func: TileFunc;
  readonly stmt: GatherStmt;
  readonly loops: readonly ForStmt[];
  /** In the tensors. */
  readonly addresses: GatherAddresses;
}

/** Counts the inputs that stay in global memory. */
export function countGather(
  func: TileFunc,
  task: Task,
  stmt: GatherStmt,
  loops: readonly ForStmt[],
  inputs: HostInputs,
  counters: Counters,
): void {
  const addresses = gatherAddresses(stmt, (region) => tensorPlace(func, task, region));
  const gathering: Gathering = { func, stmt, loops, addresses };
  /** Tables whose values are counted as they are looked up. */
  const noted = new Map<number, Counter>();
  let fetched: Counter | undefined;
  stmt.from.forEach(({ buffer }, table) => {
    if (!isParam(func, buffer)) return;
    const counter = counterOf(counters, inputOf(func, table));
    counter.transfers += iterationsOf(loops);
    if (table === gatheredTable) fetched = counter;
    const reads = readsOf(gathering, table);
    if (readApart(reads.map(({ read }) => read))) countReads(gathering, table, reads, counter);
    else noted.set(table, counter);
  });
  if (fetched !== undefined || noted.size > 0) countNamed(gathering, inputs, fetched, noted);
}

interface ReadAt {
  readonly read: Read;
  readonly address: Linear;
}

/** The sites that read a table. */
const readsOf = ({ stmt, addresses }: Gathering, table: number): readonly ReadAt[] =>
  stmt.map.sites.flatMap(({ value }, site) =>
    isRead(value) && value.table === table ? [{ read: value, address: at(addresses.sites, site) }] : [],
  );

/** Whether no value is read at two output elements but for those along other dims: each coordinate is a constant, or one dim in all reads. */
function readApart(reads: readonly Read[]): boolean {
  const dims = reads.map((read) => read.at.map((coord) => (isConstant(coord) ? "" : dimAlone(coord))));
  return dims.every((own) => own.every((dim, k) => dim !== undefined && dim === dims[0]?.[k]));
}

function dimAlone(coord: Linear): number | undefined {
  const only = soleAtom(coord);
  return only?.kind === "dim" ? only.dim : undefined;
}

/** Each index value of the tile once, in the order in which the output first needs it. */
function countReads(
  { func, stmt, loops }: Gathering,
  table: number,
  reads: readonly ReadAt[],
  counter: Counter,
): void {
  const [first] = reads;
  if (first === undefined) return;
  const rank = stmt.to.sizes.length;
  const by = stepsOf(first.address, rank);
  const follows = new Set(dimsOf(first.address));
  const components = [...new Set(reads.map(({ address }) => loopPart(address).at))];
  forEachGroup(loops, stmt.to.sizes, (sizes, times) => {
    if (sizes.includes(0)) return;
    const runs = new Runs();
    for (const component of components) runs.add(component, 1);
    for (let d = rank - 1; d >= 0; d--) if (follows.has(d)) runs.repeat(at(sizes, d), at(by, d));
    runs.report(counter, bytesOf(inputOf(func, table).type.dtype), times);
  });
}

/** How the walk over a tile comes by the value of a site. */
interface Looked {
  readonly step: SiteStep;
  /** Of the table that it reads; a sum reads none. */
  readonly read?: IndexReader;
  /** How far its place moves with each dim. Absent where more than dims and loops move it. */
  readonly by?: readonly number[];
  /** Whether the element's other values have a part in it. */
  readonly hangs: boolean;
}

/** The values of a tile that are read in place, in the order of their first reads. */
interface Noted {
  readonly seen: Set<number>;
  readonly runs: Runs;
}

/** What a stage adds to the address of the data: its values times elements, and what is no multiple of one. */
interface Adds {
  readonly strides: readonly { readonly site: number; readonly by: number }[];
  readonly rest: Linear;
}

/** A value that dims and loops alone lead to. */
interface Direct {
  readonly site: number;
  readonly by: readonly number[];
  readonly rule: IndexRule;
  readonly stride: number;
  readonly values: IndexValues;
  readonly exact: (position: number) => bigint;
}

/** Looks up what each tile names. `fetched`: of the data, where it is read in place. */
function countNamed(
  { func, stmt, loops, addresses }: Gathering,
  inputs: HostInputs,
  fetched: Counter | undefined,
  notedTables: ReadonlyMap<number, Counter>,
): void {
  const rank = stmt.to.sizes.length;
  const by = stepsOf(addresses.data, rank);
  const walk = new SiteWalk(siteSteps(stmt.map, addresses.sites, func.operands));
  const looked = walk.steps.map((step): Looked => {
    const operand = step.table === undefined ? undefined : inputOf(func, step.table);
    return {
      step,
      hangs: operand === undefined || sitesOf(step.form).length > 0,
      ...(operand === undefined
        ? {}
        : { read: indexReader(tensorOf(inputs, operand).bytes, operand.type.dtype) }),
      ...(operand !== undefined && isStepped(step.form) ? { by: stepsOf(step.form, rank) } : {}),
    };
  });
  const stages = new Map(stagesOf(addresses.sites, addresses.data).map((stage) => [stage.dim, stage]));
  const adds = new Map([...stages].map(([dim, stage]) => [dim, addsOf(stage)]));
  const innermost = at([...stages.values()], stages.size - 1);
  const direct = notedTables.size === 0 ? directOf(func, innermost, looked, inputs) : undefined;
  const beyond = { at: 0, terms: beyondSteps(addresses.data) };
  const followed = [beyond, ...addresses.sites].flatMap(dimsOf);
  const [firstFollowed, last] = [Math.min(...followed), Math.max(-1, ...stages.keys())];
  const variables = [
    ...new Set([
      ...looked.flatMap(({ step, by: steps }) => (steps === undefined ? [...loopVariables(step.form)] : [])),
      ...loopVariables(beyond),
    ]),
  ];
  const starts = looked.map(({ step, by: steps }) => (steps === undefined ? nothing : loopPart(step.form)));
  const forms = [...stmt.to.sizes, ...starts, ...variables.map(iv)];
  const dims = new Array<number>(rank).fill(0);

  forEachGroup(loops, forms, (values, times) => {
    const sizes = values.slice(0, rank);
    if (sizes.includes(0)) return;
    const positions = values.slice(rank, rank + starts.length);
    const env = new Map(variables.map((name, k) => [name, at(values, rank + starts.length + k)]));
    const noted = new Map([...notedTables.keys()].map((table): [number, Noted] => [table, newNoted()]));
    const { outer, length } = rowOf(sizes, by, last);
    const first = Math.min(outer, firstFollowed);
    const runs = new Runs();

    /** The value of a site at the dims so far; below zero: it ends the element. */
    const lookUp = (site: number): number => {
      const { step, read, by: steps } = at(looked, site);
      if (read === undefined) return walk.takeSum(step, dims, env);
      const position = steps === undefined ? walk.position(step, dims, env) : at(positions, site);
      const place = noted.get(step.table ?? gatheredTable);
      if (place !== undefined && !place.seen.has(position)) {
        place.seen.add(position);
        place.runs.add(position, 1);
      }
      return walk.take(step, read(position), read, position);
    };
    const advance = (d: number, count: number): void => {
      for (let s = 0; s < positions.length; s++)
        positions[s] = at(positions, s) + count * (looked[s]?.by?.[d] ?? 0);
    };
    /** All inside dims up to `d`. `from`: the address as far as it is known. `ended`: the elements have none. */
    const enter = (d: number, from: number, ended: boolean): void => {
      let [address, none] = [from, ended];
      for (const site of stages.get(d)?.sites ?? []) {
        // What is read at dims alone is read whatever the others name.
        if (none && at(looked, site).hangs) continue;
        if (lookUp(site) < 0) none = true;
      }
      if (none && noted.size === 0) return;
      const added = adds.get(d);
      if (!none && added !== undefined) {
        for (const { site, by: stride } of added.strides) address += at(walk.sites, site) * stride;
        if (added.rest.terms.length > 0) address += evaluate(added.rest, env, { dims, sites: walk.sites });
      }
      const inner = Math.max(d + 1, first);
      if (inner >= outer) {
        if (!none) runs.add(address, length);
        return;
      }
      const [size, step] = [at(sizes, inner), at(by, inner)];
      if (direct !== undefined && inner === innermost.dim && inner === outer - 1) {
        line(direct, positions, inner, size, address, step, length, runs);
        return;
      }
      for (let k = 0; k < size; k++) {
        dims[inner] = k;
        enter(inner, address + k * step, none);
        advance(inner, 1);
      }
      advance(inner, -size);
      dims[inner] = 0;
    };
    enter(-1, 0, false);
    for (let d = first - 1; d >= 0; d--) runs.repeat(at(sizes, d), at(by, d));
    if (fetched !== undefined) runs.report(fetched, bytesOf(inputOf(func, gatheredTable).type.dtype), times);
    for (const [table, counter] of notedTables)
      noted.get(table)?.runs.report(counter, bytesOf(inputOf(func, table).type.dtype), times);
  });
}

const nothing: Linear = { at: 0, terms: [] };

const newNoted = (): Noted => ({ seen: new Set(), runs: new Runs() });

const isStepped = ({ terms }: Linear): boolean =>
  terms.every(({ of }) => of.kind === "dim" || of.kind === "iv" || of.kind === "min");

function addsOf({ adds }: Stage): Adds {
  const strides = adds.terms.flatMap(({ of, by }) => (of.kind === "site" ? [{ site: of.site, by }] : []));
  return { strides, rest: { at: 0, terms: adds.terms.filter(({ of }) => of.kind !== "site") } };
}

/** The values of a stage, where they are all that the address of the data takes there, and no other values lead to them. */
function directOf(
  func: TileFunc,
  stage: Stage,
  looked: readonly Looked[],
  inputs: HostInputs,
): readonly Direct[] | undefined {
  const { strides, rest } = addsOf(stage);
  if (rest.terms.length > 0 || strides.some(({ site }) => !stage.sites.includes(site))) return undefined;
  const direct = stage.sites.flatMap((site): Direct[] => {
    const { step, by, read } = at(looked, site);
    const { rule, table } = step;
    if (by === undefined || read === undefined || rule === undefined || table === undefined) return [];
    const values = indexValues(tensorOf(inputs, inputOf(func, table)));
    const stride = strides.find((own) => own.site === site)?.by ?? 0;
    return [{ site, by, rule, values, exact: read.exact, stride }];
  });
  return direct.length === stage.sites.length ? direct : undefined;
}

/** A line of elements whose values are direct. */
function line(
  direct: readonly Direct[],
  positions: readonly number[],
  dim: number,
  size: number,
  from: number,
  step: number,
  length: number,
  runs: Runs,
): void {
  const [only] = direct;
  if (only !== undefined && direct.length === 1) {
    const [position, along] = [at(positions, only.site), at(only.by, dim)];
    lineOfOne(only, position, along, size, from, step, length, runs);
    return;
  }
  for (let k = 0, start = from; k < size; k++, start += step) {
    let address = start;
    for (const own of direct) {
      const position = (positions[own.site] ?? 0) + k * (own.by[dim] ?? 0);
      const value = own.values[position] ?? 0;
      const element = value >= 0 && value < own.rule.below ? value : resolved(own, position, value);
      address = element < 0 ? -1 : address + element * own.stride;
      if (element < 0) break;
    }
    if (address >= 0) runs.add(address, length);
  }
}

/** The loop that a large gather spends its counting in. */
function lineOfOne(
  only: Direct,
  firstPosition: number,
  positionStep: number,
  size: number,
  from: number,
  step: number,
  length: number,
  runs: Runs,
): void {
  const { values, stride } = only;
  const { below } = only.rule;
  for (let k = 0; k < size; k++) {
    const position = firstPosition + k * positionStep;
    const value = values[position] ?? 0;
    const element = value >= 0 && value < below ? value : resolved(only, position, value);
    if (element >= 0) runs.add(from + k * step + element * stride, length);
  }
}

// By itself: a closure in the loop would be made for each element.
const resolved = ({ rule, exact }: Direct, position: number, value: number): number =>
  resolveIndex(rule, value, () => exact(position));

/** Output dims from `outer` on share their index values, and are `length` neighbours in the data. */
function rowOf(
  sizes: readonly number[],
  by: readonly number[],
  last: number,
): { readonly outer: number; readonly length: number } {
  let outer = sizes.length;
  let length = 1;
  while (outer > last + 1 && by[outer - 1] === length) {
    outer--;
    length *= at(sizes, outer);
  }
  return { outer, length };
}
