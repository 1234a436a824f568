/** The bounded cache: what stays, what makes room, and who frees it. */
import { defined } from "../../ir/defined.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BoundedCache } from "../../backends/cache.js";

const recorded = (limit: number, costOf?: (value: number) => number) => {
  const disposed: number[] = [];
  const dispose = (value: number): void => void disposed.push(value);
  const cache = new BoundedCache<string, number>({
    limit,
    dispose,
    ...defined({ costOf }),
  });
  return { cache, disposed };
};

describe("a bounded cache", () => {
  it("evicts the value that was least recently set or got", () => {
    const { cache, disposed } = recorded(2);
    cache.set("a", 1);
    cache.set("b", 2);
    expect(cache.get("a")).toBe(1);
    cache.set("c", 3);
    expect(disposed).toEqual([2]);
    expect(["a", "b", "c"].map((key) => cache.get(key))).toEqual([1, undefined, 3]);
    expect(cache.size).toBe(2);
  });

  it("evicts as many as a value costs, and does not keep one that costs more than the limit", () => {
    const { cache, disposed } = recorded(100, (bytes) => bytes);
    for (const bytes of [30, 31, 32]) cache.set(`of ${bytes}`, bytes);
    cache.set("of 60", 60);
    expect(disposed).toEqual([30, 31]);
    cache.set("of 101", 101);
    expect(disposed).toEqual([30, 31, 32, 60, 101]);
    expect(cache.size).toBe(0);
  });

  it("frees a value that is replaced, and never one that was taken", () => {
    const { cache, disposed } = recorded(2);
    cache.set("a", 1);
    cache.set("a", 2);
    expect(disposed).toEqual([1]);
    expect(cache.take("a")).toBe(2);
    expect(cache.take("a")).toBe(undefined);
    cache.set("b", 3);
    cache.set("c", 4);
    cache.clear();
    expect(disposed).toEqual([1, 3, 4]);
  });

  it("never holds more than its limit, and frees every value that was set but those it holds or gave back", () => {
    const step = fc.record({
      action: fc.constantFrom("set", "get", "take", "clear"),
      key: fc.constantFrom("a", "b", "c", "d", "e"),
      cost: fc.integer({ min: 0, max: 6 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const freed: object[] = [];
        const cache = new BoundedCache<string, { cost: number }>({
          limit: 10,
          costOf: ({ cost }) => cost,
          dispose: (value) => freed.push(value),
        });
        const set: object[] = [];
        const taken: object[] = [];
        for (const { action, key, cost } of steps) {
          if (action === "set") {
            const value = { cost };
            set.push(value);
            cache.set(key, value);
          } else if (action === "take")
            taken.push(...[cache.take(key)].filter((value) => value !== undefined));
          else if (action === "get") cache.get(key);
          else cache.clear();
          const held = ["a", "b", "c", "d", "e"].flatMap((k) => cache.get(k) ?? []);
          expect(held.length).toBe(cache.size);
          expect(held.reduce((sum, value) => sum + value.cost, 0)).toBeLessThanOrEqual(10);
          expect(new Set([...held, ...taken, ...freed])).toEqual(new Set(set));
          expect(held.length + taken.length + freed.length).toBe(set.length);
        }
      }),
    );
  });
});
