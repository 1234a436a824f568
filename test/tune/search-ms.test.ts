import { describe, expect, it } from "vitest";
import {
  decided,
  modelLimit,
  plan,
  runOffRounds,
  searchMs,
  type Measurement,
  type Ranked,
} from "../../src/tune/search-ms.js";

/** Candidates whose true times are known, in milliseconds. */
interface Land {
  readonly ranked: readonly Ranked[];
  readonly truth: ReadonlyMap<string, number>;
}

function land(entries: readonly (readonly [id: string, weight: number, kind: string, ms: number])[]): Land {
  return {
    ranked: entries.map(([id, weight, kind]) => ({ id, weight, class: kind })),
    truth: new Map(entries.map(([id, , , ms]) => [id, ms])),
  };
}

const runsOf = (ms: number, count: number): Measurement => ({
  status: "measured",
  nanoseconds: Array.from({ length: count }, () => ms * 1e6),
});

function search({ ranked, truth }: Land, budget: number, own: string) {
  const asked: string[] = [];
  const limits = new Map<string, number>();
  const order = plan({ ranked, default: own, budget, seed: 1 }).map(({ id }) => id);
  return {
    asked,
    limits,
    order,
    found: searchMs({
      order,
      default: own,
      measure(id, { samples, limitMs }) {
        asked.push(id);
        if (!limits.has(id)) limits.set(id, limitMs);
        return Promise.resolve(runsOf(truth.get(id) ?? NaN, samples));
      },
    }),
  };
}

const flat = (n: number, from: number): readonly (readonly [string, number, string, number])[] =>
  Array.from({ length: n }, (_, k) => [`m${k}`, from + k, "ub", 10 + k] as const);

describe("the plan of a measured search", () => {
  it("leaves out what the model puts at more than eight times the best, and never the default", () => {
    const { ranked } = land([
      ["a", 10, "x", 1],
      ["b", 80, "x", 1],
      ["c", 81, "x", 1],
      ["own", 900, "x", 1],
    ]);
    expect(modelLimit).toBe(8);
    const ids = plan({ ranked, default: "own", budget: 10, seed: 1 }).map(({ id }) => id);
    expect(ids).toEqual(["own", "a", "b"]);
  });

  it("alternates the model's next with the best of each class, so that no class is left out", () => {
    const entries = [...flat(40, 100), ["g", 300, "gm", 1], ["h", 400, "gm large", 1]] as const;
    const { ranked } = land(entries);
    const ids = plan({ ranked, default: "m0", budget: 8, seed: 1 }).map(({ id }) => id);
    expect(ids.slice(0, 2)).toEqual(["m0", "m1"]);
    expect(ids).toContain("g");
    expect(ids).toContain("h");
    expect(ids.filter((id) => id.startsWith("m")).length).toBeGreaterThanOrEqual(4);
  });

  it("keeps to its budget, names nothing twice, and breaks ties of the model by the seed", () => {
    const ranked = Array.from({ length: 30 }, (_, k) => ({ id: `t${k}`, weight: 5, class: "one" }));
    const ids = (seed: number): string[] =>
      plan({ ranked, default: "t0", budget: 12, seed }).map(({ id }) => id);
    expect(new Set(ids(1)).size).toBe(12);
    expect(ids(1)).toEqual(ids(1));
    expect(ids(1)).not.toEqual(ids(2));
    expect(plan({ ranked, default: "t0", budget: 100, seed: 1 })).toHaveLength(30);
  });
});

describe("a measured search", () => {
  it("finds what a wrong model put behind, in a class of its own", async () => {
    const entries = [...flat(60, 100), ["hidden", 700, "gm", 2]] as const;
    const { found } = search(land(entries), 12, "m0");
    const { runOff } = await found;
    expect(decided(runOff, "m0")).toMatchObject({ significant: true, won: runOffRounds.max });
    expect(decided(runOff, "m0")?.order[0]).toBe("hidden");
  });

  it("runs the best six and the default in turns of at least 21 rounds, each round beginning with another", async () => {
    const slow = [...flat(20, 100), ["own", 100, "ub", 500]] as const;
    const { found, asked, order } = search(land(slow), 15, "own");
    const { runOff } = await found;
    expect(runOffRounds.least).toBe(21);
    expect([...runOff.keys()]).toHaveLength(7);
    expect(runOff.has("own")).toBe(true);
    const turns = asked.slice(order.length);
    expect(turns).toHaveLength(7 * runOffRounds.max);
    const firsts = Array.from({ length: 7 }, (_, round) => turns[7 * round]);
    expect(new Set(firsts).size).toBe(7);
    for (let round = 0; round < runOffRounds.max; round++) {
      expect(new Set(turns.slice(7 * round, 7 * round + 7)).size).toBe(7);
    }
  });

  it("gives a candidate a second, or twenty times the best", async () => {
    const quick = search(land(flat(4, 100)), 4, "m0");
    await quick.found;
    expect(quick.limits.get("m1")).toBe(1000);
    const long = search(
      land([
        ["own", 1, "x", 300],
        ["b", 2, "x", 400],
      ]),
      4,
      "own",
    );
    await long.found;
    expect(long.limits.get("b")).toBe(6000);
  });

  it("keeps what is wrong, late or broken out of the run-off", async () => {
    const { ranked } = land(flat(5, 100));
    const bad = new Map<string, Measurement>([
      ["m1", { status: "wrong", code: "TC610", reason: "another output" }],
      ["m2", { status: "timeout", code: "TC506", reason: "late" }],
      ["m3", { status: "error", code: "TC502", reason: "no room" }],
    ]);
    const { runOff, measurements } = await searchMs({
      order: ranked.map(({ id }) => id),
      default: "m0",
      measure: (id, { samples }) => Promise.resolve(bad.get(id) ?? runsOf(1, samples)),
    });
    expect([...runOff.keys()].sort()).toEqual(["m0", "m4"]);
    expect(measurements.get("m1")).toMatchObject({ status: "wrong" });
  });

  it("says that nothing beats the default where chance explains the difference", () => {
    const rounds = (wins: number): Map<string, number[]> =>
      new Map([
        ["own", Array.from({ length: 21 }, () => 100)],
        ["other", Array.from({ length: 21 }, (_, k) => (k < wins ? 90 : 101))],
      ]);
    // Of 21 fair coins, 14 or more heads have a chance of 0.0946, 15 or more of 0.0392 and 16 or more of 0.0133.
    expect(decided(rounds(14), "own")).toMatchObject({ won: 14, significant: false });
    expect(decided(rounds(14), "own")?.chance).toBeCloseTo(0.0946, 4);
    expect(decided(rounds(15), "own")).toMatchObject({ won: 15, significant: true });
    expect(decided(rounds(15), "own")?.chance).toBeCloseTo(0.0392, 4);
    const six = new Map([
      ...rounds(16),
      ...Array.from({ length: 5 }, (_, k) => [`x${k}`, Array.from({ length: 21 }, () => 200)] as const),
    ]);
    expect(decided(six, "own")).toMatchObject({ significant: false });
  });

  it("goes on from what is known, and stops between candidates when told", async () => {
    const asked: string[] = [];
    let stop = false;
    const { measurements, runOff } = await searchMs({
      order: ["a", "b", "c", "d"],
      default: "a",
      cached: new Map([["a", runsOf(5, 5)]]),
      stop: () => (stop ? "abort" : "no"),
      measure: (id, { samples }) => {
        asked.push(id);
        return Promise.resolve(runsOf(4, samples));
      },
      onMeasured: (id) => {
        stop = id === "c";
      },
    });
    expect(asked).toEqual(["b", "c"]);
    expect([...measurements.keys()]).toEqual(["a", "b", "c"]);
    expect(runOff.size).toBe(0);
  });
});
