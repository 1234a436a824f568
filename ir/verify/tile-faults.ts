/**
 * Every rule of a tile program on a target: those of a program that runs, and that it has the tiles and can
 * have the cores and instructions that it asks for. These change no bits, so that an executor does not ask
 * for them, nor has the rules of each class in its bundle.
 */
import { error, type Diagnostic } from "../diagnostic.js";
import type { TileFunc } from "../func.js";
import type { Target } from "../target.js";
import { coresFault } from "../tiling/rules/index.js";
import { verifyLowering } from "./lowered.js";
import { verifyTemporaries } from "./temporaries-rule.js";
import { faultsOfRun } from "./verify-once.js";

/**
 * Returns the faults of a tile program on a target; an empty list if the program is valid. The checks stop
 * after the first kind of check that finds faults.
 */
export function tileFaults(func: TileFunc, target: Target): readonly Diagnostic[] {
  const faults = faultsOfRun(func, target);
  if (faults.length > 0) return faults;
  const cores = coresFault(func.schedule, target);
  if (cores !== undefined) return [error("TC303", cores.detail, { span: func.span, hint: cores.hint })];
  const temporaries = verifyTemporaries(func, target);
  return temporaries.length > 0 ? temporaries : verifyLowering(func, target);
}
