/** This build and another one in turns. */
import { median } from "../src/tune/median.js";
import { spreadOf, verdictOf, type Comparison, type Pair } from "./ratios.js";
import type { Opened, Side, SubjectKey } from "./side.js";
import { messageOf } from "../ir/faults.js";

/**
 * The place of a kernel's memory changes its time by several percent, so each run has it in several places.
 */
const openings = 3;
/** Short, so that whatever else the machine does meets both builds. */
const turnMs = 20;
const leastCalls = 3;
const mostCalls = 200;

/**
 * Calls the functions `own` and `other` twice each, in the order A, B, B, A, where A is `own` if `ownFirst`
 * is true. Resolves to the two results of `own` and the two results of `other`.
 */
export async function inTurns<T>(
  [own, other]: Pair<() => Promise<T>>,
  ownFirst: boolean,
): Promise<Pair<readonly [T, T]>> {
  const [a, b] = ownFirst ? [own, other] : [other, own];
  const a1 = await a();
  const [b1, b2] = [await b(), await b()];
  const a2 = await a();
  return ownFirst
    ? [
        [a1, a2],
        [b1, b2],
      ]
    : [
        [b1, b2],
        [a1, a2],
      ];
}

interface Timed {
  readonly ms: Pair<number>;
  readonly verified: boolean;
}

/**
 * Measures one workload with one implementation (`key`) in two builds of tilec, in alternating turns of
 * several calls. `ownFirst`: true if the first build begins. Resolves to the time of the fastest call of each
 * build, in milliseconds. `verified` is true if the outputs of both builds are correct.
 */
async function timedOnce([own, other]: Pair<Side>, key: SubjectKey, ownFirst: boolean): Promise<Timed> {
  const opened: Opened[] = [];
  for (const side of ownFirst ? [own, other] : [other, own]) opened.push(await side.open(key));
  const slower = Math.max(...opened.map(({ leastMs }) => leastMs));
  const calls = Math.min(mostCalls, Math.max(leastCalls, Math.ceil(turnMs / slower)));
  const [ownTurns, otherTurns] = await inTurns([() => own.turn(calls), () => other.turn(calls)], ownFirst);
  return {
    ms: [Math.min(...ownTurns), Math.min(...otherTurns)],
    verified: opened.every(({ verified }) => verified),
  };
}

const nameOf = ({ workload, subject, threads }: SubjectKey): string => `${workload} ${subject} ${threads}`;

/** Returns the median of each of both, and of their ratios. */
function summaryOf(times: readonly Pair<number>[]): { readonly ms: Pair<number>; readonly ratio: number } {
  return {
    ms: [median(times.map(([own]) => own)), median(times.map(([, other]) => other))],
    ratio: median(times.map(([own, other]) => own / other)),
  };
}

/**
 * Measures the implementations in `keys` with two tilec builds. Resolves to one {@link Comparison} for each
 * key: the ratio of the first build's time to the second build's time, with a confidence interval.
 *
 * `start` loads the two builds anew for each of the `runs` runs. Rejects if an implementation fails in the
 * first run; a run with a later failure is left out.
 */
export async function compareBuilds(
  start: () => Promise<Pair<Side>>,
  keys: readonly SubjectKey[],
  runs: number,
): Promise<readonly Comparison[]> {
  const times = keys.map((): Timed[][] => []);
  for (let run = 0; run < runs; run++) {
    const sides = await start();
    for (const [k, key] of keys.entries()) {
      console.error(`run ${run + 1} of ${runs}: ${nameOf(key)}`);
      try {
        const ofRun: Timed[] = [];
        for (let opening = 0; opening < openings; opening++)
          ofRun.push(await timedOnce(sides, key, (run + opening) % 2 === 0));
        times[k]?.push(ofRun);
      } catch (thrown) {
        if (run === 0) throw thrown;
        console.error(`left out: ${messageOf(thrown)}`);
      }
    }
    for (const side of sides) await side.close();
  }
  return keys.map((key, k) => {
    const runsOf = times[k] ?? [];
    const summaries = runsOf.map((ofRun) => summaryOf(ofRun.map(({ ms }) => ms)));
    const ratio = spreadOf(summaries.map((summary) => summary.ratio));
    return {
      name: nameOf(key),
      ms: summaryOf(summaries.map(({ ms }) => ms)).ms,
      ratio,
      runs: runsOf.length,
      verdict: verdictOf(ratio),
      verified: runsOf.flat().every(({ verified }) => verified),
    };
  });
}
