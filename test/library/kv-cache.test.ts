/** The example that quantizes keys into a cache of i8: its bits beside a plain loop, and what it prints. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { compile, run, type Kernel } from "../../src/index.js";
import { drawer } from "../fuzz/mutate.js";
import { parsed } from "../support/parsed.js";
import { root } from "../support/root.js";

const [tokens, width, slots] = [8, 128, 4096];

/** Returns the kernel of a function of the example. */
function kernelOf(name: string): Kernel {
  const texts = readFileSync(`${root}/examples/kv-cache.tir`, "utf8").split(/(?=^func )/m);
  return compile(parsed(texts.find((text) => text.startsWith(`func @${name}(`))!));
}

/** Returns the integer that is nearest to an f32, the even one of two. */
function nearest(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest < 0.5 || (rest === 0.5 && below % 2 === 0) ? below : below + 1;
}

it("writes the bits of a plain loop into the caller's array, on the reference and both executors", async () => {
  const kernel = kernelOf("keys");
  const draw = drawer(11);
  for (let step = 0; step < 4; step++) {
    const slot = BigInt64Array.from({ length: tokens }, () => BigInt(draw(4) === 0 ? -1 : draw(16)));
    // Quarters, so that halves are among the products.
    const rows = Float32Array.from({ length: tokens * width }, () => (draw(1200) - 600) / 4);
    const inverse = Float32Array.from({ length: tokens }, () => [1, 0.5, 0.7, 3][draw(4)]!);
    const expected = new Int8Array(slots * width).fill(5);
    for (const [t, place] of [...slot].map(Number).entries())
      for (let k = 0; k < width && place >= 0; k++) {
        const product = Math.fround(rows[t * width + k]! * inverse[t]!);
        expected[place * width + k] = Math.min(127, Math.max(-128, nearest(product)));
      }
    for (const options of [
      { backend: "reference" },
      { backend: "sim", executor: "checked" },
      { backend: "sim", executor: "fast" },
    ] as const) {
      const cache = new Int8Array(slots * width).fill(5);
      const { outputs } = await run(kernel, { cache, slot, rows, inverse }, options);
      expect(outputs.output).toBe(cache);
      expect(Buffer.from(cache.buffer).equals(Buffer.from(expected.buffer)), JSON.stringify(options)).toBe(
        true,
      );
    }
  }
});

it("prints that the backends agree, and keys that are half of a scale off at most", () => {
  const main = fileURLToPath(new URL("../../dist/examples/kv-cache.js", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [main], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/^reference = sim, checked = sim, fast.*: the same bits$/m);
  const errors = [...stdout.matchAll(/^token \d in slot \d+: ([\d.]+) of its scale off at most$/gm)];
  expect(errors).toHaveLength(6);
  for (const [, error] of errors) expect(Number(error)).toBeLessThanOrEqual(0.5);
  expect(stdout.match(/ is padding$/gm)).toHaveLength(2);
});
