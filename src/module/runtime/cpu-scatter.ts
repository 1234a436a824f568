/**
 * A module's scatter in WebAssembly. It is built into one function, which the compiler prints beside the
 * code.
 */
import { noneBad } from "../../../backends/webgpu/status.js";
import { entryCalled } from "../../../ir/entry-of.js";
import { elementCount } from "../../../ir/types.js";
import { readingBytes } from "./bad-index.js";
import { GatherError } from "./gather-error.js";
import type { Numbers } from "../../../backends/bad-index.js";
import { bytesOf, outputOf, type HostArray } from "./host.js";
import type { CpuScatterPlan, ModuleOperand } from "./plan.js";
import { badPointIn, checkOverlap, duplicateIn, pointsAt, writtenOver } from "./scatter-points.js";
import { loadCode, runCode, type LoadedCode } from "./wasm-code.js";

export { GatherError };

type Arrays = Readonly<Record<string, HostArray>>;

interface Scatter {
  run(inputs: Arrays, sizes?: Numbers): Promise<{ readonly outputs: Arrays }>;
  dispose(): void;
}

/**
 * Creates the scatter of a WebAssembly module from its plan: an object that runs the kernel. `run` rejects
 * with a GatherError (TC502) if the memory cannot grow to hold the operands and buffers. A rejected run
 * leaves the caller's arrays unchanged.
 */
export async function create(plan: CpuScatterPlan): Promise<Scatter> {
  let code: LoadedCode | undefined = await loadCode(plan);
  const inputs = plan.operands.slice(0, -1);
  return {
    async run(arrays, sizes) {
      if (code === undefined) throw new GatherError("TC702", `${plan.name} was disposed of`);
      const sized = pointsAt(plan, sizes);
      const { output, points } = sized;
      const { bytes: given, strings } = bytesOf(sized, arrays);
      if (plan.inPlace) checkOverlap(sized, arrays);
      const { bad: point, bytes } = runCode(plan, code, sized, given, plan.inPlace);
      const read = readingBytes(given);
      if (plan.sites.length > 0) {
        // Without elements to write, the code looks at no point.
        const [from, to] =
          output.elements === 0 ? [0, elementCount(points)] : point === noneBad ? [0, 0] : [point, point + 1];
        const bad = await badPointIn(plan, sized, points, [from, to], read);
        if (bad !== undefined) throw bad;
      }
      const { duplicates } = plan;
      // Without points, the dims that may meet in an element still have extents.
      const duplicate =
        duplicates === undefined || elementCount(points) === 0
          ? undefined
          : await duplicateIn(plan, duplicates, sized, read);
      if (duplicate !== undefined) throw duplicate;
      const made = outputOf(sized, bytes, strings);
      const result = plan.inPlace
        ? writtenOver(entryCalled(arrays, inputs[0] as ModuleOperand, inputs), made)
        : made;
      return { outputs: { [output.key]: result } };
    },

    dispose() {
      code = undefined;
    },
  };
}
