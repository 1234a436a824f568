/**
 * What the code of a gather beyond the three operators' kind does: each site where the dims that it follows are known, and what
 * lies together behind the last of them copied at once.
 */
import { fillBytes, gatheredTable } from "../../ir/access.js";
import { gatherAddresses, stepsOf } from "../../ir/addressing.js";
import { inputsOf, type TileFunc } from "../../ir/func.js";
import { rangesOf, type Ranges } from "../../ir/image.js";
import { dimsOf, iv, loopPart, type Linear } from "../../ir/linear.js";
import { pageAlong, type Page } from "../../ir/page.js";
import type { IndexRule } from "../../ir/policy.js";
import { boundsOf } from "../../ir/ranges.js";
import { sizeRanges } from "../../ir/symbols/symbols.js";
import type { ForStmt, GatherStmt, Region } from "../../ir/tile.js";
import { at, bytesOf, type DType } from "../../ir/types.js";
import { siteSteps, type SiteStep } from "../site-values.js";
import { copyWay } from "./code.js";
import { largest } from "./largest.js";
import { isOutput, type Memory, type Placed, type Walk } from "./places.js";
import { commonRun, type Run } from "./runs.js";

/** A site's step, with where its table lies. */
export interface SiteMove extends SiteStep {
  /** Absent for a sum. */
  readonly from?: { readonly memory: Memory; readonly dtype: DType };
  /** Whether its value can end an element. */
  readonly ends: boolean;
}

/** Sites that are taken once for all that lies inside an output dim. */
export interface Stage {
  /** The innermost dim whose loop stands around them; -1: none. */
  readonly dim: number;
  readonly sites: readonly SiteMove[];
}

export interface SitesPlan {
  readonly kind: "sites";
  readonly stmt: GatherStmt;
  readonly loops: readonly ForStmt[];
  readonly elementBytes: number;
  /** What dims, sites and loop variables can be. */
  readonly ranges: Ranges;
  /** In the order in which sites end an element; the last one's dim is `last`. */
  readonly stages: readonly Stage[];
  readonly data: {
    readonly memory: Memory;
    /** Where a row starts, in elements of the memory. */
    readonly row: Linear;
    /** Bytes between neighbours of a row along each output dim. */
    readonly by: readonly number[];
  };
  readonly output: Walk;
  /** The innermost output dim that a site, or a div or mod of the data's address, follows. -1: none. */
  readonly last: number;
  /** Where elements of `last` are taken by the page. */
  readonly page?: Page;
  /** What is copied at once. */
  readonly run: Run;
  /** The bytes of an element that has none. */
  readonly fill: Uint8Array;
  /** Whether an index out of range is reported: by the output element that is written. */
  readonly reports: boolean;
}

export function sitesPlan(
  func: TileFunc,
  stmt: GatherStmt,
  loops: readonly ForStmt[],
  place: (region: Region) => Placed,
): SitesPlan {
  const { map, to } = stmt;
  const rank = to.sizes.length;
  const inputs = inputsOf(func).map(({ type }) => type);
  const elementBytes = bytesOf(at(inputs, gatheredTable).dtype);
  const addresses = gatherAddresses(stmt, place);
  const output = place(to);
  const sites = siteSteps(map, addresses.sites, func.operands).map((step): SiteMove => {
    const from =
      step.table === undefined
        ? {}
        : {
            from: {
              memory: place(at(stmt.from, step.table)).memory,
              dtype: at(inputs, step.table).dtype,
            },
          };
    return { ...step, ...from, ends: step.rule !== undefined && canEnd(step.rule) };
  });
  const { stages, last } = staged(sites, addresses.data);
  const outputBy = stepsOf(addresses.output, rank).map((step) => step * elementBytes);
  const row: Linear = {
    at: addresses.data.at,
    terms: addresses.data.terms.filter(({ of }) => of.kind !== "dim" || of.dim <= last),
  };
  const page = pageAlong(
    last,
    row,
    stages.flatMap((stage) => stage.sites.map(({ form }) => form)),
  );
  const dataBy = stepsOf(addresses.data, rank).map(
    (step, d) => (page !== undefined && d === last ? page.step : step) * elementBytes,
  );
  const run = commonRun(to.sizes, [outputBy, dataBy], elementBytes, last + 1);
  return {
    kind: "sites",
    stmt,
    loops,
    elementBytes,
    ranges: rangesOf(
      map,
      inputs,
      to.sizes.map((size) => largest(size, loops)),
      {
        loops: (name) => boundsOf(iv(name), loops),
        symbols: sizeRanges(func.symbolic?.symbols ?? []),
      },
    ),
    stages,
    data: {
      memory: place(at(stmt.from, gatheredTable)).memory,
      row,
      by: dataBy,
    },
    output: { memory: output.memory, start: loopPart(addresses.output), by: outputBy },
    last,
    ...(page === undefined ? {} : { page }),
    run: page === undefined ? run : alongPage(run, page, [outputBy, dataBy], last),
    fill: fillBytes(map, at(inputs, gatheredTable).dtype),
    reports: isOutput(output, func),
  };
}

const canEnd = (rule: IndexRule): boolean =>
  rule.outside === "report" || rule.outside === "promised" || rule.mayBeNone;

/** The sites by the dims that they follow, none outside of the one before it: the first that ends an element does so. */
function staged(
  sites: readonly SiteMove[],
  data: Linear,
): { readonly stages: readonly Stage[]; readonly last: number } {
  const stages: { readonly dim: number; readonly sites: SiteMove[] }[] = [{ dim: -1, sites: [] }];
  const latest = (): (typeof stages)[number] => at(stages, stages.length - 1);
  for (const site of sites) {
    const dim = Math.max(latest().dim, ...dimsOf(site.form));
    if (dim === latest().dim) latest().sites.push(site);
    else stages.push({ dim, sites: [site] });
  }
  const uneven = data.terms.filter(({ of }) => of.kind !== "dim");
  const last = Math.max(latest().dim, ...dimsOf({ at: 0, terms: uneven }));
  if (last > latest().dim) stages.push({ dim: last, sites: [] });
  return { stages, last };
}

/** The rows of a page copied at once, where they lie side by side in both places and are long enough together. */
const alongPage = (run: Run, { by }: Page, places: readonly (readonly number[])[], last: number): Run =>
  run.outer === last + 1 &&
  run.times === undefined &&
  copyWay(run.bytes * by) === "memory.copy" &&
  places.every((steps) => steps[last] === run.bytes)
    ? { outer: last, bytes: run.bytes, times: last }
    : run;
