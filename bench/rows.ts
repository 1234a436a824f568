/** Interleaved runs of several subjects, in Node or in a page. */
import { median } from "../src/tune/median.js";

/**
 * Measured times of one implementation on one workload, in milliseconds. `verified` is true if the output was
 * correct, or if the implementation has no output.
 */
export interface Row {
  readonly workload: string;
  readonly threads: number;
  readonly subject: string;
  readonly medianMs: number;
  /** Time of the fastest run, which other work on the machine disturbs least. */
  readonly leastMs: number;
  readonly verified: boolean;
}

/**
 * Implementation that a benchmark measures, for example a library or a plain loop: the name, the number of
 * threads, and a method for one run.
 */
export interface Subject {
  readonly subject: string;
  readonly threads: number;
  /** Runs once. Returns the milliseconds if the implementation measures its own time, else undefined. */
  run(): number | undefined | Promise<number | undefined>;
  /** Returns the output of the latest run; absent for the plain copy that is the lower limit. */
  output?(): Uint8Array | Promise<Uint8Array>;
  close?(): void | Promise<void>;
}

/** True if two arrays have the same length and the same bytes. */
export const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.byteLength === b.byteLength && a.every((byte, k) => byte === b[k]);

/**
 * Measures implementations (`subjects`) in rounds and resolves to one row of times for each. Outputs are
 * compared with `expected` before the first round. Each implementation is warmed up for `warmUpMs`
 * milliseconds, and closed after the last round.
 */
export async function measure(
  workload: string,
  subjects: readonly Subject[],
  expected: Uint8Array,
  rounds: number,
  warmUpMs = 0,
): Promise<Row[]> {
  const verified: boolean[] = [];
  for (const subject of subjects) {
    await subject.run();
    const found = await subject.output?.();
    verified.push(found === undefined || sameBytes(found, expected));
    for (const end = performance.now() + warmUpMs; performance.now() < end;) await subject.run();
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
  for (const subject of subjects) await subject.close?.();
  return subjects.map(({ subject, threads }, k) => ({
    workload,
    threads,
    subject,
    medianMs: median(times[k] ?? []),
    leastMs: Math.min(...(times[k] ?? [])),
    verified: verified[k] ?? false,
  }));
}
