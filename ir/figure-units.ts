/** Units of a target's figures. */
import type { TargetFigures } from "./target.js";

/**
 * Unit of a hardware parameter. `block`: bytes, a power of two. `count`: a whole number, for example of bytes
 * or of cores. `per cycle`: a rate, of bytes or elements. `cycles` and `us`: a cost. `factor`: a number by
 * which another one is multiplied.
 */
type FigureUnit = "block" | "count" | "per cycle" | "MHz" | "cycles" | "us" | "factor";

/** Unit of each hardware parameter of a target. */
export const figureUnits = {
  blockBytes: "block",
  ubBytes: "count",
  ubSafeBytes: "count",
  cores: "count",
  burstBytes: "count",
  dmaRows: "count",
  vectorBytes: "count",
  firstLevelBytes: "count",
  secondLevelBytes: "count",
  tasksPerCore: "count",
  directElements: "count",
  lanes: "count",
  laneBytes: "count",
  laneStorageBytes: "count",
  hidingShare: "factor",
  clearBytesPerCycle: "per cycle",
  l2Bytes: "count",
  sectorBytes: "count",
  unalignedLineBytes: "count",
  clockMhz: "MHz",
  copyBytesPerCycle: "per cycle",
  loadBytesPerCycle: "per cycle",
  l2LoadBytesPerCycle: "per cycle",
  storeBytesPerCycle: "per cycle",
  gmReadBytesPerCycle: "per cycle",
  gmMixedBytesPerCycle: "per cycle",
  l2BytesPerCycle: "per cycle",
  gatherElementsPerCycle: "per cycle",
  gatherRowCycles: "cycles",
  gatherRepeatCycles: "cycles",
  copyStartupCycles: "cycles",
  syncCycles: "cycles",
  taskCycles: "cycles",
  launchCycles: "cycles",
  loadIssueCycles: "cycles",
  loadLatencyCycles: "cycles",
  storeIssueCycles: "cycles",
  storeLatencyCycles: "cycles",
  burstCycles: "cycles",
  sameSlabFactor: "factor",
  stepCycles: "cycles",
  stepRepeatCycles: "cycles",
  bankConflictFactor: "factor",
  scalarCycles: "cycles",
  gmAccessCycles: "cycles",
  rowIndexCycles: "cycles",
  launchMicroseconds: "us",
  blockMicroseconds: "us",
  coldCycles: "cycles",
  simtWarpCycles: "cycles",
  simtLineCycles: "cycles",
  callCycles: "cycles",
} as const satisfies Readonly<Record<keyof TargetFigures, FigureUnit>>;

/** Names of the hardware parameters with a unit, or with one of several. */
export type FigureIn<Unit extends FigureUnit> = {
  [Name in keyof TargetFigures]: (typeof figureUnits)[Name] extends Unit ? Name : never;
}[keyof TargetFigures];

/** Returns the names of the hardware parameters with a unit. */
export const figuresIn = <Unit extends FigureUnit>(unit: Unit): readonly FigureIn<Unit>[] =>
  Object.entries(figureUnits).flatMap(([name, stated]) => (stated === unit ? [name as FigureIn<Unit>] : []));
