/** One of two builds that run in turns, in a process or a page of its own. */
import { sameBytes, type Subject } from "./rows.js";
import { expectedOf, inputsOf, workloadOf, type Inputs, type Workload } from "./workloads.js";

/**
 * Key of one measurement of bench:sim or bench:webgpu: the workload, the name of the implementation that runs
 * it (`subject`), and the number of threads.
 */
export interface SubjectKey {
  readonly workload: string;
  readonly subject: string;
  readonly threads: number;
}

/**
 * Result of preparing an implementation for measurement. `verified` is true if the output is correct.
 * `leastMs` is the time of the fastest warm-up call, in milliseconds.
 */
export interface Opened {
  readonly verified: boolean;
  /** Milliseconds of the fastest call during the warm-up. */
  readonly leastMs: number;
}

/**
 * Object that measures one of the two tilec builds that a benchmark compares. At most one implementation is
 * open (ready to run) at a time.
 */
export interface Side {
  /** Makes an implementation ready in place of the previous one, verifies its output, and warms it up. */
  open(key: SubjectKey): Promise<Opened>;
  /**
   * Times `calls` calls of the open implementation and resolves to the milliseconds of the fastest. Calls
   * that are too short for the clock are timed several at once, as their mean. A call that is made before is
   * not measured; it wakes threads and fills the caches.
   */
  turn(calls: number): Promise<number>;
  close(): Promise<void>;
}

/**
 * Implementation that is ready to run, with the expected output as bytes. `now` returns the current time in
 * milliseconds.
 */
export interface Ready {
  readonly subject: Subject;
  readonly expected: Uint8Array;
  /** Returns the time in milliseconds; used if the implementation does not measure its own time. */
  now(): number;
}

/** Workload with the input tensors, and with the expected output as bytes. */
export interface Tensors {
  readonly workload: Workload;
  readonly inputs: Inputs;
  readonly expected: Uint8Array;
}

/** Returns a function that maps a workload's name to the inputs and the expected output. */
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
/** Step of the clock of CPU time: calls that are not much longer are timed several at once. */
const clockStepMs = 0.001;
const leastSampleMs = 100 * clockStepMs;

/**
 * Returns a {@link Side} (object that measures a tilec build) for the current process or page. `makeReady`
 * prepares the implementation with a given key. `warmUpMs` is the minimum duration of the warm-up in
 * milliseconds.
 */
export function localSide(makeReady: (key: SubjectKey) => Promise<Ready>, warmUpMs = defaultWarmUpMs): Side {
  let ready: Ready | undefined;
  let callsOfSample = 1;
  const call = async (): Promise<number> => {
    if (ready === undefined) throw new Error("no subject is open");
    const start = ready.now();
    let own: number | undefined;
    for (let k = 0; k < callsOfSample; k++) {
      const one = await ready.subject.run();
      if (one !== undefined) own = (own ?? 0) + one;
    }
    return (own ?? ready.now() - start) / callsOfSample;
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
      callsOfSample = 1;
      await call();
      const output = await ready.subject.output?.();
      const verified = output !== undefined && sameBytes(output, ready.expected);
      const end = performance.now() + warmUpMs;
      let leastMs = await fastest(warmUpCalls);
      while (performance.now() < end) leastMs = Math.min(leastMs, await call());
      callsOfSample = Math.ceil(leastSampleMs / Math.max(leastMs, clockStepMs));
      return { verified, leastMs };
    },
    async turn(calls) {
      await call();
      return fastest(calls);
    },
    close,
  };
}
