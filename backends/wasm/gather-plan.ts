/**
 * How a CPU moves a gather's elements: by pointers that advance with the output dims, in the longest runs that lie together, and
 * where each element has an index of its own, several at a time.
 */
import { gatheredTable } from "../../ir/access.js";
import { gatherAddresses } from "../../ir/addressing.js";
import { inputOf, inputsOf, type TileFunc } from "../../ir/func.js";
import { dimsOf, isConstant, sub, type Linear } from "../../ir/linear.js";
import { indexBytes } from "../../ir/policy.js";
import type { Region } from "../../ir/tile.js";
import { at, bytesOf, type DType } from "../../ir/types.js";
import { mostOf, planGather, type GatherAt, type GatherPlan } from "../plan/gather.js";
import type { Page } from "../plan/page.js";
import { commonRun, type Run } from "../plan/runs.js";
import { beyondSteps } from "../plan/stages.js";
import { copyWay } from "./code.js";
import { isOutput, walkOf, type Placed, type Walk } from "./memory-places.js";
import { tableOf, type Table } from "./table.js";
import { jamOf, type Jam } from "./unroll-and-jam.js";

/** Where a site finds its index value. */
export interface Lookup {
  /** Number of the walk over its table. */
  readonly walk: number;
  /** Bytes from the walk to the value. */
  readonly shift: number;
  readonly dtype: DType;
}

/** Elements of one iteration of the innermost loop. */
export const unroll = 16;

/**
 * `rows`: what lies together behind an index is copied at once. `checked together`: the indices of `unroll` elements are
 * compared by vectors, and one by one only where one of them is not in range as it stands. `from the table`: resolved
 * before, `unroll` a turn. `one by one`: an element by its own index.
 */
export type Moving =
  | { readonly by: "rows" }
  | { readonly by: "from the table" }
  | { readonly by: "one by one" }
  | {
      readonly by: "checked together";
      /** Whose values are compared. */
      readonly site: number;
      readonly jam?: Jam;
    };

export interface CpuGather extends GatherPlan {
  readonly elementBytes: number;
  readonly data: Walk;
  readonly output: Walk;
  /** Over the tables that are read. */
  readonly indices: readonly Walk[];
  /** By site; undefined for a sum. */
  readonly lookups: readonly (Lookup | undefined)[];
  /** Bytes of data between neighbours of a row along each output dim. */
  readonly rowBy: readonly number[];
  /** What is copied at once. */
  readonly run: Run;
  /** Where what the sites name is looked up before anything moves. */
  readonly table?: Table;
  readonly moving: Moving;
}

export function planCpuGather(
  func: TileFunc,
  gather: GatherAt,
  place: (region: Region) => Placed,
): CpuGather {
  const { stmt, loops } = gather;
  const { to } = stmt;
  const rank = to.sizes.length;
  const addresses = gatherAddresses(stmt, place);
  const core = planGather(func, gather, addresses);
  const { last, page } = core;
  const dtypes = inputsOf(func).map(({ type }) => type.dtype);
  const elementBytes = bytesOf(at(dtypes, gatheredTable));
  const data = walkOf(place(at(stmt.from, gatheredTable)).memory, addresses.data, elementBytes, rank);
  const output = walkOf(place(to).memory, addresses.output, elementBytes, rank);
  const { indices, lookups } = lookedUp(func, core, place);
  const follows = new Set(
    [...addresses.sites, { at: 0, terms: beyondSteps(addresses.data) }].flatMap(dimsOf),
  );
  const table = page === undefined ? tableOf(follows, mostOf(to.sizes, loops)) : undefined;
  const rowBy = data.by.map((step, d) =>
    page !== undefined && d === last ? page.step * elementBytes : step,
  );
  const run = commonRun(to.sizes, [output.by, rowBy], elementBytes, last + 1);
  return {
    ...core,
    // A promise that is broken is told too: it costs no more.
    reports:
      isOutput(place(to), func) &&
      (core.reports || core.sites.some(({ rule }) => rule?.outside === "promised")),
    elementBytes,
    data,
    output,
    indices,
    lookups,
    rowBy,
    run: page === undefined ? run : alongPage(run, page, [output.by, rowBy], last),
    ...(table === undefined ? {} : { table }),
    moving: movingOf(core, data, indices, lookups, table),
  };
}

/** Sites whose values lie at one address but for a constant share a walk, which starts at the first of them. */
function lookedUp(
  func: TileFunc,
  { sites, stmt }: GatherPlan,
  place: (region: Region) => Placed,
): Pick<CpuGather, "indices" | "lookups"> {
  const known: { readonly table: number; first: Linear }[] = [];
  const walks = sites.map(({ table, form }): number | undefined => {
    if (table === undefined) return undefined;
    const found = known.find((own) => own.table === table && isConstant(sub(own.first, form)));
    if (found === undefined) return known.push({ table, first: form }) - 1;
    if (form.at < found.first.at) found.first = form;
    return known.indexOf(found);
  });
  const indices = known.map(({ table, first }) => {
    const bytes = indexBytes(inputOf(func, table).type.dtype);
    return walkOf(place(at(stmt.from, table)).memory, first, bytes, stmt.to.sizes.length);
  });
  const lookups = sites.map(({ table, form, site }): Lookup | undefined => {
    const walk = walks[site];
    if (table === undefined || walk === undefined) return undefined;
    const { dtype } = inputOf(func, table).type;
    return { walk, shift: (form.at - at(known, walk).first.at) * indexBytes(dtype), dtype };
  });
  return { indices, lookups };
}

function movingOf(
  { stmt, sites, stages, last, page, mayBeNone }: GatherPlan,
  data: Walk,
  indices: readonly Walk[],
  lookups: readonly (Lookup | undefined)[],
  table: Table | undefined,
): Moving {
  const rank = stmt.to.sizes.length;
  if (last < rank - 1 || rank === 0 || page !== undefined) return { by: "rows" };
  // Instructions add no negative numbers to an address.
  if (!ascends(data)) return { by: "one by one" };
  if (table !== undefined) return { by: mayBeNone ? "one by one" : "from the table" };
  const inner = at(stages, stages.length - 1);
  const [site, ...others] = inner.sites;
  const [term, ...more] = inner.adds.terms;
  if (site === undefined || term === undefined || others.length > 0 || more.length > 0)
    return { by: "one by one" };
  const { rule } = at(sites, site);
  const lookup = lookups[site];
  if (lookup === undefined || rule === undefined || rule.below === 0) return { by: "one by one" };
  const walk = at(indices, lookup.walk);
  const together =
    term.of.kind === "site" &&
    term.of.site === site &&
    rule.bytes >= 4 &&
    walk.beyond.terms.length === 0 &&
    ascends(walk) &&
    at(walk.by, rank - 1) === rule.bytes;
  if (!together) return { by: "one by one" };
  // Parts of a dim that another site follows do not go side by side.
  const alone = stages
    .slice(0, -1)
    .every((stage) => stage.sites.length === 0 && stage.adds.terms.length === 0);
  const jam = alone ? jamOf(stmt.to.sizes) : undefined;
  return { by: "checked together", site, ...(jam === undefined ? {} : { jam }) };
}

const ascends = ({ by }: Walk): boolean => by.every((step) => step >= 0);

/** The rows of a page copied at once, where they lie side by side in both places and are long enough together. */
const alongPage = (run: Run, { by }: Page, places: readonly (readonly number[])[], last: number): Run =>
  run.outer === last + 1 &&
  run.times === undefined &&
  copyWay(run.bytes * by) === "memory.copy" &&
  places.every((steps) => steps[last] === run.bytes)
    ? { outer: last, bytes: run.bytes, times: last }
    : run;
