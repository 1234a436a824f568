/** An explanation as text: rules, bytes, traffic, and what to do about a refusal. */
import {
  atMost,
  counted,
  formatEntry,
  formatShape,
  formatSizes,
  formatSizeVerdict,
  formatStanding,
  formatType,
  printSchedule,
  suggestionText,
  tileCall,
  type ResolvedSchedule,
  type Shape,
} from "../../ir/index.js";
import type { Explanation } from "../api/explain.js";
import { turnedText } from "../api/pages-verdict.js";
import type { Comparison } from "../api/comparison.js";
import { table } from "./table.js";

export function renderExplanation(explanation: Explanation): string {
  const {
    schedule,
    passes,
    legal,
    pages,
    rules,
    footprint,
    sizes,
    nearest,
    infeasible,
    traffic,
    reversed,
    comparison,
  } = explanation;
  const lines = [
    verdictLine(explanation),
    ...lineIf(turnedText(pages)),
    `map       ${explanation.map}`,
    ...(passes === undefined ? [] : [`passes    ${passes.join(", ")}`]),
    `schedule  ${printSchedule(schedule)}`,
    "",
    schedule.profile === undefined
      ? "rules (full load is not in force)"
      : `rules (profile ${schedule.profile})`,
    ...rules.map(
      (rule) =>
        `  ${rule.pass ? "pass" : "FAIL"}  ${rule.rule.padEnd(15)} ${rule.detail}\n${" ".repeat(24)}${rule.source}`,
    ),
    "",
    "unified buffer, bytes",
    table(
      ["  operand", "tile", "bytes", "padded", "buffers", "counted"],
      [...footprint.parts, ...footprint.written].map((part) => [
        `  ${part.part}`,
        formatType({ dtype: part.dtype, shape: part.tile }),
        part.bytes,
        part.padded,
        part.buffers,
        part.counted,
      ]),
    ),
    `  total ${footprint.bytes} B of ${footprint.budget} B (budget rule ${footprint.rule})`,
  ];
  lines.push(...sizes.map((size) => `  ${formatSizeVerdict(size)}`));
  if (legal) {
    const atSizes =
      explanation.symbols.length === 0 ? "" : ` at the most, ${formatSizes(atMost(explanation.symbols))}`;
    const ratio = traffic.compulsory === 0 ? 1 : traffic.bytes / traffic.compulsory;
    lines.push(
      "",
      "global memory, bytes",
      table(
        ["  operand", "moved", "compulsory", "burst"],
        traffic.operands.map((o) => [`  ${o.operand}`, o.bytes, o.compulsory, o.burst]),
      ),
      `  total ${traffic.bytes} B, ${ratio.toFixed(3)} of compulsory; ${counted(traffic.tasks, "task")}, ${counted(traffic.tiles, "tile")}`,
      `  clock ${explanation.clock}: about ${explanation.cycles} cycles${atSizes}`,
    );
    if (explanation.lowering !== undefined) lines.push(...renderLowering(explanation.lowering));
    if (reversed !== undefined) {
      lines.push(
        `  with order ${formatShape(reversed.order)} the same tile moves ${reversed.bytes} B ` +
          `(data loaded ${reversed.dataReloads.toFixed(1)} times), about ${reversed.cycles} cycles`,
      );
    }
    if (comparison !== undefined) lines.push("", ...renderComparison(comparison));
    lines.push("", formatStanding(explanation, explanation.machine), nextStep(explanation));
  } else if (infeasible === undefined) {
    const call = (tile: Shape): string =>
      explanation.framework === undefined ? "" : `: ${tileCall(explanation.framework, tile)}`;
    const line = (near: ResolvedSchedule): string => `  ${suggestionText(schedule, near)}${call(near.tile)}`;
    lines.push("", "nearest legal", ...nearest.map(line));
    if (pages?.legal === true) lines.push(`  --profile ${pages.profile}`);
    lines.push(...(pages?.nearest ?? []).map(line));
  } else {
    lines.push("", `no tile is legal: ${infeasible.arithmetic}`);
    for (const { dim, largest } of infeasible.largestGatherDims) {
      lines.push(`  the largest gather dim ${dim} that would fit is ${largest}`);
    }
    if (infeasible.waysOut.length > 0) {
      lines.push(
        "ways out",
        ...infeasible.waysOut.map((way) => `  ${way.flags}: about ${way.cycles} cycles`),
      );
    } else {
      lines.push(`  ${infeasible.otherwise}`);
    }
  }
  return lines.join("\n");
}

/** Returns the first line: the verdict, and of what it is one where that is not the tile that was stated, or no full load. */
function verdictLine({ name, target, legal, schedule, judgedTile }: Explanation): string {
  const parts = [
    `@${name} on ${target}: ${legal ? "legal" : "refused"}`,
    ...lineIf(
      schedule.profile === undefined
        ? `full load is not in force (residency ${formatEntry(schedule.residency)})`
        : undefined,
    ),
    ...lineIf(judgedTile === undefined ? undefined : `judged as tile ${formatEntry(judgedTile)}`),
  ];
  return parts.join(", ");
}

const lineIf = (line: string | undefined): string[] => (line === undefined ? [] : [line]);

/** The class of a gather's instructions with what it adds to UB, and why each other one is not taken. */
function renderLowering({
  class: own,
  cycles,
  setup,
  adds,
  pairs,
  lost,
}: NonNullable<Explanation["lowering"]>) {
  const parts = adds.map(({ name, bytes }) => `${name} ${bytes} B`);
  const added = parts.length === 0 ? "" : `; adds ${parts.join(", ")} to UB`;
  const first = (once: number): string => (once === 0 ? "" : `, ${once} once before the first`);
  const others = lost.map((other) =>
    "cycles" in other
      ? `  not ${other.class}: about ${other.cycles} cycles${first(other.setup)}`
      : `  not ${other.class}: ${other.reason}`,
  );
  return [
    `  lowering ${own}: about ${cycles} cycles for a whole tile${first(setup)}${added}`,
    ...(pairs === undefined ? [] : ["  two rows in a load, whatever the order of the indices"]),
    ...others,
  ];
}

/** Above this ratio to the floor a search is worth its time. */
const nearFloor = 1.05;

/** The one thing to try next. */
function nextStep({ comparison, floor }: Explanation): string {
  const better = comparison?.better;
  if (better !== undefined) return `try   ${better.flags}: about ${better.cycles} cycles`;
  return floor.ratio > nearFloor
    ? "try   tilec tune, which searches other schedules"
    : "no schedule is more than 5 % faster";
}

/** Each schedule with its cycles. */
function renderComparison({ alternatives }: Comparison): string[] {
  return [
    "compared, estimated cycles",
    table(
      ["  schedule", "tile", "buffers", "cycles", "busiest", "idle cores"],
      alternatives.map((other) => [
        `  ${other.name}`,
        formatShape(other.schedule.tile),
        formatEntry(other.schedule.buffers),
        other.cycles,
        other.busiest,
        other.idleCores,
      ]),
    ),
  ];
}
