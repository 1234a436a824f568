/** The diagnostics that refuse a schedule: rule, arithmetic in bytes, operand at fault, nearest legal tile. */
import { gatherDims } from "../../ir/access.js";
import { error, type Diagnostic } from "../../ir/diagnostic.js";
import type { Footprint } from "../../ir/footprint.js";
import type { AccessFunc } from "../../ir/func.js";
import type { ResolvedSchedule, Schedule } from "../../ir/schedule.js";
import type { Target } from "../../ir/target.js";
import { at, formatShape, formatType, sameShape, type Shape } from "../../ir/types.js";
import { footprintOf, fullLoadVerdicts } from "./legality.js";
import { anyLegal, largestGatherDims, nearestLegal, smallestArithmetic, waysOut } from "./suggest.js";

/** What to type to follow a suggestion: the entries that differ from the schedule at hand. */
export function suggestionText(from: Schedule, to: ResolvedSchedule): string {
  const flags: string[] = [];
  const shapeFlag = (name: string, old: Shape | undefined, entry: Shape): void => {
    if (old === undefined || !sameShape(old, entry)) flags.push(`--${name} ${entry.join(",")}`);
  };
  if (from.profile !== to.profile) flags.push(`--profile ${to.profile}`);
  if (from.residency !== to.residency) flags.push(`--residency ${to.residency}`);
  shapeFlag("tile", undefined, to.tile);
  shapeFlag("view", from.view, to.view);
  return flags.join(" ");
}

/** `data 3x2xf32 96 B (dim 0 is a gather dim, loaded whole)`, one line a part. */
export function footprintNotes(func: AccessFunc, footprint: Footprint): string[] {
  const whole = gatherDims(func.map);
  return footprint.parts.map((part) => {
    const type = formatType({ dtype: part.dtype, shape: part.tile });
    const padding =
      footprint.rule === "full" && part.padded !== part.bytes ? `, ${part.bytes} B unpadded` : "";
    const times = part.buffers === 2 ? `, 2 buffers of ${part.padded} B` : "";
    const why =
      part.part === "data" && whole.length > 0
        ? ` (gather dim${whole.length > 1 ? "s" : ""} ${whole.join(", ")} loaded whole)`
        : "";
    return `${part.part} ${type} ${part.counted} B${padding}${times}${why}`;
  });
}

const suggestionData = (schedule: ResolvedSchedule) => ({
  nearestTile: schedule.tile,
  nearestView: schedule.view,
  nearestProfile: schedule.profile,
  nearestResidency: schedule.residency,
});

export function brokenFullLoad(func: AccessFunc, schedule: ResolvedSchedule, target: Target): Diagnostic[] {
  const broken = fullLoadVerdicts(func, schedule).filter((verdict) => !verdict.pass);
  const [first] = broken;
  if (first === undefined) return [];
  const footprint = footprintOf(func, schedule, target);
  const [nearest] = nearestLegal(func, schedule, target);
  const hint =
    nearest === undefined
      ? `no tile is legal here: ${smallestArithmetic(func, schedule, target)}; ${waysOutText(func, schedule, target)}`
      : suggestionText(schedule, nearest);
  const rule = `full-load rule (profile ${schedule.profile}, target ${target.name})`;
  return [
    error("TC301", `${rule}: ${broken.map((verdict) => verdict.detail).join("; ")}`, {
      span: func.opSpan,
      notes: [
        `tile ${formatShape(schedule.tile)}, view ${formatShape(schedule.view)}`,
        `source: ${first.source}`,
        ...footprintNotes(func, footprint),
        `footprint ${footprint.bytes} B of ${footprint.budget} B`,
      ],
      hint,
      data: {
        profile: schedule.profile,
        target: target.name,
        tile: schedule.tile,
        view: schedule.view,
        bytes: footprint.bytes,
        budget: footprint.budget,
        ...(nearest === undefined ? {} : suggestionData(nearest)),
      },
    }),
  ];
}

export function overBudget(func: AccessFunc, schedule: ResolvedSchedule, target: Target): Diagnostic {
  if (!anyLegal(func, schedule, target)) return noLegalTile(func, schedule, target);
  const footprint = footprintOf(func, schedule, target);
  const culprit = footprint.parts.reduce((worst, part) => (part.counted > worst.counted ? part : worst));
  const nearest = nearestLegal(func, schedule, target);
  const [best] = nearest;
  const over = footprint.bytes - footprint.budget;
  return error(
    "TC401",
    `tile ${formatShape(schedule.tile)} needs ${footprint.bytes} B of unified buffer, over ${footprint.budget} B ` +
      `(target ${target.name}, profile ${schedule.profile}) by ${over} B; most of it is ${culprit.part}`,
    {
      span: func.opSpan,
      notes: footprintNotes(func, footprint),
      ...(best === undefined ? {} : { hint: nearest.map((n) => suggestionText(schedule, n)).join(" or ") }),
      data: {
        profile: schedule.profile,
        target: target.name,
        tile: schedule.tile,
        bytes: footprint.bytes,
        budget: footprint.budget,
        culprit: culprit.part,
        ...(best === undefined ? {} : suggestionData(best)),
      },
    },
  );
}

export function noLegalTile(func: AccessFunc, schedule: ResolvedSchedule, target: Target): Diagnostic {
  const largest = largestGatherDims(func, schedule, target);
  const dims = largest.map(({ dim, largest: n }) => {
    const extent = at(func.data.type.shape, dim);
    return `gather dim ${dim} is ${extent}; the largest that would fit is ${n}`;
  });
  const [way] = waysOut(func, schedule, target);
  return error(
    "TC402",
    `no tile is legal (target ${target.name}, profile ${schedule.profile}, residency ${schedule.residency}): ` +
      dims.join("; "),
    {
      span: func.opSpan,
      notes: [smallestArithmetic(func, schedule, target)],
      hint: waysOutText(func, schedule, target),
      data: {
        profile: schedule.profile,
        target: target.name,
        budget: schedule.ubBytes,
        bytes: footprintOf(func, { ...schedule, tile: schedule.tile.map(() => 1) }, target).bytes,
        largestGatherDim: largest.map((entry) => entry.largest),
        ...(way === undefined ? {} : suggestionData(way.schedule)),
      },
    },
  );
}

function waysOutText(func: AccessFunc, schedule: ResolvedSchedule, target: Target): string {
  // Who gave no tile needs none to get out: the compiler chooses one.
  const open = sameShape(schedule.tile, func.output.type.shape);
  const ways = waysOut(func, schedule, target).map((way) =>
    suggestionText(schedule, way.schedule)
      .split(" --")
      .filter((flag) => !open || !/^(--)?(tile|view) /.test(flag))
      .join(" --"),
  );
  if (ways.length > 0) return ways.join(" or ");
  return "gather along a shorter dim, use a narrower element type, or raise the budget with --ub-bytes";
}
