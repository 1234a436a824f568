/** The same for a map of any kind: the rows of data in place that its sites name, page by page where there are pages. */
import { gatheredTable } from "../../ir/access.js";
import { inputOf, inputsOf, outputOf, type TileFunc } from "../../ir/func.js";
import { evaluate, remainder } from "../../ir/linear.js";
import { iterations } from "../../ir/ranges.js";
import { at, byteCount, elementCount } from "../../ir/types.js";
import { box } from "../box.js";
import { indexReader, tensorOf, type HostInputs } from "../memory.js";
import { SiteWalk } from "../site-values.js";
import { fewerBy } from "./named-rows.js";
import type { WasmPlan } from "./plan.js";
import type { SitesPlan } from "./sites-plan.js";

/** What the walk to a row takes, in bytes that are copied in the same time. */
const walkBytes = 8192;

/** Undefined where the data are loaded in slabs, or the rows are many. */
export const namedSites = (func: TileFunc, { gather }: Pick<WasmPlan, "gather">): SitesPlan | undefined =>
  gather?.kind === "sites" && namesFewRows(func, gather) ? gather : undefined;

/** Whether the rows that the sites name, each as often as it is, and the walk to them are less than all of the data. */
function namesFewRows(func: TileFunc, plan: SitesPlan): boolean {
  const { data, last, page, run, stages } = plan;
  const whole = run.times === undefined ? run.outer === last + 1 : run.times === last && page !== undefined;
  const inPlace = [data, ...stages.flatMap(({ sites }) => sites.flatMap(({ from }) => from ?? []))].every(
    ({ memory }) => memory.kind === "tensor",
  );
  const readsItself = stages.some(({ sites }) => sites.some(({ table }) => table === gatheredTable));
  if (!inPlace || readsItself || last === -1 || !whole) return false;
  const extents = outputOf(func).type.shape.slice(0, last + 1);
  const rows = elementCount(extents);
  const walks = rows / Math.min(page?.by ?? 1, at(extents, last));
  const bytes = rows * run.bytes + walks * walkBytes;
  return bytes * fewerBy <= byteCount(inputOf(func, gatheredTable).type);
}

/** Copies the rows that are named to their places; yields the bytes of each copy. */
export function* copyNamedSites(
  func: TileFunc,
  plan: SitesPlan,
  from: HostInputs,
  to: HostInputs,
): Generator<number, void> {
  const { data, elementBytes, last, loops, page, run, stages, stmt } = plan;
  const walk = new SiteWalk(stages.flatMap(({ sites }) => sites));
  const readers = inputsOf(func).map((operand, table) =>
    table === gatheredTable ? undefined : indexReader(tensorOf(to, operand).bytes, operand.type.dtype),
  );
  const [source, target] = [from, to].map((inputs) => tensorOf(inputs, inputOf(func, gatheredTable)).bytes);
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
        const start = evaluate(data.row, env, point) * elementBytes;
        const [rows, bytes] = run.times === undefined ? [count, run.bytes] : [1, count * run.bytes];
        for (let k = 0; k < rows; k++) {
          const own = start + k * at(data.by, last);
          target?.set(source?.subarray(own, own + bytes) ?? [], own);
          yield bytes;
        }
      }
    }
  }
}
