/** The sites of the last stage, where their values alone lead from there to the data: what several elements or rows can look up together. */
import { stepAlong } from "../../ir/linear.js";
import type { IndexRule } from "../../ir/policy.js";
import { at } from "../../ir/types.js";
import type { GatherPlan } from "./gather.js";
import { beyondSteps } from "./stages.js";

/** A site whose place moves by steps: no other value leads to it. */
export interface LastSite {
  readonly site: number;
  /** The input that it reads. */
  readonly table: number;
  readonly rule: IndexRule;
  /** Elements of the data between neighbouring values. */
  readonly stride: number;
}

/**
 * All of them, in the order of the map. Undefined where the stage has none, where another site leads to one of them, or where
 * anything else is added to the address of the data there.
 */
export function lastSites({
  sites,
  stages,
}: Pick<GatherPlan, "sites" | "stages">): readonly LastSite[] | undefined {
  const { adds, sites: own } = at(stages, stages.length - 1);
  const alone = adds.terms.every(({ of }) => of.kind === "site" && own.includes(of.site));
  if (!alone || own.length === 0) return undefined;
  const found = own.flatMap((site): LastSite[] => {
    const { form, rule, table } = at(sites, site);
    // A value that is left out is in range, and names none.
    if (rule === undefined || rule.but !== undefined || table === undefined) return [];
    if (beyondSteps(form).length > 0) return [];
    return [{ site, table, rule, stride: stepAlong(adds, "site", site) }];
  });
  return found.length === own.length ? found : undefined;
}
