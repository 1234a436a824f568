/**
 * Inputs copied in part: where index values name few rows of a large table that is read in place, those rows are all that a run
 * reads of it.
 */
import { gatheredTable } from "../../ir/access.js";
import { inputOf, inputsOf, outputOf, type TileFunc } from "../../ir/func.js";
import { constant, equalLinear, evaluate, remainder, soleAtom } from "../../ir/linear.js";
import { resolveIndex, type IndexRule } from "../../ir/policy.js";
import { iterations } from "../../ir/intervals/loop-bounds.js";
import { isParam } from "../../ir/regions.js";
import { at, byteCount, elementCount } from "../../ir/types.js";
import { box } from "../box.js";
import { indexReader, tensorOf, type HostInputs } from "../memory.js";
import { SiteWalk } from "../site-values.js";
import type { CpuGather } from "./gather-plan.js";

/** What is copied of the data. */
export type PartialCopy =
  /** The rows of the outermost dim that the values of one index input name. */
  | { readonly kind: "rows"; readonly table: number; readonly rule: IndexRule; readonly rowBytes: number }
  /** The rows that the walk over the index values finds, page by page where there are pages. */
  | { readonly kind: "walk"; readonly plan: CpuGather };

/** A table is copied whole unless the rows named, each as often as it is, are fewer bytes by this factor. */
const fewerBy = 2;
/** What the walk to a row takes, in bytes that are copied in the same time. */
const walkBytes = 8192;

/** Undefined where the data are loaded in slabs or hold index values, or the rows are many. */
export function partialCopy(func: TileFunc, plan: CpuGather): PartialCopy | undefined {
  const inPlace = plan.stmt.from.every(({ buffer }) => isParam(func, buffer));
  if (!inPlace || plan.sites.some(({ table }) => table === gatheredTable)) return undefined;
  return namedRows(func, plan) ?? (namesFewRows(func, plan) ? { kind: "walk", plan } : undefined);
}

function namedRows(func: TileFunc, { stmt, sites }: CpuGather): PartialCopy | undefined {
  const [first, ...others] = stmt.map.results;
  const [offset] = at(stmt.from, gatheredTable).offsets;
  const picks = first === undefined ? undefined : soleAtom(first);
  if (picks?.kind !== "site" || offset === undefined || !equalLinear(offset, constant(0))) return undefined;
  const { rule, table } = at(sites, picks.site);
  // Of a row that is read by its quotients and remainders, a page say, the walk finds the part that is named.
  const whole = others.map(soleAtom).every((of) => of?.kind === "dim" || of?.kind === "site");
  if (rule === undefined || table === undefined || !whole) return undefined;
  const data = inputOf(func, gatheredTable).type;
  const rowBytes = byteCount(data) / at(data.shape, 0);
  const named = elementCount(inputOf(func, table).type.shape);
  return named * rowBytes * fewerBy > byteCount(data) ? undefined : { kind: "rows", table, rule, rowBytes };
}

/** Whether the rows that the sites name, each as often as it is, and the walk to them are less than all of the data. */
function namesFewRows(func: TileFunc, { last, page, run }: CpuGather): boolean {
  const whole = run.times === undefined ? run.outer === last + 1 : run.times === last && page !== undefined;
  if (last === -1 || !whole) return false;
  const extents = outputOf(func).type.shape.slice(0, last + 1);
  const rows = elementCount(extents);
  const walks = rows / Math.min(page?.by ?? 1, at(extents, last));
  const bytes = rows * run.bytes + walks * walkBytes;
  return bytes * fewerBy <= byteCount(inputOf(func, gatheredTable).type);
}

/** Copies what is named to its places, a row a step; yields the bytes of each. Indices are in `to` already. */
export function* copyInPart(
  func: TileFunc,
  copy: PartialCopy,
  from: HostInputs,
  to: HostInputs,
): Generator<number, void> {
  const [source, target] = [from, to].map((inputs) => tensorOf(inputs, inputOf(func, gatheredTable)).bytes);
  const rows = copy.kind === "rows" ? rowsNamed(func, copy, to) : rowsWalked(func, copy.plan, to);
  for (const [start, bytes] of rows) {
    target?.set(source?.subarray(start, start + bytes) ?? [], start);
    yield bytes;
  }
}

/** Bytes of the data, by where they start. */
type Rows = Generator<readonly [start: number, bytes: number], void>;

function* rowsNamed(
  func: TileFunc,
  { table, rule, rowBytes }: Extract<PartialCopy, { readonly kind: "rows" }>,
  inputs: HostInputs,
): Rows {
  const { type, bytes } = tensorOf(inputs, inputOf(func, table));
  const read = indexReader(bytes, type.dtype);
  for (let position = 0; position < elementCount(type.shape); position++) {
    const row = resolveIndex(rule, read(position), () => read.exact(position));
    if (row >= 0) yield [row * rowBytes, rowBytes];
  }
}

function* rowsWalked(func: TileFunc, plan: CpuGather, inputs: HostInputs): Rows {
  const { addresses, elementBytes, last, loops, page, rowBy, run, stmt } = plan;
  const walk = new SiteWalk(plan.sites);
  const readers = inputsOf(func).map((operand, table) =>
    table === gatheredTable ? undefined : indexReader(tensorOf(inputs, operand).bytes, operand.type.dtype),
  );
  for (const env of iterations(loops)) {
    const sizes = stmt.to.sizes.map((size, d) => (d > last ? 1 : evaluate(size, env)));
    const extent = at(sizes, last);
    for (const first of box(sizes.map((size, d) => (d === last ? Math.min(1, size) : size)))) {
      const dims = [...first];
      for (let place = 0; place < extent;) {
        dims[last] = place;
        const named = walk.steps.every((step) => walk.takeFrom(step, readers, dims, env) >= 0);
        const point = { dims, sites: walk.sites };
        const count =
          page === undefined
            ? 1
            : Math.min(extent - place, page.by - remainder(evaluate(page.form, env, point), page.by));
        place += count;
        if (!named) continue;
        const start = evaluate(addresses.data, env, point) * elementBytes;
        const [rows, bytes] = run.times === undefined ? [count, run.bytes] : [1, count * run.bytes];
        for (let k = 0; k < rows; k++) yield [start + k * at(rowBy, last), bytes];
      }
    }
  }
}
