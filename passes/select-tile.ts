/**
 * select-tile: writes the schedule down in full; keeps what the user chose, chooses the rest.
 *
 *   schedule {profile = head}
 *     →
 *   schedule {tile = [64, 128], view = [3000, 768], profile = head, residency = ub, order = [1, 0], …}
 *
 * Without a tile, tile, view, order, buffers and, where none is stated, residency are chosen together, by the
 * clock (choose-schedule.ts). With one, so are the buffers (with-buffers.ts), and the rest is the plain
 * default. May report TC302 and TC303 (no schedule), TC402 (no legal tile), TC403 (residency), TC502 (more
 * buffers than the device binds), TC906 (a tile of more entries than the output has dims), TC907 (the
 * residency that the clock took).
 */
import { isMove, isScatter, rowDim } from "../ir/access.js";
import { withCommas } from "../ir/counted.js";
import { hint as hintDiagnostic, warning, type Diagnostic } from "../ir/diagnostic.js";
import { lowerBoundsOf, slabSharing, type SlabSharing } from "../ir/clock/index.js";
import { keyOf, type AccessFunc } from "../ir/func.js";
import { profileOf } from "../ir/profile.js";
import { formatEntry, type Residencies, type Residency } from "../ir/schedule.js";
import { targetFacts, type Target } from "../ir/target.js";
import {
  anyLegal,
  doubles,
  gmAllowed,
  honoured,
  isLegal,
  isLongerTile,
  isWrittenInPieces,
  judgedTile,
  judge,
  keptSingle,
  noLegalTile,
  residencyChoices,
  statedOrSmallest,
  readsInGm,
  refusals,
  rules,
  shapeRefusals,
  shortest,
  smallestInView,
  takenSchedule,
  type Tiling,
} from "../ir/tiling/index.js";
import { at, invariant } from "../ir/types.js";
import { asFast, chooseSchedule } from "./choose-schedule.js";
import { clockOf } from "./lowered.js";
import { definePass } from "./pass.js";
import { isTyped, pinsResidency, remedies } from "./remedies.js";
import { reportWritten, writtenResidencies } from "./written-residencies.js";
import { withBuffers } from "./with-buffers.js";
import { withDefaults } from "./with-defaults.js";

/**
 * Pass that completes a schedule: it keeps the user's choices, and chooses the rest
 * (docs/passes/02-select-tile.md).
 */
export const selectTile = definePass({
  name: "select-tile",
  summary: "keeps the user's schedule and chooses what it leaves open",
  requires: ["access"],
  ensures: ["scheduled"],
  run(func, context) {
    if (func.level !== "access") return func;
    const problems = shapeRefusals(func, func.schedule, context.target);
    if (problems.length > 0) {
      problems.forEach(context.report);
      return func;
    }
    const { target } = context;
    const options = residenciesOf(func, target);
    const plain = withDefaults(func, options[0], target);
    /** Returns what refusals speak of, which is long to find beside the search of a small gather. */
    const attempted = (): Tiling => spokenOf(func, options, target);
    const about = isScatter(func.map) ? reportWritten : reportAvailableUb;
    about(func, options[0], target).forEach(context.report);
    for (const rule of [rules.deviceLimits, rules.residency]) {
      if (refusals(rule, plain).length === 0) continue;
      const broken = refusals(rule, attempted(), remedies);
      if (broken.length === 0) continue;
      broken.forEach(context.report);
      return func;
    }
    const chosen = options.length === 1 ? complete(plain) : decideResidency(plain, options, context.report);
    if (chosen === undefined) {
      // A view that cuts the gather dim is at fault before any byte is.
      const least = smallestInView(attempted());
      const cut = [...refusals(rules.packedTile, least), ...refusals(rules.fullLoad, least, remedies)];
      (cut.length > 0 ? cut : [noLegalTile(attempted(), remedies)]).forEach(context.report);
      return func;
    }
    reportLonger(func, chosen).forEach(context.report);
    reportSingle(chosen).forEach(context.report);
    reportRotation(chosen).forEach(context.report);
    // What will be refused stays as the user said it.
    const written = isLegal(chosen) ? honoured(chosen) : chosen;
    context.tilings.remember(written);
    return { ...func, target: target.name, schedule: written.schedule };
  },
});

/**
 * Returns a warning (TC906) if the tile has more extents than the output has dims; else an empty list. The
 * extra extents at the end of the tile are ignored.
 */
function reportLonger(gather: AccessFunc, chosen: Tiling): Diagnostic[] {
  const { schedule } = gather;
  if (!isLongerTile(gather, schedule)) return [];
  const { tile } = takenSchedule(gather, schedule);
  const { longerTiles: source = "" } = profileOf(schedule);
  const message = `tile ${formatEntry(schedule.tile)} has ${schedule.tile.length} entries; the first ${tile.length} count, one for each dim of the output`;
  const notes = [`judged as tile ${formatEntry(judgedTile(chosen))}`, `source: ${source}`];
  return [warning("TC906", message, { span: gather.opSpan, notes })];
}

/**
 * Returns a hint (TC907) that the compiler chose `residency` because no tile is legal with the target's
 * default residency; else an empty list.
 */
function reportAvailableUb(func: AccessFunc, residency: Residencies, target: Target): Diagnostic[] {
  const name = formatEntry(residency);
  const { defaultResidency: plain } = target;
  if (func.schedule.residency !== undefined || isMove(func.map) || plain === "auto" || name === plain)
    return [];
  if (readsInGm(func, target)) return [];
  const message = `residency ${name}: no tile is legal with residency ${plain}, the default of ${target.name}`;
  return [hintDiagnostic("TC907", message, { span: func.opSpan, hint: `--residency ${name}` })];
}

/** Reasons why a rotation changes nothing, by how tasks share slabs; undefined where it has an effect. */
const rotationFaults: Readonly<Record<SlabSharing, string | undefined>> = {
  none: "no two tasks load the same slab of the data",
  "one task": "each core has at most one task",
  "one slab": "the tasks of each core all load the same slab of the data",
  several: undefined,
};

/**
 * Returns a list with a hint (TC913) if the schedule sets `rotate = on` but rotation changes nothing; else an
 * empty list. Rotation lets each core start at a different task.
 */
function reportRotation(tiling: Tiling): Diagnostic[] {
  const { gather, schedule, target } = tiling;
  if (schedule.rotate !== "on") return [];
  const why = !targetFacts[target.kind].dmaEngine
    ? `target ${target.name} does not run the tasks of a core in a fixed order`
    : rotationFaults[slabSharing(tiling)];
  if (why === undefined) return [];
  const message = `rotate = on changes nothing: ${why}`;
  return [hintDiagnostic("TC913", message, { span: gather.opSpan, hint: "leave --rotate out" })];
}

/**
 * Returns hints (TC908) about requested double buffers (second copies of tiles) that would not be used; an
 * empty list if there are none.
 */
function reportSingle(tiling: Tiling): Diagnostic[] {
  const { gather, schedule, target } = tiling;
  if (!doubles(schedule.buffers)) return [];
  const reported = (message: string): Diagnostic =>
    hintDiagnostic("TC908", message, {
      span: gather.opSpan,
      hint: "leave the second copy out: --buffers 1, or name only other operands in --buffers",
    });
  if (tiling.scatter !== undefined)
    return [reported("a scatter keeps one copy of each tile: its points are written in order")];
  if (!targetFacts[target.kind].doubleBuffers) {
    const why = "because it never overlaps loads with gathers";
    return [reported(`target ${target.name} keeps one copy of each tile, ${why}`)];
  }
  return keptSingle(tiling).map((operand) => {
    const why = isWrittenInPieces(tiling, operand)
      ? "the chunks of a sum write the tile one after another"
      : "no loop loads the tile again";
    return reported(`${keyOf(operand.operand)}: ${why}, so it keeps one copy`);
  });
}

/**
 * Returns the schedule for one residency: the user's tile, legal or not, with the best buffers, or else the
 * best legal schedule. Undefined if the user sets no tile and no tile is legal.
 */
const complete = (tiling: Tiling, against?: number): Tiling | undefined =>
  tiling.gather.schedule.tile === undefined ? chooseSchedule(tiling, against) : withBuffers(tiling);

/**
 * Returns the tiling that the messages about a rejected schedule describe: the user's schedule, completed
 * with defaults. Its residency is the first candidate that has a legal tile, or the first candidate if none
 * has.
 */
export function spokenOf(
  func: AccessFunc,
  [first, ...others]: readonly [Residencies, ...Residencies[]],
  target: Target,
): Tiling {
  const plain = withDefaults(func, first, target);
  if (others.length === 0 || anyLegal(plain)) return plain;
  return (
    others.map((residency) => withDefaults(func, residency, target)).find((tiling) => anyLegal(tiling)) ??
    plain
  );
}

/**
 * Returns the residencies that the compiler may choose for a program, the preferred one first. A residency
 * that the user sets is the only one; `auto` allows all that the target and the operator support. `typed`:
 * true to treat the schedule as if the user set a tile or view.
 */
export function residenciesOf(
  func: AccessFunc,
  target: Target,
  typed = isTyped(func.schedule),
): readonly [Residencies, ...Residencies[]] {
  if (isScatter(func.map)) return writtenResidencies(func, target, typed);
  const { schedule } = func;
  const { residency } = schedule;
  if (residency !== undefined && residency !== "auto") return [shortest(func, target, residency)];
  if (readsInGm(func, target)) return leastFirst(func, target, residency);
  const loads = typed && func.framework !== undefined && func.sharedDims.length > 0;
  const all = (): readonly [Residencies, ...Residencies[]] =>
    residencyChoices(func, target, gmAllowed(func, target) && !loads ? ["ub", "gm"] : ["ub"]);
  if (residency === "auto" || target.defaultResidency === "auto") return all();
  const plain = withAvailableUb(func, target, target.defaultResidency);
  if (typed || pinsResidency(schedule) || !anyLegal(withDefaults(func, plain, target))) return [plain];
  const others = all().filter((other) => formatEntry(other) !== formatEntry(plain));
  return [plain, ...others];
}

/**
 * Returns a target's default; of a computed value that has no legal tile so, the first residency that has
 * one: its tables that are too long for the unified buffer stay in global memory.
 */
function withAvailableUb(func: AccessFunc, target: Target, preferred: Residencies): Residencies {
  const plain = shortest(func, target, preferred);
  const fits = (residency: Residencies): boolean => anyLegal(withDefaults(func, residency, target));
  if (isMove(func.map) || !targetFacts[target.kind].vectorUnit || fits(plain)) return plain;
  return residencyChoices(func, target, gmAllowed(func, target) ? ["ub", "gm"] : ["ub"]).find(fits) ?? plain;
}

/**
 * Returns the candidate residencies of a gather whose framework reads inputs in global memory, by ascending
 * use of the unified buffer (UB). If the schedule requests a lowering, returns the candidates that allow the
 * lowering, or all candidates if none allows it. `residency`: the choice of the user.
 */
function leastFirst(
  func: AccessFunc,
  target: Target,
  residency: "auto" | undefined,
): readonly [Residencies, ...Residencies[]] {
  const rows = rowDim(func.map) < func.map.domain.length;
  // Elements that lie apart are gathered in UB, where there is room for the data and that is faster.
  const choices: readonly [Residency, ...Residency[]] =
    rows && residency === undefined ? ["gm"] : ["ub", "gm"];
  const least = [...residencyChoices(func, target, choices)].reverse();
  // Instructions that are asked for find their operands where they take them.
  const able =
    func.schedule.lowering === undefined
      ? least
      : least.filter(
          (residency) => refusals(rules.residency, withDefaults(func, residency, target)).length === 0,
        );
  const [first, ...others] = able.length === 0 ? least : able;
  invariant(first !== undefined, "there is a residency");
  return [first, ...others];
}

/**
 * A legal residency under its best schedule; `cycles` of its clock, or that no schedule of it is under where
 * it has lost already.
 */
interface Weighed {
  readonly tiling: Tiling;
  readonly cycles: number;
  readonly lost: boolean;
}

/**
 * Returns the legal tiling with the fewest estimated cycles over the residencies `options`; of equally fast
 * tilings ({@link asFast}), the last in `options`. If no tiling is legal, returns a tiling with the tile that
 * the user sets, for the caller to refuse; undefined if the user sets no tile. `report`: receives a hint
 * (TC907) if the choice needs an explanation.
 */
function decideResidency(
  first: Tiling,
  options: readonly [Residencies, ...Residencies[]],
  report: (diagnostic: Diagnostic) => void,
): Tiling | undefined {
  const { gather: func, target } = first;
  const auto = (func.schedule.residency ?? target.defaultResidency) === "auto";
  const others = options.slice(1).map((residency) => withDefaults(func, residency, target));
  const tilings = [first, ...others];
  const loaded = tilings.find(({ residency }) => residency === "ub") ?? at(tilings, 0);
  const lowerBounds = tilings.map((tiling) => lowerBoundsOf(tiling).any());
  const weighed: (Weighed | undefined)[] = tilings.map(() => undefined);
  // What may be the fastest first: what it takes spares the search of what cannot be.
  const inOrder = lowerBounds.map((_, k) => k).sort((a, b) => at(lowerBounds, a) - at(lowerBounds, b));
  for (const k of inOrder) {
    const [tiling, lowerBound] = [at(tilings, k), at(lowerBounds, k)];
    const lost = weighed.some(
      (other, j) =>
        other !== undefined &&
        !other.lost &&
        (j > k ? other.cycles <= lowerBound * asFast(target) : other.cycles * asFast(target) < lowerBound),
    );
    if (lost && isLegal(statedOrSmallest(tiling))) {
      weighed[k] = { tiling, cycles: lowerBound, lost };
      continue;
    }
    const against = Math.min(...weighed.map((other) => (other?.lost === false ? other.cycles : Infinity)));
    const best = complete(tiling, against);
    if (best !== undefined && isLegal(best))
      weighed[k] = { tiling: best, cycles: clockOf(best).cycles, lost: false };
  }
  const legal = weighed.filter((other) => other !== undefined);
  const fewest = Math.min(...legal.map(({ cycles }) => cycles));
  const chosen = legal.findLast(({ cycles, lost }) => !lost && cycles <= fewest * asFast(target));
  if (chosen === undefined)
    return func.schedule.tile === undefined ? undefined : spokenOf(func, options, target);
  const name = ({ tiling }: Weighed): string => formatEntry(tiling.schedule.residency);
  const preferred = formatEntry(options[0]);
  const rest = legal.filter((other) => other !== chosen);
  const cyclesOf = (other: Weighed): string => {
    const isDefault = !auto && name(other) === preferred;
    const whose = isDefault ? `${name(other)}, the default of ${target.name}` : name(other);
    return `${whose}: ${other.lost ? "lower bound" : "estimated"} ${withCommas(other.cycles)} cycles`;
  };
  const say = (reason: string): void => {
    const message = `residency ${auto ? "auto: " : ""}${name(chosen)}, ${reason}`;
    report(hintDiagnostic("TC907", message, { span: func.opSpan }));
  };
  if (auto && chosen.tiling.residency === "gm" && !legal.some(({ tiling }) => tiling.residency === "ub"))
    say(`because ${whyNoFullLoad(loaded)}`);
  else if (rest.length > 0 && (auto || name(chosen) !== preferred))
    say(`estimated ${withCommas(chosen.cycles)} cycles; ${rest.map(cyclesOf).join("; ")}`);
  return chosen.tiling;
}

/**
 * Returns the cause for which the data is not loaded whole: the rule that refuses the stated tile, or the
 * smallest one.
 */
function whyNoFullLoad(tiling: Tiling): string {
  const broken = judge(statedOrSmallest(tiling)).find((verdict) => !verdict.pass);
  return broken === undefined || broken.rule.startsWith("ub-")
    ? "no full load of the data fits the unified buffer under this schedule"
    : `the full load of this schedule is refused: ${broken.detail}`;
}
