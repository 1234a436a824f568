/**
 * npm run fuzz -- --seconds 60 [--seed N] [--once] [--kind K]: random programs on every backend, their verdicts by every command,
 * random text and bytes at every reader, command lines gone wrong, runs given up and devices lost. Only diagnostics may come of
 * it: no internal error, no wrong bit, no contradiction, no hang, no crash.
 *
 * The items run in a process of their own, which is stopped when one takes too long. `--once` runs one seed alone, `--kind` one
 * kind of item.
 */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { packageFile } from "../../src/device/package-files.js";
import { kinds, type Kind, type Outcome } from "./items.js";
import type { Message } from "./worker.js";

/** One item may take this long before it counts as a hang, on a machine that does much else; a C++ compiler there, longer. */
const patienceOf = (kind: Kind | undefined): number => (kind === "pto" ? 120_000 : 30_000);

const { values: flags } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string" },
    once: { type: "boolean", default: false },
    kind: { type: "string" },
  },
});
const seconds = Number(flags.seconds);
const seed = flags.seed === undefined ? Date.now() % 2 ** 31 : Number(flags.seed);
const kind = flags.kind === undefined ? undefined : kinds.find((name) => name === flags.kind);
if (!Number.isSafeInteger(seed) || !(seconds >= 0) || (flags.kind !== undefined && kind === undefined)) {
  console.error(
    `usage: npm run fuzz -- --seconds <seconds> [--seed <whole number>] [--once] [--kind ${kinds.join("|")}]`,
  );
  process.exit(2);
}

const counts = new Map<Kind, Map<Outcome, number>>();
let current: { readonly seed: number; readonly kind: Kind; readonly input: string } | undefined;
let since = Date.now();
let finished: number | undefined;
let failed = false;

function fail(what: string): void {
  if (failed) return;
  failed = true;
  process.exitCode = 1;
  console.error(current === undefined ? what : `${current.kind}, seed ${current.seed}: ${what}`);
  if (current === undefined) return;
  console.error(current.input);
  console.error(`reproduce with: npm run fuzz -- --once --seed ${current.seed}`);
}

/** Where command lines run and write. */
const folder = mkdtempSync(join(tmpdir(), "tilec-fuzz-"));
const worker = fork(
  packageFile("dist/test/fuzz/worker.js"),
  [String(seed), String(seconds), flags.once ? "1" : "0", ...(kind === undefined ? [] : [kind])],
  { cwd: folder },
);
worker.on("message", (message: Message) => {
  since = Date.now();
  switch (message.type) {
    case "device":
      console.error(`WebGPU device: ${message.description}`);
      break;
    case "begin":
      current = message;
      break;
    case "end": {
      const outcomes = counts.get(message.kind) ?? new Map<Outcome, number>();
      outcomes.set(message.outcome, (outcomes.get(message.outcome) ?? 0) + 1);
      counts.set(message.kind, outcomes);
      break;
    }
    case "finding":
      fail(message.message);
      break;
    case "done":
      finished = message.seeds;
      break;
  }
});

const start = Date.now();
const report = setInterval(() => {
  const items = [...counts.values()].flatMap((outcomes) => [...outcomes.values()]).reduce((a, b) => a + b, 0);
  console.error(`${Math.round((Date.now() - start) / 1000)} s of ${seconds} s, ${items} items`);
}, 10_000);
const watch = setInterval(() => {
  const patienceMs = patienceOf(current?.kind);
  if (Date.now() - since < patienceMs) return;
  fail(`no end after ${patienceMs} ms`);
  worker.kill("SIGKILL");
}, 500);

worker.on("exit", (code, signal) => {
  clearInterval(report);
  clearInterval(watch);
  rmSync(folder, { recursive: true, force: true });
  if (!failed && finished === undefined)
    fail(`the process ended with ${signal ?? `exit code ${String(code)}`}`);
  const table = Object.fromEntries(
    kinds.map((kind) => [kind, Object.fromEntries([...(counts.get(kind) ?? [])].sort())]),
  );
  console.log(JSON.stringify({ seed, seconds, seeds: finished ?? 0, failed, counts: table }));
});
