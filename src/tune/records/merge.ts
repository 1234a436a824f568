/**
 * Records of several files as one: each fact once, in an order of its own. What comes out depends neither on
 * the order of the files or lines nor on how often something was merged before.
 */
import { checkApiArgument } from "../../api/argument-kinds.js";
import { assertNever } from "../../../ir/index.js";
import { canonicalJson } from "../content-hash.js";
import { rooflineIn, type CandidateRecord, type TuneRecord } from "./record.js";

/**
 * Merges the tuning records of several searches into one list without duplicates. The result does not depend
 * on the order of `records`.
 */
export function mergeRecords(records: readonly TuneRecord[]): readonly TuneRecord[] {
  checkApiArgument("mergeRecords", "records", records);
  const merged = new Map<string, TuneRecord>();
  for (const record of records) {
    const key = keyOf(record);
    const previous = merged.get(key);
    merged.set(key, previous === undefined ? normal(record) : joined(previous, record));
  }
  return [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, record]) => record);
}

const kinds = { task: 0, candidate: 1, pruned: 2, refused: 3, table: 4 } as const;

/** Returns the key of a tuning record for merging. Tuning records with equal keys are merged into one. */
function keyOf(record: TuneRecord): string {
  const about = (): string => {
    switch (record.record) {
      case "task":
      case "refused":
      case "table":
        return canonicalJson(record);
      case "candidate":
        return record.candidate;
      case "pruned":
        return record.why;
      default:
        return assertNever(record);
    }
  };
  return `${record.task} ${kinds[record.record]} ${about()}`;
}

const normal = (record: TuneRecord): TuneRecord =>
  record.record === "candidate" ? { ...record, runs: eachOnce(record.runs) } : record;

function joined(a: TuneRecord, b: TuneRecord): TuneRecord {
  if (a.record === "candidate" && b.record === "candidate") return joinedCandidates(a, b);
  // A search that went on leaves fewer out.
  if (a.record === "pruned" && b.record === "pruned") return a.count <= b.count ? a : b;
  return a;
}

/**
 * Merges two tuning records of one candidate into one record, with the runs of both. Costs and status are
 * those of the later cost model version. For equal versions, status `wrong` has priority, then `measured`,
 * `timeout`, `error` and `estimated`.
 */
function joinedCandidates(a: CandidateRecord, b: CandidateRecord): CandidateRecord {
  const [stronger = a, weaker = b] = [a, b].sort(byWeight);
  const roofline = weaker.clock === stronger.clock ? rooflineIn(weaker) : {};
  return {
    ...roofline,
    ...stronger,
    default: a.default || b.default,
    runs: eachOnce([...a.runs, ...b.runs]),
  };
}

/** A wrong output is never forgotten, and a measurement stands over what did not come to one. */
const weights: Readonly<Record<CandidateRecord["status"], number>> = {
  wrong: 4,
  measured: 3,
  timeout: 2,
  error: 1,
  estimated: 0,
};

function byWeight(a: CandidateRecord, b: CandidateRecord): number {
  const text = ({ runs: _, default: __, ...rest }: CandidateRecord): string => canonicalJson(rest);
  return b.clock - a.clock || weights[b.status] - weights[a.status] || (text(a) < text(b) ? -1 : 1);
}

function eachOnce<T>(values: readonly T[]): readonly T[] {
  const once = new Map(values.map((value) => [canonicalJson(value), value]));
  return [...once].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}
