/** More of UB is never worse: the best of all schedules stays as fast, or becomes faster. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { CompileError, onnx, targets, tune, type SourceFunc } from "../../src/index.js";
import { runs } from "../support/runs.js";

const extent = (most: number) => fc.integer({ min: 1, max: most });
const dtype = fc.constantFrom("u8" as const, "f16" as const, "f32" as const, "f64" as const);
const index = fc.constantFrom("i32" as const, "i64" as const);
const oob = fc.constantFrom("error" as const, "clamp" as const, "zero" as const, "wrap" as const);

/** Rows, columns and elements of a matrix. */
const gather: fc.Arbitrary<SourceFunc> = fc
  .record({ rows: extent(40), columns: extent(200), picks: extent(60), axis: fc.nat(1), dtype, index, oob })
  .chain(({ rows, columns, picks, axis, dtype: of, index: by, oob: keep }) => {
    const data: [typeof of, number[]] = [of, [rows, columns]];
    const paired = axis === 0 ? [picks, columns] : [rows, picks];
    return fc.constantFrom(
      onnx.gather({ data, indices: [by, [picks]], axis, oob: keep }),
      onnx.gatherElements({ data, indices: [by, paired], axis, oob: keep }),
    );
  });

it(
  "with a pinned residency, the best of all schedules is never slower with more UB",
  { timeout: 280_000 },
  async () => {
    let faster = 0;
    await fc.assert(
      fc.asyncProperty(
        gather,
        fc.constantFrom("ub" as const, "gm" as const),
        fc.constantFrom(targets.ascendA2, targets.ascend950),
        fc.record({
          ubBytes: fc.integer({ min: 500, max: 12_000 }),
          more: fc.integer({ min: 32, max: 20_000 }),
          cores: extent(2),
        }),
        async (func, residency, target, { ubBytes, more, cores }) => {
          const best = async (bytes: number): Promise<number> => {
            try {
              const found = await tune(func, { target, residency, cores, ubBytes: bytes, budget: "all" });
              return found.best.cycles;
            } catch (thrown) {
              // No tile is legal.
              if (!(thrown instanceof CompileError)) throw thrown;
              return Infinity;
            }
          };
          const [less, all] = [await best(ubBytes), await best(ubBytes + more)];
          expect(all).toBeLessThanOrEqual(less);
          if (all < less) faster++;
        },
      ),
      {
        numRuns: runs(80),
        // A class whose gather is faster by itself, and which sets up more before the only one of a core.
        examples: [
          [
            onnx.gather({ data: ["u8", [1, 1]], indices: ["i32", [39]], axis: 0, oob: "clamp" }),
            "ub",
            targets.ascendA2,
            { ubBytes: 960, more: 7008, cores: 2 },
          ],
          // Room for longer strips.
          [
            onnx.gatherElements({
              data: ["f16", [40, 200]],
              indices: ["i32", [60, 200]],
              axis: 0,
              oob: "clamp",
            }),
            "ub",
            targets.ascendA2,
            { ubBytes: 6000, more: 20_000, cores: 1 },
          ],
        ],
      },
    );
    expect(faster).toBeGreaterThan(0);
  },
);
