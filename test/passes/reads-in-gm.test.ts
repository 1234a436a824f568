/** What PyPTO reads in global memory: the result alone decides, and what a kernel stages beside it is its own. */
import { describe, expect, it } from "vitest";
import { simulateBytes } from "../../backends/sim/index.js";
import { ubBuffers, type Func, type Schedule, type SourceFunc } from "../../ir/index.js";
import { definedOutput } from "../../src/api/against.js";
import { compile, explain, legalTiles, pypto, targets, tryCompile } from "../../src/index.js";
import { randomInputs } from "../../src/testing/random.js";
import { parsed } from "../support/parsed.js";

const paged = (table: number): SourceFunc =>
  pypto.gatherInUb({
    param: ["f16", [262144, 512]],
    indices: ["i32", [1, 2048]],
    blockTable: ["i32", [1, table]],
    blockSize: 128,
    axis: -2,
  });

const select = (input: readonly number[], index: number, dim: number): SourceFunc =>
  pypto.indexSelect({ input: ["f32", input], index: ["i32", [index]], dim });

/** Bytes of the result alone, rows in blocks of 32 B. */
const accepted: readonly (readonly [string, SourceFunc, readonly number[], number])[] = [
  ["rows through a table of pages", paged(4096), [188, 512], 188 * 1024],
  ["rows through a table that is longer than the buffer", paged(65536), [191, 512], 191 * 1024],
  ["elements along the last axis of a table that is longer", select([8, 100_000], 128, 1), [8, 128], 4096],
  ["as many elements as there is room for", select([8, 100_000], 6136, 1), [8, 6136], 8 * 6136 * 4],
  ["rows that leave no room for their indices", select([100_000, 64], 4096, 0), [767, 64], 767 * 256],
  ["elements of one dim, as many bytes as their indices", select([1_000_000], 40_000, 0), [40_000], 160_000],
];

describe("a tile that PyPTO accepts", () => {
  it.each(accepted)("is legal, and by its result alone: %s", (_, func, tile, result) => {
    for (const target of [targets.ascendA2, targets.ascendA3, targets.ascend950]) {
      for (const profile of ["strict", "pages", "head"] as const) {
        const options = { target, tile, profile };
        const { footprint } = compile(func, options);
        expect(footprint!.parts.find(({ part }) => part === "output")!.padded).toBe(result);
        // Under the profiles of its pages and its code, the buffer is larger than the result.
        const least = profile === "strict" ? result : result + 1;
        const fits = (ubBytes: number): boolean => tryCompile(func, { ...options, buffers: 1, ubBytes }).ok;
        expect([fits(least), fits(least - 1)]).toEqual([true, false]);
      }
    }
  });

  it("has its indices in UB where there is room, as a part of their own, and the kernel's text agrees", () => {
    const func = select([1000, 8], 64, 0);
    const seen = { staged: 0, read: 0 };
    for (let ubBytes = 2048; ubBytes <= 2560; ubBytes += 32) {
      const kernel = compile(func, { target: targets.ascendA2, tile: [64, 8], buffers: 1, ubBytes });
      const { parts } = kernel.footprint!;
      const staged = parts.some(({ part }) => part === "indices");
      seen[staged ? "staged" : "read"]++;
      expect(staged).toBe(ubBytes >= 2048 + 256);
      expect([...ubBuffers(kernel.tile).keys()].includes("indices_ub")).toBe(staged);
      expect(/gm_indices\[/.test(kernel.pto().code)).toBe(!staged);
      expect(explain(func, { ...kernel.tile.schedule, target: targets.ascendA2 }).footprint).toEqual(
        kernel.footprint,
      );
    }
    expect(seen).toEqual({ staged: 9, read: 8 });
  });

  it("is listed by legal", () => {
    const [func, target] = [select([40, 8], 20, 0), targets.ascendA2];
    // 20 rows of 32 B, of which 16 fit, their 64 B of indices not.
    const { count, tiles } = legalTiles(func, { target, ubBytes: 512 });
    expect(count).toBe(16 * 8);
    expect(tiles.some(({ tile }) => tile.join() === "16,8")).toBe(true);
    expect(tryCompile(func, { target, ubBytes: 512, tile: [16, 8] }).ok).toBe(true);
    expect(tryCompile(func, { target, ubBytes: 512, tile: [17, 8] }).ok).toBe(false);
    // One limit of a full load, whatever else is in UB.
    expect(legalTiles(select([8, 100_000], 128, 1), { target }).largestGatherDims).toHaveLength(1);
  });
});

describe("what of the indices is in global memory", () => {
  it.each([
    ["rows", select([50, 12], 24, 0), ["data", "indices"]],
    ["elements", select([5, 60], 24, 1), ["data", "indices"]],
    [
      "pages",
      pypto.gatherInUb({
        param: ["f32", [64, 12]],
        indices: ["i32", [1, 24]],
        blockTable: ["i32", [1, 16]],
        blockSize: 4,
        axis: -2,
      }),
      ["param", "indices", "block_table"],
    ],
  ] as const)("changes no bit, and moves what the closed form says: %s", (_, func, names) => {
    const target = targets.ascendA2;
    const open = compile(func, { target });
    const inputs = randomInputs(open, 5);
    const wanted = Buffer.from(definedOutput(func, open.tile, inputs)).toString("hex");
    const choices = names.reduce<Record<string, "ub" | "gm">[]>(
      (all, name) =>
        all.flatMap((one) => [
          { ...one, [name]: "gm" },
          { ...one, [name]: "ub" },
        ]),
      [{}],
    );
    for (const residency of choices) {
      for (const buffers of [1, 2] as const) {
        const schedule: Schedule = {
          residency,
          buffers,
          tile: func.operands.at(-1)!.type.shape.map((n) => Math.min(n, 7)),
        };
        const kernel = compile(func, { ...schedule, target });
        const { output, report } = simulateBytes(kernel, inputs);
        expect(Buffer.from(output).toString("hex")).toBe(wanted);
        const { traffic, cycles } = explain(func, { ...schedule, target });
        for (const { operand, bytes } of traffic.operands) {
          const counted = report.operands[operand]!.bytes;
          if (operand === "block_table") expect(counted).toBeLessThanOrEqual(bytes);
          else expect([residency, operand, counted]).toEqual([residency, operand, bytes]);
        }
        expect(report.timing.cycles).toBe(cycles);
        expect(report.ubPeak).toBe(kernel.footprint!.planned);
      }
    }
  });
});

describe("residency gm alone", () => {
  it.each(["strict", "pages", "head"] as const)(
    "has the data in global memory and the indices in UB, in an open schedule as in a complete one: %s",
    (profile) => {
      const target = targets.ascendA2;
      const func = pypto.indexSelect({ input: ["u16", [40]], index: ["i64", [5, 5]], dim: 0 });
      const open = { target, profile, residency: "gm", view: [4, 1], ubBytes: 128 } as const;
      const { schedule } = compile(func, open).access!;
      expect(schedule.residency).toBe("gm");
      const again = compile(func, { ...schedule, target });
      expect(again.access!.schedule).toEqual(schedule);
      const { tiles, count } = legalTiles(func, open);
      const compiled = [1, 2, 3, 4].map((rows) => tryCompile(func, { ...open, tile: [rows, 1] }));
      expect(count).toBe(compiled.filter(({ ok }) => ok).length);
      for (const { residency } of tiles) expect(residency).toBe("gm");
      // The result takes 32 B a row, and each row of indices as much.
      expect(tryCompile(func, { ...open, ubBytes: 224, tile: [4, 1], buffers: 1 }).ok).toBe(false);
      const result = { ...open, residency: { data: "gm", indices: "gm" } } as const;
      expect(tryCompile(func, { ...result, ubBytes: 160, tile: [4, 1], buffers: 1 }).ok).toBe(true);
    },
  );
});

describe("a computed value on an Ascend core", () => {
  /** gather_in_ub, a cast, a scale of its own for each 128 columns, a cast. */
  const scaled = (rows: number, framework = ""): Func =>
    parsed(
      `func @f(%kv: tensor<${rows}x512xi8>, %s: tensor<${rows}x4xf32>, %i: tensor<1x2048xi32>, %bt: tensor<1x2048xi32>) -> tensor<2048x512xbf16> {\n` +
        `  %y = access.gather %kv, %s, %i, %bt (d0, d1) let t = %i[0, d0] let p = error(128 * %bt[0, t div 128] + t mod 128 in ${rows}) ` +
        `yield bf16(f32(%kv[p, d1]) * %s[p, d1 div 128]) {oob = error${framework}}\n  return %y\n}\n`,
    );

  it("leaves tables that are too long in global memory, and says so", () => {
    for (const target of [targets.ascendA2, targets.ascend950]) {
      for (const options of [{}, { tile: [16, 512] }]) {
        const compiled = compile(scaled(262144), { target, ...options });
        expect(compiled.tile.schedule.residency).toEqual({ kv: "gm", s: "gm" });
        expect(compiled.diagnostics.find(({ code }) => code === "TC907")?.message).toBe(
          `residency kv=gm,s=gm: no tile is legal with residency ub, the default of ${target.name}`,
        );
      }
    }
    const target = targets.ascendA2;
    expect(tryCompile(scaled(262144, ", framework = pypto"), { target }).ok).toBe(true);
    expect(tryCompile(scaled(262144), { target, residency: "ub" }).ok).toBe(false);
    expect(legalTiles(scaled(262144), { target }).count).toBeGreaterThan(0);
    const short = compile(scaled(64), { target });
    expect([short.tile.schedule.residency, short.diagnostics]).toEqual(["ub", []]);
  });
});
