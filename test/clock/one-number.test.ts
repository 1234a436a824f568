/** One number: what explain and legal say a program takes is what its run reports. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulateBytes } from "../../backends/sim/index.js";
import { loweringsOfProgram } from "../../ir/clock/statement.js";
import { byteCount, cyclesOf, givenEntries, outputOf, Tiling } from "../../ir/index.js";
import type { Lowerings } from "../../ir/tiling/lowering.js";
import { isResolved } from "../../ir/schedule-entries.js";
import { explain } from "../../src/api/explain.js";
import { legalTiles } from "../../src/api/legal-tiles.js";
import { compile, pypto, targets, tryCompile } from "../../src/index.js";
import { anyScheduledGather, inputsOf } from "../support/arbitrary.js";
import { expectedBytes } from "../support/expected.js";
import { runs } from "../support/runs.js";

describe("the cycles of a program", () => {
  it("are the same in explain, legal and run, for random programs of every target", () => {
    const ran = new Map(Object.values(targets).map((target) => [target.name, 0]));
    let listed = 0;
    fc.assert(
      fc.property(
        anyScheduledGather,
        fc.constantFrom(...Object.values(targets)),
        fc.nat(),
        ({ random, schedule }, target, pick) => {
          const options = { ...schedule, target };
          const result = tryCompile(random.func, options);
          if (!result.ok) return;
          const { kernel } = result;
          if (typeof expectedBytes(random) === "number") return;
          const { timing } = simulateBytes(kernel, inputsOf(random, kernel), { executor: "fast" }).report;
          expect(explain(random.func, options).cycles).toBe(timing.cycles);
          ran.set(target.name, (ran.get(target.name) ?? 0) + 1);
          // Whatever legal lists compiles, to a program that takes as long.
          const { tiles } = legalTiles(random.func, options);
          const tile = tiles[pick % Math.max(1, tiles.length)];
          if (tile === undefined) return;
          listed++;
          const again = tryCompile(random.func, { ...options, ...givenEntries(tile) });
          expect(again.ok && cyclesOf(again.kernel.tile, target).cycles).toBe(tile.cycles);
        },
      ),
      { numRuns: runs(1500) },
    );
    for (const [name, count] of ran) expect([name, count >= runs(100)]).toEqual([name, true]);
    expect([...ran.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(runs(500));
    expect(listed).toBeGreaterThan(runs(500));
  });

  it("are those of every tile that legal lists for rows that PyPTO reads in global memory, when it is typed", () => {
    const target = targets.ascendA2;
    const residencies = new Set<string>();
    for (const dim of [0, 1]) {
      const func = pypto.indexSelect({ input: ["f32", [40, 24]], index: ["i32", [20]], dim });
      const options = { target, profile: "pages" } as const;
      for (const tile of legalTiles(func, options).tiles.filter((_, k) => k % 3 === 0)) {
        const again = compile(func, { ...options, ...givenEntries(tile) });
        expect(cyclesOf(again.tile, target).cycles, JSON.stringify(tile)).toBe(tile.cycles);
        expect(again.footprint?.bytes).toBe(tile.bytes);
        residencies.add(JSON.stringify(tile.residency));
      }
    }
    expect(residencies.size).toBeGreaterThan(1);
  });

  it("follow from the same ways to gather, whether these are derived from the schedule or from the tile program", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(anyScheduledGather, ({ random, schedule, target }) => {
        const result = tryCompile(random.func, { ...schedule, target });
        // Loops of an output without elements do not run: nothing is lowered, and no buffer is kept for it.
        if (!result.ok || byteCount(outputOf(random.func).type) === 0) return;
        const { access, tile } = result.kernel;
        if (access === undefined || !isResolved(access.schedule)) throw new Error("compiled from source");
        const listed = ({ lowerings, eligible, further, lacking }: Lowerings) => [
          lowerings,
          eligible,
          [...further()],
          lacking,
        ];
        const ways = loweringsOfProgram(tile, target)!;
        expect(listed(ways)).toEqual(listed(new Tiling(access, access.schedule, target).lowerings));
        // The clock takes one of them.
        const { lost: _, ...own } = cyclesOf(tile, target).lowering!;
        expect([...ways.eligible, ...ways.further()]).toContainEqual(own);
        seen.add(own.class);
      }),
      { numRuns: 1500 },
    );
    for (const often of ["direct", "flat", "row-copy", "row-fetch", "scalar"]) expect(seen).toContain(often);
  });
});
