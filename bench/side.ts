/** One of two builds that run in turns, in a process or a page of its own. */
import { sameBytes, type Subject } from "./rows.js";
import { expectedOf, inputsOf, workloadOf, type Inputs, type Workload } from "./workloads.js";

/**
 * Key that identifies a benchmarked implementation of bench:sim or bench:webgpu: workload, name and number of
 * threads.
 */
export interface SubjectKey {
  readonly workload: string;
  readonly subject: string;
  readonly threads: number;
}

/**
 * Result of preparing a benchmarked implementation of a build: whether its output is correct, and its fastest
 * warm-up call in milliseconds.
 */
export interface Opened {
  readonly verified: boolean;
  /** The fastest call while it warmed up. */
  readonly leastMs: number;
}

/**
 * Build under test: one of the two builds that a benchmark compares. It has one benchmarked implementation
 * open at a time.
 */
export interface Side {
  /**
   * Makes a subject ready in place of the one before, compares its output with the plain loop's, and warms it
   * up.
   */
  open(key: SubjectKey): Promise<Opened>;
  /**
   * The fastest of so many calls, after one that wakes threads and brings the side's memory back into the
   * caches.
   */
  turn(calls: number): Promise<number>;
  close(): Promise<void>;
}

/**
 * Benchmarked implementation that is ready to run, with its expected output as bytes and a function that
 * returns the time in milliseconds.
 */
export interface Ready {
  readonly subject: Subject;
  readonly expected: Uint8Array;
  /** Milliseconds, for a subject that keeps no clock of its own. */
  now(): number;
}

/** Workload with its input tensors and its expected output as bytes. */
export interface Tensors {
  readonly workload: Workload;
  readonly inputs: Inputs;
  readonly expected: Uint8Array;
}

/**
 * Returns a function that maps a workload's name to its inputs and its expected output. The result for the
 * latest workload is cached.
 */
export function keptTensors(): (name: string) => Tensors {
  let kept: Tensors | undefined;
  return (name) => {
    if (kept?.workload.name !== name) {
      const workload = workloadOf(name);
      const inputs = inputsOf(workload);
      kept = { workload, inputs, expected: expectedOf(workload, inputs) };
    }
    return kept;
  };
}

/** V8 compiles WebAssembly twice, the second time while the first code runs. */
const defaultWarmUpMs = 100;
const warmUpCalls = 3;

/**
 * Returns a build under test that runs its benchmarked implementations in this process or page. `makeReady`
 * prepares an implementation; `warmUpMs` is the warm-up time in milliseconds.
 */
export function localSide(makeReady: (key: SubjectKey) => Promise<Ready>, warmUpMs = defaultWarmUpMs): Side {
  let ready: Ready | undefined;
  const call = async (): Promise<number> => {
    if (ready === undefined) throw new Error("no subject is open");
    const start = ready.now();
    const own = await ready.subject.run();
    return own ?? ready.now() - start;
  };
  const close = async (): Promise<void> => {
    await ready?.subject.close?.();
    ready = undefined;
  };
  const fastest = async (calls: number): Promise<number> => {
    let least = Infinity;
    for (let k = 0; k < calls; k++) least = Math.min(least, await call());
    return least;
  };
  return {
    async open(key) {
      await close();
      ready = await makeReady(key);
      await call();
      const output = await ready.subject.output?.();
      const verified = output !== undefined && sameBytes(output, ready.expected);
      const end = performance.now() + warmUpMs;
      let leastMs = await fastest(warmUpCalls);
      while (performance.now() < end) leastMs = Math.min(leastMs, await call());
      return { verified, leastMs };
    },
    async turn(calls) {
      await call();
      return fastest(calls);
    },
    close,
  };
}
