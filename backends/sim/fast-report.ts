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

/** Output of a fast run, and its report, derived when it is first read. */
export interface SimulatedBytes {
  /** The output's elements, row-major. */
  readonly output: Uint8Array;
  readonly report: SimReport;
}

/** The same before it is handed to a caller. */
export interface LateRun {
  readonly output: Uint8Array;
  readonly derive: () => SimReport;
}

/** What a program of a target makes of a run. */
export interface FastKernel {
  readonly tile: TileFunc;
  readonly target: Target;
}

/** Bytes of indices that are copied for a report that may never be read: what a call of the shortest programs can spare. */
const fewIndexBytes = 2 ** 18;

/**
 * The output as the caller's own, and a report from the run's indices: from a copy of `maxCopiedBytes` bytes of them, of more
 * from where they lie in the executor's memory. Where the kernel has run again by the time such a report is first read, or so many others that
 * one of them has its memory, other indices lie there: a CompileError (TC702).
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
      error("TC702", "another run has this run's memory since, and its indices are gone", {
        hint: "read the report before the next run",
      }),
    ]);
  });
}

/** `check` throws where the indices are no longer those of the run. */
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

export class LateBytes extends LateReport implements SimulatedBytes {
  readonly output: Uint8Array;

  constructor({ derive, output }: LateRun) {
    super(derive);
    this.output = output;
  }
}

/** The inputs with indices that no later run overwrites; undefined where these are many. */
function copiedIndices(tile: TileFunc, inputs: HostInputs, maxCopiedBytes: number): HostInputs | undefined {
  const indices = indexInputs(tile);
  if (indices.reduce((sum, { type }) => sum + byteCount(type), 0) > maxCopiedBytes) return undefined;
  const copies = indices.map((operand) => {
    const { type, bytes } = inputTensor(inputs, operand);
    return [keyOf(operand), { type, bytes: bytes.slice() }] as const;
  });
  return { ...inputs, ...Object.fromEntries(copies) };
}
