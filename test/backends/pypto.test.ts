/** PyPTO programs: Python's own grammar parses them, and run on a stand-in they cover the output once, with the oracle's values. */
import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementCount, outputOf, parseModule, type SourceFunc } from "../../ir/index.js";
import { CompileError, compile, onnx, pypto, targets, tryCompile, type Kernel } from "../../src/index.js";
import { oracle } from "../oracle/gather.js";
import { randomSchedule, scheduledGather, type RandomGather } from "../support/arbitrary.js";
import { runs } from "../support/runs.js";

const folder = new URL("../pypto/", import.meta.url);

/** Undefined, with a word, where there is no Python; an error where CI=true, since CI must not skip. */
function python(): string | undefined {
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" });
    return "python3";
  } catch {
    if (process.env["CI"] === "true") throw new Error("no python3 in CI");
    console.warn("SKIPPED, python3 is not on the path");
    return undefined;
  }
}

type Nested = number | readonly Nested[];

/** Numbers in order, as nested lists of a shape. */
function nested(shape: readonly number[], value: (k: number) => number): Nested {
  let next = 0;
  const within = (depth: number): Nested =>
    depth === shape.length ? value(next++) : Array.from({ length: shape[depth]! }, () => within(depth + 1));
  return within(0);
}

const flat = (value: Nested): number[] => (typeof value === "number" ? [value] : value.flatMap(flat));

interface Result {
  readonly tiles: readonly (readonly number[])[];
  readonly output: Nested;
  readonly writes: readonly number[];
  readonly written: number;
}

interface Program {
  readonly kernel: Kernel;
  readonly gather: RandomGather["gather"];
  readonly indices: readonly number[];
}

function run(programs: readonly Program[]): readonly Result[] {
  const jobs = programs.map(({ kernel, gather, indices }) => ({
    program: kernel.pypto(),
    data: nested(gather.dataShape, (k) => k),
    indices: nested(gather.indexShape, (k) => indices[k]!),
    output: nested(outputOf(kernel.tile).type.shape, () => -1),
  }));
  const text = execFileSync("python3", [new URL("run.py", folder).pathname], {
    input: JSON.stringify(jobs),
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
  });
  return JSON.parse(text) as readonly Result[];
}

const columns = pypto.gather({ input: ["f32", [300, 40]], index: ["i32", [200, 40]], dim: 0 });
const rows = pypto.indexSelect({ input: ["f16", [50, 6, 20]], index: ["i64", [3, 4]], dim: 1 });

describe("a PyPTO program", () => {
  it("is as reviewed, with view loops and without", async () => {
    const text = (func: SourceFunc, schedule: object): string =>
      compile(func, { ...schedule, target: targets.ascendA2 }).pypto();
    await expect(text(columns, { view: [300, 24], tile: [300, 8] })).toMatchFileSnapshot(
      "pypto/goldens/views.py",
    );
    await expect(text(rows, { tile: [5, 3, 4, 20] })).toMatchFileSnapshot("pypto/goldens/index-select.py");
  });

  it("covers the output exactly once, whatever the views", (context) => {
    if (python() === undefined) return context.skip();
    const programs: Program[] = [];
    const arbitrary = scheduledGather.chain(({ random }) =>
      randomSchedule(outputOf(random.func).type.shape.length).map(({ schedule }) => ({ random, schedule })),
    );
    let viewed = 0;
    for (const { random, schedule } of fc.sample(arbitrary, { numRuns: runs(2500), seed: 7 })) {
      const result = tryCompile(random.func, { ...schedule, profile: "head", target: targets.ascendA2 });
      if (!result.ok) continue;
      const { kernel } = result;
      try {
        kernel.pypto();
      } catch (thrown) {
        if (thrown instanceof CompileError) continue;
        throw thrown;
      }
      const { gather } = random;
      const extent = gather.dataShape[gather.axis]!;
      const indices = Array.from({ length: elementCount(gather.indexShape) }, (_, k) => (k * 5 + 2) % extent);
      programs.push({ kernel, gather, indices });
      const { view } = kernel.tile.schedule;
      if (view!.some((entry, d) => entry < outputOf(kernel.tile).type.shape[d]!)) viewed++;
    }
    expect(viewed).toBeGreaterThan(runs(25));
    const results = run(programs);
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
      pypto.gather({ input: ["f32", [2, 2, 2, 2, 2]], index: ["i32", [2, 2, 2, 2, 2]], dim: 0 }),
      "TC505",
      "5 entries",
    ],
    ["a type", onnx.gather({ data: ["f64", [4, 5]], indices: ["i32", [3]] }), "TC104", "f64"],
  ])("is refused for %s", (_, func, code, words) => {
    const kernel = compile(func, { target: targets.ascendA2 });
    let thrown: unknown;
    try {
      kernel.pypto();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(CompileError);
    const [first] = (thrown as CompileError).diagnostics;
    expect(first?.code).toBe(code);
    expect(first?.message).toContain(words);
  });

  it("is no access program, which has no operator", () => {
    const text =
      "func @m(%x: tensor<5xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {\n" +
      "  %y = access.gather %x, %i (d0) -> (%i[d0]) {oob = error}\n  return %y\n}\n";
    const [func] = parseModule(text, "m.tir").module.funcs;
    expect(() => compile(func!).pypto()).toThrow("@m is an access map, and PyPTO takes operations");
  });

  it("is no altered tile program", () => {
    const kernel = compile(columns, { target: targets.ascendA2 });
    const altered = { ...kernel, tile: { ...kernel.tile } };
    expect(() => altered.pypto()).toThrow("is a tile program, and PyPTO takes operations");
  });
});
