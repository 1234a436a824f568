/** A tile program that is about to run is verified, whoever made it; once. */
import { derivedOnce } from "../derived-once.js";
import { CompileError, type Diagnostic } from "../diagnostic.js";
import type { TileFunc } from "../func.js";
import type { Target } from "../target.js";
import { verifyAllocated } from "./allocated.js";
import { verifyStructure } from "./structure.js";
import { verifySynchronized } from "./synchronized.js";

/** Targets for which a program is known to hold. */
const verifiedFor = derivedOnce((_: TileFunc) => new Set<Target>());

/**
 * Returns the diagnostics that prevent a tile program from running; an empty list if the program can run.
 * Structure, addresses and syncs are checked in order, up to the first check with a fault.
 */
export function faultsOfRun(func: TileFunc, target: Target): readonly Diagnostic[] {
  const structure = verifyStructure(func);
  if (structure.length > 0) return structure;
  const allocated = verifyAllocated(func, target);
  return allocated.length > 0 ? allocated : verifySynchronized(func, target);
}

/** Records that a tile program was verified for a target. {@link verifyOnce} then skips the program. */
export function markVerified(func: TileFunc, target: Target): void {
  verifiedFor(func).add(target);
}

/** True if a tile program was verified for at least one target. */
export const isVerified = (func: TileFunc): boolean => verifiedFor(func).size > 0;

/**
 * Throws a CompileError with the diagnostics of a tile program that breaks a rule. A program that was already
 * verified for the target is skipped.
 */
export function verifyOnce(func: TileFunc, target: Target): void {
  if (verifiedFor(func).has(target)) return;
  const faults = faultsOfRun(func, target);
  if (faults.length > 0) throw new CompileError(faults);
  markVerified(func, target);
}
