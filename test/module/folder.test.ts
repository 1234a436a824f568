/** `tilec compile model.onnx --emit module-cpu --out DIR`: a module for each gather, folded where it folds, and an index. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, it } from "vitest";
import { ownFile } from "../../src/device/own-package.js";
import { runHere } from "../support/run-here.js";
import type { LoadedModule } from "../support/modules.js";

const folder = mkdtempSync(join(tmpdir(), "tilec-modules-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

it("a model becomes a folder of modules, and runs by its index", async () => {
  const model = ownFile("examples/embedding.onnx");
  const out = join(folder, "kernels");
  const bind = "batch=1,sequence=128,chosen=16";
  const words = ["compile", model, "--bind", bind, "--target", "cpu", "--emit", "module-cpu", "--out", out];
  const { status, stderr } = await runHere(words, folder);
  expect(status, stderr).toBe(0);
  const stems = ["embed", "index", "pick_folded", "width"];
  expect(readdirSync(out).sort()).toEqual(stems.flatMap((stem) => [`${stem}.d.ts`, `${stem}.js`]));
  const { embed } = (await import(/* @vite-ignore */ pathToFileURL(join(out, "index.js")).href)) as {
    readonly embed: LoadedModule;
  };
  const data = Float32Array.from({ length: 3000 * 64 }, (_, k) => k);
  const indices = BigInt64Array.from(
    { length: 128 },
    (_, k) => BigInt((k * 977) % 3000) - (k % 2 === 0 ? 0n : 3000n),
  );
  const { outputs } = await (await embed.create()).run({ data, indices });
  const rows = Array.from({ length: 128 }, (_, k) => (k * 977) % 3000);
  expect([...(outputs["output"] as Float32Array)]).toEqual(
    rows.flatMap((row) => Array.from({ length: 64 }, (_, d) => row * 64 + d)),
  );
});

it("refuses one file for several programs, with a way out", async () => {
  const model = ownFile("examples/embedding.onnx");
  const bind = "batch=1,sequence=128,chosen=16";
  const words = ["compile", model, "--bind", bind, "--emit", "module", "--out", join(folder, "one.js")];
  const { status, stderr } = await runHere(words, folder);
  expect(status).toBe(2);
  expect(stderr).toContain("name a folder, or choose one with --func");
});
