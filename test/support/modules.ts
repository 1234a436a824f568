/** Emitted modules, loaded as a caller loads them, and what a run of one comes to. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fromHost, stringsOf, type HostValue, type TensorData } from "../../backends/index.js";
import { outputOf, RunError, type Target } from "../../ir/index.js";
import type { Kernel } from "../../src/index.js";
import { runOn } from "../../src/index.js";
import { emitModule } from "../../src/module/emit-module.js";
import { runtimeOf } from "../../src/module/runtime-of.js";
import type { ModuleKind } from "../../src/module/declarations.js";

type Sizes = Readonly<Record<string, number>>;

export interface LoadedGather {
  run(
    inputs: Readonly<Record<string, TensorData>>,
    sizes?: Sizes,
  ): Promise<{ readonly outputs: Readonly<Record<string, TensorData>> }>;
  encode(pass: GPUComputePassEncoder, buffers: Readonly<Record<string, GPUBuffer>>, sizes?: Sizes): void;
  check(): Promise<void>;
  dispose(): void;
}

export interface LoadedModule {
  create(device?: GPUDevice): Promise<LoadedGather>;
  readonly requiredLimits: Readonly<Record<string, number>>;
  readonly GatherError: new (...args: never[]) => Error;
  /** Bytes of the file. */
  readonly bytes: number;
}

export async function loadModule(
  kernel: Kernel,
  kind: ModuleKind = "module",
  device?: Target,
): Promise<LoadedModule> {
  const folder = mkdtempSync(join(tmpdir(), "tilec-module-"));
  try {
    const file = join(folder, "gather.mjs");
    const { code } = emitModule(kernel, kind, runtimeOf, device);
    writeFileSync(file, code);
    const loaded = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as LoadedModule;
    return { ...loaded, bytes: code.length };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Bytes of the output; of an error its code, and of a bad index its words, place and numbers. */
export async function moduleOutcome(run: () => ReturnType<LoadedGather["run"]>): Promise<unknown> {
  try {
    const { outputs } = await run();
    const output = Object.values(outputs)[0]!;
    return ArrayBuffer.isView(output)
      ? [...new Uint8Array(output.buffer, output.byteOffset, output.byteLength)]
      : output;
  } catch (thrown) {
    const { code, message, point, site } = thrown as Record<string, unknown>;
    if (code === undefined) throw thrown;
    return { code, message, point, site };
  }
}

/** The same of the reference. */
export async function referenceOutcome(
  kernel: Kernel,
  inputs: Readonly<Record<string, HostValue>>,
): Promise<unknown> {
  try {
    const { output } = await runOn("reference", kernel, inputs);
    return stringsOf(inputs).length > 0
      ? fromHost(outputOf(kernel.tile).type, output, stringsOf(inputs))
      : [...output];
  } catch (thrown) {
    if (!(thrown instanceof RunError)) throw thrown;
    const { code, message, data } = thrown.diagnostics[0]!;
    return { code, message: `${code}: ${message}`, point: data!["point"], site: data!["site"] };
  }
}

/** The arrays of drawn inputs. */
export const arraysOf = (inputs: Readonly<Record<string, HostValue>>): Readonly<Record<string, TensorData>> =>
  Object.fromEntries(
    Object.entries(inputs).map(([key, { type, bytes, strings }]) => [
      key,
      strings === undefined ? bytes : fromHost(type, bytes, strings),
    ]),
  );
