/** Deliberate slips in how a tile program takes in terms: refused, trapped or without effect, and never a sum of other bits. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bytesFor,
  inputsOf,
  keyOf,
  targets,
  type AccessFunc,
  type DType,
  type TileFunc,
} from "../../ir/index.js";
import { tryCompile } from "../../src/index.js";
import { drawer, type Draw } from "../fuzz/mutate.js";
import { judge, type Verdict } from "../support/mutants.js";
import { descending, loopSlips, slipped, sumSlips } from "../support/mutate-sum.js";
import { bytes, randomBits } from "../support/random-value.js";
import { randomExact, randomSum } from "../support/random-sum.js";
import { runs } from "../support/runs.js";
import { parsedAccess } from "../support/parsed.js";

const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const slips = [...Object.keys(sumSlips), ...Object.keys(loopSlips)];

interface Given {
  readonly text: string;
  readonly inputs: Readonly<Record<string, Uint8Array>>;
}

/** The number of terms along a row, and the column of each. */
type Along = (columns: number, draw: Draw) => readonly [terms: number, column: string];

const each: Along = (columns) => [columns, "r"];

/** Terms that share columns, or are apart, in a row that may go on behind them. */
const apart: Along = (columns, draw) => {
  const [step, first] = [1 + draw(3), draw(2)];
  const terms = Math.floor((columns - 1 - first) / step) + 1 - draw(2);
  return terms < 1 || draw(4) === 0 ? [columns, "r div 2"] : [terms, `${step} * r + ${first}`];
};

/** Rows of elements of some types, summed along the row, where data alone follows r, or over rows. */
const randomRows =
  (types: readonly DType[], termsAlong: Along) =>
  (draw: Draw): Given => {
    const [rows, columns, count, most] = [1 + draw(6), 2 + draw(12), 1 + draw(4), 1 + draw(6)];
    const along = draw(2) === 0;
    const type = types[draw(types.length)]!;
    const [terms, element] = along ? termsAlong(columns, draw) : [most, "d1"];
    const [output, place] = along ? [`${count}x2`, "d0, d1"] : [`${count}x${columns}`, "d0, r"];
    const listed = count * (along ? 2 : most);
    const text = `func @f(%q: tensor<${rows}x${columns}x${type}>, %i: tensor<${count}x${along ? 2 : most}xi32>) -> tensor<${output}xf32> {
  %y = access.gather %q, %i (d0, d1; r < ${terms}) let t = clamp(%i[${place}] in ${rows}) yield fold(f32(%q[t, ${element}])) {oob = clamp}
  return %y
}
`;
    const q = Uint8Array.from({ length: bytesFor(rows * columns, type) }, () => draw(256));
    const i = bytes(
      "i32",
      Array.from({ length: listed }, () => randomBits("u8", draw) % BigInt(rows)),
    );
    return { text, inputs: { q, i } };
  };

interface Trial {
  readonly source: AccessFunc;
  readonly tile: TileFunc;
  readonly inputs: Parameters<typeof judge>[4];
}

/** A program whose tile cuts its terms, more often than not; undefined where that tile is refused. */
function trialOf({ text, inputs }: Given, target: (typeof targets)["cpu"], draw: Draw): Trial | undefined {
  const source = parsedAccess(text);
  const shape = source.operands.at(-1)!.type.shape;
  const tile = [...shape.map((extent) => 1 + draw(extent)), 1 + draw(source.map.reduced!.max)];
  const result = tryCompile(source, { target, tile, residency: draw(2) === 0 ? "gm" : "ub" });
  if (!result.ok) return undefined;
  const given = inputsOf(source).map((operand) => [
    keyOf(operand),
    { type: operand.type, bytes: inputs[operand.name]! },
  ]);
  return { source, tile: result.kernel.tile, inputs: Object.fromEntries(given) as Trial["inputs"] };
}

describe("a tile program of sums with one slip", () => {
  it.for([
    ["f32 and others, bags too", randomSum, 400],
    ["exact sums", randomExact, 200],
    ["rows of elements of 4 bits", randomRows(["u4", "i4"], each), 200],
    ["rows of whole bytes", randomRows(["u8", "i16", "f16", "i32"], each), 200],
  ] as const)("of %s is refused, trapped or has the same bits", async ([, random, tried]) => {
    const seen = new Map<string, Record<Verdict, number>>();
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const draw = drawer(seed);
        const target = [targets.ascendA2, targets.cpu, targets.webgpu][draw(3)]!;
        const trial = trialOf(random(draw), target, draw);
        if (trial === undefined) return;
        const { source, tile, inputs } = trial;
        for (const name of slips) {
          const verdict = await judge(slipped(tile, name, draw), tile, source, target, inputs);
          const counts = seen.get(name) ?? {
            unchanged: 0,
            refused: 0,
            "same bits": 0,
            "other bits, told": 0,
            "bad index": 0,
          };
          counts[verdict]++;
          seen.set(name, counts);
          if (verdict === "other bits, told") throw new Error(`${name} gives other bits`);
        }
      }),
      { numRuns: runs(tried), seed: 1 },
    );
    for (const name of slips) expect([name, seen.get(name)!.refused > 0]).toEqual([name, true]);
  });

  it("of terms apart runs alike on every executor, and one that is another program is told from its operator", async () => {
    const seen = new Set<Verdict>();
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const draw = drawer(seed);
        const target = [targets.ascendA2, targets.cpu, targets.webgpu][draw(3)]!;
        const trial = trialOf(randomRows(["u4", "i4", "u8", "i16", "f16", "i32"], apart)(draw), target, draw);
        if (trial === undefined) return;
        const { source, tile, inputs } = trial;
        for (const name of slips)
          seen.add(await judge(slipped(tile, name, draw), tile, source, target, inputs));
      }),
      { numRuns: 200, seed: 1 },
    );
    expect([...seen]).toEqual(expect.arrayContaining(["refused", "same bits", "other bits, told"]));
  });

  it("that takes its terms in from the last to the first is another program, and is told from its operator", async () => {
    let told = 0;
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const draw = drawer(seed);
        const trial = trialOf(randomSum(draw), targets.cpu, draw);
        if (trial === undefined) return;
        const { source, tile, inputs } = trial;
        const verdict = await judge(descending(tile), tile, source, targets.cpu, inputs);
        if (verdict === "other bits, told") told++;
      }),
      { numRuns: runs(200), seed: 1 },
    );
    expect(told).toBeGreaterThan(0);
  });
});
