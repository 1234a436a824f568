/** A call of the fast executor that reads the caller's arrays where they are. */
import { keyOf, outputOf, type Operand } from "../../ir/func.js";
import { taskOfTile } from "../../ir/task/index.js";
import { hasScatter } from "../../ir/tile.js";
import { byteCount, elementCount } from "../../ir/types.js";
import { directPlanOf, type DirectPlan } from "../direct/plan.js";
import { runDirect } from "../direct/run.js";
import { scatterPlanOf, type ScatterPlan } from "../direct/scatter-plan.js";
import { emptyOutputSteps } from "../empty-output.js";
import { drained, inSlices, type LongRunOptions } from "../long-run.js";
import { allocateArray, inputTensor, type HostInputs, type HostTensor } from "../memory.js";
import { isInPlace } from "../scatter-map.js";
import { checkTensors } from "../values.js";
import type { FastOptions } from "../wasm/executor.js";
import { hasScatterCode } from "../wasm/scatter-plan.js";
import { scatterCall } from "./scatter-call.js";
import { reported, type FastKernel, type LateRun } from "./fast-report.js";

/** Output elements between two looks at the clock. */
const elementsAtOnce = 2 ** 16;

/**
 * Plan of calls that run a gather or scatter on the caller's arrays in place, without copies. A program that
 * updates an operand in place also writes the array of that operand.
 */
export type CallPlan = DirectPlan | ScatterPlan;

/**
 * Returns the plan of calls on the caller's arrays in place; undefined if the calls run as WebAssembly
 * instead. A gather does so on several threads, or if copies and WebAssembly take less time. A scatter does
 * so on several threads or with computed updates, unless it updates an operand in place or has no WebAssembly
 * code.
 */
export function planOfCalls({ tile }: FastKernel, { threads = 1 }: FastOptions = {}): CallPlan | undefined {
  if (!hasScatter(tile.body)) return threads === 1 ? directPlanOf(tile) : undefined;
  const plan = scatterPlanOf(tile);
  const isComputed = plan.map.write.combine !== "set" || plan.rows?.updates.kind === "made";
  const wantsCode = threads > 1 || isComputed;
  return wantsCode && !isInPlace(tile) && hasScatterCode(plan.map, tile) ? undefined : plan;
}

/**
 * True if a call under this plan accepts an operand with more bytes than a Uint8Array can hold. False for all
 * operands of a scatter, and for the index operands of a gather.
 */
export const takesLarge = (plan: CallPlan, operand: Operand): boolean =>
  !isScatterPlan(plan) && !plan.indices.includes(operand);

const isScatterPlan = (plan: CallPlan): plan is ScatterPlan => !("gather" in plan);

/**
 * Runs a kernel on the caller's arrays in place. Returns the output's bytes and a function that derives the
 * run's report. Throws a RunError (TC601) for the first output element with an index out of range.
 */
export function callDirect(kernel: FastKernel, plan: CallPlan, inputs: HostInputs): LateRun {
  if (isScatterPlan(plan)) {
    const given = copiedIndices(kernel, plan, inputs);
    return reported(kernel, drained(scatterCall(plan, inputs)), given, 0);
  }
  const { output, given } = begun(kernel, plan, inputs);
  runDirect(plan, inputs, output);
  return reported(kernel, output, given, 0);
}

/**
 * Runs a kernel on the caller's arrays in place, in slices between which other work can run. Resolves to the
 * output's bytes and a function that derives the run's report. Rejects with a RunError (TC601) for an index
 * out of range, and with the signal's reason if `options.signal` aborts.
 */
export async function callDirectLong(
  kernel: FastKernel,
  plan: CallPlan,
  inputs: HostInputs,
  options: LongRunOptions,
): Promise<LateRun> {
  if (isScatterPlan(plan)) {
    const given = copiedIndices(kernel, plan, inputs);
    const { tasks } = taskOfTile(kernel.tile).nest;
    const output = await inSlices(scatterCall(plan, inputs), (done) => done, tasks, options);
    options.onProgress?.(tasks, tasks);
    return reported(kernel, output, given, 0);
  }
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

/**
 * Runs a plan in slices along output dim 0. After each slice, yields the number of coordinates of dim 0 that
 * are complete so far. The last number may exceed the extent. If the output is empty, checks only the
 * indices.
 */
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

/**
 * Returns the output, and the inputs with indices that the caller may overwrite before the report is read.
 */
function begun(kernel: FastKernel, plan: DirectPlan, inputs: HostInputs) {
  const given = copiedIndices(kernel, plan, inputs);
  return { output: allocateArray(byteCount(outputOf(kernel.tile).type), "the output"), given };
}

/**
 * Returns the inputs with the index tensors replaced by copies, so that a report derived later reads the
 * indices of this run. Throws a CompileError (TC702) for tensors that do not match the program.
 */
function copiedIndices({ tile }: FastKernel, plan: CallPlan, inputs: HostInputs): HostInputs {
  checkTensors(tile, inputs, (operand) => takesLarge(plan, operand));
  const copied = plan.indices.map((operand): [string, HostTensor] => {
    const { type, bytes } = inputTensor(inputs, operand);
    // Not by `slice`, which in a Buffer of Node's copies nothing.
    return [keyOf(operand), { type, bytes: new Uint8Array(bytes) }];
  });
  return { ...inputs, ...Object.fromEntries(copied) };
}
