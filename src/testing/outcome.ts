/** What a run with drawn inputs came to: bits, or the index that it rejects. */
import {
  at,
  error,
  formatShape,
  RunError,
  type AccessMap,
  type Diagnostic,
  type Shape,
} from "../../ir/index.js";
import type { BackendRun } from "../../backends/index.js";

export type Outcome =
  | { readonly kind: "bits"; readonly run: BackendRun }
  /** TC601. */
  | { readonly kind: "rejected"; readonly index: Diagnostic };

/** Rejects with whatever a run throws that is no TC601. */
export async function outcomeOf(run: () => BackendRun | Promise<BackendRun>): Promise<Outcome> {
  try {
    return { kind: "bits", run: await run() };
  } catch (thrown) {
    return rejection(thrown);
  }
}

/** The same for a run that is over when it returns. */
export function outcomeNow(run: () => BackendRun): Outcome {
  try {
    return { kind: "bits", run: run() };
  } catch (thrown) {
    return rejection(thrown);
  }
}

function rejection(thrown: unknown): Outcome {
  const [index] = thrown instanceof RunError ? thrown.diagnostics : [];
  if (index?.code !== "TC601") throw thrown;
  return { kind: "rejected", index };
}

/** Whether a site under `unchecked` found the index: nothing is defined then, and nobody has to find it. */
export const isPromise = ({ sites }: AccessMap, { data }: Diagnostic): boolean =>
  at(sites, Number(data?.["site"])).keep === "unchecked";

/** TC610 where one run gives bits and the other rejects an index, or both reject another one. Undefined where both give bits. */
export function rejectionDifference(
  [nameA, a]: readonly [who: string, outcome: Outcome],
  [nameB, b]: readonly [who: string, outcome: Outcome],
): Diagnostic | undefined {
  if (a.kind === "bits") return b.kind === "bits" ? undefined : oneRejects(nameB, b.index, nameA);
  if (b.kind === "bits") return oneRejects(nameA, a.index, nameB);
  if (sameIndex(a.index, b.index)) return undefined;
  const [own, other] = [a, b].map(({ index }) => `${index.message} (output ${pointOf(index)})`);
  return error("TC610", `${nameA} and ${nameB} reject other indices: ${own ?? ""}; ${other ?? ""}`);
}

const oneRejects = (who: string, { message, data }: Diagnostic, other: string): Diagnostic =>
  error("TC610", `${who} rejects an index, and ${other} gives an output: ${message}`, {
    ...(data === undefined ? {} : { data }),
  });

/** The same output point, whatever leading ones a dialect ignores, and the same site. */
const sameIndex = (a: Diagnostic, b: Diagnostic): boolean =>
  a.data?.["site"] === b.data?.["site"] && withoutZeros(a) === withoutZeros(b);

const pointIn = ({ data }: Diagnostic): Shape => {
  const point = data?.["point"];
  return Array.isArray(point) ? (point as Shape) : [];
};

const pointOf = (index: Diagnostic): string => formatShape(pointIn(index));

function withoutZeros(index: Diagnostic): string {
  const point = pointIn(index);
  const first = point.findIndex((coord) => coord !== 0);
  return formatShape(first === -1 ? [] : point.slice(first));
}
