import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ubBuffers, type DType, type Schedule, type SourceFunc } from "../../ir/index.js";
import { ubEnd } from "../../ir/tile.js";
import {
  compile,
  explain,
  legalTiles,
  onnx,
  pypto,
  targets,
  tryCompile,
  tune,
  type Kernel,
} from "../../src/index.js";
import { randomGather } from "../support/arbitrary.js";
import { unlessRefused } from "../support/refusal.js";

/** The peak of the kernel for PTO-ISA; undefined where there is none. */
const ptoPeak = (kernel: Kernel): number | undefined => unlessRefused(() => kernel.pto().ubPeak);

/** Gathers that fill the buffer of an Ascend core in part, in full and not at all. */
const largeGather: fc.Arbitrary<SourceFunc> = fc
  .record({
    of: fc.constantFrom("rows", "columns", "elements", "pypto.gather", "pypto.index_select"),
    dtype: fc.constantFrom<DType[]>("i8", "f16", "f32", "f64"),
    index: fc.constantFrom<DType[]>("i32", "i64"),
    rows: fc.integer({ min: 1, max: 3000 }),
    columns: fc.integer({ min: 1, max: 90 }),
    picks: fc.integer({ min: 1, max: 4000 }),
    oob: fc.constantFrom("error", "clamp", "wrap", "zero"),
  })
  .map(({ of, dtype, index, rows, columns, picks, oob }): SourceFunc => {
    switch (of) {
      case "rows":
        return onnx.gather({ data: [dtype, [rows, columns]], indices: [index, [picks]], axis: 0, oob });
      case "columns":
        return onnx.gather({ data: [dtype, [columns, rows]], indices: [index, [picks]], axis: 1, oob });
      case "elements":
        return onnx.gatherElements({
          data: [dtype, [columns, rows]],
          indices: [index, [columns, picks]],
          axis: 1,
          oob,
        });
      case "pypto.gather":
        return pypto.gather({ input: ["f32", [rows, columns]], index: [index, [picks, columns]], dim: 0 });
      case "pypto.index_select":
        return pypto.indexSelect({
          input: ["f32", [rows, columns]],
          index: [index, [picks]],
          dim: picks % 2,
        });
    }
  });

const chips = [targets.ascendA2, targets.ascendA3, targets.ascend950];

/** Schedules that leave the tile open, or state it. */
const schedules = (rank: number): fc.Arbitrary<Schedule> =>
  fc
    .record(
      {
        tile: fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(9999)), {
          minLength: rank,
          maxLength: rank,
        }),
        buffers: fc.constantFrom(1, 2),
        profile: fc.constantFrom("pages", "head"),
      },
      { requiredKeys: [], noNullPrototype: true },
    )
    .map((entries) => entries as Schedule);

const trial = fc
  .oneof(
    { arbitrary: largeGather, weight: 3 },
    randomGather.map(({ func }) => func),
  )
  .chain((func) => {
    const rank = func.operands.at(-1)!.type.shape.length;
    return fc.record({
      func: fc.constant(func),
      schedule: schedules(rank),
      target: fc.constantFrom(...chips),
    });
  });

describe("the bytes of unified buffer of a legal gather", () => {
  it("are one number: the parts, the total, the arena's end and the kernel's peak", () => {
    const seen = { legal: 0, kernels: 0, added: 0, defaults: 0 };
    fc.assert(
      fc.property(trial, ({ func, schedule, target }) => {
        const options = { ...schedule, target };
        const compiled = tryCompile(func, options);
        if (!compiled.ok) return;
        const { kernel } = compiled;
        const { footprint, diagnostics, rules } = explain(func, options);
        const { parts, bytes, planned, budget } = footprint;
        seen.legal++;
        expect(kernel.footprint).toEqual(footprint);
        expect(parts.reduce((sum, { counted }) => sum + counted, 0)).toBe(bytes);
        expect(planned).toBe(bytes);
        expect(rules.find(({ rule }) => rule === "ub-budget")?.detail).toContain(
          `${parts.length === 0 ? "nothing is copied to UB:" : "="} ${bytes} B <`,
        );
        expect(ubEnd(ubBuffers(kernel.tile).values())).toBe(bytes);
        const peak = ptoPeak(kernel);
        if (peak !== undefined) {
          seen.kernels++;
          expect(peak).toBe(bytes);
        }
        if (parts.some(({ use }) => use === "added")) seen.added++;
        const unsafe = bytes > target.ubSafeBytes && budget === target.ubBytes;
        expect(diagnostics.some(({ code }) => code === "TC905")).toBe(unsafe);
        if (schedule.tile === undefined) {
          seen.defaults++;
          // Above it only where no tile is legal within it.
          const within = bytes <= target.ubSafeBytes;
          expect(within || !tryCompile(func, { ...options, ubBytes: target.ubSafeBytes }).ok).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
    for (const [what, count] of Object.entries(seen)) expect([what, count > 20]).toEqual([what, true]);
  });

  it("stay within the safe size by default, where the fastest instructions would take more", () => {
    const func = onnx.gather({
      data: ["i8", [1, 59_712]],
      indices: ["i32", [124_970]],
      axis: 1,
      oob: "clamp",
    });
    const target = targets.ascendA2;
    const chosen = compile(func, { target });
    const { tile, buffers, ubBytes } = chosen.tile.schedule;
    expect(ubBytes).toBe(target.ubSafeBytes);
    expect(chosen.footprint!.bytes).toBeLessThanOrEqual(target.ubSafeBytes);
    expect(chosen.diagnostics).toEqual([]);
    // The same tile, where a schedule leaves all of the buffer to them.
    const stated = compile(func, { target, tile: tile!, buffers: buffers! });
    expect(stated.footprint!.bytes).toBeGreaterThan(target.ubSafeBytes);
    expect(stated.diagnostics.map(({ code, message }) => [code, message])).toEqual([
      [
        "TC905",
        `${stated.footprint!.bytes} B is within 196608 B but above the 188416 B that libraries leave alone`,
      ],
    ]);
  });

  it("are those of legal and of tune", async () => {
    const target = targets.ascendA2;
    const func = onnx.gather({ data: ["f32", [300, 64]], indices: ["i64", [500]], axis: 0 });
    const bytesOf = (schedule: Schedule): number => compile(func, { ...schedule, target }).footprint!.bytes;
    const { tiles } = legalTiles(func, { target });
    for (const { tile, view, order, buffers, residency, bytes } of tiles.slice(0, 20))
      expect([tile, bytes]).toEqual([tile, bytesOf({ tile, view, order, buffers, residency })]);
    expect(tiles.length).toBeGreaterThan(20);
    const { candidates } = await tune(func, { target, budget: 10 });
    for (const { schedule, ubBytes } of candidates)
      expect([schedule, ubBytes]).toEqual([schedule, bytesOf(schedule)]);
    expect(candidates.length).toBeGreaterThanOrEqual(10);
  });
});
