/** The sites of a map at one output element: what each reads, what it comes to, and which one ends the element. */
import { isRead, type AccessMap } from "../ir/access.js";
import type { Operand } from "../ir/func.js";
import { evaluate, evaluateExact, type Env, type Linear } from "../ir/linear.js";
import { resolveIndex, siteRule, type IndexRule } from "../ir/policy.js";
import { at } from "../ir/types.js";

/** Machines without numbers of any size hold sums of index values in 128 bits: below this they are exact, with one more added. */
export const wideLimit = 2 ** 126;

/** How a site comes by its value. */
export interface SiteStep {
  readonly site: number;
  /** The input that it reads; absent for a sum. */
  readonly table?: number;
  /** Where the value lies in the memory of the table; the sum itself. */
  readonly form: Linear;
  /** Absent under `any`. */
  readonly rule?: IndexRule;
  /** Under `any`: negative values count from this number. */
  readonly fromEnd?: number;
}

/** The steps of a map in order. `forms`: its sites' addresses and sums, as ir/addressing.ts gives them. */
export const siteSteps = (
  { sites }: AccessMap,
  forms: readonly Linear[],
  operands: readonly Operand[],
): readonly SiteStep[] =>
  sites.map((own, site) => {
    const { value, fromEnd } = own;
    const rule = siteRule(own, operands);
    return {
      site,
      form: at(forms, site),
      ...(isRead(value) ? { table: value.table } : {}),
      ...(rule === undefined ? {} : { rule }),
      ...(rule === undefined && fromEnd !== undefined ? { fromEnd } : {}),
    };
  });

/** The walk over the steps of one element after the other: inner sites first, up to the first that ends the element. */
export class SiteWalk {
  /** The sites so far: what coordinates are made from. */
  readonly sites: number[] = [];
  private readonly exact: bigint[] = [];
  private readonly summed: boolean;

  constructor(readonly steps: readonly SiteStep[]) {
    this.summed = steps.some(({ table }) => table === undefined);
  }

  begin(): void {
    this.sites.length = 0;
    this.exact.length = 0;
  }

  /** Where the value of a step that reads lies in its memory. */
  position({ form }: SiteStep, dims: readonly number[], env: Env): number {
    return evaluate(form, env, { dims, sites: this.sites });
  }

  /** The value of a step that reads nothing. */
  sum({ form }: SiteStep, dims: readonly number[], env: Env): bigint {
    return evaluateExact(form, dims, this.exact, env);
  }

  /** `noElement` or `outOfRange` where the value ends the element. `value`: as `resolveIndex` takes it. */
  take({ rule, fromEnd = 0 }: SiteStep, value: number, exact: () => bigint): number {
    if (rule === undefined) {
      const counted = value < 0 ? fromEnd : 0;
      this.sites.push(value + counted);
      this.exact.push(exact() + BigInt(counted));
      return 0;
    }
    const element = resolveIndex(rule, value, exact);
    if (element < 0) return element;
    this.sites.push(element);
    if (this.summed) this.exact.push(BigInt(element));
    return 0;
  }
}
