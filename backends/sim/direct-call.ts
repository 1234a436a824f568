/** A call of the fast executor that reads the caller's arrays where they are. */
import { keyOf, outputOf, isInPlace, type Operand } from "../../ir/func.js";
import { taskOfTile } from "../../ir/task/index.js";
import { hasScatter } from "../../ir/tile.js";
import { byteCount, elementCount } from "../../ir/types.js";
import { directPlanOf, type DirectPlan } from "../direct/plan.js";
import { runDirect } from "../direct/run.js";
import { scatterPlanOf, type ScatterPlan } from "../direct/scatter-plan.js";
import { emptyOutputSteps } from "../empty-output.js";
import { drained, inSlices, type LongRunOptions } from "../long-run.js";
import { allocateArray, inputTensor, type HostInputs, type HostTensor } from "../memory.js";
import { checkTensors } from "../values.js";
import type { FastOptions } from "../wasm/executor.js";
import { hasScatterCode } from "../wasm/scatter-plan.js";
import { scatterCall } from "./scatter-call.js";
import { reported, type FastKernel, type LateRun } from "./fast-report.js";

/** Points that WebAssembly takes in one task at most, which takes it about a second. */
const maxPointsOfTask = 2 ** 28;

/** Output elements between two looks at the clock. */
const elementsAtOnce = 2 ** 16;

/**
 * Plan for the direct executor: it runs a gather or a scatter on the caller's arrays without copies. A
 * program that updates an operand writes to that operand's array.
 */
export type CallPlan = DirectPlan | ScatterPlan;

/**
 * Returns the plan by which calls of a kernel run on the caller's arrays without copies; undefined if calls
 * use WebAssembly. A gather on several threads always uses WebAssembly. A scatter may use WebAssembly on
 * several threads, or if it computes or combines values, but never if its output is in place.
 */
export function planOfCalls({ tile }: FastKernel, { threads = 1 }: FastOptions = {}): CallPlan | undefined {
  if (!hasScatter(tile.body)) return threads === 1 ? directPlanOf(tile) : undefined;
  const plan = scatterPlanOf(tile);
  const isComputed = plan.map.write.combine !== "set" || plan.rows?.updates.kind === "made";
  // The code runs a task without a break.
  const isLong = elementCount(plan.map.domain) > maxPointsOfTask * taskOfTile(tile).nest.tasks;
  const wantsCode = (threads > 1 || isComputed) && !isLong;
  return wantsCode && !isInPlace(tile) && hasScatterCode(plan.map, tile) ? undefined : plan;
}

/**
 * True if a call under a plan accepts an operand with more bytes than a Uint8Array can contain. False for the
 * operands of a scatter and for the index operands of a gather.
 */
export const takesLarge = (plan: CallPlan, operand: Operand): boolean =>
  !isScatterPlan(plan) && !plan.indices.includes(operand);

const isScatterPlan = (plan: CallPlan): plan is ScatterPlan => !("gather" in plan);

/**
 * Executes a kernel on the caller's arrays without copies, by a plan of {@link planOfCalls}. Returns the
 * output's bytes and a function that derives the report. Throws a RunError (TC601) for the first index out of
 * range.
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
 * Executes a kernel on the caller's arrays without copies, in time slices. Resolves to the output's bytes and
 * a function that derives the report. Rejects with a RunError (TC601) or the signal's reason.
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
    const elements = Math.max(1, elementCount(outputOf(kernel.tile).type.shape));
    const tasksDone = (done: number): number => (done / elements) * tasks;
    const output = await inSlices(scatterCall(plan, inputs), tasksDone, tasks, options);
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
 * Executes a plan in slices along output dim 0; for an empty output, only checks the indices. Yields the
 * number of finished coordinates of dim 0, which may exceed the extent at the end.
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
 * Returns the inputs with copies of the index tensors, from which a report can be derived later. Throws a
 * CompileError (TC702) for tensors that do not match the program.
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
