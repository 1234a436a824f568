import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forEachGroup } from "../../backends/sim/iteration-groups.js";
import { simulateBytes } from "../../backends/sim/index.js";
import { BurstRun, Counter } from "../../backends/sim/counter.js";
import { Runs } from "../../backends/sim/runs.js";
import { constant, evaluate, iterations, iv, min, sub, targets, type ForStmt } from "../../ir/index.js";
import { loopsAndForms } from "../support/loops.js";
import { parsedTile } from "../support/parsed.js";

/** How often each list of values comes up. */
type Tally = Map<string, number>;
const count = (tally: Tally, values: readonly number[], times: number): void => {
  const key = values.join();
  tally.set(key, (tally.get(key) ?? 0) + times);
};
const sorted = (tally: Tally): [string, number][] => [...tally].filter(([, n]) => n !== 0).sort();

describe("groups of equal iterations", () => {
  it("are the iterations one by one, for any loops and forms", () => {
    fc.assert(
      fc.property(loopsAndForms(3), ({ loops, forms }) => {
        const [grouped, single]: [Tally, Tally] = [new Map(), new Map()];
        forEachGroup(loops, forms, (values, times) => {
          count(grouped, values, times);
        });
        for (const env of iterations(loops))
          count(
            single,
            forms.map((form) => evaluate(form, env)),
            1,
          );
        expect(sorted(grouped)).toEqual(sorted(single));
      }),
      { numRuns: 500 },
    );
  });

  it("are few however many iterations there are: whole tiles and tails, in whole views and the last", () => {
    const extent = constant(1_000_000_007);
    const loop = (name: string, from: ForStmt["lower"], to: ForStmt["upper"], step: number): ForStmt => ({
      op: "for",
      iv: name,
      lower: from,
      upper: to,
      step,
      mode: "parallel",
      body: [],
    });
    const end = min(sub(iv("v"), constant(-1000)), extent);
    const loops = [loop("v", constant(0), extent, 1000), loop("t", iv("v"), end, 7)];
    const groups: [number, number][] = [];
    forEachGroup(loops, [min(constant(7), sub(end, iv("t")))], ([size], times) =>
      groups.push([size!, times]),
    );
    // 1000 = 142 * 7 + 6, a million times, and 7 more elements.
    expect(groups).toEqual([
      [7, 142 * 1_000_000],
      [6, 1_000_000],
      [7, 1],
    ]);
  });
});

describe("runs of addresses", () => {
  const bursts = (fill: (counter: Counter) => void) => {
    const counter = new Counter(32);
    fill(counter);
    return counter.report(0);
  };

  it("repeated in closed form are those touched one after the other", () => {
    const level = fc.record({
      times: fc.integer({ min: 1, max: 4 }),
      shift: fc.integer({ min: -6, max: 12 }),
    });
    const touched = fc.record({ address: fc.nat(12), length: fc.integer({ min: 1, max: 3 }) });
    fc.assert(
      fc.property(
        fc.array(touched, { minLength: 1, maxLength: 4 }),
        fc.array(level, { maxLength: 3 }),
        (list, levels) => {
          const runs = new Runs();
          for (const { address, length } of list) runs.add(address, length);
          for (const { times, shift } of levels) runs.repeat(times, shift);
          const all = levels.reduce(
            (inner, { times, shift }) =>
              Array.from({ length: times }, (_, k) =>
                inner.map(({ address, length }) => ({ address: address + k * shift, length })),
              ).flat(),
            list,
          );
          const expected = bursts((counter) => {
            const run = new BurstRun(counter);
            for (const { address, length } of all) run.add(4 * address, 4 * length);
            run.end();
          });
          expect(
            bursts((counter) => {
              runs.report(counter, 4, 1);
            }),
          ).toEqual(expected);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("an access map that names an index component twice", () => {
  const text = `func @pairs(%x: gm<4x4xu8>, %i: gm<6x3xi32>, %y: gm<6xu8>) target("cpu") {
  for %t = 0 to 6 step 4 parallel {
    gather %x[0, 0][4, 4], %i[%t, 0][min(4, 6 - %t), 3] to %y[%t][min(4, 6 - %t)] (d0) -> (%i[d0, 1], %i[d0, 1]) {oob = clamp, origin = [%t, 0]}
  }
}`;

  it("reads it once: 24 B in six bursts, on both executors", () => {
    const tile = parsedTile(text);
    const inputs = {
      data: { type: tile.operands[0]!.type, bytes: Uint8Array.from({ length: 16 }, (_, k) => k) },
      indices: {
        type: tile.operands[1]!.type,
        bytes: new Uint8Array(Int32Array.from({ length: 18 }, (_, k) => k % 4).buffer),
      },
    };
    for (const executor of ["checked", "fast"] as const) {
      const { output, report } = simulateBytes({ tile, target: targets.cpu }, inputs, { executor });
      expect([...output]).toEqual([5, 0, 15, 10, 5, 0]);
      expect(report.operands["indices"]).toMatchObject({ bytes: 24, bursts: 6, transfers: 2 });
    }
  });
});
