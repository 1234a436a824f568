/**
 * A KV cache of i8: the keys of eight tokens are quantized and written in place, with the scale of each, on every backend. Then the keys
 * are read back from the cache.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createRunner } from "tilec/webgpu";
import { acquireGpu } from "tilec/node";
import { compile, CompileError, parseModule, run, type Kernel } from "tilec";

const file = fileURLToPath(new URL("examples/kv-cache.tir", import.meta.resolve("tilec/package.json")));
const { module, diagnostics } = parseModule(readFileSync(file, "utf8"), file);
if (diagnostics.length > 0) throw new Error(diagnostics.map((d) => d.message).join("\n"));
const kernelOf = (name: string): Kernel => {
  const func = module.funcs.find((func) => func.name === name);
  if (func === undefined) throw new Error(`${file} has no @${name}`);
  return compile(func);
};
const [keys, scales] = [kernelOf("keys"), kernelOf("scales")];
type RunOptions = Parameters<typeof run>[2];

const [tokens, width, slots] = [8, 128, 4096];
/** Keys of the tokens; each row has numbers of another size. */
const rows = Float32Array.from({ length: tokens * width }, (_, k) => Math.sin(k) * 2 ** (k / width - 4));
const rowOf = (token: number): Float32Array => rows.subarray(token * width, (token + 1) * width);
/** Two tokens of the batch are padding, and write nothing. */
const slot = BigInt64Array.from([17, 18, 19, 1024, -1, 4095, 0, -1], BigInt);
const scale = Float32Array.from({ length: tokens }, (_, t) => Math.max(...rowOf(t).map(Math.abs)) / 127);
const inverse = scale.map((of) => 1 / of);

/** Writes keys and scales into two new caches, and returns them. */
async function write(options: RunOptions): Promise<readonly [Int8Array, Float32Array]> {
  const [keyCache, scaleCache] = [new Int8Array(slots * width), new Float32Array(slots)];
  const written = await run(keys, { cache: keyCache, slot, rows, inverse }, options);
  if (written.outputs.output !== keyCache) throw new Error("the result is the caller's array");
  await run(scales, { cache: scaleCache, slot, scale }, options);
  return [keyCache, scaleCache];
}

const device = await acquireGpu();
const runner = device.ok ? await createRunner(device.gpu.device) : undefined;
const backends: Readonly<Record<string, RunOptions>> = {
  reference: { backend: "reference" },
  "sim, checked": { backend: "sim", executor: "checked" },
  "sim, fast": { backend: "sim", executor: "fast" },
  ...(runner === undefined ? {} : { webgpu: { backend: "webgpu", runner } }),
};
const results: { readonly name: string; readonly caches: Awaited<ReturnType<typeof write>> }[] = [];
for (const [name, options] of Object.entries(backends)) {
  try {
    results.push({ name, caches: await write(options) });
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown;
    console.log(`${name} did not run: ${thrown.diagnostics[0]?.message ?? ""}`);
  }
}
if (!device.ok) console.log(`webgpu did not run: ${device.problem.message}`);

const bytesOf = (caches: readonly (Int8Array | Float32Array)[]): Buffer =>
  Buffer.concat(
    caches.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
  );
const [first, ...others] = results;
if (first === undefined) throw new Error("no backend ran");
const same = others.every(({ caches }) => bytesOf(caches).equals(bytesOf(first.caches)));
console.log(`${results.map(({ name }) => name).join(" = ")}: ${same ? "the same bits" : "OTHER BITS"}`);
if (!same) process.exitCode = 1;

const [keyCache, scaleCache] = first.caches;
for (const [token, place] of [...slot].map(Number).entries()) {
  if (place < 0) {
    console.log(`token ${token} is padding`);
    continue;
  }
  const back = [...keyCache.subarray(place * width, (place + 1) * width)].map(
    (q) => q * (scaleCache[place] ?? 0),
  );
  const error = Math.max(...back.map((value, k) => Math.abs(value - (rowOf(token)[k] ?? 0))));
  console.log(
    `token ${token} in slot ${place}: ${(error / (scale[token] ?? 1)).toFixed(3)} of its scale off at most`,
  );
}
