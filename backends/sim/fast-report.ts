/** The report of a run on the fast executor, derived when it is first read. */
import { CompileError, error } from "../../ir/diagnostic.js";
import { keyOf, type TileFunc } from "../../ir/func.js";
import type { Target } from "../../ir/target.js";
import { byteCount } from "../../ir/types.js";
import { inputTensor, type HostInputs } from "../memory.js";
import { indexInputs } from "../index-inputs.js";
import type { SimReport } from "../report.js";
import type { FastExecutor, FastRun } from "../wasm/executor.js";
import { countTraffic } from "./count.js";
import { LateReport } from "./late-report.js";
import { summarize } from "./summary.js";

/**
 * Result of a simulated execution: the output's bytes and a report. The fast executor derives the report at
 * the first read.
 */
export interface SimulatedBytes {
  /** The output's elements, row-major. */
  readonly output: Uint8Array;
  readonly report: SimReport;
}

/** Output of an execution, with the function that derives the report. */
export interface LateRun {
  readonly output: Uint8Array;
  readonly derive: () => SimReport;
}

/** Tile program to execute, and the target whose cost model the report uses. */
export interface FastKernel {
  readonly tile: TileFunc;
  readonly target: Target;
}

/**
 * Bytes of indices that are copied for a report that may never be read: what a call of the shortest programs
 * can spare.
 */
const fewIndexBytes = 2 ** 18;

/**
 * Returns a copy of the output and a function that derives the report. The function throws a CompileError
 * (TC702) if a later execution has overwritten index tensors that were not copied.
 */
export function fastOutput(
  { tile, target }: FastKernel,
  executor: FastExecutor,
  { output, copied }: FastRun,
  maxCopiedBytes = fewIndexBytes,
): LateRun {
  const { runs } = executor;
  const copies = copiedIndices(tile, executor.inputs, maxCopiedBytes);
  // Made from an array, it is not zeroed first.
  return reported({ tile, target }, new Uint8Array(output), copies ?? executor.inputs, copied.bytes, () => {
    if (copies !== undefined || executor.runs === runs) return;
    throw new CompileError([
      error("TC702", "a later run has overwritten the memory of this run, with its indices", {
        hint: "read the report before the next run",
      }),
    ]);
  });
}

/**
 * Returns the output of a fast run, and a function that derives the run's {@link SimReport} from `inputs`.
 * `copiedBytes`: bytes of inputs that were copied for the run. `check`: throws if a later run has overwritten
 * the inputs.
 */
export const reported = (
  { tile, target }: FastKernel,
  output: Uint8Array,
  inputs: HostInputs,
  copiedBytes: number,
  check?: () => void,
): LateRun => ({
  output,
  derive: () => {
    check?.();
    return summarize(tile, target, inputs, countTraffic(tile, inputs, target), {
      executor: "fast",
      copiedBytes,
    });
  },
});

/** Result of an execution: the output's bytes, and a report that is derived at the first read. */
export class LateBytes extends LateReport implements SimulatedBytes {
  readonly output: Uint8Array;

  constructor({ derive, output }: LateRun) {
    super(derive);
    this.output = output;
  }
}

/**
 * Returns the inputs with copies of the index tensors, which no later execution overwrites. Undefined if the
 * index tensors take more than `maxCopiedBytes` bytes.
 */
function copiedIndices(tile: TileFunc, inputs: HostInputs, maxCopiedBytes: number): HostInputs | undefined {
  const indices = indexInputs(tile);
  if (indices.reduce((sum, { type }) => sum + byteCount(type), 0) > maxCopiedBytes) return undefined;
  const copies = indices.map((operand) => {
    const { type, bytes } = inputTensor(inputs, operand);
    return [keyOf(operand), { type, bytes: bytes.slice() }] as const;
  });
  return { ...inputs, ...Object.fromEntries(copies) };
}
