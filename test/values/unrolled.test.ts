/** Values of rows that vectors take: random ones on every backend, counted by the code that each takes. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maxSizesOf } from "../../backends/plan/gather.js";
import { FastExecutor } from "../../backends/sim/index.js";
import { planWasm } from "../../backends/wasm/index.js";
import { dimsOf, isConstant } from "../../ir/linear.js";
import { inputsOf, outputOf } from "../../ir/index.js";
import { spawnThread } from "../../src/device/index.js";
import type { Kernel } from "../../src/index.js";
import { drawer, type Draw } from "../fuzz/mutate.js";
import { float8Types, packedTypes, types } from "../oracle/values.js";
import { randomSum } from "../support/random-sum.js";
import { longRows, randomValue, type RandomValue } from "../support/random-value.js";
import { hasRightBitsOnWebgpu } from "../support/right-bits.js";
import { runs } from "../support/runs.js";
import { judgeValue } from "../support/value-trials.js";

const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const longValue = (draw: Draw): RandomValue =>
  draw(3) > 0 ? randomValue(draw, longRows) : randomSum(draw, undefined, longRows);

/** The unrolled code of a kernel in words: what it reads, reduces and stores, and what steps leave. Undefined where elements go one by one. */
function featuresOf({ tile }: Kernel): readonly string[] | undefined {
  const { gather } = planWasm(tile);
  const { unrolled, values } = gather ?? {};
  if (gather === undefined || unrolled === undefined) return undefined;
  const { map, to } = gather.stmt;
  const last = to.sizes.length - 1;
  const most = maxSizesOf(to.sizes, gather.loops)[last]!;
  const extent = outputOf(tile).type.shape[last]!;
  const sizes = isConstant(to.sizes[last]!) ? [most] : [most, extent % most];
  const moving = map.reads.filter((_, k) => !unrolled.still[k]!);
  return [
    `steps of ${unrolled.elements}`,
    `stores ${outputOf(tile).type.dtype}`,
    values?.reduction?.how ?? "no terms",
    ...moving.map(({ table }) => `reads ${inputsOf(tile)[table]!.type.dtype}`),
    ...sizes.map((size) => `leaves ${size % unrolled.elements}`),
    ...(gather.mayBeNone && gather.indexSteps.some(({ form }) => dimsOf(form).includes(last))
      ? ["fills steps"]
      : []),
    ...(unrolled.still.includes(true) ? ["still reads"] : []),
  ];
}

const wanted = [
  ...types.map((type) => `stores ${type}`),
  ...[...types, ...packedTypes, ...float8Types].map((type) => `reads ${type}`),
  ...["no terms", "fold", "mean", "max", "min"],
  ...Array.from({ length: 32 }, (_, left) => `leaves ${left}`),
  ...["steps of 16", "steps of 32", "fills steps", "still reads"],
];

describe("a value of a long row", () => {
  it("has its bits on the reference and each executor, and on threads", async () => {
    const [counts, trials] = [new Map<string, number>(), runs(2000)];
    let [unrolled, onThreads] = [0, 0];
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const draw = drawer(seed);
        await judgeValue(longValue(draw), draw, {
          others(kernel, inputs) {
            const features = featuresOf(kernel);
            for (const name of new Set(features)) counts.set(name, (counts.get(name) ?? 0) + 1);
            if (features !== undefined) unrolled++;
            if (features === undefined || unrolled % 100 > 0) return [];
            onThreads++;
            const run = async (): Promise<Uint8Array> => {
              const executor = await FastExecutor.open(kernel.tile, { threads: 2, spawn: spawnThread });
              try {
                return executor.run(inputs).output.slice();
              } finally {
                await executor.close();
              }
            };
            return [run];
          },
        });
      }),
      { numRuns: trials, seed: 1 },
    );
    expect(unrolled).toBeGreaterThanOrEqual(trials / 2);
    expect(onThreads).toBeGreaterThan(0);
    if (trials === 2000) expect(wanted.filter((name) => (counts.get(name) ?? 0) === 0)).toEqual([]);
  });

  hasRightBitsOnWebgpu(longValue, { programs: 100 });
});
