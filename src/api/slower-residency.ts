/**
 * Hint for a program for which data in global memory would be faster than the full load that its target uses
 * by default.
 */
import {
  isScatter,
  dataResidency,
  lowerBoundsOf,
  formatEntry,
  hint,
  isLegal,
  residencyChoices,
  type AccessFunc,
  type Diagnostic,
  type Func,
  type Residencies,
  type Tiling,
} from "../../ir/index.js";
import {
  clockOf,
  flagsTo,
  unpinnedSchedule,
  remedyTo,
  withBuffers,
  withDefaults,
  type Remedy,
} from "../../passes/index.js";
import { withCommas } from "../../ir/counted.js";
import { accessOf } from "./access.js";
import type { Alternative } from "./comparison.js";
import { compileTiled, type CompileOptions } from "./compile.js";

/**
 * Ratio of the default residency's cycles to those of another residency, above which the other one is
 * suggested.
 */
const worthTelling = 1.1;

/**
 * Returns a list with a hint (TC907) if reading the data from global memory is faster than `tiling`, which
 * has the target's default residency `ub`. The hint names the fastest such schedule, or the schedule that
 * `advised` returns if that is faster. The list is empty if the user stated a residency, or if the faster
 * schedule of `advised` loads the data to UB.
 */
export function slowerResidency(
  given: AccessFunc,
  tiling: Tiling,
  advised: () => Alternative | undefined = () => undefined,
): Diagnostic[] {
  const { target, residency } = tiling;
  const isDefault = given.schedule.residency === undefined && target.defaultResidency !== "auto";
  if (!isDefault || residency !== "ub") return [];
  const { cycles } = clockOf(tiling);
  const [fastest] = residencyChoices(given, target, ["ub", "gm"])
    .filter((other) => dataResidency(given, { residency: other }) === "gm")
    // No search where no schedule could be fast enough.
    .filter((other) => lowerBoundsOf(withDefaults(given, other, target)).any() * worthTelling < cycles)
    .flatMap((other) => remedyUnder(given, other, tiling) ?? [])
    .map(({ tiling: other, flags }) => ({ schedule: other.schedule, flags, cycles: clockOf(other).cycles }))
    .sort((a, b) => a.cycles - b.cycles);
  if (fastest === undefined || cycles <= worthTelling * fastest.cycles) return [];
  const better = advised();
  const named = better === undefined || better.cycles >= fastest.cycles ? fastest : better;
  if (dataResidency(given, named.schedule) !== "gm") return [];
  const name = formatEntry(named.schedule.residency);
  const percent = (100 - (100 * named.cycles) / cycles).toFixed(0);
  const message =
    `residency ${name}: estimated ${withCommas(named.cycles)} cycles, ${percent} % fewer than ` +
    `the ${withCommas(cycles)} of ub, the default of ${target.name}`;
  return [hint("TC907", message, { span: given.opSpan, hint: named.flags })];
}

/**
 * Returns the schedule under another residency: with the stated tile, or else with the best tile. Undefined
 * if that schedule is illegal.
 */
function remedyUnder(given: AccessFunc, residency: Residencies, { target }: Tiling): Remedy | undefined {
  if (given.schedule.tile === undefined)
    return remedyTo(given, { ...unpinnedSchedule(given), residency }, target);
  const tiling = withBuffers(withDefaults(given, residency, target));
  return isLegal(tiling) ? { tiling, flags: flagsTo(given, tiling) } : undefined;
}

/**
 * Returns a list with a hint (TC907) if another residency (memory that holds the data) would be faster than
 * the target's default. The list is empty for scatters and programs that do not compile.
 */
export function residencyHint(program: Func, options: CompileOptions): Diagnostic[] {
  // A scatter's residency is chosen by what fits, not by the clock.
  if (program.level === "access" && isScatter(program.map)) return [];
  const given = accessOf(program, options);
  const compiled = given === undefined ? undefined : compileTiled(program, options);
  if (given === undefined || compiled?.ok !== true || compiled.tiling === undefined) return [];
  return slowerResidency(given, compiled.tiling);
}
