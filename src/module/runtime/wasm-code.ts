/** WebAssembly code of a module, in a memory of its own. */
import { pageBytes } from "../../../backends/wasm/instructions.js";
import { startsOf } from "../../../backends/wasm/layout.js";
import { startName, tripsName } from "../../../backends/wasm/sizes.js";
import { instantiate, type RunTasks } from "../../../backends/wasm/thread.js";
import type { Numbers } from "../../../backends/bad-index.js";
import { GatherError } from "./gather-error.js";
import type { Sized } from "./host.js";
import type { CpuPlan } from "./plan.js";

/** Compiled WebAssembly code of a module, with the memory in which the code runs. */
export interface LoadedCode {
  readonly runTasks: RunTasks;
  readonly memory: WebAssembly.Memory;
}

/**
 * Compiles the WebAssembly code of a plan, and resolves to the code with a memory. {@link runCode} enlarges
 * the memory as needed.
 */
export async function loadCode({ code }: CpuPlan): Promise<LoadedCode> {
  const bytes = Uint8Array.from(atob(code), (char) => char.charCodeAt(0));
  const memory = new WebAssembly.Memory({ initial: 1 });
  return { runTasks: instantiate({ module: await WebAssembly.compile(bytes), memory }), memory };
}

/**
 * Runs the code on the bytes of the inputs. In the result, `bytes` is the output, and `bad` is the row-major
 * number of the first output element or point with an index out of range (2^32 - 1 if none). `inPlace`: true
 * if the output is the memory of the first input. Throws a GatherError (TC502) if the memory cannot grow to
 * hold the operands and buffers.
 */
export function runCode(
  plan: CpuPlan,
  { memory, runTasks }: LoadedCode,
  { operands, output, numbers }: Sized,
  given: readonly Uint8Array[],
  inPlace = false,
): { readonly bad: number; readonly bytes: Uint8Array<ArrayBuffer> } {
  const { starts: placed, end } = startsOf(
    operands.map(({ bytes }, k) => (inPlace && k === operands.length - 1 ? 0 : bytes)),
  );
  const starts = inPlace ? [...placed.slice(0, -1), placed[0] ?? 0] : placed;
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
  const bad = runTasks(0, tasks, end, ...plan.told.map((name) => params[name] ?? 0)) >>> 0;
  const start = starts.at(-1) ?? 0;
  return { bad, bytes: new Uint8Array(buffer.slice(start, start + output.bytes)) };
}
