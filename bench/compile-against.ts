/** The compilers of two builds in turns, on the programs of the conformance cases. */
import { median } from "../src/tune/median.js";
import { inTurns } from "./against.js";
import { compileSteps, warmUpPasses, type CompileSide, type CompileStep } from "./compile-side.js";
import { corpus } from "./corpus.js";
import { spreadOf, verdictOf, type Comparison, type Pair } from "./ratios.js";
import { percentile99 } from "./statistics.js";

/**
 * Turns of two passes for each build in a run. Threads of V8 still optimize during the first ones, and the
 * CPU time of a process includes that.
 */
const rounds = 10;

/** Statistics that are compared of the times of all programs. */
const figures = { median, "99th percentile": percentile99 } as const;

/**
 * Measures a compile step of programs in two tilec builds. Resolves to two lists, one for each build, with
 * the fastest time of each program in milliseconds of CPU time. `programs` has the indices of the programs.
 */
async function timedPrograms(
  [own, other]: Pair<CompileSide>,
  step: CompileStep,
  programs: readonly number[],
  ownFirst: boolean,
): Promise<Pair<readonly number[]>> {
  const passes = [() => own.pass(step, programs), () => other.pass(step, programs)] as const;
  for (const pass of passes) for (let k = 0; k < warmUpPasses; k++) await pass();
  const taken: [(readonly number[])[], (readonly number[])[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const [ofOwn, ofOther] = await inTurns(passes, ownFirst === (round % 2 === 0));
    taken[0].push(...ofOwn);
    taken[1].push(...ofOther);
  }
  const fastest = (all: readonly (readonly number[])[]): readonly number[] =>
    programs.map((_, k) => Math.min(...all.map((pass) => pass[k] ?? NaN)));
  return [fastest(taken[0]), fastest(taken[1])];
}

/**
 * Compares the compile times of two tilec builds on the programs of the conformance suite that both builds
 * compile. Resolves to two {@link Comparison}s for each compile step: of the median, and of the 99th
 * percentile. Every run calls `start` to load the builds anew.
 */
export async function compareCompilers(
  start: () => Promise<Pair<CompileSide>>,
  runs: number,
): Promise<readonly Comparison[]> {
  const programs = corpus();
  const rows = compileSteps.flatMap((step) =>
    Object.entries(figures).map(([figure, figureOf]) => ({
      name: `${step}, ${figure}`,
      step,
      figureOf,
      ms: [] as Pair<number>[],
    })),
  );
  for (let run = 0; run < runs; run++) {
    console.error(`run ${run + 1} of ${runs}`);
    const sides = await start();
    const [own, other] = [await sides[0].load(programs), await sides[1].load(programs)];
    const shared = programs.flatMap((_, k) => (own[k] === true && other[k] === true ? [k] : []));
    if (run === 0)
      console.error(`${shared.length} of ${programs.length} programs, which both builds compile`);
    for (const step of compileSteps) {
      const [ofOwn, ofOther] = await timedPrograms(sides, step, shared, run % 2 === 0);
      for (const row of rows.filter((one) => one.step === step))
        row.ms.push([row.figureOf(ofOwn), row.figureOf(ofOther)]);
    }
    for (const side of sides) await side.close();
  }
  return rows.map(({ name, ms }) => {
    const ratio = spreadOf(ms.map(([own, other]) => own / other));
    return {
      name,
      ms: [median(ms.map(([own]) => own)), median(ms.map(([, other]) => other))],
      ratio,
      runs: ms.length,
      verdict: verdictOf(ratio),
    };
  });
}
