/**
 * npm run fuzz -- --seconds 60 [--seed N]: random programs on every backend, and random bytes at every reader.
 *
 * Programs: whatever compiles must give the oracle's bits (or its error) on reference, sim and a sample on WebGPU.
 * Bytes: mutated .tir, .npy, .json and .onnx may give diagnostics and nothing else: no internal error, no hang.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import fc from "fast-check";
import { simulateChecked } from "../../backends/sim/index.js";
import { reference } from "../../backends/reference/index.js";
import { createRunner, type Runner } from "../../backends/webgpu/index.js";
import { CompileError, parseModule, printFunc, RunError } from "../../ir/index.js";
import { acquireGpu } from "../../src/device/node.js";
import { findGathers, readModel } from "../../src/formats/onnx/index.js";
import { readCaseList } from "../../src/formats/cases.js";
import { readNpy, writeNpy } from "../../src/formats/npy.js";
import { tryCompile, tryProgram } from "../../src/index.js";
import { expectedBytes } from "../support/expected.js";
import { scheduledGather } from "../support/arbitrary.js";

const { values: flags } = parseArgs({
  options: { seconds: { type: "string", default: "60" }, seed: { type: "string" } },
});
const seconds = Number(flags.seconds);
const firstSeed = flags.seed === undefined ? Date.now() % 2 ** 31 : Number(flags.seed);
/** One item may take this long before it counts as a hang. */
const patienceMs = 5000;

const counts = { programs: 0, compiled: 0, refused: 0, webgpu: 0, tir: 0, npy: 0, cases: 0, onnx: 0 };

class Finding extends Error {}

/** Runs one item: only diagnostics may come out of it. */
async function guarded(
  what: string,
  seed: number,
  shown: () => string,
  action: () => unknown,
): Promise<void> {
  const start = performance.now();
  try {
    await action();
  } catch (thrown) {
    if (!(thrown instanceof CompileError) && !(thrown instanceof RunError)) {
      const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
      throw new Finding(`${what}, seed ${seed}: ${message}\n${shown()}`);
    }
  }
  const took = performance.now() - start;
  if (took > patienceMs) throw new Finding(`${what}, seed ${seed}: took ${Math.round(took)} ms\n${shown()}`);
}

function mutated(bytes: Uint8Array, draw: (limit: number) => number): Uint8Array {
  let out = bytes.slice();
  const edits = 1 + draw(4);
  for (let k = 0; k < edits; k++) {
    const place = draw(out.length + 1);
    switch (draw(5)) {
      case 0:
        if (place < out.length) out[place] = draw(256);
        break;
      case 1:
        out = out.slice(0, place);
        break;
      case 2:
        out = Uint8Array.from([...out.slice(0, place), draw(256), ...out.slice(place)]);
        break;
      case 3: {
        const end = Math.min(out.length, place + draw(16));
        out = Uint8Array.from([...out.slice(0, place), ...out.slice(end)]);
        break;
      }
      default: {
        const from = draw(out.length + 1);
        out = Uint8Array.from([...out.slice(0, place), ...out.slice(from, from + 24), ...out.slice(place)]);
      }
    }
  }
  return out;
}

function drawer(seed: number): (limit: number) => number {
  let state = (seed ^ 0x5bd1e995) >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return limit <= 0 ? 0 : (state >>> 8) % limit;
  };
}

const root = new URL("../../../test/conformance/", import.meta.url);
const caseText = readFileSync(new URL("cases/seed.json", root));
const model = readFileSync(new URL("onnx-node-tests/test_gather_0/model.onnx", root));
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

async function round(seed: number, runner: Runner | undefined): Promise<void> {
  const draw = drawer(seed);
  const [item] = fc.sample(scheduledGather, { numRuns: 1, seed });
  if (item === undefined) return;
  const { random, schedule, target } = item;
  counts.programs++;
  const source = { ...random.func, schedule, target: target.name };
  const same = async (backend: string, run: () => Uint8Array | Promise<Uint8Array>): Promise<void> => {
    const want = expectedBytes(random);
    const got = await Promise.resolve()
      .then(run)
      .catch((thrown: unknown) => {
        if (thrown instanceof RunError) return thrown.diagnostics[0]?.data?.["position"];
        throw thrown;
      });
    const equal =
      typeof want === "number" ? got === want : got instanceof Uint8Array && Buffer.compare(got, want) === 0;
    if (!equal) throw new Error(`${backend} gives other bits than the oracle`);
  };
  await guarded(
    "program",
    seed,
    () => printFunc(source),
    async () => {
      const result = tryCompile(random.func, { ...schedule, target });
      if (!result.ok) {
        counts.refused++;
        return;
      }
      counts.compiled++;
      const { kernel } = result;
      const inputs = {
        data: { type: kernel.tile.data.type, bytes: random.data },
        indices: { type: kernel.tile.indices.type, bytes: random.indexBytes },
      };
      if (kernel.resolved === undefined) throw new Error("a source program has an operator");
      const { resolved } = kernel;
      await same("reference", () => reference(resolved, inputs));
      await same("sim", () => simulateChecked(kernel.tile, inputs, kernel.target).output);
      if (runner === undefined || seed % 8 !== 0) return;
      counts.webgpu++;
      await same("webgpu", () => runner.runBytes(kernel, inputs));
    },
  );

  const compiled = tryCompile(random.func, { ...schedule, target });
  const level = (["source", "access", "tile"] as const)[seed % 3] ?? "source";
  const program = level === "source" || !compiled.ok ? printFunc(source) : compiled.kernel.text(level);
  const tir = mutated(new TextEncoder().encode(program), draw);
  counts.tir++;
  await guarded(
    ".tir",
    seed,
    () => text(tir),
    () => {
      const { module, diagnostics } = parseModule(text(tir), "fuzz.tir");
      if (diagnostics.length > 0) return;
      for (const func of module.funcs) tryCompile(func);
    },
  );

  const npy = mutated(writeNpy({ type: random.func.data.type, bytes: random.data }), draw);
  counts.npy++;
  await guarded(
    ".npy",
    seed,
    () => hex(npy),
    () => readNpy(npy, "fuzz.npy"),
  );

  if (seed % 4 === 0) {
    counts.cases++;
    const cases = mutated(caseText, draw);
    await guarded(
      "case file",
      seed,
      () => text(cases),
      () => {
        for (const test of readCaseList(text(cases), "fuzz.json")) {
          if ("malformed" in test) continue;
          const built = tryProgram(test.program);
          if (built.ok) tryCompile(built.func);
        }
      },
    );
  }
  counts.onnx++;
  const onnx = mutated(model, draw);
  await guarded(
    ".onnx",
    seed,
    () => hex(onnx),
    () => {
      for (const gather of findGathers(readModel(onnx, "fuzz.onnx"))) {
        if (!gather.ok) continue;
        const built = tryProgram(gather.program);
        if (built.ok) tryCompile(built.func);
      }
    },
  );
}

const found = await acquireGpu();
const runner = found.ok ? await createRunner(found.gpu.device) : undefined;
if (!found.ok) console.error(`SKIPPED WebGPU: ${found.reason}`);
const end = Date.now() + seconds * 1000;
let report = Date.now() + 10_000;
let seed = firstSeed;
try {
  for (; Date.now() < end; seed++) {
    await round(seed, runner);
    if (Date.now() < report) continue;
    report = Date.now() + 10_000;
    console.error(`${Math.round((end - Date.now()) / 1000)} s left, ${counts.programs} programs`);
  }
  console.log(JSON.stringify({ seed: firstSeed, seconds, ...counts }));
} catch (thrown) {
  if (!(thrown instanceof Finding)) throw thrown;
  console.error(thrown.message);
  console.error(`reproduce with: npm run fuzz -- --seconds 1 --seed ${seed}`);
  process.exitCode = 1;
} finally {
  if (found.ok) found.gpu.device.destroy();
}
