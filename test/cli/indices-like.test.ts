/** explain --indices-like: what it counts, against loops over the same indices, and how indices are drawn. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { chooserOf, type IndexPattern } from "../../src/explain/index-patterns.js";
import { movementBy } from "../../src/explain/movement.js";
import { compile, onnx } from "../../src/index.js";
import { writeNpy } from "../../src/formats/npy.js";
import { runHere } from "../support/run-here.js";
import { runs } from "../support/runs.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("like");

interface Moved {
  readonly picks: number;
  readonly distinct: number;
  readonly none: number;
  readonly bytes: number;
  readonly bursts: number;
  readonly operands: Readonly<Record<string, { bytes: number; bursts: number; longestBurst: number }>>;
}

const file = (
  values: readonly number[],
  shape: readonly number[] = [values.length],
  dtype: "i32" | "i64" = "i32",
): string => {
  const path = join(folder, "indices.npy");
  const list = dtype === "i32" ? Int32Array.from(values) : BigInt64Array.from(values, BigInt);
  writeFileSync(path, writeNpy({ type: { dtype, shape }, bytes: new Uint8Array(list.buffer) }));
  return path;
};
const moved = async (args: readonly string[], like: string): Promise<Moved> => {
  const { stdout, stderr } = await runHere(["explain", ...args, "--indices-like", like, "--json"]);
  expect(stderr).toBe("");
  return (JSON.parse(stdout) as { readonly moved: Moved }).moved;
};

/** How many runs of neighbours a tile's rows are. */
const runsOf = (rows: readonly number[]): number =>
  rows.filter((row, k) => k === 0 || row !== rows[k - 1]! + 1).length;

it("counts rows, bytes and bursts of a file of indices as a loop over its tiles does", () => {
  const rowsAndTiles = fc.record({
    values: fc.array(fc.nat(39), { minLength: 1, maxLength: 60 }),
    tile: fc.integer({ min: 1, max: 20 }),
  });
  fc.assert(
    fc.property(rowsAndTiles, ({ values, tile: wanted }) => {
      const tile = Math.min(wanted, values.length);
      const data = onnx.gather({ data: ["f32", [40, 16]], indices: ["i32", [values.length]], axis: 0 });
      const kernel = compile(data, { target: "ascend-a2", residency: "gm", tile: [tile, 16] });
      const type = { dtype: "i32", shape: [values.length] } as const;
      const indices = { type, bytes: new Uint8Array(Int32Array.from(values).buffer) };
      const own = movementBy(kernel, { indices });
      let bursts = 0;
      for (let k = 0; k < values.length; k += tile) bursts += runsOf(values.slice(k, k + tile));
      const tiles = Math.ceil(values.length / tile);
      expect(own).toMatchObject({ picks: values.length, distinct: new Set(values).size, none: 0 });
      expect(own.operands["data"]).toMatchObject({ bytes: 64 * values.length, bursts });
      expect(own.operands["indices"]).toMatchObject({ bytes: 4 * values.length, bursts: tiles });
      expect(own.bytes).toBe((64 + 4 + 64) * values.length);
      expect(own.bursts).toBe(bursts + 2 * tiles);
    }),
    { numRuns: runs(100) },
  );
});

it("counts elements of gather-elements, pairs of gather-nd and indices that name no row", async () => {
  const values = [0, 5, 5, -1, 2, 0, 9, 5, 3, 3, 3, 99];
  const elements = await moved(
    ["--op", "gather_elements", "--data", "f32[3,10]", "--indices", "i32[3,4]", "--axis", "1"],
    file(values, [3, 4]),
  );
  const picked = values.map((value, k) => 10 * Math.floor(k / 4) + (value < 0 ? value + 10 : value));
  const inside = picked.filter((_, k) => values[k] !== 99);
  expect(elements).toMatchObject({ picks: 12, distinct: new Set(inside).size, none: 1 });
  const pairs = await moved(
    ["--op", "gather_nd", "--data", "f32[9,9,5]", "--indices", "i64[6,2]"],
    file([1, 2, 2, 1, 1, 2, 8, 8, -1, -1, 0, 3], [6, 2], "i64"),
  );
  expect(pairs).toMatchObject({ picks: 6, distinct: 4, none: 0 });
});

it("counts the rows of every bag of a sum, each term once", async () => {
  const path = join(folder, "bags.tir");
  const text = `func @bags(%x: tensor<50x4xf32>, %i: tensor<6x3xi32>) -> tensor<6x4xf32> {
  %y = access.gather %x, %i (d0, d1; r < 3) yield fold(%x[error(%i[d0, r] in 50), d1]) {oob = error}
  return %y
}
`;
  writeFileSync(path, text);
  const values = Array.from({ length: 18 }, (_, k) => (k * 7) % 11);
  expect(await moved([path], file(values, [6, 3]))).toMatchObject({
    picks: 18,
    distinct: new Set(values).size,
    none: 0,
  });
});

/** Index values that a pattern draws, by a generator of its own. */
function drawn(pattern: IndexPattern, count: number, range: { least: number; max: number }): number[] {
  let state = 12345;
  const random = (): number => (state = (state * 48271) % 0x7fffffff) / 0x7fffffff;
  const choose = chooserOf(pattern, count);
  return Array.from({ length: count }, (_, k) =>
    choose({ ...range, promised: false, limits: [-1e9, 1e9] }, k, random),
  );
}

it("draws ranks as often as Zipf's law has them", () => {
  for (const [exponent, ranks] of [
    [1.1, 1000],
    [1, 50],
    [0.5, 7],
    [3, 1e9],
  ] as const) {
    const count = 20_000;
    const values = drawn({ kind: "zipf", exponent }, count, { least: 10, max: 9 + ranks });
    const tally = new Map<number, number>();
    for (const value of values) tally.set(value, (tally.get(value) ?? 0) + 1);
    let sum = 0;
    for (let r = 1; r <= Math.min(ranks, 1e4); r++) sum += r ** -exponent;
    for (let r = 1; r <= Math.min(ranks, 20); r++) {
      const expected = (count * r ** -exponent) / sum;
      const seen = tally.get(9 + r) ?? 0;
      // Five standard deviations of a count.
      expect(Math.abs(seen - expected), `rank ${r} of ${exponent}`).toBeLessThan(5 * Math.sqrt(expected) + 1);
    }
    expect(values.every((value) => value >= 10 && value < 10 + ranks)).toBe(true);
  }
});

it("draws ascending indices over all of the range, runs, and one row", () => {
  const range = { least: 0, max: 99 };
  const sorted = drawn({ kind: "sorted" }, 10_000, range);
  expect(sorted).toEqual([...sorted].sort((a, b) => a - b));
  // A hundred of each in the mean: five standard deviations are fifty.
  for (let v = 0; v < 100; v++)
    expect(Math.abs(sorted.filter((own) => own === v).length - 100)).toBeLessThan(50);
  const inRuns = drawn({ kind: "runs", length: 8 }, 803, range);
  inRuns.forEach((value, k) => {
    if (k % 8 > 0) expect(value).toBe(inRuns[k - 1]! + 1);
    expect(value).toBeLessThanOrEqual(99);
  });
  expect(new Set(inRuns.filter((_, k) => k % 8 === 0)).size).toBeGreaterThan(40);
  expect(drawn({ kind: "runs", length: 8 }, 6, { least: 3, max: 5 }).map((v) => (v - 3) % 3)).toHaveLength(6);
  expect(new Set(drawn({ kind: "same" }, 100, range))).toEqual(new Set([0]));
  expect(new Set(drawn({ kind: "uniform" }, 5000, range)).size).toBe(100);
});

const rows = ["--op", "gather", "--data", "f32[50257,768]", "--axis", "0", "--residency", "gm"];

it("prints a table within 80 columns", async () => {
  const { stdout } = await runHere(["explain", ...rows, "--indices", "i32[4096]", "--indices-like", "same"]);
  for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(stdout).toContain("  4,096 picks of 1 distinct row\n");
});

it("refuses other kinds, more indices than it counts, and a file for several inputs", async () => {
  const refused = async (...args: readonly string[]) => (await runHere(["explain", ...args])).stderr;
  for (const kind of ["runs", "runs:0", "zipf:0", "sorted:1", "random"])
    expect(await refused(...rows, "--indices", "i32[9]", "--indices-like", kind)).toContain("error[TC701]");
  const many = await refused(
    ...rows.slice(0, 2),
    "--data",
    "f32[99,8]",
    "--indices",
    "i32[4194305]",
    "--indices-like",
    "same",
  );
  expect(many).toContain("error[TC702]: @gather looks up 4194305 index values");
  const path = file([1, 2, 3]);
  expect(await refused(...rows, "--indices", "i32[4]", "--indices-like", path)).toContain("error[TC012]");
  const two = join(folder, "two.tir");
  writeFileSync(
    two,
    `func @two(%x: tensor<9x8xf32>, %i: tensor<3xi32>, %j: tensor<3xi32>) -> tensor<3xf32> {
  %y = access.gather %x, %i, %j (d0) -> (%i[d0], %j[d0]) {oob = error}
  return %y
}
`,
  );
  expect(await refused(two, "--indices-like", path)).toContain("%i, %j".replaceAll("%", ""));
});
