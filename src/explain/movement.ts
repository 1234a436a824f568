/**
 * Data movement of a schedule for a kind of indices. It is counted, because the cost model does not know
 * index values.
 */
import {
  CompileError,
  elementCount,
  error,
  inputsOf,
  InternalError,
  keyOf,
  type AccessFunc,
} from "../../ir/index.js";
import { indexInputs, type HostInputs } from "../../backends/index.js";
import { lookups, pickedRows, type PickedRows } from "../../backends/sim/distinct-rows.js";
import { countedReport, type OperandReport } from "../../backends/sim/index.js";
import type { Kernel } from "../api/compile.js";
import { asHost } from "../formats/tensor.js";
import { drawnIndices, indexProgram } from "../testing/random.js";
import { chooserOf, type IndexPattern } from "./index-patterns.js";
import { programAtMaxSizes } from "../api/program-at-max-sizes.js";

/**
 * Maximum number of index values that are looked up to count data movement. Counting takes a few seconds at
 * the maximum.
 */
const maxLookups = 2 ** 22;

/**
 * Exact data movement of a schedule for given indices: bytes and bursts (contiguous byte ranges) in global
 * memory, in total and per operand.
 */
export interface Movement extends PickedRows {
  readonly bytes: number;
  readonly bursts: number;
  /** Bursts and bytes of each operand, by operand key. */
  readonly operands: Readonly<
    Record<string, Pick<OperandReport, "bytes" | "bursts" | "shortestBurst" | "longestBurst">>
  >;
}

function gatherOf({ access }: Kernel): AccessFunc {
  if (access === undefined) throw new InternalError("a program with a schedule has an access program");
  return access;
}

/**
 * Returns random index values for each index input of a kernel, by operand key. `pattern`: distribution of
 * the values. Throws a CompileError (TC702) if the kernel looks up more than {@link maxLookups} index values.
 */
export function indicesLike(kernel: Kernel, pattern: IndexPattern): HostInputs {
  refuseMany(gatherOf(kernel));
  const tile = programAtMaxSizes(kernel);
  const program = indexProgram(tile);
  return Object.fromEntries(
    indexInputs(tile).map((operand) => {
      const { type } = operand;
      const table = inputsOf(tile).findIndex((input) => keyOf(input) === keyOf(operand));
      const choose = chooserOf(pattern, elementCount(type.shape));
      return [
        keyOf(operand),
        asHost(keyOf(operand), drawnIndices(type, program, { seed: 1, table, choose })),
      ];
    }),
  );
}

/**
 * Returns the exact data movement of a kernel for given index tensors. `indices`: index tensors by operand
 * key. Throws a CompileError (TC702) if the kernel looks up more than {@link maxLookups} index values.
 */
export function movementBy(kernel: Kernel, indices: HostInputs): Movement {
  const gather = gatherOf(kernel);
  refuseMany(gather);
  const { operands } = countedReport({ tile: programAtMaxSizes(kernel), target: kernel.target }, indices);
  const each = Object.entries(operands);
  return {
    ...pickedRows(gather, indices),
    bytes: each.reduce((sum, [, { bytes }]) => sum + bytes, 0),
    bursts: each.reduce((sum, [, { bursts }]) => sum + bursts, 0),
    operands: Object.fromEntries(
      each.map(([key, { bytes, bursts, shortestBurst, longestBurst }]) => [
        key,
        { bytes, bursts, shortestBurst, longestBurst },
      ]),
    ),
  };
}

/** Throws a CompileError (TC702) if a program looks up more than {@link maxLookups} index values. */
function refuseMany(gather: AccessFunc): void {
  const count = lookups(gather);
  if (count <= maxLookups) return;
  const message = `@${gather.name} looks up ${count} index values; what they move is counted for ${maxLookups} at most`;
  const hint = "give fewer indices: bytes and bursts grow with their number";
  throw new CompileError([error("TC702", message, { span: gather.span, hint })]);
}
