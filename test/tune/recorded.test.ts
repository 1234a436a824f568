/**
 * The search by milliseconds on recorded runs: `npm run bench:record-times` measured every candidate of seven gathers that the model
 * does not prune. Each measurement of a search draws from the runs of its candidate, by its seed; the truth of a candidate is the
 * median of all its runs.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { median } from "../../src/tune/median.js";
import { decided, plan, searchMs } from "../../src/tune/search-ms.js";
import { seeded } from "../../src/tune/seeded.js";

interface Recorded {
  readonly name: string;
  readonly default: string;
  readonly candidates: readonly (readonly [string, number, string, readonly number[]])[];
}

const recorded = JSON.parse(
  readFileSync(new URL("./recorded.json", import.meta.url), "utf8"),
) as readonly Recorded[];
const seeds = Array.from({ length: 10 }, (_, k) => k + 1);
const budget = 50;

/** How far what a search chose is from the best of all, as a factor. */
async function searched({ default: own, candidates }: Recorded, seed: number): Promise<number> {
  const runs = new Map(candidates.map(([id, , , microseconds]) => [id, microseconds]));
  const draw = seeded(1000 + seed);
  const ranked = candidates.map(([id, weight, kind]) => ({ id, weight, class: kind }));
  const { runOff } = await searchMs({
    order: plan({ ranked, default: own, budget, seed }).map(({ id }) => id),
    default: own,
    measure(id, { samples }) {
      const known = runs.get(id) ?? [];
      const one = (): number => 1000 * (known[Math.floor(draw() * known.length)] ?? NaN);
      return Promise.resolve({ status: "measured", nanoseconds: Array.from({ length: samples }, one) });
    },
  });
  const race = decided(runOff, own);
  const chosen = race?.significant === true ? (race.order[0] ?? own) : own;
  const truth = (id: string): number => median(runs.get(id) ?? []);
  return truth(chosen) / Math.min(...[...runs.keys()].map(truth));
}

describe("a search by milliseconds over recorded runs", () => {
  it("is within 5 % of the exhaustive best for 9 of 10 seeds on 6 of 7 gathers", async () => {
    expect(recorded).toHaveLength(7);
    const within = new Map<string, number>();
    for (const one of recorded) {
      const factors = await Promise.all(seeds.map((seed) => searched(one, seed)));
      within.set(one.name, factors.filter((factor) => factor <= 1.05).length);
      if (process.env["SHOW"] !== undefined)
        console.log(one.name, one.candidates.length, factors.map((f) => f.toFixed(3)).join(" "));
    }
    const good = [...within.values()].filter((count) => count >= 9).length;
    expect(good, JSON.stringify([...within])).toBeGreaterThanOrEqual(6);
  });
});
