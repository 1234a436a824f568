/** Figures at the favourable ends of their ranges, as a lower bound takes them. */
import type { BoardFigures } from "../board-figures.js";
import type { FigureSource } from "../figure.js";

/**
 * Direction in which each hardware parameter makes a program faster. `more`: a larger value is faster
 * (rates). `less`: a smaller value is faster (costs).
 */
export const fasterWith = {
  loadIssueCycles: "less",
  loadLatencyCycles: "less",
  loadBytesPerCycle: "more",
  l2LoadBytesPerCycle: "more",
  storeIssueCycles: "less",
  storeLatencyCycles: "less",
  storeBytesPerCycle: "more",
  burstCycles: "less",
  gmReadBytesPerCycle: "more",
  gmMixedBytesPerCycle: "more",
  l2Bytes: "more",
  l2BytesPerCycle: "more",
  sectorBytes: "less",
  unalignedLineBytes: "less",
  sameSlabFactor: "less",
  stepCycles: "less",
  stepRepeatCycles: "less",
  bankConflictFactor: "less",
  gatherElementsPerCycle: "more",
  scalarCycles: "less",
  gmAccessCycles: "less",
  rowIndexCycles: "less",
  launchMicroseconds: "less",
  blockMicroseconds: "less",
  coldCycles: "less",
  simtWarpCycles: "less",
  simtLineCycles: "less",
  callCycles: "less",
} as const satisfies Readonly<Record<keyof BoardFigures, "more" | "less">>;

/** Returns a target with the fastest value of each hardware parameter, within the parameter's range. */
export function favourable<
  T extends BoardFigures & { readonly sources: Readonly<Record<keyof BoardFigures, FigureSource>> },
>(target: T): T {
  const ends = Object.entries(fasterWith).map(([name, better]) => {
    const figure = name as keyof BoardFigures;
    const [low, high] = target.sources[figure].range ?? [target[figure], target[figure]];
    return [figure, better === "more" ? high : low] as const;
  });
  return { ...target, ...Object.fromEntries(ends) };
}
