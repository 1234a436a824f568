/** An explanation as text: rules, bytes, traffic, and what to do about a refusal. */
import { clockVersion, formatShape, formatType, printSchedule, suggestionText } from "../../ir/index.js";
import type { Explanation } from "../api/explain.js";
import { table } from "./table.js";

export function renderExplanation(explanation: Explanation): string {
  const { name, target, schedule, legal, rules, footprint, nearest, infeasible, traffic, reversed } =
    explanation;
  const lines = [
    `@${name} on ${target}: ${legal ? "legal" : "refused"}`,
    `map       ${explanation.map}`,
    `schedule  ${printSchedule(schedule)}`,
    "",
    `rules (profile ${schedule.profile})`,
    ...rules.map(
      (rule) =>
        `  ${rule.pass ? "pass" : "FAIL"}  ${rule.rule.padEnd(15)} ${rule.detail}\n${" ".repeat(24)}${rule.source}`,
    ),
    "",
    "unified buffer, bytes",
    table(
      ["  operand", "tile", "bytes", "padded", "buffers", "counted"],
      footprint.parts.map((part) => [
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
  if (legal) {
    const ratio = traffic.compulsory === 0 ? 1 : traffic.bytes / traffic.compulsory;
    lines.push(
      "",
      "global memory, bytes",
      table(
        ["  operand", "moved", "compulsory", "burst"],
        traffic.operands.map((o) => [`  ${o.operand}`, o.bytes, o.compulsory, o.burst]),
      ),
      `  total ${traffic.bytes} B, ${ratio.toFixed(3)} of compulsory; ${traffic.tasks} tasks, ${traffic.tiles} tiles`,
      `  clock ${clockVersion}: about ${explanation.cycles} cycles`,
    );
    if (reversed !== undefined) {
      lines.push(
        `  with order ${formatShape(reversed.order)} the same tile moves ${reversed.bytes} B ` +
          `(data loaded ${reversed.dataReloads.toFixed(1)} times), about ${reversed.cycles} cycles`,
      );
    }
  } else if (infeasible === undefined) {
    lines.push("", "nearest legal", ...nearest.map((n) => `  ${suggestionText(schedule, n)}`));
  } else {
    lines.push("", `no tile is legal: ${infeasible.arithmetic}`);
    for (const { dim, largest } of infeasible.largestGatherDims) {
      lines.push(`  the largest gather dim ${dim} that would fit is ${largest}`);
    }
    if (infeasible.waysOut.length > 0) {
      lines.push("ways out", ...infeasible.waysOut.map((way) => `  ${suggestionText(schedule, way)}`));
    } else {
      lines.push(
        "  gather along a shorter dim, use a narrower element type, or raise the budget with --ub-bytes",
      );
    }
  }
  return lines.join("\n");
}
