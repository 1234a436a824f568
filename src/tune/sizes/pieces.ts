/** Ranges of sizes that cover all of them, each with one schedule, so that none is far from the best that is known. */
import { at } from "../../../ir/index.js";

/** Cycles of each candidate at each size: null where it is not legal. */
export type Cycles = readonly (readonly (number | null)[])[];

/** Sizes [from, to] of a list, by their places, and the place of their candidate. */
export interface SizeRange {
  readonly from: number;
  readonly to: number;
  readonly candidate: number;
}

/** How far a choice is from the best: the worst ratios at sizes that were asked for and at those between, and the sum of the logarithms of all. */
interface Distance {
  readonly requested: number;
  readonly between: number;
  readonly logs: number;
}

/** Of sizes that were asked for no more than this is near enough: what lies between decides. */
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

/** What is chosen from: cycles of candidates at sizes in ascending order, the fewest that are known of each, and which were asked for. */
export interface Choice {
  readonly cycles: Cycles;
  readonly least: readonly number[];
  readonly isRequested: readonly boolean[];
}

/** At most so many ranges that cover all sizes, the nearest to the fewest cycles. Undefined where some size has no legal candidate. */
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

/** The candidate that is nearest over sizes [from, to]; undefined where none is legal at all of them. */
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

/** So many of the candidates that are nearest over each run of sizes. */
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

/** Over one size more; none where the candidate is not legal there. */
function longerBy(near: Near, { cycles, least, isRequested }: Choice, k: number): readonly Near[] {
  const here = at(at(cycles, near.candidate), k);
  if (here === null) return [];
  const ratio = here / at(least, k);
  const [requested, between] = at(isRequested, k) ? [ratio, 1] : [1, ratio];
  return [{ candidate: near.candidate, ...joined(near, { requested, between, logs: Math.log(ratio) }) }];
}
