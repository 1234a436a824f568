/**
 * npm run bench:compile: time to compile and to emit WGSL and PTO-ISA C++, warm, and its independence of tensor sizes.
 *
 * Medians over repeated runs in one process; figures compare with each other, not between machines.
 */
import { readdirSync, readFileSync } from "node:fs";
import { defaultLimits, emitWgsl } from "../backends/webgpu/index.js";
import { emitPto } from "../backends/pto/index.js";
import { compile, onnx, program, targets, type Func, type Target } from "../src/index.js";
import { ownFile } from "../src/device/own-package.js";
import { readCases } from "../src/formats/cases.js";
import { table } from "../src/report/table.js";
import { median } from "../src/tune/median.js";

const repeats = 15;

function time(action: () => void): number {
  const times = Array.from({ length: repeats }, () => {
    const start = performance.now();
    action();
    return performance.now() - start;
  });
  return median(times);
}

const build = (func: Func, target: Target, emits = true): void => {
  const kernel = compile(func, { target });
  // Limits are data: the largest shapes here fit no device, and cost no more to emit.
  if (emits && target.kind === "webgpu")
    emitWgsl(kernel.tile, { limits: { ...defaultLimits, maxStorageBufferBindingSize: 2 ** 53 } });
};

const folder = ownFile("test/conformance/cases/");
const corpus = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .flatMap((name) => readCases(readFileSync(folder + name, "utf8"), name))
  .filter((test) => test.expectedError === undefined || test.expectedError === "index")
  .flatMap((test) => (test.program === undefined ? [] : [program({ ...test.program, schedule: {} })]));

const bySize = [2 ** 10, 2 ** 15, 2 ** 20, 2 ** 25, 2 ** 30].map((elements) => {
  const rows = Math.min(elements / 16, 2 ** 26);
  const columns = elements / rows;
  return { elements, func: onnx.gather({ data: ["f32", [64, columns]], indices: ["i32", [rows]], axis: 0 }) };
});

for (const { func } of bySize) build(func, targets.webgpu);
for (const func of corpus) build(func, targets.webgpu);

const sizes = bySize.map(({ elements, func }) => {
  const gm = compile(func, { residency: "gm", target: targets.ascendA2 }).tile;
  const ub = compile(func, { residency: "ub", target: targets.ascendA2 }).tile;
  return {
    outputElements: elements,
    ptoMs: time(() => {
      emitPto(gm, targets.ascendA2);
    }),
    ptoUbMs: time(() => {
      emitPto(ub, targets.ascendA2);
    }),
    webgpuMs: time(() => {
      build(func, targets.webgpu);
    }),
    ascendMs: time(() => {
      build({ ...func, schedule: { residency: "gm" } }, targets.ascendA2);
    }),
  };
});
const overCorpus = (emits: boolean) => {
  const ms = corpus
    .map((func) =>
      time(() => {
        build(func, targets.webgpu, emits);
      }),
    )
    .sort((a, b) => a - b);
  return {
    medianMs: median(ms),
    percentile99Ms: ms[Math.floor(0.99 * ms.length)] ?? 0,
    slowestMs: ms[ms.length - 1] ?? 0,
  };
};
const cases = { count: corpus.length, ...overCorpus(true), withoutText: overCorpus(false) };

if (process.argv.includes("--json")) console.log(JSON.stringify({ schema: 1, sizes, cases }, null, 2));
else {
  const round = (ms: number): string => ms.toFixed(3);
  console.log(
    table(
      ["output elements", "webgpu + WGSL ms", "ascend-a2 gm ms", "PTO of gm ms", "PTO of ub ms"],
      sizes.map((s) => [
        s.outputElements,
        round(s.webgpuMs),
        round(s.ascendMs),
        round(s.ptoMs),
        round(s.ptoUbMs),
      ]),
    ),
  );
  for (const [what, { medianMs, percentile99Ms, slowestMs }] of [
    ["compile", cases.withoutText],
    ["compile and emit WGSL", cases],
  ] as const)
    console.log(
      `case corpus, ${what}: ${cases.count} programs, median ${round(medianMs)} ms, 99th percentile ${round(percentile99Ms)} ms, slowest ${round(slowestMs)} ms`,
    );
}
