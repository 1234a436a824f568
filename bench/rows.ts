/** Interleaved runs of several subjects, and the rows that the benchmarks print. */
import { table } from "../src/table.js";

export interface Row {
  readonly workload: string;
  readonly threads: number;
  readonly subject: string;
  readonly medianMs: number;
  readonly verified: boolean;
}

export interface Subject {
  readonly subject: string;
  readonly threads: number;
  /** One run; milliseconds when the subject keeps its own clock. */
  run(): number | undefined | Promise<number | undefined>;
  /** The output of the latest run; absent for the copy that is the limit. */
  output?(): Uint8Array | Promise<Uint8Array>;
  close?(): void | Promise<void>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.byteLength === b.byteLength && a.every((byte, k) => byte === b[k]);

/**
 * Verifies every subject, then runs them in turns: at each turn one run that wakes threads and brings the subject's own
 * memory back into the caches, and one that counts.
 */
export async function measure(
  workload: string,
  subjects: readonly Subject[],
  expected: Uint8Array,
  rounds: number,
): Promise<Row[]> {
  const verified: boolean[] = [];
  for (const subject of subjects) {
    await subject.run();
    const found = await subject.output?.();
    verified.push(found === undefined || sameBytes(found, expected));
  }
  const times = subjects.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [k, subject] of subjects.entries()) {
      await subject.run();
      const start = performance.now();
      const own = await subject.run();
      times[k]?.push(own ?? performance.now() - start);
    }
  }
  return subjects.map(({ subject, threads }, k) => ({
    workload,
    threads,
    subject,
    medianMs: median(times[k] ?? []),
    verified: verified[k] ?? false,
  }));
}

export const geometricMean = (ratios: readonly number[]): number =>
  Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / Math.max(1, ratios.length));

/** How many times faster `subject` is than each other one, by workload, at equal thread counts. */
export function printRows(rows: readonly Row[], subject: string): void {
  const keys = [...new Set(rows.map((row) => `${row.subject} ${row.threads}`))];
  const names = [...new Set(rows.map((row) => row.workload))];
  const find = (name: string, key: string): Row | undefined =>
    rows.find((row) => row.workload === name && `${row.subject} ${row.threads}` === key);
  console.log("median ms");
  console.log(
    table(
      ["", ...keys],
      names.map((name) => [
        name,
        ...keys.map((key) => {
          const row = find(name, key);
          return row === undefined ? "-" : `${row.medianMs.toFixed(3)}${row.verified ? "" : " WRONG"}`;
        }),
      ]),
    ),
  );
  const others = keys.filter((key) => !key.startsWith(`${subject} `));
  const ratio = (name: string, key: string): number | undefined => {
    const other = find(name, key);
    const own = find(name, `${subject} ${key.split(" ")[1] ?? ""}`);
    return other === undefined || own === undefined ? undefined : other.medianMs / own.medianMs;
  };
  console.log(`${subject} is so many times faster, at the same thread count`);
  const means = others.map((key) =>
    geometricMean(names.flatMap((name) => ratio(name, key) ?? [])).toFixed(2),
  );
  console.log(
    table(
      ["", ...others],
      [
        ...names.map((name) => [name, ...others.map((key) => ratio(name, key)?.toFixed(2) ?? "-")]),
        ["geometric mean", ...means],
      ],
    ),
  );
}
