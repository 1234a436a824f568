/**
 * A call of the fast executor in a memory of WebAssembly. Of inputs of which few rows are named, these alone
 * are copied.
 */
import { defined } from "../../ir/defined.js";
import type { TileFunc } from "../../ir/func.js";
import { byteCount } from "../../ir/types.js";
import { copyNamed, namedInputs } from "../direct/named-inputs.js";
import { drained, inSlices, type LongRunOptions } from "../long-run.js";
import { inputTensor, type HostInputs } from "../memory.js";
import { checkTensors } from "../values.js";
import type { FastExecutor, FastRun } from "../wasm/executor.js";

/**
 * Copies the input rows that index values select to the executor's memory, then runs the program, and returns
 * the result. Throws the errors of the executor's `run`. `executor` must not serve other calls.
 */
export function runCopied(tile: TileFunc, executor: FastExecutor, inputs: HostInputs): FastRun {
  const placed = drained(place(tile, executor, inputs));
  return withCopies(executor.run(placed.inputs), placed);
}

/**
 * Executes a program as {@link runCopied} does, but in time slices. Rejects with the errors of the executor,
 * and with the reason of the abort signal.
 */
export async function runCopiedLong(
  tile: TileFunc,
  executor: FastExecutor,
  inputs: HostInputs,
  options: LongRunOptions,
): Promise<FastRun> {
  const { signal } = options;
  const placed = await inSlices(place(tile, executor, inputs), () => 0, 0, defined({ signal }));
  return withCopies(await executor.runLong(placed.inputs, options), placed);
}

interface Placed {
  /** Those whose rows were copied as they lie in the executor's memory, the others as they were given. */
  readonly inputs: HostInputs;
  readonly copied: FastRun["copied"];
}

/**
 * Copies the input rows that index values select to the executor's memory; yields 0 after each batch. Returns
 * the inputs with the copied tensors, and the bytes and milliseconds of the copies.
 */
function* place(tile: TileFunc, executor: FastExecutor, inputs: HostInputs): Generator<number, Placed> {
  const named = namedInputs(tile);
  if (named.length === 0) return { inputs, copied: { bytes: 0, milliseconds: 0 } };
  checkTensors(tile, inputs);
  const copies = Object.fromEntries(
    named.map(({ key, operand }) => [key, inputTensor(executor.inputs, operand)] as const),
  );
  if (executor.runs === 0)
    executor.untouchedBytes = named.reduce((sum, { operand }) => sum + byteCount(operand.type), 0);
  let [bytes, milliseconds] = [0, 0];
  let begun = performance.now();
  for (const step of copyNamed(named, inputs, copies)) {
    bytes += step.bytes;
    executor.untouchedBytes = Math.max(0, executor.untouchedBytes - step.touched);
    milliseconds += performance.now() - begun;
    yield 0;
    begun = performance.now();
  }
  return { inputs: { ...inputs, ...copies }, copied: { bytes, milliseconds } };
}

const withCopies = ({ copied, output }: FastRun, { copied: placed }: Placed): FastRun => ({
  output,
  copied: {
    bytes: copied.bytes + placed.bytes,
    milliseconds: copied.milliseconds + placed.milliseconds,
  },
});
