/**
 * canonicalize-access: one access op for every source op.
 *
 *   %output = pypto.gather %data, %indices {dim = 0}
 *     →
 *   %output = access.gather %data, %indices (d0, d1) -> (%indices[d0, d1], d1) {oob = error, paired = [0]}
 *
 * The dialect's rules are applied here, its defaults written down, its leading ones dropped (with the schedule
 * entries that belong to them). Below this pass nothing knows the dialect. May report TC1xx.
 */
import { error } from "../ir/diagnostic.js";
import type { AccessFunc, SourceFunc } from "../ir/func.js";
import { accessMap, outputShape } from "../ir/operator.js";
import { resolveSource } from "../ir/ops/registry.js";
import type { Schedule } from "../ir/schedule.js";
import { formatType, sameShape, type Shape } from "../ir/types.js";
import { definePass } from "./pass.js";

export const canonicalizeAccess = definePass({
  name: "canonicalize-access",
  summary: "one access op for every source op; the dialect's rules are applied",
  requires: ["source"],
  ensures: ["access"],
  run(func, context) {
    if (func.level !== "source") return func;
    const result = resolveSource({
      op: func.op,
      attrs: func.attrs,
      data: func.data.type,
      indices: func.indices.type,
      span: func.opSpan,
    });
    if (!result.ok) {
      result.diagnostics.forEach(context.report);
      return func;
    }
    const { operator, output, negative, oob } = result.resolved;
    const expected = { dtype: func.data.type.dtype, shape: output };
    if (func.output.type.dtype !== expected.dtype || !sameShape(func.output.type.shape, output)) {
      context.report(
        error("TC103", `${func.op} gives ${formatType(expected)}, not ${formatType(func.output.type)}`, {
          span: func.opSpan,
          hint: `declare the result as tensor<${formatType(expected)}>`,
        }),
      );
    }
    const effective = outputShape(operator);
    return accessFunc(func, {
      map: accessMap(operator, negative),
      oob,
      paired: operator.op === "gather_elements" ? [operator.axis] : [],
      schedule: trimmed(func.schedule, output, effective.length),
      data: { name: func.data.name, type: { ...func.data.type, shape: operator.data } },
      indices: { name: func.indices.name, type: { ...func.indices.type, shape: operator.indices } },
      output: { name: func.output.name, type: { ...expected, shape: effective } },
    });
  },
});

function accessFunc(
  func: SourceFunc,
  body: Pick<AccessFunc, "map" | "oob" | "paired" | "schedule" | "data" | "indices" | "output">,
): AccessFunc {
  return {
    level: "access",
    name: func.name,
    ...body,
    ...(func.target === undefined ? {} : { target: func.target }),
    ...(func.span === undefined ? {} : { span: func.span }),
    ...(func.opSpan === undefined ? {} : { opSpan: func.opSpan }),
  };
}

/** Entries for the framework's leading ones go; a schedule of another rank stays for its own diagnostic. */
function trimmed(schedule: Schedule, output: Shape, rank: number): Schedule {
  const extra = output.length - rank;
  if (extra <= 0) return schedule;
  const cut = (shape: Shape): Shape => (shape.length === output.length ? shape.slice(extra) : shape);
  const { tile, view, order } = schedule;
  return {
    ...schedule,
    ...(tile === undefined ? {} : { tile: cut(tile) }),
    ...(view === undefined ? {} : { view: cut(view) }),
    ...(order?.length === output.length
      ? { order: order.filter((dim) => dim >= extra).map((dim) => dim - extra) }
      : {}),
  };
}
