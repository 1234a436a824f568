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

/** Every rule of a program that can run, in order; stops at the first kind that is broken. */
export function faultsOfRun(func: TileFunc, target: Target): readonly Diagnostic[] {
  const structure = verifyStructure(func);
  if (structure.length > 0) return structure;
  const allocated = verifyAllocated(func, target);
  return allocated.length > 0 ? allocated : verifySynchronized(func, target);
}

/** Notes that a pipeline has verified a program. */
export function markVerified(func: TileFunc, target: Target): void {
  verifiedFor(func).add(target);
}

/** Whether a program holds for some target: its parts are then what their types say. */
export const isVerified = (func: TileFunc): boolean => verifiedFor(func).size > 0;

/** Throws a CompileError with every rule that the program breaks. */
export function verifyOnce(func: TileFunc, target: Target): void {
  if (verifiedFor(func).has(target)) return;
  const faults = faultsOfRun(func, target);
  if (faults.length > 0) throw new CompileError(faults);
  markVerified(func, target);
}
