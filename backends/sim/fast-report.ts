/** The report of a run on the fast executor, derived when it is first read. */
import { inputsOf, keyOf, type TileFunc } from "../../ir/func.js";
import type { Target } from "../../ir/target.js";
import { tensorOf, type HostInputs } from "../memory.js";
import type { SimReport } from "../report.js";
import type { FastRun } from "../wasm/executor.js";
import { countTraffic } from "./count.js";
import { summarize } from "./summary.js";

export interface SimulatedBytes {
  /** The output's elements, row-major. */
  readonly output: Uint8Array;
  readonly report: SimReport;
}

/** What a program of a target makes of a run. */
export interface FastKernel {
  readonly tile: TileFunc;
  readonly target: Target;
}

/** `indices`: the index inputs as they were at the run, which nobody changes. */
export function withReport(
  { tile, target }: FastKernel,
  indices: HostInputs,
  output: Uint8Array,
  { copied }: FastRun,
): SimulatedBytes {
  let derived: SimReport | undefined;
  return {
    output,
    get report() {
      derived ??= summarize(tile, target, indices, countTraffic(tile, indices, target), {
        executor: "fast",
        copiedBytes: copied.bytes,
      });
      return derived;
    },
  };
}

/** Copies of the index inputs. */
export const indicesNow = (tile: TileFunc, inputs: HostInputs): HostInputs =>
  Object.fromEntries(
    inputsOf(tile).flatMap((operand) => {
      if (operand.role !== "indices") return [];
      const { type, bytes } = tensorOf(inputs, operand);
      return [[keyOf(operand), { type, bytes: bytes.slice() }]];
    }),
  );
