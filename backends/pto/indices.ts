/** Index values read by the scalar unit and resolved one by one: `ir/policy.ts` as a C++ function. */
import type { Coordinate } from "./forms.js";
import { inputOf } from "../../ir/func.js";
import { indicesOf } from "../../ir/linear.js";
import type { IndexRule, Outside } from "../../ir/policy.js";
import { at } from "../../ir/types.js";
import type { IndexStep } from "../index-walk.js";
import type { PtoContext } from "./context.js";
import { otherwise } from "./outside.js";
import type { PtoGather, PtoPlan } from "./plan.js";
import { integerName } from "./words.js";

/**
 * Function that returns the C++ expression for the index value at a position. `place`: C++ expression for the
 * position, in elements.
 */
export type Reader = (place: string) => string;

/** Rules of the index operands of a gather or scatter. */
type IndexRules = Pick<PtoGather, "rules">;

/**
 * Returns the name of the C++ function that resolves index values under a policy. Policies that treat values
 * out of range in the same way share a function.
 */
function resolverOf({ names }: PtoPlan, { rules }: IndexRules, outside: Outside): string {
  const kinds = new Set(rules.map((rule) => otherwise(rule.outside).join("\n")));
  const place = [...kinds].indexOf(otherwise(outside).join("\n"));
  return `${names.entryPoint}_index${place === 0 ? "" : place + 1}`;
}

/**
 * True if a gather reports out-of-range values of some index operands, and gives zeros for out-of-range
 * values of others.
 */
export const reportsSome = ({ reports, rules }: PtoGather): boolean =>
  reports && rules.some(({ mayBeNone, outside }) => mayBeNone && outside !== "report");

/**
 * Emits declarations of the index values `s0`, `s1`, … of one output element, and of `inside`, which is false
 * if an index value selects no element. Returns the names of the index values. `readers`: one for each input
 * after the data.
 */
export function emitIndices(
  context: PtoContext,
  gather: PtoGather,
  readers: readonly Reader[],
  dims: readonly Coordinate[],
): readonly string[] {
  const names: string[] = [];
  emitIndexSteps(context, gather, {
    steps: gather.indexSteps,
    read: (table) => at(readers, table - 1),
    dims,
    names,
    inside: "inside",
    marks: reportsSome(gather),
  });
  return names;
}

/**
 * Input of {@link emitIndexSteps}: the index values to declare for one output element, with readers and C++
 * names.
 */
export interface IndicesAt {
  readonly steps: readonly IndexStep[];
  /** Returns the reader of the index values of input `table`. */
  readonly read: (table: number) => Reader;
  readonly dims: readonly Coordinate[];
  /** C++ names of the index values, by index operand; the emitted names are appended. */
  readonly names: string[];
  /** Name of the C++ variable that is true if all index values select an element. */
  readonly inside: string;
  /** True if the emitted code sets `bad` for a value out of range that the policy reports. */
  readonly marks: boolean;
}

/**
 * Emits declarations of index values, and of a variable that is true if all index values select an element.
 */
export function emitIndexSteps(context: PtoContext, gather: IndexRules, indices: IndicesAt): void {
  const { out, plan } = context;
  const { steps, read, dims, names, inside } = indices;
  let mayBeOutside = false;
  out.line(`bool ${inside} = true;`);
  for (const { index, table, form, rule, wrapNegativeBy, ends } of steps) {
    const type = table === undefined ? "int64_t" : integerName(inputOf(plan.func, table).type.dtype);
    const value =
      table === undefined
        ? context.wideForm(form, dims, names)
        : `(${type})${read(table)(context.form(form, dims, names))}`;
    const guarded = mayBeOutside && indicesOf(form).length > 0;
    const raw = guarded ? `${inside} ? ${value} : (${type})0` : value;
    const name = `s${index}`;
    names[index] = name;
    if (rule === undefined) {
      out.line(`${wrapNegativeBy === undefined ? "const " : ""}int64_t ${name} = ${raw};`);
      if (wrapNegativeBy !== undefined) out.line(`if (${name} < 0) ${name} += ${wrapNegativeBy};`);
      continue;
    }
    emitResolved(context, gather, indices, { index, rule, type, raw, mayBeOutside });
    if (ends !== undefined) emitLengthCheck(context, indices, name, ends);
    if (rule.excluded !== undefined) out.line(`if (${name} == ${rule.excluded}) ${inside} = false;`);
    mayBeOutside ||= ends !== undefined || maySelectNone(rule);
  }
}

/** True if an index value resolved by a rule may select no element. */
const maySelectNone = ({ outside, extent, excluded }: IndexRule): boolean =>
  (outside !== "nearest" && outside !== "remainder") || extent === 0 || excluded !== undefined;

/** Index value to resolve by a rule. */
interface RuledIndex {
  readonly index: number;
  readonly rule: IndexRule;
  /** C++ type of the value, and C++ expression of it. */
  readonly type: string;
  readonly raw: string;
  /** True if an earlier index value may select no element. */
  readonly mayBeOutside: boolean;
}

/** Emits the declaration of an index value that a rule resolves. */
function emitResolved(
  { out, plan }: PtoContext,
  gather: IndexRules,
  { names, inside, marks }: Pick<IndicesAt, "names" | "inside" | "marks">,
  { index, rule, type, raw, mayBeOutside }: RuledIndex,
): void {
  const wrapsByExtent = rule.wrapNegativeBy === undefined || rule.wrapNegativeBy === rule.extent;
  const given = wrapsByExtent
    ? raw
    : `given${index} < 0 ? given${index} + ${rule.wrapNegativeBy} : given${index}`;
  if (!wrapsByExtent) out.line(`const int64_t given${index} = ${raw};`);
  const resolved = `${resolverOf(plan, gather, rule.outside)}<${wrapsByExtent ? type : "int64_t"}>`;
  const counts = wrapsByExtent && rule.wrapNegativeBy !== undefined;
  const reports = marks && rule.outside === "report";
  if (reports && mayBeOutside) out.line(`const bool reached${index} = ${inside};`);
  out.line(
    `const int64_t ${at(names, index)} = ${resolved}(${given}, ${rule.extent}, ${String(counts)}, ${inside});`,
  );
  if (reports) out.line(`if (${mayBeOutside ? `reached${index} && ` : ""}!${inside}) bad = true;`);
}

/** Emits the check that a segment, which ends at index value `name`, is no longer than its limit. */
function emitLengthCheck(
  { out }: PtoContext,
  { names, inside, marks }: IndicesAt,
  name: string,
  ends: NonNullable<IndexStep["ends"]>,
): void {
  out.block(`if (${inside} && ${name} - ${at(names, ends.from)} > ${ends.max})`, () => {
    out.line(`${inside} = false;`);
    if (marks) out.line("bad = true;");
  });
}

/**
 * Returns the C++ functions that apply out-of-range policies, as lines. The code of {@link emitIndices} calls
 * the functions.
 */
export function resolverLines(plan: PtoPlan, gather: IndexRules): string[] {
  const all = new Map(gather.rules.map(({ outside }) => [resolverOf(plan, gather, outside), outside]));
  return [...all].flatMap(([name, outside]) => [
    "// The element that an index names among n, and whether there is one.",
    "template <typename T>",
    `AICORE inline int64_t ${name}(T raw, int64_t n, bool from_end, bool& inside)`,
    "{",
    "    if (raw >= 0 && (uint64_t)raw < (uint64_t)n) return (int64_t)raw;",
    "    if (from_end && raw < 0 && (int64_t)raw >= -n) return (int64_t)raw + n;",
    ...otherwise(outside),
    "    inside = false;",
    "    return 0;",
    "}",
    "",
  ]);
}
