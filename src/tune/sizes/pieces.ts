/**
 * Ranges of sizes that cover all of them, each with one schedule, so that none is far from the best that is
 * known.
 */
import { at } from "../../../ir/index.js";

/**
 * Table of estimated cycles: `cycles[c][k]` has the cycles of schedule candidate `c` at the size with index
 * `k`; null if the candidate is not legal at that size.
 */
export type Cycles = readonly (readonly (number | null)[])[];

/**
 * Range of consecutive sizes that use one schedule candidate. `from` and `to` are the indices of the first
 * and the last size, and `candidate` is the index of the candidate.
 */
export interface SizeRange {
  readonly from: number;
  readonly to: number;
  readonly candidate: number;
}

/**
 * Distance of a choice from the best: the worst ratios at requested sizes and at sizes between, and the sum
 * of all ratios' logarithms.
 */
interface Distance {
  readonly requested: number;
  readonly between: number;
  readonly logs: number;
}

/** Ratio up to which a choice is near enough at requested sizes. Below it the sizes between decide. */
const nearEnough = 1.05;

const none: Distance = { requested: 1, between: 1, logs: 0 };

const joined = (a: Distance, b: Distance): Distance => ({
  requested: Math.max(a.requested, b.requested),
  between: Math.max(a.between, b.between),
  logs: a.logs + b.logs,
});

function isNearer(a: Distance, b: Distance): boolean {
  const [one, other] = [a, b].map(({ requested }) => Math.max(nearEnough, requested));
  if (one !== other) return (one ?? 1) < (other ?? 1);
  return a.between !== b.between ? a.between < b.between : a.logs < b.logs;
}

/**
 * Data for choosing one schedule candidate for each range of sizes. `cycles` has the estimated cycles of each
 * candidate at each size, and `least` the fewest cycles at each size. `isRequested` is true for a size that
 * the user requested.
 */
export interface Choice {
  readonly cycles: Cycles;
  readonly least: readonly number[];
  readonly isRequested: readonly boolean[];
}

/**
 * Returns at most `pieces` ranges that together contain all sizes, each with one schedule candidate. Returns
 * undefined if no choice is legal. The choice minimizes the greatest slowdown at a requested size. A slowdown
 * is the chosen candidate's cycles divided by the fewest cycles at that size. Slowdowns up to 1.05 count as
 * equal; the slowdowns at the other sizes then decide.
 */
export function piecesOf(choice: Choice, pieces: number): readonly SizeRange[] | undefined {
  interface Plan extends Distance {
    readonly ranges: readonly SizeRange[];
  }
  const single = nearestOf(choice);
  const sizes = choice.least.length;
  // By the first size that is not covered yet.
  let plans: (Plan | undefined)[] = [{ ...none, ranges: [] }];
  let best: Plan | undefined;
  for (let count = 0; count < pieces; count++) {
    const next: (Plan | undefined)[] = [];
    plans.forEach((plan, from) => {
      if (plan === undefined) return;
      for (let to = from; to < sizes; to++) {
        const alone = single(from, to);
        if (alone === undefined) break;
        const ranges = [...plan.ranges, { from, to, candidate: alone.candidate }];
        const longer: Plan = { ...joined(plan, alone), ranges };
        const cached = to === sizes - 1 ? best : next[to + 1];
        if (cached !== undefined && !isNearer(longer, cached)) continue;
        if (to === sizes - 1) best = longer;
        else next[to + 1] = longer;
      }
    });
    plans = next;
  }
  return best?.ranges;
}

interface Near extends Distance {
  readonly candidate: number;
}

/**
 * Returns a function that chooses the best schedule candidate for a range of sizes, given by the indices
 * `from` and `to` (inclusive). The function returns undefined if no candidate is legal at every size of the
 * range. The best candidate minimizes the greatest slowdown at a requested size. A slowdown is the
 * candidate's cycles divided by the fewest cycles at that size. Slowdowns up to 1.05 count as equal; the
 * slowdowns at the other sizes then decide.
 */
export function nearestOf(choice: Choice): (from: number, to: number) => Near | undefined {
  // By the first size, and by the sizes behind it as far as was asked for.
  const cached = new Map<number, (readonly Near[])[]>();
  return (from, to) => {
    const runs = cached.get(from) ?? [];
    cached.set(from, runs);
    for (let k = from + runs.length; k <= to; k++)
      runs.push((runs.at(-1) ?? all(choice)).flatMap((near) => longerBy(near, choice, k)));
    return at(runs, to - from).reduce<Near | undefined>(
      (nearest, near) => (nearest === undefined || isNearer(near, nearest) ? near : nearest),
      undefined,
    );
  };
}

/**
 * Returns the indices (ascending) of the schedule candidates that are among the `count` best for at least one
 * range of consecutive sizes. For a range, the candidates that are legal at all its sizes are compared by
 * slowdown, as {@link nearestOf} does.
 */
export function nearSome(choice: Choice, count: number): readonly number[] {
  const taken = new Set<number>();
  choice.least.forEach((_, from) => {
    let runs = all(choice);
    for (let to = from; to < choice.least.length; to++) {
      const end = to;
      runs = runs.flatMap((near) => longerBy(near, choice, end));
      for (const { candidate } of [...runs].sort((a, b) => (isNearer(a, b) ? -1 : 1)).slice(0, count))
        taken.add(candidate);
    }
  });
  return [...taken].sort((a, b) => a - b);
}

const all = ({ cycles }: Choice): readonly Near[] => cycles.map((_, candidate) => ({ ...none, candidate }));

/**
 * Adds the size with index `k` to the range for which a schedule candidate is rated. `near`: rating for the
 * range so far. Returns a list with the new rating, or an empty list if the candidate is not legal at the
 * size.
 */
function longerBy(near: Near, { cycles, least, isRequested }: Choice, k: number): readonly Near[] {
  const here = at(at(cycles, near.candidate), k);
  if (here === null) return [];
  const ratio = here / at(least, k);
  const [requested, between] = at(isRequested, k) ? [ratio, 1] : [1, ratio];
  return [{ candidate: near.candidate, ...joined(near, { requested, between, logs: Math.log(ratio) }) }];
}
