/** Estimated cycles of a fold as one kernel, and of its nodes as a kernel each; launches are included. */
export interface FoldCycles {
  readonly folded: number;
  readonly separate: number;
}

/** `12,260 cycles folded, 6,496 separately, launches included` */
export const comparison = ({ folded, separate }: FoldCycles): string =>
  `${shown(folded)} cycles folded, ${shown(separate)} separately, launches included`;

const shown = (cycles: number): string => Math.round(cycles).toLocaleString("en");
