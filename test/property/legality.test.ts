import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { categoryOf, type Diagnostic, type Schedule, type Shape, type SourceFunc } from "../../ir/index.js";
import { onnx, pypto, targets, tryCompile } from "../../src/index.js";
import { fullLoadBytes, fullLoadHolds, leastTiles, rowFetchBytes, type Tiles } from "../oracle/budget.js";
import { runs } from "../support/runs.js";

const dtypeBytes = { f32: 4, f16: 2, i8: 1, f64: 8 } as const;

interface Trial {
  readonly dtype: keyof typeof dtypeBytes;
  readonly wide: boolean;
  readonly elements: boolean;
  readonly data: readonly number[];
  readonly axis: number;
  readonly length: number;
  readonly tile: readonly number[];
  readonly view: readonly number[];
  readonly profile: "strict" | "pages" | "head";
  readonly residency: "ub" | "gm";
  readonly buffers: 1 | 2;
  readonly budget: number;
}

const trial: fc.Arbitrary<Trial> = fc.integer({ min: 1, max: 4 }).chain((rank) =>
  fc.record({
    dtype: fc.constantFrom("f32", "f16", "i8", "f64" as const),
    wide: fc.boolean(),
    elements: fc.boolean(),
    data: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: rank, maxLength: rank }),
    axis: fc.integer({ min: 0, max: rank - 1 }),
    length: fc.integer({ min: 1, max: 14 }),
    tile: fc.array(fc.integer({ min: 1, max: 14 }), { minLength: rank, maxLength: rank }),
    view: fc.array(fc.integer({ min: 1, max: 16 }), { minLength: rank, maxLength: rank }),
    profile: fc.constantFrom("strict", "strict", "pages", "head" as const),
    residency: fc.constantFrom("ub", "ub", "gm" as const),
    buffers: fc.constantFrom(1 as const, 2 as const),
    budget: fc.integer({ min: 32, max: 6000 }),
  }),
);

const program = (t: Trial): SourceFunc => {
  const indexType = t.wide ? "i64" : "i32";
  const indices = t.data.map((extent, k) => (k === t.axis ? t.length : extent));
  return t.elements
    ? onnx.gatherElements({ data: [t.dtype, t.data], indices: [indexType, indices], axis: t.axis })
    : onnx.gather({ data: [t.dtype, t.data], indices: [indexType, [t.length]], axis: t.axis });
};

const schedule = (t: Trial): Schedule => ({
  tile: t.tile,
  view: t.view,
  profile: t.profile,
  residency: t.residency,
  buffers: t.buffers,
  ubBytes: t.budget,
});

/** Both operators with one index dim give an output shaped as data with the axis' extent replaced. */
function tilesOf(t: Trial): Tiles {
  const output = t.data.map((extent, k) => (k === t.axis ? t.length : extent));
  const tile = output.map((extent, k) => Math.min(extent, t.tile[k]!, t.view[k]!));
  return {
    output: tile,
    data: t.data.map((extent, k) => (k === t.axis ? extent : Math.min(tile[k]!, extent))),
    indices: t.elements ? tile : [tile[t.axis]!],
  };
}

/** Bytes of a trial's tiles beside all that the gather takes. */
function needed(t: Trial): number {
  const whole = t.data.map(() => 99);
  const bytes = t.residency === "ub" ? fullLoadBytes : rowFetchBytes;
  const all = tilesOf({ ...t, tile: whole, view: whole });
  return bytes(tilesOf(t), all, dtypeBytes[t.dtype], t.wide ? 8 : 4, t.buffers);
}

function categories(t: Trial): string[] {
  const broken: string[] = [];
  if (t.residency === "gm" && t.elements) return ["residency"];
  const [input, index] = [t.data[t.axis]!, t.length];
  const pinned = t.residency === "ub" && t.elements;
  if (pinned && !fullLoadHolds(t.profile, t.view[t.axis], t.tile[t.axis]!, input, index))
    broken.push("full-load");
  if (needed(t) > t.budget) broken.push("ub-budget");
  return broken;
}

const errors = (diagnostics: readonly Diagnostic[]): Diagnostic[] =>
  diagnostics.filter((d) => d.severity === "error");

/** The schedule that a refusal suggests, as data. */
function suggestion(diagnostic: Diagnostic): Schedule | undefined {
  const data = diagnostic.data ?? {};
  if (data["nearestTile"] === undefined) return undefined;
  return {
    tile: data["nearestTile"] as Shape,
    view: data["nearestView"] as Shape,
    profile: data["nearestProfile"] as Trial["profile"],
    residency: data["nearestResidency"] as "ub" | "gm",
    order: data["nearestOrder"] as Shape,
    buffers: data["nearestBuffers"] as NonNullable<Schedule["buffers"]>,
  };
}

describe("legality", () => {
  it("is what independent arithmetic says, and every suggestion compiles", () => {
    const counts = { legal: 0, "full-load": 0, "ub-budget": 0, residency: 0, suggested: 0 };
    fc.assert(
      fc.property(trial, (t) => {
        const expected = categories(t);
        const result = tryCompile(program(t), { target: targets.ascendA2, ...schedule(t) });
        if (result.ok) {
          expect(expected).toEqual([]);
          counts.legal++;
          return;
        }
        const [first] = errors(result.diagnostics);
        const category = categoryOf(first!.code);
        expect(expected, first!.message).toContain(category);
        counts[category as "full-load"]++;
        const fixed = suggestion(first!);
        if (fixed === undefined) return;
        counts.suggested++;
        const again = tryCompile(program(t), { target: targets.ascendA2, ...schedule(t), ...fixed });
        expect(again.ok || errors(again.diagnostics), first!.message).toBe(true);
      }),
      { numRuns: runs(3000) },
    );
    for (const [kind, count] of Object.entries(counts))
      expect([kind, count > runs(20)]).toEqual([kind, true]);
  });

  it("accepts a legal tile exactly when one exists, when none is given", () => {
    fc.assert(
      fc.property(trial, (t) => {
        if (t.residency === "gm" && t.elements) return;
        const { tile: _tile, view: _view, ...open } = schedule(t);
        const result = tryCompile(program(t), { target: targets.ascendA2, ...open });
        const pinned = t.elements && t.profile === "strict" && t.residency === "ub";
        const output = t.data.map((extent, k) => (k === t.axis ? t.length : extent));
        const pins = new Map(pinned ? [[t.axis, Math.max(t.data[t.axis]!, t.length)]] : []);
        const view = output.map(() => 99);
        const least = leastTiles(output, pins).map((tile) => needed({ ...t, tile, view }));
        expect(result.ok).toBe(Math.min(...least) <= t.budget);
        if (!result.ok) expect(errors(result.diagnostics)[0]?.code).toBe("TC402");
      }),
      { numRuns: runs(1000) },
    );
  });
});

describe("both sides of each limit", () => {
  const strict = (rows: number, tile: Shape, options: Schedule = {}) =>
    tryCompile(pypto.gather({ input: ["f32", [rows, 64]], index: ["i32", [rows, 64]], dim: 0 }), {
      target: targets.ascendA2,
      tile,
      ...options,
    });

  it("fits 2047 rows of 8 f32 in 196608 B: 3 x 65504 + 64 is exactly one block under", () => {
    const tiles = { data: [2047, 8], indices: [2047, 8], output: [2047, 8] };
    expect(fullLoadBytes(tiles, tiles, 4, 4, 1)).toBe(196576);
    expect(strict(2047, [2047, 8]).ok).toBe(true);
  });

  it("refuses 2048 rows: 196672 B is over by 64", () => {
    const result = strict(2048, [2048, 8]);
    if (result.ok) throw new Error("2048 rows do not fit");
    expect(errors(result.diagnostics)[0]).toMatchObject({
      code: "TC402",
      data: { largestGatherDim: [2047] },
    });
  });

  it("meets a budget exactly, and misses it by one block", () => {
    // 1024 rows of 8: three tiles of 32768 B and 64 B of scratch.
    expect(strict(1024, [1024, 8], { ubBytes: 98368 }).ok).toBe(true);
    expect(strict(1024, [1024, 8], { ubBytes: 98336 }).ok).toBe(false);
    expect(strict(1024, [1024, 8], { buffers: 2 }).ok).toBe(false);
    expect(strict(1024, [1024, 8], { buffers: 2, ubBytes: 196672 }).ok).toBe(true);
  });

  it.each([
    [15, false],
    [16, true],
    [17, true],
  ])("judges tile[0] = %i of a gather dim of 16 under strict: %s", (entry, legal) => {
    expect(strict(16, [entry, 8]).ok).toBe(legal);
    expect(strict(16, [entry, 8], { profile: "head" }).ok).toBe(true);
  });

  it.each([
    [15, false],
    [16, true],
  ])("judges view[0] = %i of a gather dim of 16 under strict: %s", (entry, legal) => {
    expect(strict(16, [entry, 8], { view: [entry, 64] }).ok).toBe(legal);
  });
});
