/**
 * The definition as a backend: the operator where the program had one, else the access map that it began
 * with, else its own.
 */
import { mapOverTensors } from "../../ir/addressing.js";
import { outputOf } from "../../ir/func.js";
import { taskOfTile } from "../../ir/task/index.js";
import { byteCount, elementCount } from "../../ir/types.js";
import type { Backend, BackendKernel } from "../backend.js";
import { inSlices } from "../long-run.js";
import type { HostInputs } from "../memory.js";
import { mapOfTile } from "./defined-map.js";
import { referenceOfMapSteps } from "./reference-of-map.js";
import { referenceSteps } from "./reference.js";

/**
 * Backend that computes the output from the program's definition, without tiles. The definition is the
 * operator, if present, or else an access map.
 */
export const referenceBackend: Backend = {
  name: "reference",
  prepare(kernel) {
    const { type } = outputOf(kernel.tile);
    const count = Math.max(1, elementCount(type.shape));
    const { tasks } = taskOfTile(kernel.tile).nest;
    return {
      async run(inputs, options = {}) {
        const steps = stepsOf(kernel, inputs);
        if (steps === undefined) return { output: new Uint8Array(byteCount(type)) };
        return { output: await inSlices(steps, (done) => (done * tasks) / count, tasks, options) };
      },
      release() {
        // It holds nothing.
      },
    };
  },
};

/**
 * Returns a generator that computes the output of a kernel from its definition. Undefined if the output is
 * empty and the kernel has no definition over whole tensors.
 */
function stepsOf({ tile, resolved, definition }: BackendKernel, inputs: HostInputs) {
  if (resolved !== undefined) return referenceSteps(resolved, inputs, tile.operands);
  const isEmpty = elementCount(outputOf(tile).type.shape) === 0;
  if (definition === undefined && isEmpty && mapOverTensors(tile, taskOfTile(tile)) === undefined)
    return undefined;
  const { map, operands } = definition ?? mapOfTile(tile);
  return referenceOfMapSteps(map, operands, inputs);
}
