/** What stands beside cycles: the floor by hand, time where a cycle is one, the bottleneck's share, in every report. */
import { describe, expect, it } from "vitest";
import { cyclesOf, formatRoofline, ratesOf, targets } from "../../ir/index.js";
import { compile, explain, legalTiles, onnx } from "../../src/index.js";
import { renderExplanation } from "../../src/report/index.js";
import { matchers } from "../../src/testing/matchers.js";
import { tune } from "../../src/tune/tune.js";
import { csvOf } from "../../src/tune/records/export-csv.js";
import { candidateRecord, taskHash, taskRecord } from "../../src/tune/records/record.js";
import { recosted } from "../../src/tune/records/recost.js";
import { placedRecords, recordLine } from "../../src/tune/records/text.js";
import { taskOf } from "../../src/tune/tune.js";

const embedding = onnx.gather({ data: ["f32", [50257, 768]], indices: ["i32", [4096]], axis: 0 });
// 4096 indices, and as many rows, read and written: what is written stays in L2, and 834 B a cycle are the most that reads take.
const moved = 4096 * 4 + 2 * 4096 * 3072;
const least = Math.ceil((4096 * 4 + 4096 * 3072) / 834);

describe("the floor beside cycles", () => {
  it("is the compulsory reads over the bandwidth where nothing else takes longer", () => {
    const schedule = { residency: "gm", tile: [32, 768] } as const;
    const found = explain(embedding, { target: targets.ascendA2, ...schedule });
    expect(found.floor).toEqual({
      cycles: least,
      limit: "global memory",
      ratio: found.cycles / least,
    });
    expect(found.microseconds).toBe(found.cycles / 1850);
    expect(found.gigabytesPerSecond).toBeCloseTo((moved * 1850e6) / found.cycles / 1e9, 6);
    const { memory } = cyclesOf(compile(embedding, schedule).tile, targets.ascendA2);
    expect(found.bottleneck).toEqual({ pipe: "gm", share: memory / found.cycles });
  });

  it("is the transfers of one core where there is one: stores at the best rate, after the first load", () => {
    const { floor } = explain(embedding, { target: targets.ascendA2, residency: "gm", cores: 1 });
    // The issue of two loads, indices and a row, with the least latency, a wait, and stores of 29 B a cycle.
    const first = Math.ceil(2 * 19.9) + 150 + 18;
    expect(floor).toMatchObject({ cycles: first + Math.ceil((4096 * 3072) / 29), limit: "dma" });
  });

  it("is gathers, or the start of tasks, where these take longest", () => {
    const long = onnx.gather({ data: ["f32", [4096]], indices: ["i32", [1 << 20]], axis: 0 });
    expect(
      explain(long, { target: { ...targets.ascendA2, gatherElementsPerCycle: 2, cores: 24 } }).floor.limit,
    ).toBe("vector");
    const wide = onnx.gather({ data: ["f32", [4096]], indices: ["i64", [1 << 20]], axis: 0 });
    expect(
      explain(wide, { target: { ...targets.ascendA2, gatherElementsPerCycle: 2, cores: 24 } }).floor.limit,
    ).toBe("scalar");
    expect(explain(long, { target: { ...targets.cpu, taskCycles: 1e7 } }).floor.limit).toBe("launch");
  });

  it("has a time where the clock rate has a source, and never on webgpu", () => {
    for (const target of Object.values(targets)) {
      const found = explain(embedding, { target, residency: "gm" });
      const known = target.kind === "ascend";
      expect("microseconds" in found, target.name).toBe(known);
      expect("gigabytesPerSecond" in found, target.name).toBe(known);
      expect(/ us at | GB\/s/.test(renderExplanation(found))).toBe(known);
      expect(renderExplanation(found)).toContain(
        `\nlower bound  ${found.floor.cycles.toLocaleString("en")} cycles for any schedule, set by `,
      );
    }
    const device = { kind: "vendor text", source: "asked" } as const;
    const { webgpu } = targets;
    expect(ratesOf({ ...webgpu, sources: { ...webgpu.sources, clockMhz: device } })).toBeUndefined();
  });

  it("is written as the page says", () => {
    const standing = {
      floor: { cycles: 178_707, limit: "global memory", ratio: 2.83 },
      microseconds: 273.1,
      gigabytesPerSecond: 565.3,
    } as const;
    expect(formatRoofline(standing, ratesOf(targets.ascendA2))).toBe(
      "lower bound 178,707 cycles (global memory), this takes 2.8 times that; 273 us at 1,850 MHz; 565 of 1,425 GB/s",
    );
    // L2 serves some of them.
    expect(formatRoofline({ ...standing, gigabytesPerSecond: 1690 }, ratesOf(targets.ascendA2))).toBe(
      "lower bound 178,707 cycles (global memory), this takes 2.8 times that; 273 us at 1,850 MHz; 1,690 GB/s with L2",
    );
    expect(formatRoofline({ floor: standing.floor }, undefined)).toBe(
      "lower bound 178,707 cycles (global memory), this takes 2.8 times that",
    );
  });

  it("is the same in every report of one program", async () => {
    const target = targets.ascendA2;
    const { floor, clock, cycles } = explain(embedding, { target, residency: "gm" });
    const found = await tune(embedding, { target, budget: 3 });
    const listed = legalTiles(embedding, { target, residency: "gm" });
    for (const one of [...found.candidates, ...listed.tiles]) {
      expect(one.floor).toEqual({ ...floor, ratio: one.cycles / floor.cycles });
      expect(one.clock).toBe(clock);
      expect(one.bottleneck.share).toBeGreaterThan(0);
      expect(one.bottleneck.share).toBeLessThanOrEqual(1);
    }
    const verdict = matchers.toTakeAtMost(() => compile(embedding, { target, residency: "gm" }), {
      cycles: 1,
    });
    expect(verdict.message()).toContain(
      `lower bound ${floor.cycles.toLocaleString("en")} cycles (global memory), this takes 1.1 times that`,
    );
    expect(cycles / floor.cycles).toBeCloseTo(1.1, 1);
  });

  it("is in records and csv; records of before have none, and get one where they are costed again", async () => {
    const target = targets.ascendA2;
    const options = { target, budget: 2 };
    const found = await tune(embedding, options);
    const task = taskOf(embedding, options);
    const hash = taskHash(task);
    const record = candidateRecord(hash, found.best, found.best.id);
    expect(record).toMatchObject({
      floor: found.best.floor,
      microseconds: found.best.cycles / 1850,
      bottleneck: found.best.bottleneck,
    });
    const [head = "", row = ""] = csvOf([record]).split("\n");
    const cell = (name: string): string | undefined => row.split(",")[head.split(",").indexOf(name)];
    expect([cell("floor"), cell("floor_limit"), cell("busiest")]).toEqual([
      String(least),
      "global memory",
      "gm",
    ]);
    const { floor: _, microseconds: __, gigabytesPerSecond: ___, bottleneck: ____, ...before } = record;
    const text = recordLine(taskRecord(task, 1, "0")) + recordLine(before);
    expect(recosted(placedRecords(text, "records"), "records").records[1]).toEqual(record);
  });
});
