/** One set of inputs on each backend of a run, and the comparison of the outcomes. */
import { outputOf, RunError, type Diagnostic, type DType, type Func } from "../../../ir/index.js";
import { isInPlace } from "../../../ir/func.js";
import { statementMap } from "../../../backends/index-inputs.js";
import {
  firstDifference,
  nameOf,
  placeOf,
  runOn,
  type BackendChoice,
  type BackendOptions,
  type BackendRun,
} from "../../api/backends.js";
import type { Kernel } from "../../api/compile.js";
import { beyondUlp, formatUlpDifference, ulpDifference } from "../../api/ulp-difference.js";
import type { Draw } from "../../testing/draws.js";
import { copies } from "../../testing/inouts.js";
import { isPromise, outcomeOf, rejectionDifference, type Outcome } from "../../testing/outcome.js";

/** Sides that a run compares with one another. */
export interface Sides {
  readonly backends: readonly BackendChoice[];
  /** Program that states the expected result. */
  readonly definition: Func | undefined;
  /** Units in the last place that WebGPU may be off; undefined where it states the bits. */
  readonly allowedUlp: number | undefined;
}

/** Run of one draw of inputs: the outcome of each backend, and their differences. */
export interface DrawRun {
  readonly outcomes: readonly BackendOutcome[];
  readonly differences: readonly Diagnostic[];
  /** Backends of the differences. */
  readonly apart: readonly BackendChoice[];
  /** Summary of the comparison, in a word or two. */
  readonly said: string;
}

type BackendOutcome = readonly [backend: BackendChoice, outcome: Outcome];

/** Comparison of two sides: their backends, the difference, and the distance of native arithmetic as text. */
interface Comparison {
  readonly backends: readonly BackendChoice[];
  readonly difference: Diagnostic | undefined;
  readonly distance?: string;
}

/** Returns the run that an outcome has bits of; undefined for a rejection. */
export const runOf = (outcome: Outcome): BackendRun | undefined =>
  outcome.kind === "bits" ? outcome.run : undefined;

/** True if a run compares one backend with nothing. */
export const isAlone = ({ backends, definition }: Sides): boolean =>
  backends.length === 1 && definition === undefined;

/**
 * Runs a kernel on each backend with one set of inputs, and compares the outcomes with one another and with
 * the definition. Rejects with a RunError if a backend rejects an index value with policy `unchecked`. With
 * one backend and no definition, rejects for every rejected index value.
 */
export async function runDraw(
  kernel: Kernel,
  draw: Draw,
  sides: Sides,
  options: BackendOptions,
): Promise<DrawRun> {
  const outcomes = await outcomesOf(kernel, draw, sides, options);
  const { dtype } = outputOf(kernel.source ?? kernel.tile).type;
  const [first, ...rest] = outcomes;
  const comparisons = [
    ...(first === undefined ? [] : rest.map((other) => compared(first, other, dtype, sides))),
    ...(await againstDefinition(sides, kernel, draw, outcomes)),
  ];
  const differences = comparisons.flatMap(({ difference }) => difference ?? []);
  return {
    outcomes,
    differences: differences.map((one) =>
      draw.indices === "as given" ? one : { ...one, message: `${one.message}, with ${draw.indices}` },
    ),
    apart: comparisons.flatMap(({ backends, difference }) => (difference === undefined ? [] : backends)),
    said: isAlone(sides) ? "done" : agreementOf(outcomes, comparisons),
  };
}

/** Runs a kernel on each backend in turn. Rejects with a RunError for a rejection that ends the run. */
async function outcomesOf(
  kernel: Kernel,
  { inputs }: Draw,
  sides: Sides,
  options: BackendOptions,
): Promise<readonly BackendOutcome[]> {
  const map = statementMap(kernel.tile);
  const outcomes: BackendOutcome[] = [];
  for (const backend of sides.backends) {
    // A backend may write what is `inout`: each has memory of its own.
    const given = isInPlace(kernel.tile) ? copies(inputs) : inputs;
    const outcome = await outcomeOf(() => runOn(backend, kernel, given, options));
    const stops =
      outcome.kind === "rejected" && (isAlone(sides) || (map !== undefined && isPromise(map, outcome.index)));
    if (stops) throw new RunError([outcome.index]);
    outcomes.push([backend, outcome]);
  }
  return outcomes;
}

/** Compares two backends: by bits, or by units in the last place where one has native arithmetic. */
function compared(
  first: BackendOutcome,
  other: BackendOutcome,
  dtype: DType,
  { allowedUlp }: Sides,
): Comparison {
  const backends = [first[0], other[0]];
  const [one, second] = [runOf(first[1]), runOf(other[1])];
  if (allowedUlp === undefined || !backends.includes("webgpu") || one === undefined || second === undefined)
    return { backends, difference: differenceBetween(first, other) };
  const distance = ulpDifference(dtype, one.output, second.output);
  return {
    backends,
    difference: beyondUlp([nameOf(first[0]), nameOf(other[0])], distance, allowedUlp),
    distance: formatUlpDifference(distance),
  };
}

/** Returns the summary of a comparison: the distances, else whether the outcomes agree. */
function agreementOf(outcomes: readonly BackendOutcome[], comparisons: readonly Comparison[]): string {
  const distances = comparisons.flatMap(({ distance }) => distance ?? []);
  if (distances.length > 0) return distances.join("; ");
  if (comparisons.some(({ difference }) => difference !== undefined)) return "DIFFERENT bits";
  const [rejected] = outcomes.flatMap(([, one]) => (one.kind === "rejected" ? [one.index] : []));
  return rejected === undefined ? "the same bits" : `the same ${rejected.code}: ${rejected.message}`;
}

/**
 * Returns an error (TC610) for the first difference between the outcomes (output or rejected index) of two
 * backends. Undefined if the outcomes are equal.
 */
function differenceBetween(a: BackendOutcome, b: BackendOutcome): Diagnostic | undefined {
  const [one, other] = [runOf(a[1]), runOf(b[1])];
  const [first, second] = [nameOf(a[0]), nameOf(b[0])];
  const origins =
    one === undefined || other === undefined
      ? rejectionDifference([first, a[1]], [second, b[1]])
      : firstDifference({ backend: first, ...one }, { backend: second, ...other });
  return origins === undefined ? undefined : withLocations(origins, [a[0], b[0]]);
}

/** Compares the output of each backend with the output of the definition; resolves to none without one. */
async function againstDefinition(
  { definition }: Sides,
  { tile, target, source }: Kernel,
  { inputs }: Draw,
  outcomes: readonly BackendOutcome[],
): Promise<readonly Comparison[]> {
  if (definition === undefined) return [];
  const [{ definedOutput }, { definitionDifference }] = await Promise.all([
    import("../../api/against.js"),
    import("../../testing/definition-difference.js"),
  ]);
  const expected = await outcomeOf(() => ({ output: definedOutput(definition, tile, copies(inputs)) }));
  const { type } = outputOf(source ?? tile);
  return outcomes.map(([backend, outcome]) => {
    const difference = definitionDifference({ tile, target, inputs, backend }, type, expected, outcome);
    return { backends: [backend], difference: difference && withLocations(difference, [backend]) };
  });
}

/** Returns a difference, with where the backends come from that are not built in. */
const withLocations = (difference: Diagnostic, backends: readonly BackendChoice[]): Diagnostic => {
  const notes = [...(difference.notes ?? []), ...backends.flatMap(placeOf)];
  return notes.length === 0 ? difference : { ...difference, notes };
};
