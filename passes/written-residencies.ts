/** Memories in which a scatter may write its points, the preferred one first. */
import { isOrderFree } from "../ir/access.js";
import { hint, type Diagnostic } from "../ir/diagnostic.js";
import { outputOf, type AccessFunc } from "../ir/func.js";
import { formatEntry, type Residencies, type Residency } from "../ir/schedule.js";
import { targetFacts, type Target } from "../ir/target.js";
import { anyLegal, residencyChoices, shortest, writeRulesOf } from "../ir/tiling/index.js";
import { pinsResidency } from "./remedies.js";
import { withDefaults } from "./with-defaults.js";

type Choices<T> = readonly [T, ...T[]];

/** True if the operator's framework writes points to global memory: PyPTO's scatter_update and index_put_. */
const writesInGm = (func: AccessFunc): boolean =>
  func.map.write.combine === "set" && writeRulesOf(func)?.writesGm === true;

/**
 * Returns the memories to which a target, or an operator of PyPTO, can write points; the preferred one first.
 */
function preferred(func: AccessFunc, target: Target): Choices<Residency> {
  const { write } = func.map;
  if (targetFacts[target.kind].gathersInPlace || writesInGm(func)) return ["gm", "ub"];
  const takesGm = write.combine === "set" || isOrderFree(write, outputOf(func).type.dtype);
  return takesGm ? ["ub", "gm"] : ["ub"];
}

/**
 * Returns the candidate residencies (memories in which operands are kept) of a scatter, the preferred one
 * first. A requested residency is the only candidate; `auto` allows all that the target and the operator
 * support.
 */
export function writtenResidencies(func: AccessFunc, target: Target): Choices<Residencies> {
  const { schedule, framework } = func;
  const { residency } = schedule;
  if (residency !== undefined && residency !== "auto") return [shortest(func, target, residency)];
  // A tile of an operator whose framework loads input and index whole is judged so on every target.
  const isTyped = schedule.tile !== undefined || schedule.view !== undefined;
  const loads = isTyped && framework !== undefined && func.sharedDims.length > 0;
  const choices = residencyChoices(func, target, loads ? ["ub"] : preferred(func, target));
  if (residency === "auto") return choices;
  const isPossible = (other: Residencies): boolean => anyLegal(withDefaults(func, other, target));
  const isFixed = target.defaultResidency === "auto" || writesInGm(func) || pinsResidency(schedule);
  if (isFixed) return [choices.find(isPossible) ?? choices[0]];
  const [first = choices[0], ...others] = choices.filter(isPossible);
  return [first, ...others];
}

/**
 * Returns a hint (TC907) if a scatter cannot write in the preferred memory; else an empty list. A requested
 * residency gives no hint.
 */
export function reportWritten(func: AccessFunc, residency: Residencies, target: Target): Diagnostic[] {
  const [first] = preferred(func, target);
  if (func.framework !== undefined && func.sharedDims.length > 0) return [];
  const name = formatEntry(residency);
  if (func.schedule.residency !== undefined) return [];
  const flag = `--residency ${name}`;
  if (name !== first && name !== formatEntry(residencyChoices(func, target, [first])[0])) {
    const message = `residency ${name}: no tile is legal with residency ${first}, which ${target.name} takes first`;
    return [hint("TC907", message, { span: func.opSpan, hint: flag })];
  }
  if (target.defaultResidency !== "auto" || func.schedule.tile === undefined) return [];
  const message = `residency auto: ${name}, because target ${target.name} writes elements where they lie`;
  return [hint("TC907", message, { span: func.opSpan, hint: flag })];
}
