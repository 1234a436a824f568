/** Outcome of a run with drawn inputs: bits, or the index or the duplicate that it rejects. */
import { error, formatShape, RunError, type AccessMap, type Diagnostic, type Shape } from "../../ir/index.js";
import type { BackendRun } from "../../backends/index.js";

/**
 * Outcome of running a kernel: the output, or the diagnostic for a rejected index value or a duplicate write.
 */
export type Outcome =
  | { readonly kind: "bits"; readonly run: BackendRun }
  /** Rejected index value (TC601) or duplicate write (TC607). */
  | { readonly kind: "rejected"; readonly index: Diagnostic };

/**
 * Resolves to the outcome of running a kernel: the output, or the diagnostic for a rejected index value
 * (TC601) or a duplicate write (TC607). Rejects with any other error of `run`.
 */
export async function outcomeOf(run: () => BackendRun | Promise<BackendRun>): Promise<Outcome> {
  try {
    return { kind: "bits", run: await run() };
  } catch (thrown) {
    return rejection(thrown);
  }
}

/**
 * Returns the outcome of running a kernel: the output, or the diagnostic for a rejected index value (TC601)
 * or a duplicate write (TC607). Throws any other error of `run`.
 */
export function outcomeNow(run: () => BackendRun): Outcome {
  try {
    return { kind: "bits", run: run() };
  } catch (thrown) {
    return rejection(thrown);
  }
}

function rejection(thrown: unknown): Outcome {
  const [index] = thrown instanceof RunError ? thrown.diagnostics : [];
  if (index?.code !== "TC601" && index?.code !== "TC607") throw thrown;
  return { kind: "rejected", index };
}

/**
 * True if the diagnostic is about an index operand with the policy `unchecked`. With this policy, the program
 * promises that the value is in range, and a backend need not report other values.
 */
export const isPromise = ({ indices }: AccessMap, { data }: Diagnostic): boolean =>
  indices[Number(data?.["site"])]?.outOfRange === "unchecked";

/**
 * Returns an error (TC610) if only one of two outcomes is a rejection, or if the two outcomes reject
 * different index values. Returns undefined if the outcomes agree.
 */
export function rejectionDifference(
  [name, a]: readonly [who: string, outcome: Outcome],
  [expectedBy, b]: readonly [who: string, outcome: Outcome],
): Diagnostic | undefined {
  if (a.kind === "bits" && b.kind === "bits") return undefined;
  const point = a.kind === "rejected" ? a.index.data : b.kind === "rejected" ? b.index.data : undefined;
  const data = { ...point, actual: inWords(a), expected: inWords(b) };
  if (a.kind === "rejected" && b.kind === "rejected") {
    if (sameIndex(a.index, b.index)) return undefined;
    const message = `${name} and ${expectedBy} reject other indices: ${inWords(a)}; ${inWords(b)}`;
    return error("TC610", message, { data });
  }
  const [rejects, gives, outcome] = a.kind === "rejected" ? [name, expectedBy, a] : [expectedBy, name, b];
  const message = outcome.kind === "rejected" ? outcome.index.message : "";
  return error("TC610", `${rejects} rejects an index, and ${gives} gives an output: ${message}`, { data });
}

const inWords = (outcome: Outcome): string =>
  outcome.kind === "bits"
    ? "an output"
    : `${outcome.index.message} (output ${formatShape(pointIn(outcome.index))})`;

/**
 * True if two rejections are equal: the same code, index operand, earlier point and output point. Leading
 * zeros of the output point are ignored.
 */
const sameIndex = (a: Diagnostic, b: Diagnostic): boolean =>
  a.code === b.code &&
  a.data?.["site"] === b.data?.["site"] &&
  formatShape(coordinatesIn(a, "earlier")) === formatShape(coordinatesIn(b, "earlier")) &&
  withoutZeros(a) === withoutZeros(b);

const coordinatesIn = ({ data }: Diagnostic, entry: string): Shape => {
  const point = data?.[entry];
  return Array.isArray(point) ? (point as Shape) : [];
};

const pointIn = (index: Diagnostic): Shape => coordinatesIn(index, "point");

function withoutZeros(index: Diagnostic): string {
  const point = pointIn(index);
  const first = point.findIndex((coord) => coord !== 0);
  return formatShape(first === -1 ? [] : point.slice(first));
}
