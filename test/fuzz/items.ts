/**
 * What one seed tries. Programs must give the oracle's bits, or its error, on every backend; everything else must give
 * diagnostics or a result.
 */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { reference } from "../../backends/reference/index.js";
import { simulateBytes, simulateChecked } from "../../backends/sim/index.js";
import type { Runner } from "../../backends/webgpu/index.js";
import { kernelStats } from "../../backends/wgsl/index.js";
import {
  budgetRules,
  byteCount,
  CompileError,
  elementCount,
  equalModule,
  findTarget,
  hasScatter,
  inputsOf as operandsIn,
  keyOf,
  dynamicSymbols,
  parseModule,
  printFunc,
  printModule,
  RunError,
  type BudgetRule,
  type Func,
} from "../../ir/index.js";
import { packageFile } from "../../src/device/package-files.js";
import { readNpy, writeNpy } from "../../src/formats/npy.js";
import { placementOf, readModel, surveyModel } from "../../src/formats/onnx/index.js";
import { compile, tryCompile, tryProgram, type CompileOptions, type Kernel } from "../../src/index.js";
import { compareDraw } from "../../src/testing/compare.js";
import { definitionOf, drawsOf } from "../../src/testing/draws.js";
import { scheduledGather } from "../support/arbitrary.js";
import { expectedBytes } from "../support/expected.js";
import { judge } from "./command.js";
import { runHere } from "../support/run-here.js";
import { mutatedCase, runCases } from "./hostile-cases.js";
import { hostileFlags, layFiles } from "./hostile-flags.js";
import { abortRun, loseDevice } from "./interruptions.js";
import { drawer, mutated, mutatedText, nonsense, withOtherEnds, withOtherRank, type Draw } from "./mutate.js";
import { randomScatter } from "../support/random-scatter.js";
import { isImpossible, judgeScatter, randomSchedule } from "../support/scatter-trials.js";
import { textOf as textOfScatter, type OracleScatter } from "../oracle/scatter.js";
import { judgeMutant } from "../support/mutants.js";
import { ascendGather, objectionsTo, trialOf } from "../support/pto-trials.js";
import { cppCompiler } from "../support/pto.js";
import { judgeBound, judgeMap, type MapOutcome } from "../support/map-trials.js";
import { operandOf } from "../support/operands.js";
import { randomBag, randomCombine } from "../support/random-bags.js";
import { randomMap } from "../support/random-map.js";
import { randomPages } from "../support/random-pages.js";
import { randomSteps } from "../support/random-steps.js";
import { randomExact, randomSum } from "../support/random-sum.js";
import { longRows, randomValue, type RandomValue } from "../support/random-value.js";
import { judgeValue } from "../support/value-trials.js";
import { textOf as textOfMap, type OracleMap } from "../oracle/maps.js";
import { judgeVerdicts } from "../support/verdicts.js";
import { fastOutput } from "../support/fast.js";
import { parsed } from "../support/parsed.js";

export const kinds = [
  "program",
  "map",
  "scatter",
  "draws",
  "values",
  "webgpu",
  "pto",
  "mutant",
  "verdict",
  "tir",
  "nonsense",
  "npy",
  "case",
  "onnx",
  "flags",
  "abort",
  "loss",
] as const;
export type Kind = (typeof kinds)[number];
export type Outcome = "right bits" | "error" | "refused" | "accepted";

export interface Item {
  readonly kind: Kind;
  /** What reproduces it: text, or bytes in hexadecimal. */
  readonly input: string;
  /** An outcome for each program that it tries. */
  run(): Outcome | Promise<Outcome | readonly Outcome[]>;
}

const caseList = JSON.parse(
  readFileSync(packageFile("test/conformance/cases/policies.json"), "utf8"),
) as readonly unknown[];
const model = readFileSync(packageFile("test/conformance/onnx-node-tests/test_gather_0/model.onnx"));

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

type Scheduled = ReturnType<typeof sample>;

function sample(seed: number) {
  const [item] = fc.sample(scheduledGather, { numRuns: 1, seed });
  if (item === undefined) throw new Error("fast-check gave no sample");
  return item;
}

/** The program of its sizes, then kernels of open sizes at these. */
async function judgeBoth(map: OracleMap, draw: Draw, runner: Runner | undefined): Promise<MapOutcome> {
  const outcome = await judgeMap(map, draw, runner);
  if (Object.keys(map.most).length > 0) await judgeBound(map, draw, runner);
  return outcome;
}

/** Generators of maps: maps of any form, half of the time; maps whose coordinates count down; pages. */
const mapsOf: readonly ((draw: Draw) => OracleMap | undefined)[] = [
  randomMap,
  randomSteps,
  randomMap,
  randomPages,
];

const valuesOf: readonly ((draw: Draw) => RandomValue)[] = [
  randomValue,
  randomSum,
  (draw) => randomValue(draw, longRows),
  (draw) => randomSum(draw, undefined, longRows),
  randomExact,
  randomBag,
  randomCombine,
];

function* itemsOf(seed: number, runner: Runner | undefined, only?: Kind): Generator<Item> {
  if (seed % kernelsOfOne === 0 && cppCompiler() !== undefined) yield kernels(seed);
  if (only === "pto") return;
  const maps = drawer(seed * 17 + 3);
  const map = mapsOf[maps(mapsOf.length)]!(maps);
  if (map !== undefined) {
    const gpu = seed % 8 === 1 ? runner : undefined;
    yield { kind: "map", input: shownMap(map), run: () => judgeBoth(map, maps, gpu) };
    const text = textOfMap(map);
    yield { kind: "draws", input: text, run: () => runDraws(text, { bind: map.sizes }, seed, gpu) };
  }
  if (only === "map") return;
  yield* scatters(seed, runner);
  if (only === "scatter") return;
  const values = drawer(seed * 23 + 7);
  const value = valuesOf[seed % valuesOf.length]!(values);
  const onDevice = seed % 8 === 5 ? runner : undefined;
  yield { kind: "values", input: value.text, run: () => judgeValue(value, values, { runner: onDevice }) };
  const other = mutatedText(value.text, values);
  yield { kind: "values", input: other, run: () => runText(other, undefined) };
  if (only === "values") return;
  const draw = drawer(seed);
  const scheduled = sample(seed);
  const source: Func = {
    ...scheduled.random.func,
    schedule: scheduled.schedule,
    target: scheduled.target.name,
  };
  const shown = printFunc(source);
  yield { kind: "program", input: shown, run: () => runProgram(scheduled) };
  yield { kind: "draws", input: shown, run: () => runDraws(shown, {}, seed, undefined) };
  if (runner !== undefined && seed % 4 === 0) {
    yield { kind: "webgpu", input: shown, run: () => runOnDevice(scheduled, runner) };
  }
  const compiled = tryCompile(source);
  if (compiled.ok) {
    const { kernel } = compiled;
    const gpu = seed % 8 === 0 ? runner : undefined;
    for (let k = 0; k < mutantsOfOne; k++) {
      const input = `${shown}// mutant ${k} of seed ${seed}\n`;
      yield { kind: "mutant", input, run: () => runMutant(scheduled, kernel, drawer(seed * 31 + k), gpu) };
    }
  }
  const level = (["source", "access", "tile", "tile"] as const)[seed % 4] ?? "tile";
  const program = level === "source" || !compiled.ok ? shown : compiled.kernel.text(level);
  const edited = mutatedText(program, draw);
  const damaged = text(mutated(new TextEncoder().encode(program), draw));
  for (const tir of [edited, damaged, withOtherEnds(draw(2) === 0 ? program : edited, draw)]) {
    yield { kind: "tir", input: tir, run: () => runText(tir, seed % 16 === 2 ? runner : undefined) };
  }
  const ranked = withOtherRank(map === undefined || draw(4) === 0 ? program : textOfMap(map), draw);
  yield { kind: "tir", input: ranked, run: () => runText(ranked, undefined) };
  const noise = nonsense(draw);
  yield { kind: "nonsense", input: noise, run: () => runText(noise, undefined) };

  const { type } = operandOf(scheduled.random.func, "data");
  // A string tensor is no .npy file; its handles are.
  const array = type.dtype === "string" ? { ...type, dtype: "u32" as const } : type;
  const npy = mutated(writeNpy({ type: array, bytes: scheduled.random.data }), draw);
  yield {
    kind: "npy",
    input: hex(npy),
    run() {
      readNpy(npy, "fuzz.npy");
      return "accepted";
    },
  };
  const cases = mutatedCase(caseList, draw);
  yield { kind: "case", input: cases, run: () => runCases(cases) };
  const onnx = mutated(model, draw);
  yield { kind: "onnx", input: hex(onnx), run: () => runModel(onnx) };

  const budgetRule = budgetRules[seed % budgetRules.length] ?? "full";
  if (seed % 3 === 0) yield { kind: "verdict", input: shown, run: () => runVerdict(scheduled, budgetRule) };
  const flags = hostileFlags(draw);
  yield { kind: "flags", input: `tilec ${flags.join(" ")}`, run: () => runFlags(flags) };
  const again = (kind: string): string => `${kind} of seed ${seed}`;
  if (seed % 16 === 3) {
    yield { kind: "abort", input: again("abort"), run: () => abortRun(drawer(seed), runner) };
  }
  if (runner !== undefined && seed % 256 === 4) {
    yield { kind: "loss", input: again("loss"), run: () => loseDevice(drawer(seed), runner) };
  }
}

/** A scatter under schedules, on inputs of comparisons, with its text damaged, and its counts on WebGPU. */
function* scatters(seed: number, runner: Runner | undefined): Generator<Item> {
  const draw = drawer(seed * 19 + 11);
  const scatter = randomScatter(draw);
  const shown = textOfScatter(scatter);
  if (!isImpossible(scatter)) {
    const gpu = seed % 8 === 3 ? runner : undefined;
    yield { kind: "scatter", input: shown, run: () => runScatter(scatter, draw, gpu) };
    yield { kind: "draws", input: shown, run: () => runDraws(shown, {}, seed, gpu) };
  }
  if (seed % 3 === 1 && !isImpossible(scatter))
    yield { kind: "verdict", input: shown, run: () => runScatterVerdict(scatter, draw) };
  const edited = mutatedText(shown, draw);
  yield { kind: "scatter", input: edited, run: () => runText(edited, seed % 16 === 6 ? runner : undefined) };
}

async function runScatter(scatter: OracleScatter, draw: Draw, runner: Runner | undefined): Promise<Outcome> {
  const schedules = Array.from({ length: 3 }, () => randomSchedule(scatter, draw));
  const { outcome } = await judgeScatter(scatter, schedules, runner);
  const func = parsed(textOfScatter(scatter));
  const kernel = compile(func, { target: "webgpu" });
  kernelStats(kernel.tile, kernel.wgsl());
  return outcome.kind === "bits" ? "right bits" : "error";
}

export { itemsOf };

/** The text of a map, its sizes and what its tables hold. */
const shownMap = (map: OracleMap): string =>
  [
    textOfMap(map),
    `// sizes ${JSON.stringify(map.sizes)}`,
    ...map.tables.slice(1).map(({ name, values }) => `// ${name} ${values.slice(0, 64).join(" ")}`),
  ].join("\n");

function runVerdict({ random, schedule, target }: Scheduled, budgetRule: BudgetRule): Outcome {
  const { legal } = judgeVerdicts(random.func, { ...schedule, budgetRule }, target);
  return legal ? "accepted" : "refused";
}

function runScatterVerdict(scatter: OracleScatter, draw: Draw): Outcome {
  const [func] = parseModule(textOfScatter(scatter), "fuzz.tir").module.funcs;
  if (func?.level !== "access") throw new Error("a program that does not parse");
  const { target, schedule } = randomSchedule(scatter, draw);
  const ubBytes = draw(2) === 0 ? {} : { ubBytes: 32 * (1 + draw(80)) };
  const { legal } = judgeVerdicts(func, { ...schedule, ...ubBytes }, findTarget(target)!);
  return legal ? "accepted" : "refused";
}

/** A compiled program gives what it defines on the inputs that comparisons draw, indices out of range among them. */
async function runDraws(
  text: string,
  options: CompileOptions,
  seed: number,
  runner: Runner | undefined,
): Promise<readonly Outcome[]> {
  const func = parsed(text);
  const compiled = tryCompile(func, options);
  if (!compiled.ok) return ["refused"];
  const { kernel } = compiled;
  const program = definitionOf(kernel);
  const backends = [
    { backend: "sim", options: {} },
    { backend: "sim", options: { executor: "fast" } },
    ...(runner === undefined ? [] : [{ backend: "webgpu", options: { runner } } as const]),
  ] as const;
  const outcomes: Outcome[] = [];
  for (const draw of drawsOf(kernel.source ?? kernel.tile, program, seed)) {
    const { difference, rejected } = await compareDraw(kernel, { program, draw, backends });
    // A sum of dims that leaves its bound, `unchecked((2 * d0) in 3)`: the program breaks its promise by itself.
    const isUnchecked = draw.indices === "as given" && difference?.data?.["actual"] === "unchecked";
    // More points than elements that can be told apart, without a policy that skips.
    const isUnique = program.map.write.duplicates === "unique";
    const promise = isUnchecked || (isUnique && difference?.message.includes("both write") === true);
    if (difference !== undefined && !promise) throw new Error(`${draw.indices}: ${difference.message}`);
    outcomes.push(promise ? "accepted" : rejected === undefined ? "right bits" : "error");
  }
  return outcomes;
}

async function runFlags(flags: readonly string[]): Promise<Outcome> {
  layFiles(model);
  return judge(flags, await runHere(flags));
}
/** A compiler takes longer to start than to read a kernel: as many at once as seeds pass by. */
const kernelsOfOne = 32;

const kernels = (seed: number): Item => ({
  kind: "pto",
  input: `the ${kernelsOfOne} programs of seed ${seed}`,
  async run() {
    const tried = fc.sample(ascendGather, { numRuns: kernelsOfOne, seed });
    const all = tried.map((scheduled, k) => trialOf(scheduled, `k${k}`));
    const trials = all.flatMap((trial) => (trial instanceof CompileError ? [] : [trial]));
    const objections = await objectionsTo(trials);
    const wrong = objections.findIndex((objection) => objection !== "");
    const found = trials[wrong];
    if (found !== undefined) throw new Error(`${objections[wrong] ?? ""}\n${found.kernel.text("tile")}`);
    const refused = all.flatMap((trial): Outcome[] => (trial instanceof CompileError ? ["refused"] : []));
    return [
      ...trials.map(({ bytes }): Outcome => (bytes === undefined ? "error" : "right bits")),
      ...refused,
    ];
  },
});

/** Statements changed, one at a time, of each program that compiles. */
const mutantsOfOne = 4;

async function runMutant(
  scheduled: Scheduled,
  kernel: Kernel,
  draw: Draw,
  gpu: Runner | undefined,
): Promise<Outcome> {
  const { random, target } = scheduled;
  const verdict = await judgeMutant(kernel.tile, random.func, target, inputsOf(scheduled, kernel), draw, gpu);
  switch (verdict) {
    case "refused":
      return "refused";
    case "bad index":
      return "error";
    case "unchanged":
    case "same bits":
      return "right bits";
    case "other bits, told":
      return "accepted";
  }
}

const inputsOf = ({ random }: Scheduled, kernel: Kernel) => ({
  data: { type: operandOf(kernel.tile, "data").type, bytes: random.data },
  indices: { type: operandOf(kernel.tile, "indices").type, bytes: random.indexBytes },
});

async function same(
  { random }: Scheduled,
  backend: string,
  run: () => Uint8Array | Promise<Uint8Array>,
): Promise<Outcome> {
  const want = expectedBytes(random);
  let got: Uint8Array | RunError;
  try {
    got = await run();
  } catch (thrown) {
    if (!(thrown instanceof RunError)) throw thrown;
    got = thrown;
  }
  if (typeof want === "number") {
    const data = got instanceof RunError ? got.diagnostics[0]?.data : undefined;
    const value = random.indices[want]?.toString();
    if (data?.["position"] === want && data["value"] === value) return "error";
    throw new Error(`${backend} does not report index ${String(value)} at position ${want}`);
  }
  if (got instanceof RunError)
    throw new Error(`${backend} reports an error where there is none: ${got.message}`);
  if (Buffer.compare(got, want) !== 0) throw new Error(`${backend} gives other bits than the oracle`);
  return "right bits";
}

async function runProgram(scheduled: Scheduled): Promise<Outcome> {
  const { random, schedule, target } = scheduled;
  const result = tryCompile(random.func, { ...schedule, target });
  if (!result.ok) return "refused";
  const { kernel } = result;
  const { resolved } = kernel;
  if (resolved === undefined) throw new Error("a source program has an operator");
  const inputs = inputsOf(scheduled, kernel);
  await same(scheduled, "reference", () => reference(resolved, inputs));
  await same(scheduled, "sim", () => simulateChecked(kernel.tile, inputs, kernel.target).output);
  return same(scheduled, "sim, fast", () => fastOutput(kernel, inputs));
}

/** With the schedule where the device takes it, else with the device's own. */
async function runOnDevice(scheduled: Scheduled, runner: Runner): Promise<Outcome> {
  const { random, schedule } = scheduled;
  const { ubBytes: _, ...open } = schedule;
  const asked = tryCompile(random.func, { ...open, profile: "head", target: runner.target });
  const result = asked.ok ? asked : tryCompile(random.func, { target: runner.target });
  if (!result.ok) return "refused";
  return same(scheduled, "webgpu", () => runner.runBytes(result.kernel, inputsOf(scheduled, result.kernel)));
}

/** Programs small enough to run at once, whatever their loops. */
const isSmall = (program: string, func: Func): boolean =>
  (program.match(/\d+/g) ?? []).every((digits) => Number(digits) <= 4096) &&
  (program.match(/\bfor\b/g)?.length ?? 0) <= 3 &&
  func.operands.every(({ type }) => elementCount(type.shape) <= 4096);

/** Text that parses prints and parses back; what compiles runs, or says why not. */
async function runText(program: string, runner: Runner | undefined): Promise<Outcome> {
  const { module, diagnostics } = parseModule(program, "fuzz.tir");
  if (diagnostics.length > 0) return "refused";
  const again = parseModule(printModule(module), "printed.tir");
  if (again.diagnostics.length > 0 || !equalModule(again.module, module)) {
    throw new Error("what was parsed does not print and parse back");
  }
  let accepted = false;
  for (const func of module.funcs) {
    const bind = Object.fromEntries(dynamicSymbols(func).map(({ name, most }) => [name, most]));
    const result = tryCompile(func, { bind });
    if (!result.ok || !isSmall(program, func)) continue;
    accepted = true;
    const { kernel } = result;
    // A scatter may write in them.
    const zeros = () =>
      Object.fromEntries(
        operandsIn(kernel.tile).map((operand) => [
          keyOf(operand),
          { type: operand.type, bytes: new Uint8Array(byteCount(operand.type)) },
        ]),
      );
    const checked = attempt(() => simulateChecked(kernel.tile, zeros(), kernel.target).output);
    // Not every scatter has code of WebAssembly; a call takes it all the same.
    const fast = attempt(() =>
      hasScatter(kernel.tile.body)
        ? simulateBytes(kernel, zeros(), { executor: "fast" }).output
        : fastOutput(kernel, zeros()),
    );
    // What the checked executor lets pass, both run alike.
    if (checked !== undefined && (fast === undefined || Buffer.compare(checked, fast) !== 0))
      throw new Error("the executors disagree");
    if (kernel.target.kind === "webgpu" || kernel.access !== undefined) attempt(() => kernel.wgsl());
    if (runner !== undefined && kernel.target.kind === "webgpu") {
      await runner.runBytes(kernel, zeros()).catch(refusalsOnly);
    }
  }
  return accepted ? "accepted" : "refused";
}

export const isRefusal = (thrown: unknown): boolean =>
  thrown instanceof Error && (thrown.name === "CompileError" || thrown.name === "RunError");

function refusalsOnly(thrown: unknown): void {
  if (!isRefusal(thrown)) throw thrown;
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (thrown) {
    refusalsOnly(thrown);
    return undefined;
  }
}

function runModel(onnx: Uint8Array): Outcome {
  let accepted = false;
  const { nodes, uses } = surveyModel(readModel(onnx, "fuzz.onnx"));
  const programs = nodes.flatMap((own) =>
    own.ok ? [{ gather: own.node, nodes: own.folded?.nodes ?? [own.node] }] : [],
  );
  const placed = placementOf(programs, uses);
  for (const { gather } of programs)
    if (placed.get(gather)?.into.length === 0) throw new Error(`${gather.op} went nowhere`);
  for (const gather of nodes) {
    if (!gather.ok) continue;
    const built = tryProgram(gather.program);
    if (built.ok && tryCompile(built.func).ok) accepted = true;
  }
  return accepted ? "accepted" : "refused";
}
