/** Resolves the index values of an output element in order: reads each site, applies its policy, and stops at the first that ends the element. */
import { isOfTerm, isRead, type AccessMap, type OpenBounds } from "../ir/access.js";
import type { Operand } from "../ir/func.js";
import { evaluate, evaluateExact, type Env, type Linear } from "../ir/linear.js";
import { outOfRange, resolveIndex, siteRule, type IndexRule } from "../ir/policy.js";
import { at, invariant } from "../ir/types.js";

/** WebAssembly and WGSL hold sums of index values in 128 bits. Sums below this limit are exact, also after one more addition. */
export const int128Limit = 2 ** 126;

/** How a site comes by its value. */
export interface SiteStep {
  readonly site: number;
  /** The input that it reads; absent for a sum. */
  readonly table?: number;
  /** Where the value lies in the memory of the table; the sum itself. */
  readonly form: Linear;
  /** Whether it depends on r, and is evaluated for each term. */
  readonly ofTerm: boolean;
  /** Of the value at which a bag ends: the site of the one at which it begins, and its terms at most. */
  readonly ends?: { readonly from: number; readonly most: number };
  /** Absent under `any`. */
  readonly rule?: IndexRule;
  /** Under `any`: negative values count from this number. */
  readonly fromEnd?: number;
  /** What of the numbers sizes tell, in a program over symbols. */
  readonly open?: OpenBounds;
}

/** The steps of a map in order. `forms`: its sites' addresses and sums, as ir/addressing.ts gives them. */
export const siteSteps = (
  map: AccessMap,
  forms: readonly Linear[],
  operands: readonly Operand[],
): readonly SiteStep[] =>
  map.sites.map((own, site) => {
    const { value, fromEnd, open } = own;
    const rule = siteRule(own, operands);
    const { most = 0, bag } = map.reduced ?? {};
    return {
      site,
      form: at(forms, site),
      ofTerm: isOfTerm(map, site),
      ...(bag?.to === site ? { ends: { from: bag.from, most } } : {}),
      ...(isRead(value) ? { table: value.table } : {}),
      ...(rule === undefined ? {} : { rule }),
      ...(rule === undefined && fromEnd !== undefined ? { fromEnd } : {}),
      ...(open === undefined ? {} : { open }),
    };
  });

/** Terms that a run of a gather takes in, counted from the first of an element. */
export interface TermRun {
  readonly from: number;
  readonly to: number;
}

/**
 * The values of r for an element whose own sites are known: from the first up to, not including, the second. `run`: inside the regions
 * of a run of the gather, where r counts from its first term, but in a bag.
 */
export function termsOf(
  { reduced }: AccessMap,
  sites: readonly number[],
  run?: TermRun,
): readonly [number, number] {
  const { from, to } = run ?? { from: 0, to: reduced?.most ?? 0 };
  if (reduced?.bag === undefined) return [0, to - from];
  const [first, end] = [at(sites, reduced.bag.from), at(sites, reduced.bag.to)];
  return [first + from, Math.min(first + to, end)];
}

/** Gives the value at a place exactly, of any 64-bit index. */
interface Exact {
  exact(position: number): bigint;
}

/** Reads the values of an input: exactly up to 2^53, as `resolveIndex` takes them, and exactly always. */
interface Reader extends Exact {
  (position: number): number;
}

/** Walks over the sites of an element, inner sites first, up to the first that ends the element. Serves one element after the other. */
export class IndexWalk {
  /** What the sites of the element come to, as far as it got: what coordinates are made from. */
  readonly sites: number[];
  private readonly exact: bigint[];
  private readonly summed: boolean;

  /** Of the element itself, and of each of its terms. */
  readonly own: readonly SiteStep[];
  readonly ofTerms: readonly SiteStep[];

  constructor(readonly steps: readonly SiteStep[]) {
    this.own = steps.filter(({ ofTerm }) => !ofTerm);
    this.ofTerms = steps.filter(({ ofTerm }) => ofTerm);
    this.sites = steps.map(() => 0);
    this.exact = steps.map(() => 0n);
    this.summed = steps.some(({ table }) => table === undefined);
  }

  /** Where the value of a step that reads lies in its memory. */
  position({ form }: SiteStep, dims: readonly number[], env: Env): number {
    return evaluate(form, env, { dims, sites: this.sites });
  }

  /** The value of a step that reads nothing. */
  sum({ form }: SiteStep, dims: readonly number[], env: Env): bigint {
    return evaluateExact(form, dims, this.exact, env);
  }

  /** `take` of a step that reads nothing. */
  takeSum(step: SiteStep, dims: readonly number[], env: Env): number {
    const sum = this.sum(step, dims, env);
    return this.take(step, Number(sum), { exact: () => sum }, 0);
  }

  /** `take` of whatever a step comes by. `readers`: of the inputs that are read, by table. */
  takeFrom(
    step: SiteStep,
    readers: readonly (Reader | undefined)[],
    dims: readonly number[],
    env: Env,
  ): number {
    if (step.table === undefined) return this.takeSum(step, dims, env);
    const read = readers[step.table];
    invariant(read !== undefined, `input ${step.table} is read`);
    const position = this.position(step, dims, env);
    return this.take(step, read(position), read, position);
  }

  /**
   * `noElement` or `outOfRange` where the value ends the element, or the term. `value`: as `resolveIndex` takes it; `from` has it
   * exactly.
   */
  take({ site, rule, ends, fromEnd = 0 }: SiteStep, value: number, from: Exact, position: number): number {
    if (rule === undefined) {
      const counted = value < 0 ? fromEnd : 0;
      this.sites[site] = value + counted;
      this.exact[site] = from.exact(position) + BigInt(counted);
      return 0;
    }
    const element =
      value >= 0 && value < rule.below && value !== rule.but
        ? value
        : resolveIndex(rule, value, () => from.exact(position));
    if (element < 0) return element;
    this.sites[site] = element;
    if (ends !== undefined && element - at(this.sites, ends.from) > ends.most) return outOfRange;
    if (this.summed) this.exact[site] = BigInt(element);
    return 0;
  }
}
