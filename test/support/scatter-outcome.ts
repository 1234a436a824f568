/** Outcome of a scatter's run, in the oracle's terms. */
import { RunError } from "../../ir/index.js";
import type { Outcome } from "../oracle/scatter.js";

/** Outcome of a run: the bytes of its output, or the first point that ends it. */
export type Ran = { readonly bytes: Uint8Array } | Exclude<Outcome, { kind: "bits" }>;

/** The point that an error of a run names; throws what is no such error. */
export function ended(thrown: unknown): Ran {
  if (!(thrown instanceof RunError)) throw thrown;
  const [first] = thrown.diagnostics;
  const data = first?.data as { point: number[]; earlier: number[] };
  if (first?.code === "TC601") return { kind: "index", point: data.point };
  if (first?.code === "TC607") return { kind: "duplicate", point: data.point, earlier: data.earlier };
  throw thrown;
}
