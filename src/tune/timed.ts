/** One candidate on a machine that runs it when it is told to: verified once, then timed. */
import type { MeasureOptions, Measurement } from "./search-ms.js";

/** Candidate that is loaded on a machine and can be run there any number of times. */
export interface TimedSubject {
  /** Runs the candidate once, from start to end. */
  run(): void | Promise<void>;
  /** Fills the output with `poisonByte`, so that elements that are never written are seen. */
  poison(): void;
  output(): Uint8Array | Promise<Uint8Array>;
}

/**
 * Byte that fills the output before an execution that is verified, so that elements that are not written are
 * detected.
 */
export const poisonByte = 0xa5;
/** Shorter samples are made of several runs: clocks and interrupts are coarse beside them. */
const leastSampleMs = 0.5;
const maxRuns = 1000;
/** Fraction of the time limit, from 0 to 1, that the timed executions of one candidate may use. */
export const samplingShare = 0.5;

/**
 * Verifies the output of a candidate, measures run times, and resolves to the measurement. The status is
 * `wrong` (TC610) for a different output, and `timeout` (TC506) if the first execution exceeds `limitMs`.
 * Rejects with the errors of the execution.
 */
export async function timed(
  subject: TimedSubject,
  expected: Uint8Array,
  { samples, limitMs }: MeasureOptions,
): Promise<Measurement> {
  subject.poison();
  const start = performance.now();
  await subject.run();
  const first = performance.now() - start;
  const wrong = firstDifferentByte(await subject.output(), expected);
  if (wrong !== undefined) return { status: "wrong", code: "TC610", reason: wrong };
  if (first > limitMs) return tookTooLong(first, limitMs);
  const warm = await sample(subject, 1);
  const runs = Math.min(maxRuns, Math.max(1, Math.ceil(leastSampleMs / Math.max(warm, 1e-4))));
  const nanoseconds: number[] = [];
  while (nanoseconds.length < samples) {
    nanoseconds.push(Math.round((1e6 * (await sample(subject, runs))) / runs));
    if (performance.now() - start > samplingShare * limitMs) break;
  }
  return { status: "measured", nanoseconds };
}

/** Milliseconds of so many runs. */
async function sample(subject: TimedSubject, runs: number): Promise<number> {
  const start = performance.now();
  for (let run = 0; run < runs; run++) await subject.run();
  return performance.now() - start;
}

/**
 * Returns a measurement of status `timeout` (TC506), for a first execution that took `ms` milliseconds and
 * exceeded the limit of `limitMs` milliseconds.
 */
export const tookTooLong = (ms: number, limitMs: number): Measurement => ({
  status: "timeout",
  code: "TC506",
  reason: `the first run took ${Math.round(ms)} ms, over the limit of ${Math.round(limitMs)} ms`,
});

/**
 * Returns a sentence on the first difference between an output and the expected output; undefined if the
 * outputs are equal.
 */
export function firstDifferentByte(output: Uint8Array, expected: Uint8Array): string | undefined {
  if (output.byteLength !== expected.byteLength) {
    return `the output has ${output.byteLength} bytes, not ${expected.byteLength}`;
  }
  const byte = differs(output, expected);
  return byte === undefined
    ? undefined
    : `output byte ${byte} is ${output[byte]}, not ${expected[byte]}: another output than the operator's`;
}

/**
 * Returns the index of the first byte that differs between two arrays of equal length; undefined if the bytes
 * are equal.
 */
function differs(a: Uint8Array, b: Uint8Array): number | undefined {
  const aligned = a.byteOffset % 4 === 0 && b.byteOffset % 4 === 0;
  const words = aligned ? Math.floor(a.byteLength / 4) : 0;
  const [left, right] = [
    new Uint32Array(a.buffer, aligned ? a.byteOffset : 0, words),
    new Uint32Array(b.buffer, aligned ? b.byteOffset : 0, words),
  ];
  let word = 0;
  while (word < words && left[word] === right[word]) word++;
  for (let byte = 4 * word; byte < a.byteLength; byte++) if (a[byte] !== b[byte]) return byte;
  return undefined;
}
