/**
 * A module's gather in WebAssembly. It is built into one function, which the compiler prints beside the code.
 */
import { pageBytes } from "../../../backends/wasm/instructions.js";
import { startsOf } from "../../../backends/wasm/layout.js";
import { startName, tripsName } from "../../../backends/wasm/sizes.js";
import { instantiate } from "../../../backends/wasm/thread.js";
import { noneBad } from "../../../backends/webgpu/status.js";
import { badIndexIn, readingBytes } from "./bad-index.js";
import { lookUpEmpty } from "./empty-outputs.js";
import { GatherError } from "./gather-error.js";
import { bytesOf, outputOf, type HostArray } from "./host.js";
import { sizedAt } from "./dynamic-sizes.js";
import type { Numbers } from "../../../backends/bad-index.js";
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
  const code = Uint8Array.from(atob(plan.code), (char) => char.charCodeAt(0));
  let memory: WebAssembly.Memory | undefined = new WebAssembly.Memory({ initial: 1 });
  const runTasks = instantiate({ module: await WebAssembly.compile(code), memory });
  return {
    async run(inputs, sizes) {
      if (memory === undefined) throw new GatherError("TC702", `${plan.name} was disposed of`);
      const sized = sizedAt(plan, sizes);
      const { operands, output, numbers } = sized;
      const { bytes: given, strings } = bytesOf(sized, inputs);
      const { starts, end } = startsOf(operands.map(({ bytes }) => bytes));
      const missing = Math.ceil((end + plan.bufferBytes) / pageBytes) - memory.buffer.byteLength / pageBytes;
      try {
        if (missing > 0) memory.grow(missing);
      } catch {
        throw new GatherError("TC502", `cannot allocate ${missing * pageBytes} B more of memory`, {
          bytes: missing * pageBytes,
        });
      }
      const { buffer } = memory;
      given.forEach((bytes, k) => {
        new Uint8Array(buffer, starts[k]).set(bytes);
      });
      const trips = plan.trips(numbers);
      const params: Numbers = {
        ...numbers,
        ...Object.fromEntries([
          ...starts.map((start, k) => [startName(k), start] as const),
          ...trips.map((count, k) => [tripsName(k), count] as const),
        ]),
      };
      const tasks = output.elements === 0 ? 0 : trips.reduce((product, count) => product * count, 1);
      const element = runTasks(0, tasks, end, ...plan.told.map((name) => params[name] ?? 0)) >>> 0;
      if (element !== noneBad) {
        const bad = await badIndexIn(plan, sized, [element, element + 1], readingBytes(given));
        if (bad !== undefined) throw bad;
      }
      if (output.elements === 0) await lookUpEmpty(plan, sized, given);
      const start = starts.at(-1) ?? 0;
      const result = new Uint8Array(buffer.slice(start, start + output.bytes));
      return { outputs: { [output.key]: outputOf(sized, result, strings) } };
    },

    dispose() {
      memory = undefined;
    },
  };
}
