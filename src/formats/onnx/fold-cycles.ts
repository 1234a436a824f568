/** Estimated cycles of a fold as one kernel, and of its nodes as a kernel each; launches are included. */
import { checkApiArgument } from "../../api/argument-kinds.js";

/** Cycles of a fold under either policy. */
export interface FoldCycles {
  readonly folded: number;
  readonly separate: number;
}

/** `12,260 cycles folded, 6,496 separately, launches included` */
export function comparison(cycles: FoldCycles): string {
  checkApiArgument("comparison", "fold cycles", cycles);
  const { folded, separate } = cycles;
  return `${shown(folded)} cycles folded, ${shown(separate)} separately, launches included`;
}

const shown = (cycles: number): string => Math.round(cycles).toLocaleString("en");
