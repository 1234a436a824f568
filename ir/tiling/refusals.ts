/**
 * The diagnostics that refuse a schedule: rule, arithmetic in bytes, operand at fault, nearest legal tile.
 */
import { eitherOf } from "../counted.js";
import { defined } from "../defined.js";
import { gatheredTable, gatherDims } from "../access.js";
import { error, type Diagnostic } from "../diagnostic.js";
import { frameworkFacts, tileCall } from "../framework.js";
import { inputOf, outputOf } from "../func.js";
import { ubCapacity } from "./footprint.js";
import { defaultProfile, laterProfiles, profileFacts, profileName } from "../profile.js";
import { formatEntry, type Schedule } from "../schedule.js";
import { defaultsOn } from "../schedule-entries.js";
import { ascendA2, deviceLimits, type Target } from "../target.js";
import { assertNever, at, formatShape, formatType, sameShape } from "../types.js";
import { tooManyBuffers } from "../wgsl-limits.js";
import { classesOf } from "./requested-lowering.js";
import { nearestLegal } from "./nearest.js";
import { movableTables, placed, residencyOf } from "./residency.js";
import { boundBuffers, isLegal, shapeFaults, type Rule, type RuleVerdict } from "./rules/index.js";
import { anyLegal, largestGatherDims, smallest, smallestArithmetic, whyNone } from "./smallest.js";
import { suggestionText } from "./suggestion-text.js";
import { Tiling } from "./tiling.js";

/**
 * Function that returns legal tilings under another PyPTO rule profile or residency (memory of the operands),
 * with the flags that select the tilings.
 */
export type Remedies = (tiling: Tiling) => readonly { readonly flags: string; readonly tiling: Tiling }[];

/**
 * Returns the diagnostics of a schedule that breaks a rule; an empty list if the schedule satisfies the rule.
 * `remedies`: returns other schedules to suggest if no tile is legal.
 */
export function refusals(rule: Rule, tiling: Tiling, remedies: Remedies = () => []): Diagnostic[] {
  const broken = rule.judge(tiling).filter((verdict) => !verdict.pass);
  const [first] = broken;
  if (first === undefined) return [];
  switch (rule.id) {
    case "schedule-shape":
      return shapeRefusals(tiling.gather, tiling.schedule, tiling.target);
    case "device-limits":
      return broken.map((verdict) => beyondDevice(tiling, verdict));
    case "residency":
      return [misplaced(tiling, first, remedies)];
    case "packed-tile":
      return [insideByte(tiling, broken)];
    case "full-load":
      return [
        tiling.scatter === undefined
          ? cutGatherDim(tiling, broken, first, remedies)
          : brokenStore(tiling, broken, first, remedies),
      ];
    case "ub-budget":
      return [anyLegal(tiling) ? overBudget(tiling, first) : noLegalTile(tiling, remedies)];
    default:
      return assertNever(rule.id);
  }
}

/**
 * Returns the error for an operator that exceeds a WebGPU limit: too many elements (TC106) or too many
 * storage buffers (TC502).
 */
function beyondDevice({ gather, schedule, target }: Tiling, { rule, detail }: RuleVerdict): Diagnostic {
  if (rule === "element-positions") {
    const inGm = { ...schedule, ...defaultsOn(ascendA2), residency: "gm" } as const;
    const isOnAscend = anyLegal(new Tiling(gather, inGm, ascendA2));
    const hint = `--target cpu${isOnAscend ? `, or --target ${ascendA2.name} --residency gm` : ""}`;
    return error("TC106", detail, { span: gather.opSpan, hint });
  }
  const limit = deviceLimits(target).maxStorageBuffersPerShaderStage;
  return tooManyBuffers(boundBuffers(gather), limit, gather.opSpan);
}

/**
 * Returns the diagnostics (TC302, TC303) for schedule entries of invalid shape or value; an empty list for a
 * valid schedule.
 */
export const shapeRefusals = (gather: Tiling["gather"], schedule: Schedule, target: Target): Diagnostic[] =>
  shapeFaults(gather, schedule, target).map(({ code, detail, hint, data }) =>
    error(code, detail, {
      span: gather.opSpan,
      ...defined({ hint, data }),
    }),
  );

/**
 * Returns a list with one note: the line of a framework's program that sets the tile of `nearest`, such as
 * `pypto.set_vec_tile_shapes(64, 64)`, and the views if they change. The list is empty for an operator of no
 * framework, or if `nearest` is undefined.
 */
function callNotes({ gather, schedule }: Tiling, nearest: Tiling | undefined): string[] {
  if (gather.framework === undefined || nearest === undefined) return [];
  const { tile, view } = nearest.schedule;
  const views = sameShape(view, schedule.view) ? "" : `, in views of ${view.join()}`;
  return [
    `in a program of ${frameworkFacts[gather.framework].title}: ${tileCall(gather.framework, tile)}${views}`,
  ];
}

/**
 * Returns notes on the unified buffer (UB) that a tile needs, one line for each part: `data 3x2xf32 96 B
 * (gather dim 0 loaded whole)`.
 */
export function footprintNotes({ gather, footprint }: Tiling): string[] {
  const dims = gatherDims(gather.map);
  const notes = [...footprint.parts, ...footprint.written].map((entry) => {
    const type = formatType({ dtype: entry.dtype, shape: entry.tile });
    const padding =
      footprint.rule === "full" && entry.padded !== entry.bytes ? `, ${entry.bytes} B unpadded` : "";
    const times = entry.buffers === 2 ? `, 2 buffers of ${entry.padded} B` : "";
    const why =
      typeof entry.use !== "string" && entry.use.operand === gatheredTable && dims.length > 0
        ? ` (gather dim${dims.length > 1 ? "s" : ""} ${dims.join(", ")} loaded whole)`
        : "";
    return `${entry.part} ${type} ${entry.counted} B${padding}${times}${why}`;
  });
  return footprint.planned > footprint.budget && footprint.bytes <= footprint.budget
    ? [...notes, `with padding and second buffers ${footprint.planned} B`]
    : notes;
}

const suggestionData = ({ schedule }: Tiling) => ({
  nearestTile: schedule.tile,
  nearestView: schedule.view,
  ...defined({ nearestProfile: schedule.profile }),
  nearestResidency: schedule.residency,
  nearestOrder: schedule.order,
  nearestBuffers: schedule.buffers,
});

/**
 * Returns the error (TC403) for a requested residency (memory of an operand) or lowering that is impossible.
 * The hint has the flags of the possible residencies or lowerings.
 */
function misplaced(tiling: Tiling, verdict: RuleVerdict, remedies: Remedies): Diagnostic {
  const { gather, schedule, target } = tiling;
  const list = remedies(tiling);
  const otherwise = "use residency ub, with a schedule that is legal there";
  if (verdict.rule === "residency-table") {
    const movable = movableTables(gather, target);
    const mended = placed(gather, target, (operand) =>
      residencyOf(
        operand,
        movable.includes(operand) || operand.role === "data" ? schedule.residency : "ub",
        target,
      ),
    );
    const same = list.find((other) => formatEntry(other.tiling.schedule.residency) === formatEntry(mended));
    return error("TC403", verdict.detail, {
      span: gather.opSpan,
      hint: (same ?? list[0])?.flags ?? otherwise,
    });
  }
  if (verdict.rule === "lowering" && tiling.scatter !== undefined)
    return error("TC403", verdict.detail, { span: gather.opSpan, hint: "leave --lowering out" });
  if (verdict.rule === "lowering") {
    const isStated = gather.schedule.tile !== undefined;
    const others = classesOf(tiling.lowering)
      .map((lowering) => tiling.with({ lowering }))
      .filter((other) => (isStated ? isLegal(other) : anyLegal(other)))
      .map(({ schedule: { lowering } }) => `--lowering ${lowering}`);
    const hints = [...list.map(({ flags }) => flags), ...others];
    const hint = hints.length === 0 ? "leave --lowering out" : hints.join(" or ");
    return error("TC403", verdict.detail, { span: gather.opSpan, hint });
  }
  if (tiling.scatter !== undefined && verdict.rule === "residency")
    return error("TC403", verdict.detail, {
      span: gather.opSpan,
      notes: [`source: ${verdict.source}`],
      hint: [...list.slice(0, 1).map(({ flags }) => flags), "duplicates = unique in an access.scatter"].join(
        ", or ",
      ),
    });
  return error("TC403", verdict.detail, {
    span: gather.opSpan,
    notes: [`target ${target.name} reads global memory row by row (PyPTO index_select, PTO MGATHER)`],
    hint: list[0]?.flags ?? otherwise,
  });
}

/**
 * Returns the error (TC304) for a tile or a view that starts inside a byte of packed elements. The hint
 * suggests the nearest legal tile.
 */
function insideByte(tiling: Tiling, broken: readonly RuleVerdict[]): Diagnostic {
  const { gather, schedule } = tiling;
  const [nearest] = nearestLegal(tiling);
  return error("TC304", broken.map(({ detail }) => detail).join("; "), {
    span: gather.opSpan,
    notes: [`tile ${formatShape(schedule.tile)}, view ${formatShape(schedule.view)}`],
    hint:
      nearest === undefined
        ? "no tile is legal here: read the packed operand from whole bytes"
        : suggestionText(schedule, nearest.schedule),
    data: {
      tile: schedule.tile,
      view: schedule.view,
      ...(nearest === undefined ? {} : suggestionData(nearest)),
    },
  });
}

/**
 * Returns the error (TC301) for a tile that splits a gather dim although a rule requires the full extent. The
 * hint suggests the nearest legal tile, or tilings from `remedies`.
 */
function cutGatherDim(
  tiling: Tiling,
  broken: readonly RuleVerdict[],
  first: RuleVerdict,
  remedies: Remedies,
): Diagnostic {
  const { gather, schedule, target } = tiling;
  const [nearest] = nearestLegal(tiling);
  const hint =
    nearest === undefined
      ? `no tile is legal here: ${smallestArithmetic(tiling)}; ${remediesText(tiling, remedies)}`
      : suggestionText(schedule, nearest.schedule);
  const later = laterProfiles(schedule.profile ?? defaultProfile).find((profile) =>
    isLegal(tiling.with({ profile })),
  );
  const rule = `full-load rule (profile ${profileName(schedule)}, target ${target.name})`;
  return error("TC301", `${rule}: ${broken.map((verdict) => verdict.detail).join("; ")}`, {
    span: gather.opSpan,
    notes: [
      `tile ${formatShape(schedule.tile)}, view ${formatShape(schedule.view)}`,
      ...tileNotes(tiling, first, nearest),
      ...(later === undefined
        ? []
        : [`under profile ${later} (${profileFacts[later].stands}) this tile is legal: --profile ${later}`]),
    ],
    hint,
    data: tileData(tiling, nearest),
  });
}

/**
 * Returns the notes of a tile that breaks a rule (TC301): source, bytes, and the call that sets the nearest
 * legal tile.
 */
const tileNotes = (
  tiling: Tiling,
  { source }: RuleVerdict,
  nearest: Tiling | undefined,
): readonly string[] => [
  `source: ${source}`,
  ...footprintNotes(tiling),
  `footprint ${tiling.footprint.bytes} B of ${tiling.footprint.budget} B`,
  ...callNotes(tiling, nearest),
];

/**
 * Returns the data of a tile that breaks a rule (TC301): the tile, its bytes, and the nearest legal schedule.
 */
const tileData = (
  { schedule, target, footprint }: Tiling,
  nearest: Tiling | undefined,
): NonNullable<Diagnostic["data"]> => ({
  profile: profileName(schedule),
  target: target.name,
  tile: schedule.tile,
  view: schedule.view,
  bytes: footprint.bytes,
  budget: footprint.budget,
  ...(nearest === undefined ? {} : suggestionData(nearest)),
});

/**
 * Returns the error (TC301) for a scatter whose tile writes elements out of order, or splits a dim that must
 * be stored in full. The hint suggests the nearest legal tiles, or tilings from `remedies`.
 */
function brokenStore(
  tiling: Tiling,
  broken: readonly RuleVerdict[],
  first: RuleVerdict,
  remedies: Remedies,
): Diagnostic {
  const { gather, schedule } = tiling;
  const near = nearestLegal(tiling);
  const [nearest] = near;
  const isOrder = first.rule === "point-order";
  const flags = near.map((one) => suggestionText(schedule, one.schedule));
  const none = `no tile is legal here: ${smallestArithmetic(tiling)}; ${remediesText(tiling, remedies)}`;
  const hints = [...(nearest === undefined ? [none] : flags), ...(isOrder ? ["duplicates = unique"] : [])];
  return error("TC301", broken.map(({ rule, detail }) => `${rule}: ${detail}`).join("; "), {
    span: gather.opSpan,
    notes: [
      ...(isOrder ? ["points that write one element are taken in row-major order of the domain"] : []),
      ...tileNotes(tiling, first, nearest),
    ],
    hint: hints.join(", or "),
    data: { rule: first.rule, ...tileData(tiling, nearest) },
  });
}

/**
 * Returns the error (TC401) for a tile that needs more bytes of the unified buffer (UB) than the budget. The
 * hint suggests the nearest legal tiles or other lowerings.
 */
function overBudget(tiling: Tiling, first: RuleVerdict): Diagnostic {
  const { gather, schedule, target, footprint } = tiling;
  if (first.rule === "lowering-room") {
    const fitting = classesOf(tiling.lowering).map((other) => `--lowering ${other}`);
    return error("TC401", `tile ${formatShape(schedule.tile)}: ${first.detail}`, {
      span: gather.opSpan,
      notes: footprintNotes(tiling),
      hint: [...fitting, "a smaller tile"].join(" or "),
      data: { target: target.name, tile: schedule.tile, budget: footprint.budget },
    });
  }
  const culprit = [...footprint.parts, ...footprint.written].reduce((worst, entry) =>
    entry.counted > worst.counted ? entry : worst,
  );
  const nearest = nearestLegal(tiling);
  const [best] = nearest;
  const needed = first.rule === "ub-plan" ? footprint.planned : footprint.bytes;
  const over = needed - footprint.budget;
  return error(
    "TC401",
    `tile ${formatShape(schedule.tile)} needs ${needed} B of unified buffer, ${over > 0 ? "over" : "not below"} ${footprint.budget} B ` +
      `(target ${target.name}, profile ${profileName(schedule)})${over > 0 ? ` by ${over} B` : ""}; most of it is ${culprit.part}`,
    {
      span: gather.opSpan,
      notes: footprintNotes(tiling),
      ...(best === undefined
        ? {}
        : { hint: nearest.map((n) => suggestionText(schedule, n.schedule)).join(" or ") }),
      data: {
        profile: profileName(schedule),
        target: target.name,
        tile: schedule.tile,
        bytes: needed,
        budget: footprint.budget,
        culprit: culprit.part,
        ...(best === undefined ? {} : suggestionData(best)),
      },
    },
  );
}

/**
 * Returns the error (TC402) for a gather or scatter without a legal tile, with the reason and the remedies.
 */
export function noLegalTile(tiling: Tiling, remedies: Remedies): Diagnostic {
  const { gather, schedule, target } = tiling;
  const largest = tiling.residency === "gm" ? [] : largestGatherDims(tiling);
  const dims = largest.map(({ dim, largest: n }) => {
    const isWrite = tiling.scatter !== undefined;
    const { shape } = (isWrite ? outputOf(gather) : inputOf(gather, gatheredTable)).type;
    const extent = at(shape, dim);
    return `${isWrite ? "stored dim" : "gather dim"} ${dim} is ${extent}; the largest that would fit is ${n}`;
  });
  const [remedy] = remedies(tiling);
  const bytes = leastBytes(tiling);
  return error(
    "TC402",
    [
      `no tile is legal (target ${target.name}, profile ${profileName(schedule)}, residency ${formatEntry(schedule.residency)})`,
      ...(dims.length === 0 ? [] : [dims.join("; ")]),
    ].join(": "),
    {
      span: gather.opSpan,
      notes: [whyNone(tiling)],
      hint: remediesText(tiling, remedies),
      data: {
        profile: profileName(schedule),
        target: target.name,
        budget: schedule.ubBytes,
        bytes,
        largestGatherDim: largest.map((entry) => entry.largest),
        ...(remedy === undefined ? {} : suggestionData(remedy.tiling)),
      },
    },
  );
}

/** Returns the bytes of the unified buffer (UB) that the smallest tile needs, before or after allocation. */
function leastBytes(tiling: Tiling): number {
  const { bytes, planned } = smallest(tiling).footprint;
  return bytes > ubCapacity(tiling) ? bytes : planned;
}

/**
 * Returns a hint for a program without a legal tile under any PyPTO rule profile or residency: other
 * operands, or the size of a unified buffer (UB) in which the smallest tile fits.
 */
export function otherRemedies(tiling: Tiling): string {
  const flags = flagsToMoreUb(tiling);
  return eitherOf([
    ...(tiling.scatter === undefined
      ? ["gather along a shorter dim"]
      : ["store along a shorter dim", "promise duplicates = unique"]),
    ...(flags === undefined ? [] : [`plan for a core with more UB: ${flags}`]),
  ]);
}

/**
 * Returns the command-line flags of the least bytes of unified buffer (UB) in which a tile is legal, with the
 * view, and the tile where the user states one, that are legal there. Undefined if more bytes make no tile
 * legal.
 */
function flagsToMoreUb(tiling: Tiling): string | undefined {
  const { schedule, gather } = tiling;
  const { bytes, planned } = smallest(tiling).footprint;
  const ubBytes = schedule.ubBytes - ubCapacity(tiling) + Math.max(bytes, planned);
  if (ubBytes <= schedule.ubBytes) return undefined;
  const [nearest] = nearestLegal(tiling.with({ ubBytes }));
  if (nearest === undefined) return undefined;
  const { tile: _, ...chosen } = nearest.schedule;
  return suggestionText(schedule, gather.schedule.tile === undefined ? chosen : nearest.schedule);
}

function remediesText(tiling: Tiling, remedies: Remedies): string {
  const others = remedies(tiling);
  return others.length > 0 ? others.map(({ flags }) => flags).join(" or ") : otherRemedies(tiling);
}
