/** Memories in which a scatter may write its points, the preferred one first. */
import { isOrderFree } from "../ir/access.js";
import { hint, type Diagnostic } from "../ir/diagnostic.js";
import { outputOf, type AccessFunc } from "../ir/func.js";
import { formatEntry, type Residencies, type Residency } from "../ir/schedule.js";
import { targetFacts, type Target } from "../ir/target.js";
import { anyLegal, residencyChoices, shortest, writeRulesOf } from "../ir/tiling/index.js";
import { withDefaults } from "./with-defaults.js";

type Choices<T> = readonly [T, ...T[]];

/** Returns where a target, or an operator of PyPTO, writes points first. */
function preferred({ map, ...func }: AccessFunc, target: Target): Choices<Residency> {
  if (targetFacts[target.kind].gathersInPlace) return ["gm", "ub"];
  const { combine } = map.write;
  if (combine === "set" && writeRulesOf(func)?.writesGm === true) return ["gm", "ub"];
  return combine === "set" || isOrderFree(map.write, outputOf(func).type.dtype) ? ["ub", "gm"] : ["ub"];
}

/**
 * Returns the candidate residencies (memories of the operands) of a scatter. A stated residency, in its
 * shortest form, is the only candidate; `auto` gives all. Otherwise the only candidate is the first under
 * which some tile is legal, or the preferred one if no tile is legal.
 */
export function writtenResidencies(func: AccessFunc, target: Target): Choices<Residencies> {
  const { residency } = func.schedule;
  if (residency !== undefined && residency !== "auto") return [shortest(func, target, residency)];
  // A tile of an operator whose framework loads input and index whole is judged so on every target.
  const isTyped = func.schedule.tile !== undefined || func.schedule.view !== undefined;
  const loads = isTyped && func.framework !== undefined && func.sharedDims.length > 0;
  const choices = residencyChoices(func, target, loads ? ["ub"] : preferred(func, target));
  if (residency === "auto") return choices;
  return [choices.find((other) => anyLegal(withDefaults(func, other, target))) ?? choices[0]];
}

/**
 * Returns a hint (TC907) that names the memory in which a scatter writes its elements. It is given if that
 * memory is not the preferred one, or if the target chose it for a stated tile. An empty list otherwise, and
 * if the schedule states the residency.
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
