/**
 * A module's gather in WebAssembly. It is built into one function, which the compiler prints beside the code.
 */
import { noneBad } from "../../../backends/webgpu/status.js";
import { badIndexIn, readingBytes } from "./bad-index.js";
import { lookUpEmpty } from "./empty-outputs.js";
import { GatherError } from "./gather-error.js";
import { bytesOf, outputOf, type HostArray } from "./host.js";
import { sizedAt } from "./dynamic-sizes.js";
import type { Numbers } from "../../../backends/bad-index.js";
import { loadCode, runCode, type LoadedCode } from "./wasm-code.js";
import type { CpuPlan } from "./plan.js";

export { GatherError };

type Arrays = Readonly<Record<string, HostArray>>;

interface Gather {
  run(inputs: Arrays, sizes?: Numbers): Promise<{ readonly outputs: Arrays }>;
  dispose(): void;
}

/**
 * Creates the gather of a WebAssembly module: an object that runs the kernel. `run` rejects with a
 * GatherError (TC502) if the memory cannot grow enough for the operands and buffers.
 */
export async function create(plan: CpuPlan): Promise<Gather> {
  let code: LoadedCode | undefined = await loadCode(plan);
  return {
    async run(inputs, sizes) {
      if (code === undefined) throw new GatherError("TC702", `${plan.name} was disposed of`);
      const sized = sizedAt(plan, sizes);
      const { output } = sized;
      const { bytes: given, strings } = bytesOf(sized, inputs);
      const { bad: element, bytes } = runCode(plan, code, sized, given);
      if (element !== noneBad) {
        const bad = await badIndexIn(plan, sized, [element, element + 1], readingBytes(given));
        if (bad !== undefined) throw bad;
      }
      if (output.elements === 0) await lookUpEmpty(plan, sized, given);
      return { outputs: { [output.key]: outputOf(sized, bytes, strings) } };
    },

    dispose() {
      code = undefined;
    },
  };
}
