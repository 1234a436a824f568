/** The function that the page shows, and its text after a change. */
import {
  defined,
  maxSizes,
  attributesOf,
  bindSizes,
  counterpartOf,
  CompileError,
  dialectOf,
  error,
  findOp,
  hasErrors,
  inputsOf,
  keyOf,
  dynamicSymbols,
  operatorFor,
  operatorNames,
  outOfBoundsPolicies,
  outputOf,
  parseModule,
  printFunc,
  resolveSource,
  scheduleEntries,
  sourceOp,
  withPolicy,
  type AttrSpec,
  type Attrs,
  type AttrValue,
  type Diagnostic,
  type Func,
  type Schedule,
  type Sizes,
  type SourceFunc,
} from "../../../ir/index.js";
import type { ScheduleText } from "./flags.js";
import { parseCount, parseEntry, parseNumber, parseShape, parseType } from "../../../src/cli/flag-values.js";

/** File name that diagnostics of the page's program text show. */
export const fileName = "program.tir";

/**
 * Request about one function of a module text. `func` names the function; without a match, the first function
 * of the text is used.
 */
export interface Asked {
  readonly text: string;
  readonly func?: string;
  /** Sizes of symbols in elements, by name. A symbol without a size has its maximum. */
  readonly sizes?: Sizes;
}

/**
 * Result of {@link read}, which parses a module: all function names, the selected function and the
 * diagnostics.
 */
export interface Read {
  readonly names: readonly string[];
  readonly func?: Func;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Parses a module and selects the function with the requested name, or the first function if no name matches.
 * `func` is absent if the module has no function.
 */
export function read({ text, func: name }: Asked): Read {
  const { module, diagnostics } = parseModule(text, fileName);
  const func = module.funcs.find((one) => one.name === name) ?? module.funcs[0];
  return { names: module.funcs.map((one) => one.name), ...defined({ func }), diagnostics };
}

/**
 * Returns the function of a module text with the requested name, or the first function if no name matches.
 * Throws a CompileError if the text has errors or no function.
 */
export function funcOf(asked: Asked): Func {
  const { func, diagnostics } = read(asked);
  if (func === undefined || hasErrors(diagnostics)) throw new CompileError(diagnostics);
  return func;
}

/**
 * Returns the requested function of a module text, with the symbols bound to the given sizes or else to the
 * upper bounds. Throws a CompileError if the text has errors, or if a size is not permitted (TC107).
 */
export function boundFunc(asked: Asked): Func {
  const func = funcOf(asked);
  const symbols = dynamicSymbols(func);
  const given = Object.entries(asked.sizes ?? {}).filter(([name]) =>
    symbols.some((one) => one.name === name),
  );
  const bound = bindSizes(func, { ...maxSizes(symbols), ...Object.fromEntries(given) });
  if (!bound.ok) throw new CompileError(bound.diagnostics);
  return bound.func;
}

/**
 * Change that a control of the page makes to a program. Texts have the syntax of command-line flags; an empty
 * text removes the schedule entry or attribute.
 */
export type Change =
  | { readonly kind: "schedule"; readonly entries: readonly ScheduleText[] }
  | { readonly kind: "target"; readonly target: string }
  /** Change of the dialect or the operator. A part that the change lacks stays as it is. */
  | { readonly kind: "operator"; readonly dialect?: string; readonly op?: string }
  | { readonly kind: "type"; readonly operand: string; readonly text: string }
  | { readonly kind: "attr"; readonly key: string; readonly text: string }
  | { readonly kind: "oob"; readonly policy: string };

/**
 * Returns the program text with one change applied to the requested function. Changes other than schedule and
 * target drop the comments in the function body. Throws a CompileError if the text has errors or a value
 * cannot be parsed.
 */
export function edited(asked: Asked, change: Change): string {
  const func = funcOf(asked);
  const changed = applied(func, change);
  const begins = offsetOf(asked.text, func.span?.line ?? 1, func.span?.column ?? 1);
  const head = /^func[^{]*?(?:schedule\s*\{(?:[^{}]|\{[^{}]*\})*\}\s*)?\{/.exec(
    asked.text.slice(begins),
  )?.[0];
  // The declarations of its symbols stay where they are.
  const printed = printFunc(changed)
    .trimEnd()
    .replace(/^(?:dim [^\n]*\n)*/, "");
  if ((change.kind === "schedule" || change.kind === "target") && head !== undefined) {
    const line = printed.slice(0, printed.indexOf("\n"));
    return asked.text.slice(0, begins) + line + asked.text.slice(begins + head.length);
  }
  return asked.text.slice(0, begins) + printed + asked.text.slice(endOf(asked.text, begins));
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let k = 1; k < line; k++) start = text.indexOf("\n", start) + 1;
  return text.lastIndexOf("func", start + column + 3);
}

/**
 * Returns the character offset of the end of the function that starts at offset `begins`. The end is after
 * the last `}` before the next function.
 */
function endOf(text: string, begins: number): number {
  const next = /\n[ \t]*func\b/g;
  next.lastIndex = begins + 1;
  const until = next.exec(text)?.index ?? text.length;
  const code = text.slice(begins, until).replaceAll(/\/\/[^\n]*/g, (comment) => " ".repeat(comment.length));
  return begins + code.lastIndexOf("}") + 1;
}

/**
 * Returns `func` with one change applied. Throws a CompileError if a value cannot be parsed, or if the change
 * needs a program at source level and `func` is not one.
 */
function applied(func: Func, change: Change): Func {
  switch (change.kind) {
    case "schedule":
      return { ...func, schedule: change.entries.reduce(withEntry, func.schedule) };
    case "target":
      return { ...func, target: change.target };
    case "operator":
      return resolved(withOperator(sourceOf(func), change));
    case "type": {
      const type = parseType(change.text, change.operand);
      const operands = func.operands.map((one) => (keyOf(one) === change.operand ? { ...one, type } : one));
      return func.level === "source" ? resolved({ ...func, operands }) : { ...func, operands };
    }
    case "attr":
      return resolved(withAttr(sourceOf(func), change.key, change.text));
    case "oob": {
      const policy = outOfBoundsPolicies.find((known) => known === change.policy);
      if (policy === undefined) return func;
      if (func.level === "access") return { ...func, map: withPolicy(func.map, policy) };
      const source = sourceOf(func);
      return { ...source, attrs: { ...source.attrs, oob: policy } };
    }
  }
}

/**
 * Returns a schedule with one schedule entry set from text; an empty text removes the schedule entry. Throws
 * a CompileError if the text cannot be parsed.
 */
export function withEntry(schedule: Schedule, { entry, text }: ScheduleText): Schedule {
  const { [entry]: _, ...others } = schedule;
  return text.trim() === "" ? others : { ...others, [entry]: parseEntry(entry, text) };
}

/**
 * Returns the function if at the source level (a call of a framework's operator). Throws a CompileError
 * (TC702) for any other function.
 */
function sourceOf(func: Func): SourceFunc {
  if (func.level === "source") return func;
  throw new CompileError([
    error("TC702", `@${func.name} is no operator of a framework`, {
      span: func.span,
      hint: "change its text",
    }),
  ]);
}

/**
 * Returns the function with another operator: `change.op` or, without `op`, the counterpart of the present
 * operator in `change.dialect`. If the dialect has no such operator, the first operator of the dialect is
 * used. Attributes with the same key keep their values; the others get their defaults.
 */
function withOperator(func: SourceFunc, change: Change & { readonly kind: "operator" }): SourceFunc {
  const before = findOp(func.op);
  if (before === undefined) return func;
  const { dialect = dialectOf(before), op } = change;
  const known = [...attributesOf(before)];
  const keys = known.filter(([, { name }]) => name in func.attrs).map(([key]) => key);
  const names = operatorNames(dialect);
  const named = op !== undefined && names.includes(op) ? op : (names[0] ?? "");
  const def =
    (op === undefined ? counterpartOf(before, dialect, keys) : undefined) ??
    operatorFor(dialect, named, keys);
  if (def === undefined) return func;
  const values = new Map(known.map(([key, { name }]) => [key, func.attrs[name]]));
  const attrs: Attrs = Object.fromEntries(
    [...attributesOf(def)].flatMap(([key, { name, spec }]) => {
      const value = values.get(key) ?? spec.default;
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return { ...func, op: def.name, attrs };
}

/**
 * Returns `func` with one attribute set from text; an empty text removes the attribute. Returns `func`
 * unchanged if its operator lacks the attribute. Throws a CompileError if the text cannot be parsed.
 */
function withAttr(func: SourceFunc, key: string, text: string): SourceFunc {
  const def = findOp(func.op);
  if (def === undefined) return func;
  const found = attributesOf(def).get(key);
  if (found === undefined) return func;
  const { [found.name]: _, ...others } = func.attrs;
  if (text.trim() === "") return { ...func, attrs: others };
  return {
    ...func,
    attrs: { ...func.attrs, [found.name]: valueOf(found.spec.kind, key, text) },
  };
}

/**
 * Parses the text of an attribute as a value of the given kind, for example a list of integers. `key` names
 * the attribute in errors. Throws a CompileError if the text cannot be parsed.
 */
function valueOf(kind: AttrSpec["kind"], key: string, text: string): AttrValue {
  switch (kind) {
    case "int":
      return parseCount(text, key);
    case "number":
      return parseNumber(text, key);
    case "ints":
      return parseShape(text, key);
    case "text":
    case "word":
      return text;
  }
}

/**
 * Returns `func` with the output type and shape that the operator infers from the inputs. Returns `func`
 * unchanged if the operator rejects the inputs.
 */
function resolved(func: SourceFunc): SourceFunc {
  const result = resolveSource(sourceOp(func));
  if (!result.ok) return func;
  const shape = result.resolved.output;
  const output = outputOf(func);
  const [data] = inputsOf(func);
  const type = { dtype: result.resolved.dtype ?? data?.type.dtype ?? output.type.dtype, shape };
  const operands = [...inputsOf(func), { ...output, type }];
  return {
    ...func,
    operands,
    schedule: shape.length === output.type.shape.length ? func.schedule : withoutLists(func.schedule),
  };
}

/** Lists are over the output dims: they mean nothing to an output of another rank. */
const withoutLists = (schedule: Schedule): Schedule =>
  Object.fromEntries(
    Object.values(scheduleEntries).flatMap(({ key, form }) =>
      form === "list" || schedule[key] === undefined ? [] : [[key, schedule[key]]],
    ),
  );
