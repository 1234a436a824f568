/** A class of instructions that a schedule asks for, beside what the gather can have. */
import type { GatherClass } from "../schedule.js";
import { targetFacts, type Target } from "../target.js";
import type { GatherLowering } from "./gather-lowering.js";

/**
 * Reason why a gather cannot have the requested lowering class (kind of instruction sequence). `room`: true
 * if more free unified buffer (UB) would make the class possible.
 */
export interface RefusedLowering {
  readonly reason: string;
  readonly room: boolean;
}

/**
 * Returns the reason why a gather cannot have the requested lowering class (kind of instruction sequence).
 * Undefined for a possible class, or without a request. `dataInUb`: true if the data is in the unified buffer
 * (UB).
 */
export function refusedLowering(
  { class: chosen, lost }: GatherLowering,
  requested: GatherClass | undefined,
  target: Target,
  dataInUb: boolean,
): RefusedLowering | undefined {
  if (requested === undefined || chosen === requested) return undefined;
  const lack = lost.find((other) => other.class === requested);
  if (lack !== undefined) return "reason" in lack ? lack : undefined;
  const reason = targetFacts[target.kind].vectorUnit
    ? `data is in ${dataInUb ? "UB" : "global memory"}, where ${requested} does not gather`
    : `target ${target.name} gathers in place`;
  return { reason, room: false };
}

/**
 * Returns the possible lowering classes (kinds of instruction sequences) of a gather, fewest cycles for one
 * tile first.
 */
export function classesOf(lowering: GatherLowering): readonly GatherClass[] {
  const others = lowering.lost.flatMap((lost) => ("cycles" in lost ? [lost] : []));
  return [lowering, ...others].sort((a, b) => a.cycles - b.cycles).map((one) => one.class);
}
