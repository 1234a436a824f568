/**
 * Index values: each resolved under its rule, in order. The first that gives none or an error ends the
 * elements that share it.
 */
import { inputOf } from "../../ir/func.js";
import { reductionLength } from "../../ir/intervals/intervals.js";
import { rangeOf } from "../../ir/intervals/range.js";
import { atomsOf, innerForms, indicesOf, type Linear } from "../../ir/linear.js";
import { indexBytes } from "../../ir/policy.js";
import type { Amount } from "../../ir/text/form-text.js";
import { at, InternalError, isSigned } from "../../ir/types.js";
import { extentText, lastText } from "./bounds.js";
import type { WgslContext } from "./context.js";
import { isLarge, type GatherMove, type IndexMove, type SharedAccess } from "./gather-move.js";
import { sizeName } from "./names.js";
import {
  asSigned,
  asUnsigned,
  emitReportedResolver,
  emitResolver,
  lowWord,
  none,
  selectedByWide,
  splatOf,
} from "./resolve.js";
import { emitInt128Helpers, int128Form, int128Literal, type Int128Words } from "./int128.js";

/** Returns the WGSL names of a gather's index operands, in the order of the operands. */
export const indexNames = ({ indices }: GatherMove): string[] => indices.map(indexName);

const indexName = ({ int128, rule, index }: IndexMove): string =>
  int128 && rule === undefined ? `i128_${index}` : `at${index}`;

/**
 * Returns the WGSL text of a linear expression whose value (a position or an address) is less than 2^31.
 * Intermediate values beyond 32 bits are computed in 128-bit arithmetic.
 */
export const narrowForm = (
  context: WgslContext,
  move: GatherMove,
  form: Linear,
  coords: readonly Amount[],
): string =>
  isLarge(form, move.ranges)
    ? `${int128Form(form, wordsOf(context, move, coords))}.x`
    : context.address(form, coords, indexNames(move));

/**
 * Returns the WGSL texts from which a gather's 128-bit expressions are built: u32 expressions in output dims,
 * and the names of index operands.
 */
function wordsOf(context: WgslContext, move: GatherMove, coords: readonly Amount[]): Int128Words {
  const names = indexNames(move);
  return {
    narrow: (form) => context.address(form, coords, names),
    isNarrow(form) {
      const isInside = (form: Linear): boolean => {
        const [least, max] = rangeOf(form, move.ranges);
        return least >= 0 && max < 2 ** 32;
      };
      const isWide = indicesOf(form).some((s) => at(move.indices, s).rule === undefined);
      return !isWide && isInside(form) && atomsOf(form).flatMap(innerForms).every(isInside);
    },
    indices: move.indices.map((index) => ({ name: indexName(index), int128: index.rule === undefined })),
  };
}

/** Emits the WGSL functions that resolve index values, before `main`. */
export function emitIndexHelpers(context: WgslContext, move: GatherMove): void {
  const { out, names, plan } = context;
  for (const index of move.indices) {
    const { table, rule, int128, inReduction } = index;
    if (int128 || table === undefined || rule === undefined) continue;
    const indices = names.buffer(inputOf(plan.func, table).name);
    if (rule.outside !== "report" || rule.mayBeNone || mayEnd(move, inReduction))
      emitResolver(out, { ...index, rule }, indices);
    else if (rule.extent > 0) emitReportedResolver(out, { ...index, rule }, indices);
  }
  if (usesInt128(move)) emitInt128Helpers(out);
}

/** True if an index value is computed by functions: one as it is read, and a sum in two words, are not. */
const callsInt128 = ({ int128, inWords, table, rule, wrapNegativeBy }: IndexMove): boolean =>
  int128 &&
  inWords === undefined &&
  (table === undefined || rule !== undefined || wrapNegativeBy !== undefined);

const usesInt128 = ({ indices, addresses, ranges }: GatherMove): boolean =>
  indices.some(callsInt128) ||
  [...indices.flatMap(({ table, form }) => (table === undefined ? [] : [form])), ...addresses.reads].some(
    (form) => isLarge(form, ranges),
  );

/**
 * Output element for which index values are read: the coordinates, and the row-major position in the output
 * (`place`).
 */
export interface ElementAt {
  readonly coords: readonly Amount[];
  /** Address of each index value, by index operand. Default: the addresses in the tile. */
  readonly forms?: readonly Linear[];
  /** Row-major position in the output. Default: from the output's address. */
  readonly place?: string;
}

/**
 * Emits the declarations of all index operands of an output element, without the index operands of reduction
 * elements. `alive` is declared if an index may select no element.
 */
export function declareIndices(context: WgslContext, move: GatherMove, element: ElementAt): void {
  const { out } = context;
  if (mayEnd(move, false)) out.line("var alive = true;");
  if (move.reports) {
    out.line(`let written = ${element.place ?? context.address(move.addresses.output, element.coords)};`);
  }
  const accesses: Accesses = new Map();
  for (const index of reached(indicesIn(move, false))) {
    if (isMissable(move, index)) out.line(`var ${flagOf(index)} = ${allOf(conditionsOf(move, index))};`);
    declareIndex(context, move, index, element, accesses);
    if (index.ends !== undefined) emitLongSegment(context, move, index, index.ends);
  }
}

/**
 * Emits the declarations of the index operands of a reduction element; the last coordinate is the number of
 * the reduction element, from 0. Returns true, and declares `alive`, if an index may select no element.
 */
export function declareReductionIndices(context: WgslContext, move: GatherMove, element: ElementAt): boolean {
  const ends = mayEnd(move, true);
  // That of the element is true where it has terms.
  if (ends) context.out.line("var alive = true;");
  const accesses: Accesses = new Map();
  for (const index of indicesIn(move, true)) declareIndex(context, move, index, element, accesses);
  return ends;
}

/**
 * WGSL texts of the range of an output element's reduction elements: the index of the first reduction
 * element, and the end (exclusive).
 */
export type ReductionBounds = readonly [first: string, end: string];

/**
 * Returns the WGSL texts of the range of an output element's reduction elements: the index of the first, and
 * the end (exclusive). Undefined if no output element has a reduction element.
 */
export function reductionBounds({ out }: WgslContext, move: GatherMove): ReductionBounds | undefined {
  const { map } = move.stmt;
  const { max, segment } = map.reduced ?? { max: 0 };
  if (reductionLength(map) === 0 || indicesIn(move, true).some(({ rule }) => rule?.extent === 0))
    return undefined;
  const needed = [...(mayEnd(move, false) ? ["alive"] : []), ...valueFlags(move)];
  const live = (end: string): string => (needed.length === 0 ? end : `select(0u, ${end}, ${allOf(needed)})`);
  if (segment === undefined) return ["0u", live(`${max}u`)];
  const [from, to] = [segment.from, segment.to].map((index) => indexName(at(move.indices, index)));
  const first = from ?? "";
  // A bag that is too long is reported.
  out.line(`let end = ${live(`min(${to ?? ""}, ${first} + ${max}u)`)};`);
  return [first, "end"];
}

/**
 * Returns the index operands of each reduction element if `inReduction`; otherwise those of the element
 * itself.
 */
const indicesIn = ({ indices }: Pick<GatherMove, "indices">, inReduction: boolean): readonly IndexMove[] =>
  indices.filter((index) => index.inReduction === inReduction);

/** Emits code that reports an output element whose segment has more elements than the maximum `max`. */
function emitLongSegment(
  { out }: WgslContext,
  move: GatherMove,
  index: IndexMove,
  { from, max }: NonNullable<IndexMove["ends"]>,
): void {
  const end = `${indexName(at(move.indices, from))} + ${max}u`;
  const ofPoint = isMissable(move, index) ? [flagOf(index)] : [];
  const isLong = allOf([...conditionsOf(move, index), ...ofPoint, `${indexName(index)} > ${end}`]);
  out.line(`bad = min(bad, select(${none}, written, ${isLong}));`);
}

/** Returns the index operands up to one that nothing can be an element of: it ends every element. */
function reached(indices: readonly IndexMove[]): readonly IndexMove[] {
  const last = indices.findIndex((index) => index.rule?.extent === 0 && !isOfValue(index));
  return last === -1 ? indices : indices.slice(0, last + 1);
}

const isReported = ({ rule }: IndexMove): boolean => rule?.outside === "report";

/**
 * Emits the declaration of `bad`, the lowest output element with an index out of range that a lane finds.
 * Emits nothing if the policy does not report.
 */
export function declareBad({ out }: WgslContext, move: GatherMove): void {
  if (move.reports) out.line(`var bad = ${none};`);
}

/**
 * Emits the update of the status word with `bad`, if the policy reports. `maybeEmpty`: sizes that may be 0;
 * the update is skipped if any size is 0.
 */
export function emitReport(
  context: WgslContext,
  move: GatherMove,
  maybeEmpty: readonly Linear[] = move.maybeEmpty,
): void {
  if (!move.reports) return;
  const exists = maybeEmpty.map((size) => ` && 0u < ${context.form(size)}`);
  context.out.line(`if (bad != ${none}${exists.join("")}) { atomicMin(&status[0], bad); }`);
}

/** Names of the accesses that are declared for an element, by their texts. */
type Accesses = Map<string, string>;

/**
 * Returns the WGSL name of a variable with several index values from one access. If `accesses` has no such
 * variable, its declaration is emitted first.
 */
function sharedAccess(
  context: WgslContext,
  { table = 0, index }: IndexMove,
  { elements, place }: SharedAccess,
  form: Linear,
  coords: readonly Amount[],
  indices: readonly string[],
  accesses: Accesses,
): string {
  const { out, names, plan } = context;
  const first = { ...form, at: form.at - place };
  const text = `${names.buffer(inputOf(plan.func, table).name)}[${context.access(first, elements, coords, indices)}]`;
  const name = accesses.get(text) ?? `words${index}`;
  if (!accesses.has(text)) out.line(`let ${name} = ${text};`);
  accesses.set(text, name);
  return name;
}

/**
 * Emits the declaration of an index operand of an output or reduction element, resolved under the operand's
 * rule. If needed, also emits updates of `alive` and `bad`.
 */
function declareIndex(
  context: WgslContext,
  move: GatherMove,
  index: IndexMove,
  element: ElementAt,
  accesses: Accesses,
): void {
  const { out } = context;
  const { table, rule, int128, wrapNegativeBy } = index;
  const form = element.forms === undefined ? index.form : at(element.forms, index.index);
  const { coords } = element;
  const name = indexName(index);
  const { shared } = index;
  const access =
    shared === undefined
      ? undefined
      : sharedAccess(context, index, shared, form, coords, indexNames(move), accesses);
  if (!int128 && rule !== undefined && conditionsOf(move, index).length === 0 && !isMissable(move, index)) {
    const value = `resolve_${index.index}(${access ?? narrowForm(context, move, form, coords)})`;
    declareResolved(context, index, { name, value, four: false, place: "written" });
    return;
  }
  out.line(rule === undefined ? `var ${name} = vec4u(0u);` : `var ${name} = 0u;`);
  // No branch: what follows an index value that ended the element reads by an element in range, and its bits
  // are dropped.
  out.block("", () => {
    if (table !== undefined && access === undefined)
      out.line(`let position = ${narrowForm(context, move, form, coords)};`);
    if (!int128 && rule !== undefined) {
      out.line(`let element = resolve_${index.index}(${access ?? "position"});`);
      if (endsOutside(rule) && rule.outside !== "promised")
        emitEnding(context, move, index, `element < ${extentText(rule)}`);
      out.line(`${name} = ${elementInRange(move, index, rule)};`);
      emitLeftOut(context, index, rule, name);
      return;
    }
    if (index.inWords !== undefined && rule !== undefined) {
      const { of, rest } = index.inWords;
      const value = indexName(at(move.indices, of));
      out.line(`let low = ${value}.x + ${context.address(rest, coords, indexNames(move))};`);
      out.line(`let high = ${value}.y + select(0u, 1u, low < ${value}.x);`);
      emitEnding(context, move, index, `(high == 0u && low < ${extentText(rule)})`);
      out.line(`${name} = min(low, ${lastText(rule)});`);
      emitLeftOut(context, index, rule, name);
      return;
    }
    const raw =
      table === undefined ? int128Form(form, wordsOf(context, move, coords)) : rawValue(context, index);
    const count = rule === undefined ? wrapNegativeBy : rule.wrapNegativeBy;
    out.line(`var value = ${raw};`);
    if (count !== undefined) {
      out.line(`if (is_negative(value)) { value = add_i128(value, ${int128Count(count, index)}); }`);
    }
    if (rule === undefined) out.line(`${name} = value;`);
    else {
      emitResolved(context, move, index, rule, name);
      emitLeftOut(context, index, rule, name);
    }
  });
}

interface Resolved {
  readonly name: string;
  /** Text of the result of `resolve_k`, for four elements or for one. */
  readonly value: string;
  readonly four: boolean;
  /** The first output element that it is for. */
  readonly place: string;
}

/**
 * Emits the declaration of `name`, the index of the element that an index value selects. A rule that reports
 * values out of range also emits the update of `bad`.
 */
export function declareResolved(
  { out }: WgslContext,
  { rule, biased }: Pick<IndexMove, "rule" | "biased">,
  { name, value, four, place }: Resolved,
): void {
  if (rule?.outside !== "report") {
    out.line(`let ${name} = ${value};`);
    return;
  }
  const splat = splatOf(four);
  const [raw, inside] = [`raw_${name}`, `in_${name}`];
  out.line(`let ${raw} = ${value};`);
  const last = splat(lastText(rule));
  out.line(`let ${inside} = min(${raw}, ${biased ? asSigned(last, four) : last});`);
  out.line(
    `bad = min(bad, select(${none}, ${place}, ${four ? `any(${raw} != ${inside})` : `${raw} != ${inside}`}));`,
  );
  out.line(`let ${name} = ${biased ? asUnsigned(inside, four) : inside};`);
}

/** Returns the number that is added to negative values, as the text of a 128-bit number. */
const int128Count = (count: number, { dynamic }: IndexMove): string =>
  dynamic?.wrapNegativeBy === undefined
    ? int128Literal(count)
    : `vec4u(${sizeName(dynamic.wrapNegativeBy)}, 0u, 0u, 0u)`;

/**
 * Returns the WGSL text of the element index that is used for a resolved index value: the variable `element`,
 * clamped to the extent if needed.
 */
function elementInRange(
  { indices }: GatherMove,
  index: IndexMove,
  rule: NonNullable<IndexMove["rule"]>,
): string {
  // Where the element has ended, it has no terms.
  if (rule.outside === "promised")
    return indices
      .slice(0, index.index)
      .some((other) => other.inReduction === index.inReduction && canEnd(other))
      ? "select(0u, element, alive)"
      : "element";
  return endsOutside(rule) && rule.extent > 0 ? `min(element, ${lastText(rule)})` : "element";
}

/**
 * Emits code that ends the evaluation of an output or reduction element if its index value is out of range.
 * `inside`: WGSL condition that is true for a value in range. If the policy reports, the code also updates
 * `bad` with the element's position.
 */
function emitEnding({ out }: WgslContext, move: GatherMove, index: IndexMove, inside: string): void {
  const outside = allOf([...conditionsOf(move, index), `!(${inside})`]);
  if (isReported(index)) out.line(`bad = min(bad, select(${none}, written, ${outside}));`);
  const flag = flagOf(index);
  const isFlagged = isOfValue(index) ? isMissable(move, index) : mayEnd(move, index.inReduction);
  if (isFlagged) out.line(`${flag} = ${flag} && ${inside};`);
}

/** Returns the text of several conditions; `true` for none. */
const allOf = (conditions: readonly string[]): string =>
  conditions.length === 0 ? "true" : conditions.join(" && ");

/**
 * True if only the value of a scatter's point needs an index operand: where it names no element, the value is
 * the fill bits, and the point is still written.
 */
const isOfValue = (index: IndexMove): boolean => index.isOfValue === true && !index.inReduction;

/** Returns the name of the variable that is false from where an index operand names no element. */
const flagOf = (index: IndexMove): string => (isOfValue(index) ? `has${index.index}` : "alive");

/** True if an index operand that only a point's value needs may name no element, itself or by another. */
const isMissable = (move: GatherMove, index: IndexMove): boolean =>
  isOfValue(index) && (index.rule?.mayBeNone === true || missableIn(move, index).length > 0);

/**
 * Returns the index operands by which an operand of a point's value is read, and which may name no element.
 */
const missableIn = (move: GatherMove, index: IndexMove): readonly IndexMove[] =>
  indicesOf(index.form)
    .map((s) => at(move.indices, s))
    .filter((inner) => isMissable(move, inner));

/** Returns the conditions under which an index operand is evaluated; an empty list if it always is. */
const conditionsOf = (move: GatherMove, index: IndexMove): readonly string[] => [
  ...(mayEnd(move, index.inReduction) ? ["alive"] : []),
  ...(isOfValue(index) ? missableIn(move, index).map(flagOf) : []),
];

/**
 * Returns the WGSL variables that are all true if every input element of a scatter's written value exists.
 * The list is empty if no input element can be missing.
 */
export const valueFlags = (move: GatherMove): readonly string[] =>
  move.indices.filter((index) => isMissable(move, index)).map(flagOf);

/**
 * True if a kernel needs the variable `alive`, which is false once an index value of an output or reduction
 * element has selected no element. False if every such value is reported. `inReduction`: true for reduction
 * elements.
 */
export const mayEnd = (
  { indices, unit }: Pick<GatherMove, "indices" | "unit">,
  inReduction: boolean,
): boolean =>
  !isByVectors(unit) &&
  indices.some(
    (index, s) =>
      (index.inReduction === inReduction && !isOfValue(index) && index.rule?.mayBeNone === true) ||
      (index.rule?.outside === "promised" &&
        indices.slice(0, s).some((before) => before.inReduction === inReduction && canEnd(before))),
  );

/**
 * True if vectors resolve the index values of neighbouring elements, and mark the values that name no
 * element.
 */
const isByVectors = (unit: GatherMove["unit"]): boolean =>
  unit.how === "groups" || unit.how === "across" || (unit.how === "rows" && unit.fourAlong !== undefined);

/** Returns the WGSL text of the index value at the variable `position`, as a 128-bit number. */
function rawValue({ names, plan }: WgslContext, { table, dtype }: IndexMove): string {
  if (table === undefined || dtype === undefined) throw new InternalError("a sum is read nowhere");
  const buffer = names.buffer(inputOf(plan.func, table).name);
  const [bytes, signed] = [indexBytes(dtype), isSigned(dtype)];
  const low = lowWord({ bytes, signed }, buffer);
  const words = bytes === 8 ? [low, `${buffer}[2u * position + 1u]`] : [low];
  const sign = signed ? `select(0u, 0xffffffffu, (${words[words.length - 1] ?? ""} >> 31u) != 0u)` : "0u";
  return `vec4u(${words.join(", ")}, ${words.length === 2 ? `vec2u(${sign})` : `vec3u(${sign})`})`;
}

/**
 * Emits code that sets the variable `name` to the index of the element that the 128-bit `value` selects under
 * an index rule.
 */
function emitResolved(
  context: WgslContext,
  move: GatherMove,
  index: IndexMove,
  rule: NonNullable<IndexMove["rule"]>,
  name: string,
): void {
  const { out } = context;
  const inside = `is_below(value, ${extentText(rule)})`;
  if (!endsOutside(rule)) {
    out.line(`${name} = ${selectedByWide(rule, inside)};`);
    return;
  }
  emitEnding(context, move, index, inside);
  if (rule.extent > 0) out.line(`${name} = min(value.x, ${lastText(rule)});`);
}

/** Ends what an index value is of where it names the element that is left out. */
function emitLeftOut({ out }: WgslContext, index: IndexMove, { excluded }: Rule, name: string): void {
  const flag = flagOf(index);
  if (excluded !== undefined) out.line(`${flag} = ${flag} && ${name} != ${excluded}u;`);
}

type Rule = NonNullable<IndexMove["rule"]>;

/** True if an index operand's value may end an element. */
const canEnd = ({ rule }: IndexMove): boolean =>
  rule !== undefined && (endsOutside(rule) || rule.excluded !== undefined);

/** True if a value out of range ends the element. */
const endsOutside = ({ outside, extent }: Rule): boolean =>
  extent === 0 || outside === "none" || outside === "report" || outside === "promised";
