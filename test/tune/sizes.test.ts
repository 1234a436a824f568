/** Families of sizes: what is best of each, the single one, and the table of ranges that `bind` takes its kernels from. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { bindSizes, CompileError, cyclesOf, dynamicFormOf, type ResolvedSchedule } from "../../ir/index.js";
import { compile, run, targets, tryCompile } from "../../src/index.js";
import {
  parseRecords,
  recordLine,
  tableRecord,
  taskHash,
  taskOf,
  taskRecord,
  tune,
  tuneSizes,
  type SizesResult,
} from "../../src/tune/index.js";
import { piecesOf } from "../../src/tune/sizes/pieces.js";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";
import { parsed } from "../support/parsed.js";

const most = 200;
const text = `dim N <= ${most}
func @rows(%e: tensor<100x16xf32>, %i: tensor<Nxi32>) -> tensor<Nx16xf32> {
  %y = access.gather %e, %i (d0, d1) -> (%i[d0], d1) {oob = clamp}
  return %y
}
`;
const func = parsed(text);
const target = targets.ascendA2;
const sizes = [1, 40, 100, most];

let found: SizesResult;
const recordsOf = (result: SizesResult) => {
  const task = taskOf(func, { target });
  return [taskRecord(task, 1, "0"), tableRecord(taskHash(task), result)];
};
/** Cycles of a program compiled for a size under a schedule, by no table. */
const cyclesAt = (size: number, schedule: ResolvedSchedule): number | null => {
  const bound = bindSizes(func, { N: size });
  if (!bound.ok) throw new CompileError(bound.diagnostics);
  const compiled = tryCompile(bound.func, { ...schedule, target });
  return compiled.ok ? cyclesOf(compiled.kernel.tile, target).cycles : null;
};

beforeAll(async () => {
  found = await tuneSizes(func, { target, sizes: { N: sizes }, pieces: 3, budget: 12 });
});

describe("a search over sizes", () => {
  it("finds no worse than a search of each, and says what each costs at every other", async () => {
    expect(found.sizes.map(({ size }) => size)).toEqual(sizes);
    for (const { size, best, others } of found.sizes) {
      const { best: alone } = await tune(func, { target, bind: { N: size }, budget: 12 });
      expect(best.cycles).toBeLessThanOrEqual(alone.cycles);
      expect(cyclesAt(size, best.schedule)).toBe(best.cycles);
      for (const other of others) {
        const winner = found.sizes.find((one) => one.size === other.size)!.best.schedule;
        expect(other.cycles).toBe(cyclesAt(size, winner));
      }
    }
  });

  it("names a single schedule, with its worst and its mean ratio", () => {
    const ratios = found.sizes.map(({ size, best, single }) => {
      expect(single.cycles).toBe(cyclesAt(size, found.single.schedule));
      return single.cycles / best.cycles;
    });
    expect(found.single.worst).toBe(Math.max(...ratios));
    const product = ratios.reduce((sum, ratio) => sum * ratio, 1);
    expect(found.single.mean).toBeCloseTo(product ** (1 / ratios.length), 12);
  });

  it("has pieces from 1 to the most without gaps, and is within a twentieth of the best at each size", () => {
    const { pieces } = found;
    expect(pieces.length).toBeLessThanOrEqual(3);
    expect(pieces[0]?.from).toBe(1);
    expect(pieces.at(-1)?.to).toBe(most);
    for (const [k, piece] of pieces.slice(1).entries()) expect(piece.from).toBe(pieces[k]!.to + 1);
    for (const { table, best } of found.sizes) expect(table.cycles / best.cycles).toBeLessThanOrEqual(1.05);
  });

  it("is the same again", async () => {
    expect(
      await tuneSizes(func, { target, sizes: { N: [...sizes].reverse() }, pieces: 3, budget: 12 }),
    ).toEqual(found);
  });

  it.each([
    [parsed(text.replace(`dim N <= ${most}\n`, "").replaceAll("Nx", "8x")), { N: [1] }, "TC702", "has none"],
    [func, { M: [1] }, "TC107", "the symbol of @rows is N"],
    [func, { N: [most + 1] }, "TC107", `dim N <= ${most} says 0 to ${most}`],
    [
      parsed(text.replace("dim N", "dim V <= 100\ndim N").replace("100x16", "Vx64")),
      { N: [1] },
      "TC702",
      "has V, N",
    ],
    [func, { N: [0] }, "TC702", "takes a list of sizes, 1 or more each"],
    [func, { N: [] }, "TC702", "takes a list of sizes, 1 or more each"],
  ])("refuses what leaves no size open, or another one", async (given, asked, code, message) => {
    const refused = tuneSizes(given, { target, sizes: asked });
    await expect(refused).rejects.toMatchObject({ diagnostics: [{ code }] });
    await expect(refused).rejects.toThrow(message);
  });
});

describe("a program with several symbols", () => {
  const two = text.replace("dim N", "dim V <= 100\ndim N").replace("100x16", "Vx16");

  it("is searched along one, with sizes for the others, as the program with these numbers is", async () => {
    const options = { target, sizes: { N: sizes }, pieces: 3, budget: 12 };
    const bound = await tuneSizes(parsed(two), { ...options, bind: { V: 100 } });
    expect(bound.symbol).toEqual(found.symbol);
    expect([bound.sizes, bound.pieces, bound.single]).toEqual([found.sizes, found.pieces, found.single]);
    await expect(tuneSizes(parsed(two), { ...options, bind: { V: 101 } })).rejects.toThrow("symbol V is 101");
  });

  it("has a table on the command line, which compile takes with the same --bind", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tilec-sizes-"));
    try {
      const [file, records] = [join(folder, "two.tir"), join(folder, "r.jsonl")];
      writeFileSync(file, two);
      const flags = ["--target", "ascend-a2", "--records", records];
      const refused = await runHere(["tune", file, "--sizes", "N=1,40", "--budget", "5", ...flags]);
      expect(refused.stderr).toContain("hint: bind all but one: --bind N=200");
      const args = ["--bind", "V=100", "--sizes", "N=1,40,200", "--budget", "12", ...flags, "--json"];
      const tuned = await runHere(["tune", file, ...args]);
      expect(tuned.status, tuned.stderr).toBe(0);
      const { pieces } = JSON.parse(tuned.stdout) as SizesResult;
      const compiled = await runHere(["compile", file, "--bind", "V=100,N=40", ...flags]);
      expect(compiled.status, compiled.stderr).toBe(0);
      const piece = pieces.find(({ to }) => 40 <= to);
      expect(compiled.stderr).toContain(`for N from ${piece?.from} to ${piece?.to}`);
      expect(compiled.stdout).toContain(`tile = [${piece?.schedule.tile.join(", ")}]`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("bind, given the records of a table,", () => {
  it("takes the schedule of the piece that a size lies in, and gives the bits of the reference", async () => {
    const records = recordsOf(found);
    const kernel = compile(func, { target, records });
    const data = Float32Array.from({ length: 100 * 16 }, (_, k) => k);
    for (const size of [0, 1, ...found.pieces.map(({ to }) => to), ...found.pieces.map(({ from }) => from)]) {
      const piece = found.pieces.find(({ to }) => size <= to)!;
      const bound = kernel.bind({ N: size });
      expect(bound.tile.schedule.tile).toEqual(piece.schedule.tile);
      const i = Int32Array.from({ length: size }, (_, k) => (k * 7919) % 100);
      const { outputs } = await run(bound, { e: data, i });
      expect(outputs.output).toEqual(
        Float32Array.from({ length: size * 16 }, (_, k) => data[i[Math.floor(k / 16)]! * 16 + (k % 16)]!),
      );
    }
    for (const { size, table } of found.sizes)
      expect(cyclesOf(kernel.bind({ N: size }).tile, target).cycles).toBe(table.cycles);
  });

  it("shares code within a piece, and compiles nothing where its piece is known", () => {
    const kernel = compile(func, { target, records: recordsOf(found) });
    const last = found.pieces.at(-1)!;
    const first = found.pieces[0]!;
    const [a, b] = [last.to, last.to - 1].map((N) => dynamicFormOf(kernel.bind({ N }).tile)?.program);
    expect(a).toBeDefined();
    expect(b).toBe(a);
    expect(dynamicFormOf(kernel.bind({ N: first.to }).tile)?.program).not.toBe(a);
  });

  it("is as without them for another program, and another target", () => {
    const records = recordsOf(found);
    const other = parsed(text.replace("clamp", "wrap"));
    for (const [given, chosen] of [
      [other, target],
      [func, targets.ascendA3],
    ] as const) {
      const at = (options: object) =>
        compile(given, { target: chosen, ...options }).bind({ N: 40 }).tile.schedule;
      expect(at({ records })).toEqual(at({}));
    }
  });
});

describe("a table of ranges", () => {
  /** The least worst ratio beyond a twentieth of every way to cut the sizes. */
  const worstOf = (
    cycles: readonly (readonly (number | null)[])[],
    least: readonly number[],
    pieces: number,
  ) => {
    const cut = (from: number, left: number): number => {
      if (from === least.length) return 1;
      if (left === 0) return Infinity;
      let best = Infinity;
      for (let to = from; to < least.length; to++)
        for (const own of cycles) {
          const ratios = least.slice(from, to + 1).map((cycle, k) => (own[from + k] ?? Infinity) / cycle);
          best = Math.min(best, Math.max(...ratios, cut(to + 1, left - 1)));
        }
      return best;
    };
    return cut(0, pieces);
  };

  it("is the nearest of all ways to cut the sizes", () => {
    const size = fc.integer({ min: 1, max: 5 });
    fc.assert(
      fc.property(
        size,
        size,
        size,
        fc.infiniteStream(fc.option(fc.integer({ min: 1, max: 40 }), { freq: 6 })),
        (n, c, pieces, stream) => {
          const cycles = Array.from({ length: c }, () =>
            Array.from({ length: n }, () => stream.next().value as number | null),
          );
          const least = Array.from({ length: n }, (_, k) =>
            Math.min(...cycles.map((own) => own[k] ?? Infinity)),
          );
          fc.pre(least.every(Number.isFinite));
          const ranges = piecesOf({ cycles, least, isRequested: least.map(() => true) }, pieces);
          const expected = worstOf(cycles, least, pieces);
          if (ranges === undefined) {
            expect(expected).toBe(Infinity);
            return;
          }
          expect(ranges.length).toBeLessThanOrEqual(pieces);
          const worst = Math.max(
            ...ranges.flatMap(({ from, to, candidate }) =>
              least.slice(from, to + 1).map((cycle, k) => cycles[candidate]![from + k]! / cycle),
            ),
          );
          expect(Math.max(1.05, worst)).toBe(Math.max(1.05, expected));
        },
      ),
    );
  });

  it("is a record that reads as it was written, and is refused with a gap", () => {
    const lines = recordsOf(found).map(recordLine);
    expect(parseRecords(lines.join(""), "r.jsonl").records).toEqual(recordsOf(found));
    const gap = lines.join("").replace('"from":1,', '"from":2,');
    expect(() => parseRecords(gap, "r.jsonl")).toThrow("from 1 on and without gaps");
  });
});

describe("tilec tune --sizes", () => {
  const folder = scratchFolder("sizes");
  it("writes a table that compile and records export take", async () => {
    const [file, records] = [`${folder}/rows.tir`, `${folder}/rows.jsonl`];
    writeFileSync(file, text);
    const flags = ["--target", "ascend-a2"];
    const tuned = await runHere([
      "tune",
      file,
      ...flags,
      "--sizes",
      `N=1,40,50..${most}`,
      "--pieces",
      "3",
      "--budget",
      "12",
      "--records",
      records,
      "--json",
    ]);
    const { sizes: rows, pieces, single } = JSON.parse(tuned.stdout) as SizesResult;
    expect(rows.map(({ size }) => size)).toEqual([1, 40, 50, 100, most]);
    expect(single.worst).toBeGreaterThanOrEqual(1);
    const compiled = await runHere([
      "compile",
      file,
      ...flags,
      "--records",
      records,
      "--bind",
      "N=40",
      "--json",
    ]);
    const own = pieces.find(({ to }) => 40 <= to)!;
    expect(compiled.stdout).toContain(JSON.stringify(own.schedule.tile).replaceAll(",", ", "));
    expect(compiled.stderr).toContain(`for N from ${own.from} to ${own.to}`);
    const json = await runHere(["records", "export", "--to", "json", records]);
    expect(JSON.parse(json.stdout)).toEqual(
      pieces.map(({ from, to, schedule: { tile, view, order, buffers, residency } }) => ({
        from,
        to,
        tile,
        view,
        order,
        buffers,
        residency,
      })),
    );
    const header = await runHere(["records", "export", "--to", "c-header", records]);
    expect(header.stdout.match(/^ {2}\{\d+, \d+, \{/gm)).toHaveLength(pieces.length);
    // A kernel for PTO-ISA of the same program is tilec_kernel_….
    expect(header.stdout).toMatch(/#ifndef TILEC_TABLE_(\w+)_H\n[^]*\} tilec_table_\1\[\] = \{/);
  });

  it.each([
    [["--sizes", "N"], "must be a symbol and a list of sizes"],
    [["--sizes", "N=0..4"], "must be a symbol and a list of sizes"],
    [["--pieces", "3"], "--pieces needs --sizes"],
    [["--sizes", "N=1", "--objective", "bytes"], "--objective bytes cannot be used with --sizes"],
    [["--sizes", "N=1", "--shard", "1/2"], "--shard cannot be used with --sizes"],
    [
      ["--sizes", "N=1", "--pipeline", "default, no hoist-loads", "--records", "r.jsonl"],
      "tables of the built-in pipeline",
    ],
    [["--sizes", "N=1", "--csv"], "--csv"],
  ])("%s is refused", async (flags, message) => {
    writeFileSync(`${folder}/rows.tir`, text);
    const { status, stderr } = await runHere(["tune", `${folder}/rows.tir`, ...flags]);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });
});
