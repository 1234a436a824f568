/**
 * Rule 1: a schedule is one at all, and of cores that the target has. May refuse with TC302 (tile) and TC303
 * (the rest).
 */
import { isScatter } from "../../access.js";
import { inputsOf, keyOf, outputOf, type AccessFunc } from "../../func.js";
import { defaultProfile, profileFacts } from "../../profile.js";
import { profiles, type Schedule } from "../../schedule.js";
import type { Target } from "../../target.js";
import { keepsSlots, slotsOf, unequalBlocks, writeRulesOf } from "../pypto-writes.js";
import { suggestionText } from "../suggestion-text.js";
import { isLongerTile, isShorterTile } from "../taken-schedule.js";
import { at, formatShape, formatType, type Shape } from "../../types.js";
import type { Rule, ShapeVerdict } from "./rule.js";

const source = "docs/tiling-rules.md: what a tile, a view and an order are";

/**
 * Returns the reason why a schedule's number of cores is illegal on a target, and a hint with the nearest
 * legal `--cores`. Undefined if the number is legal or absent.
 */
export function coresFault(
  { cores }: Schedule,
  target: Target,
): { readonly detail: string; readonly hint: string } | undefined {
  if (cores === undefined) return undefined;
  if (!Number.isSafeInteger(cores) || cores < 1)
    return { detail: `cores is ${cores}; at least 1 core runs the tasks`, hint: "--cores 1" };
  if (cores <= target.cores) return undefined;
  return {
    detail: `cores is ${cores}; target ${target.name} has ${target.cores}`,
    hint: `--cores ${target.cores}`,
  };
}

/** Returns a fault in the form of a schedule: TC303, unless `more` states another code. */
const fault = (detail: string, more: Partial<ShapeVerdict> = {}): ShapeVerdict => ({
  rule: "schedule-shape",
  pass: false,
  code: "TC303",
  source,
  detail,
  ...more,
});

/**
 * Returns the faults in the form of a schedule, such as a tile of wrong rank; an empty list if there are
 * none. Checks tile, view, order, buffers, residency, cores and bytes.
 */
export function shapeFaults(gather: AccessFunc, schedule: Schedule, target: Target): ShapeVerdict[] {
  const tooMany = coresFault(schedule, target);
  return [
    ...extentFaults(gather, schedule, "tile"),
    ...extentFaults(gather, schedule, "view"),
    ...unevenSlots(gather, schedule),
    ...unevenBlocks(gather, schedule),
    ...orderFaults(gather, schedule),
    ...buffersFaults(gather, schedule),
    ...residencyFaults(gather, schedule),
    ...(tooMany === undefined ? [] : [fault(tooMany.detail, tooMany)]),
    ...bytesFaults(schedule),
  ];
}

/** Returns the faults (TC302, TC303) of a tile or a view: a wrong number of entries, or an entry below 1. */
function extentFaults(gather: AccessFunc, schedule: Schedule, name: "tile" | "view"): ShapeVerdict[] {
  const shape = schedule[name];
  if (shape === undefined) return [];
  const code = name === "tile" ? "TC302" : "TC303";
  const rank = gather.map.domain.length;
  const takesR = name === "tile" && gather.map.reduced !== undefined && !isScatter(gather.map);
  const isTaken =
    shape.length === rank ||
    (takesR && shape.length === rank + 1) ||
    isShorterTile(gather, schedule, name) ||
    (name === "tile" && isLongerTile(gather, schedule));
  if (!isTaken) {
    const detail = `${name} ${formatShape(shape)} has ${shape.length} entries; the ${isScatter(gather.map) ? "domain" : "output"} has rank ${rank}`;
    const hint = [
      lengthHint(gather, name, takesR),
      ...(name === "tile" ? takenUnder(gather, shape) : []),
    ].join("; or ");
    return [fault(detail, { code, hint, data: { [name]: shape } })];
  }
  const isEntry = (entry: number): boolean => Number.isSafeInteger(entry) && entry >= 1;
  const bad = shape.findIndex((entry) => !isEntry(entry));
  if (bad === -1) return [];
  const fixed = shape.map((entry) => (isEntry(entry) ? entry : 1));
  const detail = `${name} ${formatShape(shape)} has ${at(shape, bad)} along dim ${bad}; an entry is at least 1`;
  const hint = flagOf(name, fixed);
  return [fault(detail, { code, hint, data: { [name]: shape, nearest: fixed } })];
}

/** Returns the flag that sets a tile or a view, such as `--tile 8,64`. */
const flagOf = (name: "tile" | "view", shape: Shape): string =>
  suggestionText({}, name === "tile" ? { tile: shape } : { view: shape });

/** Returns the number of entries that a tile or a view takes, as a hint. `takesR`: r may have an entry. */
function lengthHint({ map, operands }: AccessFunc, name: "tile" | "view", takesR: boolean): string {
  if (map.domain.length === 0 && !takesR) return `leave --${name} out`;
  return isScatter(map)
    ? `give one entry for each dim of the domain ${formatShape(map.domain)}`
    : `give one entry for each dim of ${formatType(outputOf({ operands }).type)}${takesR ? ", and one more for r or none" : ""}`;
}

/** Returns the profiles that accept a tile with surplus entries, as flags for a hint. */
const takenUnder = (gather: AccessFunc, tile: Shape): string[] =>
  profiles
    .filter((profile) => isLongerTile(gather, { tile, profile }))
    .map(
      (profile) =>
        `--profile ${profile}, which takes the first ${gather.map.domain.length} (${profileFacts[profile].stands})`,
    );

/** Returns the fault (TC303) of an order that is no permutation of the dims. */
function orderFaults(gather: AccessFunc, { order }: Schedule): ShapeVerdict[] {
  const rank = gather.map.domain.length;
  const sorted = [...(order ?? [])].sort((a, b) => a - b);
  if (order === undefined || (sorted.length === rank && sorted.every((dim, k) => dim === k))) return [];
  const natural = Array.from({ length: rank }, (_, d) => d);
  const detail = `order ${formatShape(order)} is no permutation of the ${rank} ${isScatter(gather.map) ? "dims of the domain" : "output dims"}`;
  return [
    fault(detail, {
      hint: rank === 0 ? "leave --order out" : suggestionText({}, { order: natural }),
    }),
  ];
}

/** Returns the fault (TC303) of numbers of copies for an operand that the program does not have. */
function buffersFaults({ operands }: AccessFunc, { buffers }: Schedule): ShapeVerdict[] {
  if (typeof buffers !== "object") return [];
  const keys = operands.map(keyOf);
  const stranger = Object.keys(buffers).find((key) => !keys.includes(key));
  if (stranger === undefined) return [];
  const all = Object.fromEntries(keys.map((key) => [key, 2] as const));
  const hint = `${suggestionText({}, { buffers: all })}, or some of these`;
  return [fault(`buffers names ${stranger}, which is no operand`, { hint })];
}

/** Returns the fault (TC303) of a residency by operand that names no input, or that lacks the data. */
function residencyFaults(gather: AccessFunc, { residency }: Schedule): ShapeVerdict[] {
  if (typeof residency !== "object") return [];
  const inputs = inputsOf(gather).map(keyOf);
  const [data = "data"] = inputs;
  const all = Object.fromEntries(inputs.map((key) => [key, "ub"] as const));
  const hint = `${suggestionText({}, { residency: all })} (or ${data} and some of these)`;
  const stranger = Object.keys(residency).find((key) => !inputs.includes(key));
  if (stranger !== undefined) return [fault(`residency names ${stranger}, which is no input`, { hint })];
  return Object.hasOwn(residency, data)
    ? []
    : [fault(`residency lacks ${data}, the gathered input`, { hint })];
}

/** Returns the fault (TC303) of a size of the unified buffer that is no whole number of bytes. */
const bytesFaults = ({ ubBytes }: Schedule): ShapeVerdict[] =>
  ubBytes === undefined || (Number.isSafeInteger(ubBytes) && ubBytes >= 0)
    ? []
    : [fault(`ub_bytes is ${ubBytes}; it must be a whole number of bytes`)];

/**
 * Returns the faults of a tile (TC302) and of a view (TC303) whose extents along dim 0 split the slots of a
 * sequence, where the operator keeps them together ({@link slotsOf}). The tile counts as it is typed. The
 * hints name the nearest legal extents. Extents below 1 are not judged.
 */
function unevenSlots(gather: AccessFunc, { tile, view }: Schedule): ShapeVerdict[] {
  const slots = slotsOf(gather);
  if (slots === undefined || slots === 0) return [];
  const uneven = (name: "tile" | "view", typed: Shape, nearest: number, relation: string): ShapeVerdict =>
    fault(`${name}[0] = ${at(typed, 0)} must be ${relation} of ${slots}, the index entries of a sequence`, {
      rule: "slots",
      code: name === "tile" ? "TC302" : "TC303",
      source: writeRulesOf(gather)?.[name] ?? source,
      hint: flagOf(name, typed.with(0, nearest)),
      data: { [name]: [at(typed, 0)], nearest: [nearest] },
    });
  const multiple = (entry: number): number => slots * Math.max(1, Math.floor(entry / slots));
  const divisor = (entry: number): number => (slots % entry === 0 ? entry : divisor(entry - 1));
  const integerOr0 = (entry = 0): number => (Number.isSafeInteger(entry) ? entry : 0);
  const [ofTile, ofView] = [integerOr0(tile?.[0]), integerOr0(view?.[0])];
  const nearest = ofTile > slots ? multiple(ofTile) : divisor(Math.max(1, ofTile));
  const cutsView = ofView >= 1 && ofView < at(gather.map.domain, 0);
  return [
    ...(tile === undefined || ofTile < 1 || keepsSlots(ofTile, slots)
      ? []
      : [uneven("tile", tile, nearest, "a multiple or a divisor")]),
    ...(view !== undefined && cutsView && ofView % slots !== 0
      ? [uneven("view", view, multiple(ofView), "a multiple")]
      : []),
  ];
}

/**
 * Returns a list with the fault (TC303) of a view that cuts the input and the index of a PyPTO operator into
 * different numbers of blocks along a dim. The hint names a view that leaves this dim whole. The list is
 * empty if the numbers are equal, or if the profile allows different numbers.
 */
function unevenBlocks(gather: AccessFunc, { view, profile = defaultProfile }: Schedule): ShapeVerdict[] {
  const operator = writeRulesOf(gather);
  const blocks =
    view === undefined || operator?.equalBlocks?.includes(profile) !== true
      ? undefined
      : unequalBlocks(gather, view);
  if (view === undefined || operator === undefined || blocks === undefined) return [];
  const { dim, output, index, outputBlocks, indexBlocks } = blocks;
  const nearest = view.with(dim, Math.max(output, index));
  return [
    {
      rule: "blocks",
      pass: false,
      code: "TC303",
      detail: `view[${dim}] = ${at(view, dim)} cuts input into ${outputBlocks} blocks of ${output}, and index into ${indexBlocks} of ${index}: their numbers must agree`,
      source: `${operator.view}, constraint 4 (profile ${profile})`,
      hint: flagOf("view", nearest),
      data: { view, nearest },
    },
  ];
}

/**
 * Rule on the form of a schedule: tile, view, order, buffers, residency, cores and bytes of the unified
 * buffer (UB) have valid lengths and values for the program and the target.
 */
export const scheduleShape: Rule = {
  id: "schedule-shape",
  code: "TC303",
  judge: ({ gather, schedule, target }) => shapeFaults(gather, schedule, target),
};
