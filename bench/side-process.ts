/** A process of `forkSide`: loads the build in a folder, and does what it is asked. */
import { packageFile } from "../src/device/package-files.js";
import type { NodeGpuResult } from "../src/device/index.js";
import { importBuilt } from "./built.js";
import { cpuMs, wallMs } from "./clocks.js";
import { gpuSide } from "./gpu-side.js";
import { compileSide } from "./compile-side.js";
import type { CompileLibrary, GpuLibrary, SimLibrary } from "./library.js";
import { simSide } from "./sim-side.js";
import type { SideKind, Sides } from "./fork-side.js";

const [kind = "", folder = ""] = process.argv.slice(2);

interface Asked {
  readonly method: string;
  readonly args: readonly never[];
}

const makeSide: { readonly [K in SideKind]: () => Promise<Sides[K]> } = {
  async sim() {
    return simSide((await importBuilt(folder, ["tilec", "tilec/sim", "tilec/node"])) as SimLibrary);
  },
  async webgpu() {
    // Both builds run on this checkout's Dawn.
    const { acquireGpu } = (await importBuilt(packageFile("./"), ["tilec/node"])) as {
      readonly acquireGpu: () => Promise<NodeGpuResult>;
    };
    const found = await acquireGpu();
    if (!found.ok) throw new Error("no WebGPU device");
    const library = (await importBuilt(folder, ["tilec", "tilec/webgpu"])) as GpuLibrary;
    const { device, software } = found.gpu;
    return gpuSide(library, device, 1, software ? cpuMs : wallMs);
  },
  async compile() {
    return compileSide((await importBuilt(folder, ["tilec", "tilec/webgpu"])) as CompileLibrary);
  },
};

const textOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);

/** Sends whatever becomes of a promise. */
function answer(value: Promise<unknown>): void {
  value.then(
    (found) => process.send?.({ value: found }),
    (thrown: unknown) => process.send?.({ error: textOf(thrown) }),
  );
}

const side = makeSide[kind as SideKind]() as Promise<object>;
answer(side.then(() => undefined));
process.on("message", ({ method, args }: Asked) => {
  answer(
    side.then((ready) =>
      (ready as Record<string, (...args: readonly never[]) => Promise<unknown>>)[method]?.(...args),
    ),
  );
});
