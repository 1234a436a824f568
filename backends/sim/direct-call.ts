/** A call of the fast executor that reads the caller's arrays where they are. */
import { keyOf, outputOf } from "../../ir/func.js";
import { taskOfTile } from "../../ir/task/index.js";
import { byteCount, elementCount } from "../../ir/types.js";
import { directPlanOf, type DirectPlan } from "../direct/plan.js";
import { runDirect } from "../direct/run.js";
import { emptyOutputSteps } from "../empty-output.js";
import { inSlices, type LongRunOptions } from "../long-run.js";
import { allocateArray, inputTensor, type HostInputs, type HostTensor } from "../memory.js";
import { checkTensors } from "../values.js";
import type { FastOptions } from "../wasm/executor.js";
import { reported, type FastKernel, type LateRun } from "./fast-report.js";

/** Output elements between two looks at the clock. */
const elementsAtOnce = 2 ** 16;

/** The plan of a program's calls on one thread. */
export const planOfCalls = (
  { tile }: FastKernel,
  { threads = 1 }: FastOptions = {},
): DirectPlan | undefined => (threads === 1 ? directPlanOf(tile) : undefined);

/** Throws a RunError (TC601) for the first output element with an index out of range. */
export function callDirect(kernel: FastKernel, plan: DirectPlan, inputs: HostInputs): LateRun {
  const { output, given } = begun(kernel, plan, inputs);
  runDirect(plan, inputs, output);
  return reported(kernel, output, given, 0);
}

/** The same, in slices that let other work run. Rejects with the signal's reason when it is aborted. */
export async function callDirectLong(
  kernel: FastKernel,
  plan: DirectPlan,
  inputs: HostInputs,
  options: LongRunOptions,
): Promise<LateRun> {
  const { output, given } = begun(kernel, plan, inputs);
  const { tasks } = taskOfTile(kernel.tile).nest;
  const extent = plan.sizes[0] ?? 1;
  await inSlices(
    slices(plan, inputs, output),
    (done) => (done / Math.max(1, extent)) * tasks,
    tasks,
    options,
  );
  options.onProgress?.(tasks, tasks);
  return reported(kernel, output, given, 0);
}

function* slices(plan: DirectPlan, inputs: HostInputs, output: Uint8Array): Generator<number, void> {
  if (plan.sizes.includes(0)) {
    yield* emptyOutputSteps(plan.tile, inputs);
    return;
  }
  const [extent = 1, ...inner] = plan.sizes;
  const step = Math.max(1, Math.floor(elementsAtOnce / elementCount(inner)));
  for (let from = 0; from < extent; from += step) {
    runDirect(plan, inputs, output, from, Math.min(extent, from + step));
    yield from + step;
  }
}

/** The output, and the inputs with indices that the caller may overwrite before the report is read. */
function begun({ tile }: FastKernel, { indices }: DirectPlan, inputs: HostInputs) {
  checkTensors(tile, inputs, (operand) => !indices.includes(operand));
  const output = allocateArray(byteCount(outputOf(tile).type), "the output");
  const copied = indices.map((operand): [string, HostTensor] => {
    const { type, bytes } = inputTensor(inputs, operand);
    // Not by `slice`, which in a Buffer of Node's copies nothing.
    return [keyOf(operand), { type, bytes: new Uint8Array(bytes) }];
  });
  return { output, given: { ...inputs, ...Object.fromEntries(copied) } };
}
