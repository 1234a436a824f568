/**
 * npm run bench:compile: time to compile and to emit WGSL and PTO-ISA C++, warm, and its independence of
 * tensor sizes.
 *
 * Medians over repeated runs in one process; figures compare with each other, not between machines.
 * `--against` compares the compilers of two builds on the case corpus.
 */
import { defaultLimits, emitWgsl } from "../backends/webgpu/index.js";
import { emitPto } from "../backends/pto/index.js";
import { packageFile } from "../src/device/package-files.js";
import { at } from "../ir/index.js";
import { compile, onnx, program, targets, type SourceFunc } from "../src/index.js";
import { table } from "../src/report/table.js";
import { median } from "../src/tune/median.js";
import { folderOf, runsOf } from "./arguments.js";
import { compareCompilers } from "./compile-against.js";
import { takeStep, warmUpPasses, type CompileStep } from "./compile-side.js";
import { corpus } from "./corpus.js";
import { fail, parseFlags, shared } from "./flags.js";
import { forkSide } from "./fork-side.js";
import type { CompileLibrary } from "./library.js";
import { reportComparison } from "./print-comparison.js";
import { percentile99 } from "./statistics.js";

const flags = parseFlags("bench:compile", "time to compile and to emit WGSL and PTO-ISA C++, warm", {
  json: shared.json,
  runs: shared.runs,
  against: shared.against,
});
const repeats = 15;

/** Runs an action 15 times and returns the median time in milliseconds. */
function time(action: () => void): number {
  const times = Array.from({ length: repeats }, () => {
    const start = performance.now();
    action();
    return performance.now() - start;
  });
  return median(times);
}

const own: CompileLibrary = { compile, onnx, program, targets, defaultLimits, emitWgsl };

/**
 * Measures a compile step over all programs and returns the median, the 99th percentile and the greatest
 * time, in milliseconds.
 */
function overPrograms(funcs: readonly SourceFunc[], step: CompileStep) {
  const round = (): readonly number[] =>
    funcs.map((func) => {
      const start = performance.now();
      takeStep(own, func, step);
      return performance.now() - start;
    });
  for (let k = 0; k < warmUpPasses; k++) round();
  const rounds = Array.from({ length: repeats }, round);
  const ms = funcs.map((_, k) => median(rounds.map((times) => at(times, k))));
  return { medianMs: median(ms), percentile99Ms: percentile99(ms), slowestMs: Math.max(...ms) };
}

/**
 * Measures the compile times of all programs of the conformance suite, and of one gather at five tensor
 * sizes, in milliseconds.
 */
function measured() {
  const funcs = corpus().map(program);
  const bySize = [2 ** 10, 2 ** 15, 2 ** 20, 2 ** 25, 2 ** 30].map((elements) => {
    const rows = Math.min(elements / 16, 2 ** 26);
    const columns = elements / rows;
    return {
      elements,
      func: onnx.gather({ data: ["f32", [64, columns]], indices: ["i32", [rows]], axis: 0 }),
    };
  });

  const cases = {
    count: funcs.length,
    ...overPrograms(funcs, "compile and emit WGSL"),
    withoutText: overPrograms(funcs, "compile"),
  };
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
        takeStep(own, func, "compile and emit WGSL");
      }),
      ascendMs: time(() => {
        compile({ ...func, schedule: { residency: "gm" } }, { target: targets.ascendA2 });
      }),
    };
  });
  return { sizes, cases };
}

/**
 * Prints the measured compile times in milliseconds: a table by number of output elements, and a line for
 * each compile step over all programs.
 */
function print({ sizes, cases }: ReturnType<typeof measured>): void {
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

const folder = folderOf(flags.against);
if (folder === undefined) {
  if (flags.runs !== undefined) fail("--runs is for a comparison", "--against FOLDER --runs 9");
  if (flags.json) console.log(JSON.stringify({ schema: 1, ...measured() }, null, 2));
  else print(measured());
} else {
  const rows = await compareCompilers(
    () => Promise.all([forkSide("compile", packageFile("./")), forkSide("compile", folder)]),
    runsOf(flags.runs, folder),
  );
  reportComparison(rows, folder, flags.json);
}
