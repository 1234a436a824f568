/**
 * Calls of gathers that nothing is known of: the first gather of a process, and a new one in a process that
 * has run others.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { packageFile } from "../src/device/package-files.js";
import type { Subject } from "./rows.js";
import { callOf, unseenGather, unseenInputs, type Called, type Library } from "./unseen.js";
import { expectedOf } from "./workloads.js";

/** Gathers that one process is given, each another. */
const mostRuns = 200;

/**
 * Computes the expected output, as bytes, of the first gather of the series {@link unseenGather} with `rows`
 * rows.
 */
export const unseenOutput = (rows: number): Uint8Array =>
  expectedOf(unseenGather(rows, 0), unseenInputs(rows, 0)(0));

/**
 * Returns a {@link Subject} (implementation to measure) with the name `subject` and one thread. Each run
 * calls `call`, which returns the milliseconds and the output.
 */
function subjectOf(subject: string, call: () => Promise<Called>): Subject {
  let output: Uint8Array = new Uint8Array();
  return {
    subject,
    threads: 1,
    async run() {
      const called = await call();
      output = called.output;
      return called.ms;
    },
    output: () => output,
  };
}

/**
 * Returns a {@link Subject} (implementation to measure) for a library's first gather in a process. Each run
 * starts a new process.
 */
export const firstCalls = (library: Library, rows: number): Subject =>
  subjectOf(`${library}-cold`, () => inProcess(library, rows));

/**
 * Starts a process that loads the library and runs one gather with `rows` rows. Resolves to the milliseconds
 * and the output of the gather call. Rejects if the process ends without an answer.
 */
async function inProcess(library: Library, rows: number): Promise<Called> {
  const child = fork(packageFile("dist/bench/cold-process.js"), [library, String(rows)], {
    serialization: "advanced",
  });
  const called = once(child, "message");
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`a process with ${library} ended with ${String(code)}`);
  });
  const [message] = await Promise.race([called, ended]);
  ended.catch(() => undefined);
  return message as Called;
}

/**
 * Resolves to a {@link Subject} (implementation to measure) that gives a library a gather with a new row
 * length in each run. The 201st run throws an Error.
 */
export async function newCalls(library: Library, rows: number): Promise<Subject> {
  const call = await callOf(library);
  const inputs = unseenInputs(rows, mostRuns);
  let run = 0;
  return subjectOf(`${library}-new`, () => {
    if (run === mostRuns) throw new Error(`more than ${mostRuns} runs`);
    const nth = run++;
    return call(unseenGather(rows, nth), inputs(nth));
  });
}
