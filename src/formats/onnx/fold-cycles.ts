/** Estimated cycles of a fold as one kernel, and of its nodes as a kernel each; launches are included. */
import { checkApiArgument } from "../../api/argument-kinds.js";
import { withCommas } from "../../../ir/counted.js";

/**
 * Estimated cycles of a group of ONNX nodes, kernel launches included. `folded`: all nodes merged into one
 * kernel. `separate`: one kernel for each node.
 */
export interface FoldCycles {
  readonly folded: number;
  readonly separate: number;
}

/**
 * Formats the estimated cycles of nodes that are merged into one kernel: `12,260 cycles folded, 6,496
 * separately, launches included`.
 */
export function comparison(cycles: FoldCycles): string {
  checkApiArgument("comparison", "fold cycles", cycles);
  const { folded, separate } = cycles;
  return `${withCommas(folded)} cycles folded, ${withCommas(separate)} separately, launches included`;
}
