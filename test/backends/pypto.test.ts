/** PyPTO programs: Python's own grammar parses them, and run on a stand-in they cover the output once, with the oracle's values. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementCount, outputOf, type SourceFunc } from "../../ir/index.js";
import { compile, onnx, pypto, targets, tryCompile } from "../../src/index.js";
import { oracle } from "../oracle/gather.js";
import { randomSchedule, scheduledGather, type RandomGather } from "../support/arbitrary.js";
import { runs } from "../support/runs.js";
import { flat, nested, python, runPrograms, type Job, type Nested } from "../support/pypto.js";
import { languageWords } from "../support/words.js";
import { refusal } from "../support/refusal.js";
import { parsed } from "../support/parsed.js";

/** The data of a job: the number of each element. */
const numbered = (shape: readonly number[]): Nested => nested(shape, (k) => k);

const columns = pypto.gather({ input: ["f32", [300, 40]], index: ["i32", [200, 40]], dim: 0 });
const rows = pypto.indexSelect({ input: ["f16", [50, 6, 20]], index: ["i64", [3, 4]], dim: 1 });
const paged = pypto.gatherInUb({
  param: ["bf16", [64, 24]],
  indices: ["i32", [1, 40]],
  blockTable: ["i32", [1, 8]],
  blockSize: 8,
  axis: -2,
  level: "head",
});

describe("a PyPTO program", () => {
  it("is as reviewed, with view loops and without", async () => {
    const text = (func: SourceFunc, schedule: object): string =>
      compile(func, { ...schedule, target: targets.ascendA2 }).pypto();
    await expect(text(columns, { view: [300, 24], tile: [300, 8], buffers: 1 })).toMatchFileSnapshot(
      "pypto/goldens/views.py",
    );
    await expect(text(rows, { tile: [5, 3, 4, 20] })).toMatchFileSnapshot("pypto/goldens/index-select.py");
    await expect(text(paged, { view: [24, 24], tile: [8, 24] })).toMatchFileSnapshot(
      "pypto/goldens/gather-in-ub.py",
    );
  });

  it("covers the output exactly once, whatever the views", (context) => {
    if (python() === undefined) return context.skip();
    const programs: (Job & {
      readonly gather: RandomGather["gather"];
      readonly indices: readonly number[];
    })[] = [];
    const arbitrary = scheduledGather.chain(({ random }) =>
      randomSchedule(outputOf(random.func).type.shape.length).map(({ schedule }) => ({ random, schedule })),
    );
    let viewed = 0;
    for (const { random, schedule } of fc.sample(arbitrary, { numRuns: runs(2500), seed: 7 })) {
      const result = tryCompile(random.func, { ...schedule, profile: "head", target: targets.ascendA2 });
      if (!result.ok) continue;
      const { kernel } = result;
      if (refusal(() => kernel.pypto()) !== undefined) continue;
      const { gather } = random;
      const extent = gather.dataShape[gather.axis]!;
      const indices = Array.from({ length: elementCount(gather.indexShape) }, (_, k) => (k * 5 + 2) % extent);
      const inputs = [numbered(gather.dataShape), nested(gather.indexShape, (k) => indices[k]!)];
      programs.push({ kernel, inputs, gather, indices });
      const { view } = kernel.tile.schedule;
      if (view!.some((entry, d) => entry < outputOf(kernel.tile).type.shape[d]!)) viewed++;
    }
    expect(viewed).toBeGreaterThan(runs(10));
    const results = runPrograms(programs);
    results.forEach(({ tiles, output, writes, written }, k) => {
      const { kernel, gather, indices } = programs[k]!;
      const elements = Array.from({ length: elementCount(gather.dataShape) }, (_, e) =>
        Uint8Array.of(e & 255, e >> 8),
      );
      const expected = oracle(gather, elements, indices.map(BigInt));
      expect(tiles).toEqual([kernel.tile.schedule.tile]);
      expect(flat(output)).toEqual(expected.elements.map((e) => e![0]! + 256 * e![1]!));
      expect([writes, written]).toEqual([[1], elementCount(outputOf(kernel.tile).type.shape)]);
    });
  });

  it("has the operands and the name of a program whatever they are called", (context) => {
    if (python() === undefined) return context.skip();
    const own = [
      "a",
      "a_view",
      "view_a",
      "v0",
      "n0",
      "gm_a",
      "tilec_kernel_a",
      "__name__",
      "0",
      "a__b",
      "a_b",
      "_a_b_",
    ];
    const words = [...own, ...languageWords["python"]!];
    const small = pypto.gather({ input: ["f32", [6, 8]], index: ["i32", [5, 8]], dim: 0 });
    const jobs = Array.from({ length: Math.ceil(words.length / 4) }, (_, k): Job => {
      const names = [0, 1, 2, 3].map((place) => words[(4 * k + place) % words.length]!);
      const operands = small.operands.map((operand, place) => ({ ...operand, name: names[place]! }));
      const func = { ...small, operands, name: names[3]! };
      const kernel = compile(func, { view: [5, 3], tile: [5, 2], profile: "head", target: targets.ascendA2 });
      return { kernel, inputs: [numbered([6, 8]), nested([5, 8], (place) => (place * 5 + 2) % 6)] };
    });
    const expected = Array.from({ length: 40 }, (_, k) => 8 * ((k * 5 + 2) % 6) + (k % 8));
    for (const { output, written } of runPrograms(jobs))
      expect([flat(output), written]).toEqual([expected, 40]);
  });

  it("takes rows through a table of pages", (context) => {
    if (python() === undefined) return context.skip();
    const extent = (most: number) => fc.integer({ min: 1, max: most });
    const pages = fc.record({
      block: extent(6),
      pages: extent(7),
      used: extent(9),
      tokens: extent(30),
      columns: extent(40),
      tile: fc.tuple(extent(30), extent(40)),
      view: fc.tuple(extent(30), extent(40)),
      seed: fc.nat(),
    });
    let viewed = 0;
    const jobs: (Job & { readonly rows: readonly number[]; readonly columns: number })[] = [];
    for (const drawn of fc.sample(pages, { numRuns: runs(500), seed: 11 })) {
      const { block, tokens, columns, used, seed, view } = drawn;
      const tile = drawn.tile.map((entry, d) => Math.min(entry, view[d]!));
      const func = pypto.gatherInUb({
        param: ["f32", [block * used, columns]],
        indices: ["i32", [1, tokens]],
        blockTable: ["i32", [1, drawn.pages]],
        blockSize: block,
        axis: -2,
      });
      const result = tryCompile(func, { tile, view, target: targets.ascendA2 });
      if (!result.ok) continue;
      // A page by the table, the row inside by the remainder.
      const table = Array.from({ length: drawn.pages }, (_, k) => (seed + 5 * k) % used);
      const token = Array.from({ length: tokens }, (_, k) => (seed + 7 * k) % (drawn.pages * block));
      jobs.push({
        kernel: result.kernel,
        inputs: [numbered([block * used, columns]), [token], [table]],
        rows: token.map((t) => table[Math.floor(t / block)]! * block + (t % block)),
        columns,
      });
      if (view[0] < tokens || view[1] < columns) viewed++;
    }
    expect(viewed).toBeGreaterThan(runs(100));
    runPrograms(jobs).forEach(({ output, writes, written }, k) => {
      const { rows: picked, columns } = jobs[k]!;
      expect(output).toEqual(
        picked.map((row) => Array.from({ length: columns }, (_, c) => row * columns + c)),
      );
      expect([writes, written]).toEqual([[1], picked.length * columns]);
    });
  });

  it.each<[string, SourceFunc, string, string]>([
    [
      "tuples",
      onnx.gatherNd({ data: ["f32", [4, 5]], indices: ["i64", [3, 2]] }),
      "TC505",
      "tuples of indices",
    ],
    [
      "a policy",
      onnx.gather({ data: ["f32", [4, 5]], indices: ["i32", [3]], oob: "clamp" }),
      "TC505",
      "oob = clamp",
    ],
    [
      "more dims than a tile has entries",
      pypto.gather({
        input: ["f32", [2, 2, 2, 2, 2]],
        index: ["i32", [2, 2, 2, 2, 2]],
        dim: 0,
        level: "head",
      }),
      "TC505",
      "5 entries",
    ],
    ["a type", onnx.gather({ data: ["f64", [4, 5]], indices: ["i32", [3]] }), "TC104", "f64"],
    [
      "elements of 1 byte, which its table of tests has and its code refuses",
      pypto.gather({ input: ["i8", [4, 5]], index: ["i32", [4, 5]], dim: 0, level: "head" }),
      "TC505",
      "PyPTO's gather takes no i8",
    ],
    [
      "bool on other chips than the 950",
      onnx.gather({ data: ["bool", [4, 5]], indices: ["i32", [3]] }),
      "TC104",
      "bool on the 950 alone, not on ascend-a2",
    ],
    [
      "rows of data in UB",
      onnx.gather({ data: ["f32", [4, 5]], indices: ["i32", [3]] }),
      "TC505",
      "reads its data in global memory",
    ],
  ])("is refused for %s", (_, func, code, words) => {
    const kernel = compile(func, { target: targets.ascendA2 });
    const found = refusal(() => kernel.pypto());
    expect(found?.code).toBe(code);
    expect(found?.message).toContain(words);
  });

  it("is no access program, which has no operator", () => {
    const text =
      "func @m(%x: tensor<5xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {\n" +
      "  %y = access.gather %x, %i (d0) -> (%i[d0]) {oob = error}\n  return %y\n}\n";
    const func = parsed(text);
    expect(() => compile(func).pypto()).toThrow("@m is an access map, and PyPTO takes operations");
  });

  it("is no altered tile program", () => {
    const kernel = compile(columns, { target: targets.ascendA2 });
    const altered = { ...kernel, tile: { ...kernel.tile } };
    expect(() => altered.pypto()).toThrow("is a tile program, and PyPTO takes operations");
  });
});
