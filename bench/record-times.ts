/**
 * npm run bench:record-times: every candidate of seven small gathers on the fast executor, measured over and
 * over, into test/tune/recorded.json: what the search by milliseconds is judged by. The passes over the
 * candidates are far apart, each in another order, so that what a machine does at one time does not fall on
 * one candidate.
 */
import { writeFileSync } from "node:fs";
import { lowered } from "../passes/index.js";
import { packageFile } from "../src/device/package-files.js";
import { simMeasurer } from "../src/device/index.js";
import { onnx, targets, tune, type SourceFunc } from "../src/index.js";
import { classOf } from "../src/tune/search-measured.js";
import { kept } from "../src/tune/search-ms.js";
import { seeded } from "../src/tune/seeded.js";
import type { SearchSpace } from "../src/tune/space.js";
import type { MeasuredTask, OpenMeasurer } from "../src/tune/index.js";
import { parseFlags } from "./flags.js";

parseFlags(
  "bench:record-times",
  "times of every candidate of seven gathers, into test/tune/recorded.json",
  {},
);

/**
 * The shapes of the benchmarks' first seven workloads, each dim so much smaller that a run takes about a
 * millisecond.
 */
const gathers: readonly (readonly [string, SourceFunc])[] = [
  ["W1", onnx.gather({ data: ["f32", [5000, 256]], indices: ["i32", [1024]], axis: 0 })],
  ["W2", onnx.gather({ data: ["f32", [100_000, 4]], indices: ["i32", [60_000]], axis: 0 })],
  ["W3", onnx.gather({ data: ["f32", [512, 1024]], indices: ["i32", [256]], axis: 1 })],
  ["W4", onnx.gatherElements({ data: ["f32", [512, 512]], indices: ["i32", [512, 512]], axis: 1 })],
  ["W5", onnx.gatherElements({ data: ["f32", [512, 512]], indices: ["i32", [512, 512]], axis: 0 })],
  ["W6", onnx.gatherElements({ data: ["f32", [4, 32, 32, 64]], indices: ["i32", [4, 32, 32, 64]], axis: 2 })],
  ["W7", onnx.gatherNd({ data: ["f32", [64, 64, 64]], indices: ["i64", [6000, 2]] })],
];
const target = targets.cpu;
const passes = 3;
const samples = 3;
const limitMs = 5000;

interface Recorded {
  readonly name: string;
  readonly default: string;
  /** Id, the model's weight, class, microseconds of each run. */
  readonly candidates: readonly (readonly [string, number, string, readonly number[]])[];
}

/**
 * Runs a minimal schedule search of a gather to obtain the search's internal data. Resolves to the input of a
 * measurer (`task`), the search space (`space`), and the id of the default schedule (`own`).
 */
async function opened(func: SourceFunc) {
  let task: MeasuredTask | undefined;
  let space: SearchSpace | undefined;
  const open: OpenMeasurer = (given) => {
    task = given;
    return simMeasurer()(given);
  };
  const found = await tune(func, {
    target,
    objective: "ms",
    budget: 1,
    measure: { backend: "sim", open },
    onSpace: (_, all) => (space = all),
  });
  if (task === undefined || space === undefined) throw new Error("the search began");
  return { task, space, own: found.default.id };
}

/** Returns the items in a pseudo-random order that the seed determines. */
function shuffled<T>(items: readonly T[], seed: number): readonly T[] {
  const draw = seeded(seed);
  return items
    .map((item) => ({ item, key: draw() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

const recorded: Recorded[] = [];
for (const [name, func] of gathers) {
  const { task, space, own } = await opened(func);
  const entries = space.entries.map((entry) => ({
    entry,
    weight: entry.weight,
    tile: lowered(entry.tiling),
  }));
  const measured = kept(entries);
  const times = new Map<string, number[]>();
  const measurer = await simMeasurer()(task);
  for (let pass = 0; pass < passes; pass++) {
    for (const { entry, tile } of shuffled(measured, pass)) {
      const result = await measurer.measure(tile, { samples, limitMs });
      if (result.status !== "measured") throw new Error(`${name}: ${result.reason}`);
      const known = times.get(entry.facts.id) ?? [];
      times.set(entry.facts.id, [...known, ...result.nanoseconds.map((ns) => Math.round(ns / 100) / 10)]);
    }
    console.error(
      `${name}: pass ${pass + 1} of ${passes}, ${measured.length} of ${entries.length} candidates`,
    );
  }
  await measurer.close();
  recorded.push({
    name,
    default: own,
    candidates: measured.map(({ entry }) => [
      entry.facts.id,
      Math.round(entry.weight),
      classOf(entry),
      times.get(entry.facts.id) ?? [],
    ]),
  });
}
const lines = recorded.map((one) => JSON.stringify(one));
writeFileSync(packageFile("test/tune/recorded.json"), `[\n${lines.join(",\n")}\n]\n`);
