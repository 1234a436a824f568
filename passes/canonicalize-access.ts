/**
 * canonicalize-access: one access op for every source op.
 *
 *   %output = pypto.gather %data, %indices {dim = 0}
 *     →
 *   %output = access.gather %data, %indices (d0, d1) -> (%indices[d0, d1], d1) {oob = error, paired = [0], framework = pypto, operator = gather}
 *
 * The dialect's rules are applied here, its defaults written down, its leading ones dropped (with the
 * schedule entries that belong to them). Below this pass nothing knows the dialect. May report TC1xx.
 */
import { defined } from "../ir/defined.js";
import { error, type Diagnostic } from "../ir/diagnostic.js";
import { gatheredTable } from "../ir/access.js";
import { canonicalMap } from "../ir/canonical-map.js";
import { inputOf, outputOf, type AccessFunc } from "../ir/func.js";
import { accessMap, effectiveType, outputShape, sharedDimsOf } from "../ir/operator.js";
import { disputeOn, findOp, originOf, resolveSource, sourceOp } from "../ir/ops/registry.js";
import { pyptoLevels } from "../ir/profile.js";
import type { Schedule } from "../ir/schedule.js";
import { verifyMap } from "../ir/verify/map-rules.js";
import { formatType, sameShape, type Shape } from "../ir/types.js";
import { definePass } from "./pass.js";

/**
 * Returns the diagnostics of the rules that the access map of a user-defined operator breaks; an empty list
 * for a valid map. If the check throws, because the map is malformed, returns one error (TC201).
 */
function mapFaults(access: AccessFunc): readonly Diagnostic[] {
  try {
    return verifyMap(access.map, access, access.opSpan);
  } catch (thrown) {
    return [error("TC201", `it cannot be read: ${String(thrown)}`, { span: access.opSpan })];
  }
}

/**
 * Returns a gather or scatter with the access map in canonical form, or `access` unchanged if the map is
 * already canonical. The map must be valid.
 */
function inOneForm(access: AccessFunc): AccessFunc {
  const { symbolic } = access;
  const map = canonicalMap(access.map);
  const symbolicMap = symbolic && canonicalMap(symbolic.map);
  if (map === access.map && symbolicMap === symbolic?.map) return access;
  return {
    ...access,
    map,
    ...(symbolic && symbolicMap ? { symbolic: { ...symbolic, map: symbolicMap } } : {}),
  };
}

/**
 * Pass that lowers a program from source level to access level: an access map replaces the framework's
 * operator (docs/passes/01-canonicalize-access.md). An invalid access map stays unchanged, and the verifier
 * reports its faults.
 */
export const canonicalizeAccess = definePass({
  name: "canonicalize-access",
  summary: "one access op for every source op; the dialect's rules are applied",
  requires: ["source"],
  ensures: ["access"],
  run(func, context) {
    if (func.level === "tile") return func;
    if (func.level === "access")
      return verifyMap(func.map, func, func.opSpan).length > 0 ? func : inOneForm(func);
    const result = resolveSource(sourceOp(func, context.target));
    if (!result.ok) {
      result.diagnostics.forEach(context.report);
      return func;
    }
    const { operator, output, negative, oob, disputed } = result.resolved;
    if (disputed !== undefined) context.report(disputeOn(disputed, func.opSpan));
    const definition = findOp(func.op, func.operators);
    const { resultRules, framework, writes } = definition ?? {};
    const rules = resultRules === undefined ? "" : ` (${resultRules})`;
    const declared = outputOf(func).type;
    const expected = {
      dtype: result.resolved.dtype ?? inputOf(func, gatheredTable).type.dtype,
      shape: output,
    };
    if (declared.dtype !== expected.dtype || !sameShape(declared.shape, output)) {
      context.report(
        error("TC103", `${func.op} gives ${formatType(expected)}, not ${formatType(declared)}${rules}`, {
          span: func.opSpan,
          hint: `declare the result as tensor<${formatType(expected)}>`,
        }),
      );
    }
    const base = inputOf(func, gatheredTable);
    if (writes === "in place" && base.inout !== true) {
      context.report(
        error("TC204", `${func.op} writes %${base.name} in place, and %${base.name} is not declared inout`, {
          span: func.opSpan,
          hint: `declare %${base.name}: inout tensor<${formatType(base.type)}>`,
        }),
      );
    }
    const { name, target, span, opSpan } = func;
    const level = pyptoLevels.find((word) => word === func.attrs["level"]);
    const frameworkOp =
      framework !== undefined && definition === findOp(func.op)
        ? { name: func.op.slice(func.op.indexOf(".") + 1), ...defined({ level }) }
        : undefined;
    const schedule = trimmed(func.schedule, output, outputShape(operator).length);
    const access: AccessFunc = {
      level: "access",
      name,
      operands: func.operands.map((operand, k) => ({
        ...operand,
        type: effectiveType(operator, operand.type, k),
      })),
      map: accessMap(operator, negative, oob),
      sharedDims: sharedDimsOf(operator),
      ...defined({ framework, frameworkOp }),
      schedule,
      ...defined({ target, span, opSpan }),
    };
    // A test proves the maps of the built-in operators; another one's is its author's to get right.
    const userDefined = definition === findOp(func.op) ? undefined : definition;
    const faults = userDefined === undefined ? [] : mapFaults(access);
    for (const fault of faults)
      context.report({
        ...fault,
        message: `the map of ${func.op}: ${fault.message}`,
        ...(userDefined && originOf(userDefined)),
      });
    return faults.length > 0 ? access : inOneForm(access);
  },
});

/**
 * Returns a schedule whose tile, view and order keep only the last `rank` dims of the framework's output. A
 * tile, view or order whose length is not the rank of `output` is unchanged. `output`: shape of the
 * framework's output.
 */
function trimmed(schedule: Schedule, output: Shape, rank: number): Schedule {
  const extra = output.length - rank;
  if (extra <= 0) return schedule;
  const cut = (shape: Shape): Shape => (shape.length === output.length ? shape.slice(extra) : shape);
  const { tile, view, order } = schedule;
  return {
    ...schedule,
    ...defined({ tile: tile && cut(tile), view: view && cut(view) }),
    ...(order?.length === output.length
      ? { order: order.filter((dim) => dim >= extra).map((dim) => dim - extra) }
      : {}),
  };
}
