/** Ten cases with values under drawn tiles, orders and residencies, on the checked executor and the fast one on 1 to 3 threads: one output each. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { FastExecutor, simulateChecked } from "../../backends/sim/index.js";
import { inputsOf, keyOf, outputOf, targets, type Schedule } from "../../ir/index.js";
import { readCases } from "../../src/formats/cases.js";
import { spawnThread as spawn } from "../../src/device/index.js";
import { tryCompile } from "../../src/index.js";
import { drawer } from "../fuzz/mutate.js";
import { fastOutput } from "../support/fast.js";
import { runs } from "../support/runs.js";
import { parsedAccess } from "../support/parsed.js";

const file = new URL("../conformance/cases/values.json", import.meta.url);
const cases = readCases(readFileSync(file, "utf8"), "values.json");

const permutations = (dims: readonly number[]): readonly (readonly number[])[] =>
  dims.length < 2
    ? [dims]
    : dims.flatMap((dim) => permutations(dims.filter((own) => own !== dim)).map((rest) => [dim, ...rest]));

/** Every tile with or without an entry for terms, in every order, wherever the data lies. */
function schedulesOf(shape: readonly number[], terms: number): readonly Schedule[] {
  let tiles: readonly (readonly number[])[] = [[]];
  for (const extent of terms === 0 ? shape : [...shape, terms])
    tiles = tiles.flatMap((tile) => Array.from({ length: extent }, (_, k) => [...tile, k + 1]));
  return tiles.flatMap((tile) =>
    permutations(shape.map((_, d) => d)).flatMap((order) =>
      (["gm", "ub"] as const).map((residency) => ({ tile, order, residency })),
    ),
  );
}

it.for([
  "subnormal-00",
  "two-roundings-00",
  "row-scale-01",
  "elements-01",
  "combine-01",
  "combine-03",
  "cancel-00",
  "exact-00",
  "bag-02",
  "around-sum-00",
])("%s has one output under drawn schedules, on 1 to 3 threads", async (name) => {
  const test = cases.find(({ id }) => id === `values/a-${name}`);
  if (test?.tir === undefined || test.output === undefined) throw new Error(`no case ${name}`);
  const func = parsedAccess(test.tir);
  const want = Buffer.from(test.output.read().bytes).toString("hex");
  const inputs = Object.fromEntries(
    inputsOf(func).map((operand) => [keyOf(operand), test.inputs[operand.name]!.read()]),
  );
  const left = [...schedulesOf(outputOf(func).type.shape, func.map.reduced?.max ?? 0)];
  const draw = drawer(31);
  const most = runs(50);
  const found = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
  let legal = 0;
  while (legal < most && left.length > 0) {
    const k = draw(left.length);
    const schedule = left[k]!;
    left[k] = left.at(-1)!;
    left.pop();
    const target = [targets.ascendA2, targets.cpu][draw(2)]!;
    const result = tryCompile(func, { target, ...schedule });
    if (!result.ok) continue;
    legal++;
    const { tile } = result.kernel;
    const told = JSON.stringify(schedule);
    expect([told, found(simulateChecked(tile, inputs, target).output)]).toEqual([told, want]);
    expect([told, found(fastOutput({ tile }, inputs))]).toEqual([told, want]);
    // Starting threads takes longer than all the rest.
    const threads = legal % 10 === 1 ? [2, 3] : [];
    for (const count of threads) {
      const executor = await FastExecutor.open(tile, { threads: count, spawn });
      expect([told, count, found(executor.run(inputs).output)]).toEqual([told, count, want]);
      await executor.close();
    }
  }
  expect(legal).toBeGreaterThanOrEqual(Math.min(most, 8));
});
