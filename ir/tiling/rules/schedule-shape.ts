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
import { isLongerTile, isShorterTile } from "../taken-schedule.js";
import { domainOf } from "../tiled.js";
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

/**
 * Returns the faults in the form of a schedule, such as a tile of wrong rank; an empty list if there are
 * none. Checks tile, view, order, buffers, residency, cores and bytes.
 */
export function shapeFaults(gather: AccessFunc, schedule: Schedule, target: Target): ShapeVerdict[] {
  const rank = domainOf(gather).length;
  const isWrite = isScatter(gather.map);
  const fault = (detail: string, more: Partial<ShapeVerdict> = {}): ShapeVerdict => ({
    rule: "schedule-shape",
    pass: false,
    code: "TC303",
    source,
    detail,
    ...more,
  });
  /** Profiles under which a tile of more entries is one, as flags. */
  const takenUnder = (tile: Shape): string[] =>
    profiles
      .filter((profile) => isLongerTile(gather, { tile, profile }))
      .map(
        (profile) => `--profile ${profile}, which takes the first ${rank} (${profileFacts[profile].stands})`,
      );
  const shapeFault = (name: "tile" | "view", shape: Shape | undefined): ShapeVerdict[] => {
    if (shape === undefined) return [];
    const code = name === "tile" ? "TC302" : "TC303";
    const hasReduction = name === "tile" && gather.map.reduced !== undefined && !isWrite;
    const fits = shape.length === rank || (hasReduction && shape.length === rank + 1);
    const taken = isLongerTile(gather, schedule) || isShorterTile(gather, schedule, name);
    if (!fits && !(name === "tile" ? taken : isShorterTile(gather, schedule, name))) {
      const more = hasReduction ? ", and one more for r or none" : "";
      const one = isWrite
        ? `give one entry for each dim of the domain ${formatShape(domainOf(gather))}`
        : `give one entry for each dim of ${formatType(outputOf(gather).type)}${more}`;
      const hint = [one, ...(name === "tile" ? takenUnder(shape) : [])].join("; or ");
      const detail = `${name} ${formatShape(shape)} has ${shape.length} entries; the ${isWrite ? "domain" : "output"} has rank ${rank}`;
      return [fault(detail, { code, hint, data: { [name]: shape } })];
    }
    const isEntry = (entry: number): boolean => Number.isSafeInteger(entry) && entry >= 1;
    const bad = shape.findIndex((entry) => !isEntry(entry));
    if (bad === -1) return [];
    const fixed = shape.map((entry) => (isEntry(entry) ? entry : 1));
    const detail = `${name} ${formatShape(shape)} has ${at(shape, bad)} along dim ${bad}; an entry is at least 1`;
    return [
      fault(detail, {
        code,
        hint: `${name} = ${formatShape(fixed)}`,
        data: { [name]: shape, nearest: fixed },
      }),
    ];
  };
  const { order, ubBytes, buffers, residency } = schedule;
  const slots = slotsOf(gather);
  const [entry] = schedule.tile ?? [];
  const slotFaults =
    slots === undefined || entry === undefined || entry < 1 || keepsSlots(entry, slots)
      ? []
      : [unevenSlots(gather, entry, slots)];
  const faults = [
    ...shapeFault("tile", schedule.tile),
    ...shapeFault("view", schedule.view),
    ...slotFaults,
    ...unevenBlocks(gather, schedule),
  ];
  if (order !== undefined) {
    const sorted = [...order].sort((a, b) => a - b);
    if (sorted.length !== rank || sorted.some((dim, k) => dim !== k)) {
      const natural = Array.from({ length: rank }, (_, d) => d);
      const detail = `order ${formatShape(order)} is no permutation of the ${rank} ${isWrite ? "dims of the domain" : "output dims"}`;
      faults.push(fault(detail, { hint: `order = ${formatShape(natural)}` }));
    }
  }
  const keys = gather.operands.map(keyOf);
  const stranger =
    typeof buffers === "object" ? Object.keys(buffers).find((key) => !keys.includes(key)) : undefined;
  if (stranger !== undefined) {
    const hint = `buffers = {${keys.map((key) => `${key} = 2`).join(", ")}}, or some of these`;
    faults.push(fault(`buffers names ${stranger}, which is no operand`, { hint }));
  }
  if (typeof residency === "object") {
    const inputs = inputsOf(gather).map(keyOf);
    const [data = "data"] = inputs;
    const unknown = Object.keys(residency).find((key) => !inputs.includes(key));
    const form = `residency = {${inputs.map((key) => `${key} = ub`).join(", ")}}, or ${data} and some of these`;
    if (unknown !== undefined)
      faults.push(fault(`residency names ${unknown}, which is no input`, { hint: form }));
    else if (!Object.hasOwn(residency, data))
      faults.push(fault(`residency lacks ${data}, the gathered input`, { hint: form }));
  }
  const tooMany = coresFault(schedule, target);
  if (tooMany !== undefined) faults.push(fault(tooMany.detail, tooMany));
  if (ubBytes !== undefined && (!Number.isSafeInteger(ubBytes) || ubBytes < 0))
    faults.push(fault(`ub_bytes is ${ubBytes}; it must be a whole number of bytes`));
  return faults;
}

/**
 * Returns the fault (TC302) for a tile whose extent along dim 0, `entry`, is neither a multiple nor a divisor
 * of `slots`. `slots`: number of indices for each sequence. The hint names the nearest legal extent. Does not
 * check `entry` itself.
 */
function unevenSlots(gather: AccessFunc, entry: number, slots: number): ShapeVerdict {
  const smaller = Array.from({ length: Math.min(entry, slots) }, (_, k) => Math.min(entry, slots) - k);
  const nearest =
    entry > slots ? slots * Math.floor(entry / slots) : (smaller.find((n) => slots % n === 0) ?? 1);
  return {
    rule: "slots",
    pass: false,
    code: "TC302",
    detail: `tile[0] = ${entry} must be a multiple or a divisor of ${slots}, the index entries of a sequence`,
    source: writeRulesOf(gather)?.tile ?? source,
    hint: `tile[0] = ${nearest}`,
    data: { tile: [entry], nearest: [nearest] },
  };
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
      hint: `view = ${formatShape(nearest)}`,
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
