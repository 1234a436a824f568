/** Memories in which a scatter may write its points, the preferred one first. */
import { isOrderFree } from "../ir/access.js";
import { hint, type Diagnostic } from "../ir/diagnostic.js";
import { outputOf, type AccessFunc } from "../ir/func.js";
import { formatEntry, type Residencies, type Residency } from "../ir/schedule.js";
import { targetFacts, type Target } from "../ir/target.js";
import { anyLegal, frameworkMemory, residencyChoices, shortest } from "../ir/tiling/index.js";
import { isTyped, pinsResidency } from "./remedies.js";
import { withDefaults } from "./with-defaults.js";

type Choices<T> = readonly [T, ...T[]];

/**
 * Returns the memories to which a target, or an operator of PyPTO, can write points; the preferred one first.
 * An operator whose input PyPTO has in the unified buffer is kept there on an Ascend core, unless the
 * schedule requests another memory.
 */
function preferred(func: AccessFunc, target: Target): Choices<Residency> {
  const { map, schedule } = func;
  const memory = frameworkMemory(func);
  if (targetFacts[target.kind].gathersInPlace || memory === "gm") return ["gm", "ub"];
  if (memory === "ub" && schedule.residency === undefined) return ["ub"];
  const takesGm = map.write.combine === "set" || isOrderFree(map.write, outputOf(func).type.dtype);
  return takesGm ? ["ub", "gm"] : ["ub"];
}

/**
 * True if a tile that is typed is judged with input and index in UB, on every target: the operator's
 * framework has them there. `typed`: true if the schedule sets a tile or view.
 */
const isJudgedInUb = (func: AccessFunc, typed: boolean): boolean => typed && frameworkMemory(func) === "ub";

/**
 * Returns the candidate residencies (memories in which operands are kept) of a scatter, the preferred one
 * first. A requested residency is the only candidate; `auto` allows all that the target and the operator
 * support. A typed tile or view (`typed`) is judged in UB if a full store of a PyPTO operator has a legal
 * tile there.
 */
export function writtenResidencies(func: AccessFunc, target: Target, typed: boolean): Choices<Residencies> {
  const { schedule } = func;
  const { residency } = schedule;
  if (residency !== undefined && residency !== "auto") return [shortest(func, target, residency)];
  const isPossible = (other: Residencies): boolean => anyLegal(withDefaults(func, other, target));
  const inUb = isJudgedInUb(func, typed)
    ? residencyChoices(func, target, ["ub"]).find(isPossible)
    : undefined;
  if (inUb !== undefined) return [inUb];
  const choices = residencyChoices(func, target, preferred(func, target));
  if (residency === "auto") return choices;
  const isFixed =
    typed || target.defaultResidency === "auto" || frameworkMemory(func) === "gm" || pinsResidency(schedule);
  if (isFixed) return [choices.find(isPossible) ?? choices[0]];
  const [first = choices[0], ...others] = choices.filter(isPossible);
  return [first, ...others];
}

/**
 * Returns a list with at most one hint (TC907) on `residency`, the first choice of the compiler for a
 * scatter. The hint says that the residency that the target or the operator prefers has no legal tile, or
 * explains the choice for a set tile under a default of `auto`. The list is empty if the schedule requests a
 * residency.
 */
export function reportWritten(func: AccessFunc, residency: Residencies, target: Target): Diagnostic[] {
  const { schedule, framework, frameworkOp } = func;
  if (schedule.residency !== undefined) return [];
  const inUb = isJudgedInUb(func, isTyped(schedule));
  const first = inUb ? "ub" : preferred(func, target)[0];
  const name = formatEntry(residency);
  const flag = `--residency ${name}`;
  if (name !== first && name !== formatEntry(residencyChoices(func, target, [first])[0])) {
    const who = inUb ? `a tile or view of ${framework}.${frameworkOp?.name}` : target.name;
    const message = `residency ${name}: no tile is legal with residency ${first}, which ${who} takes first`;
    return [hint("TC907", message, { span: func.opSpan, hint: flag })];
  }
  if (inUb || target.defaultResidency !== "auto" || schedule.tile === undefined) return [];
  const message = `residency auto: ${name}, because target ${target.name} writes elements where they lie`;
  return [hint("TC907", message, { span: func.opSpan, hint: flag })];
}
