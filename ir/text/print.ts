/** IR to text. Every form printed here parses back to an equal value (see parse.ts, and docs/ir.md). */
import { defined } from "../defined.js";
import { checkArgument } from "../argument.js";
import { printValue } from "./value-text.js";
import { readsIn } from "../values/expression.js";
import {
  baseFill,
  coordsOf,
  gatheredTable,
  isScatter,
  isMove,
  isRead,
  policyOf,
  reductionDim,
  type AccessMap,
  type OutOfBounds,
  type Read,
  type Reduced,
  type IndexOperand,
  type Write,
} from "../access.js";
import { withBounds, type DynamicIndex } from "../intervals/index-bounds.js";
import type { Attrs } from "../attrs.js";
import {
  outputPlace,
  inputsOf,
  keyOf,
  dynamicSymbols,
  outputOf,
  type AccessFunc,
  type FrameworkOp,
  type Func,
  type Module,
  type SourceFunc,
  type TileFunc,
} from "../func.js";
import { index, indicesOf, type Linear } from "../linear.js";
import { printForm, printOperand, type Amount, type FormLanguage } from "./form-text.js";
import { depthOf, maxDepth } from "./nesting.js";
import type { EntryValue, Schedule } from "../schedule.js";
import { scheduleEntries } from "../schedule-entries.js";
import type { Sym, Symbolic } from "../symbols/symbols.js";
import { firstTable, type ReductionChunk, type Region, type Stmt, type UbBuffer } from "../tile.js";
import { assertNever, at, formatShape, formatType, type Shape, type TensorType } from "../types.js";

/** Returns the canonical text of a module. Parsing the text gives an equal module. */
export function printModule(module: Module): string {
  checkArgument("printModule", "module", module);
  const { funcs } = module;
  const symbols = module.symbols ?? funcs.flatMap(dynamicSymbols);
  const distinct = new Map(symbols.map((symbol) => [symbol.name, symbol]));
  return printSymbols([...distinct.values()]) + funcs.map(printAlone).join("\n");
}

/**
 * Returns the canonical text of a function and of the function's symbols. Parsing the text gives an equal
 * function.
 */
export const printFunc = (func: Func): string => printSymbols(dynamicSymbols(func)) + printAlone(func);

const printSymbols = (symbols: readonly Sym[]): string =>
  symbols.map(({ name, most }) => `dim ${name} <= ${most}\n`).join("");

/** Returns the text of a function at any level, without the declarations of symbols. */
function printAlone(func: Func): string {
  switch (func.level) {
    case "source":
      return printSource(func);
    case "access":
      return printAccess(func);
    case "tile":
      return printTile(func);
    default:
      return assertNever(func);
  }
}

function printSource(func: SourceFunc): string {
  const output = outputOf(func).name;
  const op = `  %${output} = ${func.op} ${printNames(inputsOf(func).map(({ name }) => name))}${printAttrs(func.attrs)}`;
  return `${printTensorHead(func)} {\n${op}\n  return %${output}\n}\n`;
}

/** Returns the text of a function at the access level. */
function printAccess(func: AccessFunc): string {
  const output = outputOf(func).name;
  const inputs = inputsOf(func);
  const tiles =
    func.tiles?.map((tile, k) => `${printKey(`${keyOf(at(inputs, k))}_tile`)} = ${formatShape(tile)}`) ?? [];
  const attrs = [
    ...printOutside(func.map),
    ...(func.sharedDims.length === 0 ? [] : [`paired = ${formatShape(func.sharedDims)}`]),
    ...(func.framework === undefined ? [] : [`framework = ${func.framework}`]),
    ...(func.frameworkOp === undefined ? [] : printFrameworkOp(func.frameworkOp)),
    ...tiles,
  ];
  const names = inputs.map((input) => input.name);
  const context = {
    names,
    inputs: inputs.map((input) => input.type),
    output: outputOf(func).type.shape,
  };
  const op =
    `  %${output} = access.${isScatter(func.map) ? "scatter" : "gather"} ${printNames(names)} ` +
    `${func.symbolic === undefined ? printMap(func.map, context) : printSymbolic(func.symbolic, context)} {${attrs.join(", ")}}`;
  return `${printTensorHead(func)} {\n${op}\n  return %${output}\n}\n`;
}

const printFrameworkOp = ({ name, level }: FrameworkOp): string[] => [
  `operator = ${name}`,
  ...(level === undefined ? [] : [`level = ${level}`]),
];

/**
 * Returns the entries for the policy of bare reads, the fill of absent elements, and for a scatter the
 * treatment of written elements.
 */
const printOutside = (map: AccessMap): string[] => [
  ...(map.fill === undefined
    ? [`oob = ${policyOf(map)}`]
    : [`oob = ${printPolicy(policyOf(map))}`, `fill = ${map.fill}`]),
  ...(isScatter(map) ? printWrite(map.write) : []),
];

/**
 * Returns the texts of a scatter's base, combination and duplicates policy, such as `combine = add`. A base
 * that is an operand and the combination `set` are omitted.
 */
function printWrite(write: Write): string[] {
  const { combine, duplicates } = write;
  const base = baseFill(write);
  return [
    ...(base === undefined ? [] : [`base = fill ${base}`]),
    ...(combine === "set" ? [] : [`combine = ${combine}`]),
    ...(duplicates === undefined ? [] : [`duplicates = ${duplicates}`]),
  ];
}

const printNames = (names: readonly string[]): string => names.map((name) => `%${name}`).join(", ");

/** Returns the types of the operands as text, such as `Vx5xf32` with a symbol V as the outermost extent. */
export function printTypes(func: Func): string[] {
  const outermost = func.level === "source" ? [] : (func.symbolic?.outermost ?? []);
  return func.operands.map(({ type }, k) => {
    const symbol = outermost[k] ?? null;
    return symbol === null
      ? formatType(type)
      : `${symbol}x${formatType({ ...type, shape: type.shape.slice(1) })}`;
  });
}

/**
 * Returns the text of a source or access function before the body: name, parameters, result type, target and
 * schedule.
 */
function printTensorHead(func: SourceFunc | AccessFunc): string {
  const types = printTypes(func).map((type) => `tensor<${type}>`);
  const params = inputsOf(func).map(
    ({ name, inout }, k) => `%${name}: ${inout === true ? "inout " : ""}${at(types, k)}`,
  );
  const result = at(types, outputPlace(func));
  return `func @${func.name}(${params.join(", ")}) -> ${result}${printTail(func)}`;
}

/** Returns the text of a function at the tile level. */
function printTile(func: TileFunc): string {
  const params = func.operands.map(
    ({ name, type, inout }) => `%${name}: ${inout === true ? "inout " : ""}gm<${formatType(type)}>`,
  );
  const inputs = inputsOf(func).map(({ type }) => type);
  const body = func.body.flatMap((stmt) => printStmt(stmt, inputs, "  "));
  return [`func @${func.name}(${params.join(", ")})${printTail(func)} {`, ...body, "}", ""].join("\n");
}

function printTail(func: Func): string {
  const target = func.target === undefined ? "" : ` target("${func.target}")`;
  const schedule = printSchedule(func.schedule);
  return target + (schedule === "" ? "" : ` schedule {${schedule}}`);
}

/**
 * Returns the text of a schedule, with the schedule entries in a fixed order: `tile = [8, 64], profile =
 * strict`.
 */
export function printSchedule(schedule: Schedule): string {
  const entries = Object.values(scheduleEntries).flatMap(({ key, text }) => {
    const value = schedule[key];
    return value === undefined ? [] : [`${text} = ${printEntry(value)}`];
  });
  return entries.join(", ");
}

/**
 * Returns a name as a key of entries: a word, or with its sigil where it begins with a digit, as no word
 * does.
 */
const printKey = (name: string): string => (/^\d/.test(name) ? `%${name}` : name);

/**
 * Returns the text of the value of a schedule entry: `[8, 64]`, `gm`, `2`, or by operand `{kv = gm, bt =
 * ub}`.
 */
function printEntry(value: EntryValue): string {
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return formatShape(value);
  return `{${Object.entries(value)
    .map(([operand, value]) => `${printKey(operand)} = ${value}`)
    .join(", ")}}`;
}

/** Returns the text of an operator's attributes, in braces; an empty text if there are none. */
function printAttrs(attrs: Attrs): string {
  const entries = Object.entries(attrs).map(([name, value]) => {
    if (typeof value === "number") return `${name} = ${printNumber(value)}`;
    return typeof value === "string" ? `${name} = "${value}"` : `${name} = ${formatShape(value)}`;
  });
  return entries.length === 0 ? "" : ` {${entries.join(", ")}}`;
}

/**
 * Returns a number as the text has it: one that JavaScript writes without a decimal point, and not as a whole
 * number, gets one.
 */
const printNumber = (value: number): string => String(value).replace(/^(-?\d+)e/, "$1.0e");

/**
 * Context in which {@link printMap} prints an access map: names and types of the inputs. `output`: shape of
 * the output, given only for a map over full tensors.
 */
export interface MapContext {
  readonly names: readonly string[];
  /**
   * Types of the inputs. If present, the text states each bound that a parser could not derive; if absent,
   * such bounds are omitted too.
   */
  readonly inputs?: readonly TensorType[];
  readonly output?: Shape;
  /** Points of a tile of a scatter along each dim. Absent: those of its domain. */
  readonly sizes?: readonly string[];
}

/**
 * Returns the text of an access map: `(d0, d1) -> (from_end(%i[d0, d1]), d1)`. An index operand with several
 * uses is printed as `let s0 = …`.
 */
export function printMap(map: AccessMap, context: MapContext): string {
  const bare = bareIndices(map, context);
  const indices = map.indices.map(({ extent, wrapNegativeBy, ...rest }, s): PrintedIndex => ({
    ...rest,
    bare: at(bare, s),
    ...defined({
      extent: extent?.toString(),
      wrapNegativeBy:
        extent !== undefined && wrapNegativeBy === extent ? "extent" : wrapNegativeBy?.toString(),
    }),
  }));
  return printShown({ ...map, indices }, context.names, context.sizes);
}

/**
 * Returns the text of an access map whose bounds are linear expressions of symbols (dynamic sizes). Absent
 * bounds are omitted.
 */
function printSymbolic({ map, domain }: Symbolic, { names }: MapContext): string {
  const takes = takesPolicy(map);
  const indices = map.indices.map(({ extent, wrapNegativeBy, ...rest }, s): PrintedIndex => ({
    ...rest,
    bare: extent === undefined && at(takes, s),
    ...(extent === undefined ? {} : { extent: printLinear(extent) }),
    ...(wrapNegativeBy === undefined
      ? {}
      : { wrapNegativeBy: wrapNegativeBy === "extent" ? "extent" : printLinear(wrapNegativeBy) }),
  }));
  return printShown({ ...map, indices }, names, domain);
}

/** An index operand with its bounds as text. */
interface PrintedIndex extends Pick<IndexOperand, "value" | "outOfRange" | "excluded"> {
  readonly bare: boolean;
  readonly extent?: string;
  /** `extent`: from the bound. */
  readonly wrapNegativeBy?: string;
}

/** A map with whatever stands beside the values of its index operands. */
interface Shown extends Sited, Pick<AccessMap, "domain" | "reduced" | "value"> {}

/** The index operands of a map with whatever stands beside their values. */
interface Sited {
  readonly indices: readonly Pick<IndexOperand, "value" | "outOfRange">[];
  readonly reads: readonly Read[];
  readonly write: Write;
}

/**
 * Returns the accesses of a map in the order of the text: the write of a scatter comes before the reads of
 * its value.
 */
const accessesInText = ({ reads, write }: Pick<Sited, "reads" | "write">): readonly Read[] =>
  isScatter({ write }) ? [write, ...reads] : reads;

/**
 * Returns the text of an access map. `names`: names of the inputs. `sizes`: texts that replace the extents of
 * a scatter's domain; null or absent for an extent that is not replaced.
 */
function printShown(
  map: Omit<Shown, "indices"> & { readonly indices: readonly PrintedIndex[] },
  names: readonly string[],
  sizes: readonly (string | null)[] = [],
): string {
  const dims = map.domain
    .map((extent, d) => (isScatter(map) ? `d${d} < ${sizes[d] ?? extent}` : `d${d}`))
    .join(", ");
  const uses = map.indices.map(() => 0);
  for (const s of usesOf(map)) uses[s] = at(uses, s) + 1;
  const alone = readable(
    map,
    uses.map((count) => count === 1),
  );
  // Index operands are numbered in the order of their text.
  const inline = textOrder(map, alone).every((index, k) => index === k) ? alone : alone.map(() => false);
  const r = reductionDim(map);
  const words: string[] = [];
  const lets = map.indices.map((index, s) => {
    const body = printIndex(index, names, words, r);
    words.push(at(inline, s) ? body : `s${s}`);
    return at(inline, s) ? "" : `let s${s} = ${body} `;
  });
  const inRange = indicesOfRange(map);
  const listed = ({ at: coords }: Read): string =>
    coords.map((coord) => printLinear(coord, words, r)).join(", ");
  const [read] = map.reads;
  const written = isScatter(map) ? `-> (${listed(map.write)}) ` : "";
  const value =
    !isScatter(map) && isMove(map) && read?.table === gatheredTable
      ? `-> (${listed(read)})`
      : `${written}yield ${printValue(
          map.value,
          map.reads.map((read) => `%${at(names, read.table)}[${listed(read)}]`),
        )}`;
  const range = printReduced(map.reduced, words, lets.slice(0, inRange).join(""));
  return `(${dims}${range}) ${lets.slice(inRange).join("")}${value}`;
}

/**
 * Returns the text of a reduction's range: `; r < 8`, or the ends of a segment. The text is empty without a
 * reduction. `words`: texts of the index operands. `lets`: definitions of the index operands that the segment
 * uses.
 */
function printReduced(reduced: Reduced | undefined, words: readonly string[], lets: string): string {
  if (reduced === undefined) return "";
  const { max, segment } = reduced;
  return segment === undefined
    ? `; r < ${max}`
    : `; ${lets}r in ${at(words, segment.from)} to ${at(words, segment.to)} most ${max}`;
}

/**
 * Returns the number of index operands that the text of a map defines up to the range of its reduction: the
 * segment ends, and the index operands before them.
 */
const indicesOfRange = ({ reduced }: Pick<Shown, "reduced">): number => Math.max(-1, ...endsOf(reduced)) + 1;

const endsOf = (reduced: Reduced | undefined): readonly number[] =>
  reduced?.segment === undefined ? [] : [reduced.segment.from, reduced.segment.to];

/**
 * Returns a flag for each index operand: true if the operand's text can stand where the operand is used,
 * without a separate `let` definition. False where the text would exceed the parser's nesting depth.
 * `wanted`: false for operands that must have a `let` in any case.
 */
function readable({ indices, ...accesses }: Sited, wanted: readonly boolean[]): readonly boolean[] {
  const alone = [...wanted];
  const depths: number[] = [];
  const within = (forms: readonly Linear[], parentheses: number): number => {
    const depth = parentheses + Math.max(0, ...forms.map((form) => depthOf(form, depths)));
    if (depth <= maxDepth) return depth;
    for (const s of forms.flatMap(indicesOf)) [alone[s], depths[s]] = [false, 0];
    return parentheses + Math.max(0, ...forms.map((form) => depthOf(form, depths)));
  };
  // The parentheses of a policy, and of what counts from the end.
  for (const [s, operand] of indices.entries()) {
    const depth = within(coordsOf(operand), 2);
    depths.push(at(alone, s) ? depth : 0);
  }
  for (const access of accessesInText(accesses)) within(access.at, 0);
  return alone;
}

/**
 * Returns the index operands that the text of a map names: those of a read as often as the value names it.
 */
const usesOf = (map: Shown): readonly number[] => [
  ...endsOf(map.reduced),
  ...[
    ...map.indices.flatMap(coordsOf),
    ...(isScatter(map) ? map.write.at : []),
    ...readsIn(map.value).flatMap((k) => at(map.reads, k).at),
  ].flatMap(inTextOrder),
];

/** Returns the index operands of a form as they are printed: what is added before what is taken away. */
const inTextOrder = ({ terms }: Linear): readonly number[] =>
  [...terms.filter(({ by }) => by > 0), ...terms.filter(({ by }) => by < 0)].flatMap(({ of }) =>
    of.kind === "index" ? [of.index] : indicesOf({ at: 0, terms: [{ by: 1, of }] }),
  );

/**
 * Returns the positions of the index operands in the order in which the text of the map defines the operands.
 * `inline`: true for each operand whose text stands where the operand is used, without a separate `let`
 * definition.
 */
function textOrder(map: Shown, inline: readonly boolean[]): readonly number[] {
  const order: number[] = [];
  const used = (forms: readonly Linear[]): void => {
    for (const s of forms.flatMap(inTextOrder)) if (at(inline, s)) define(s);
  };
  const define = (s: number): void => {
    used(coordsOf(at(map.indices, s)));
    order.push(s);
  };
  const defineLets = (first: number, end: number): void => {
    for (let s = first; s < end; s++) if (!at(inline, s)) define(s);
  };
  const inRange = indicesOfRange(map);
  defineLets(0, inRange);
  used(endsOf(map.reduced).map(index));
  defineLets(inRange, map.indices.length);
  used(accessesInText(map).flatMap((access) => access.at));
  return order;
}

/** Returns a flag for each index operand: true if the text may omit the operand's out-of-range policy. */
function takesPolicy(map: {
  readonly indices: readonly (Pick<IndexOperand, "value" | "outOfRange" | "excluded"> & {
    readonly wrapNegativeBy?: unknown;
  })[];
  readonly reads: readonly Read[];
  readonly write: Write;
}): readonly boolean[] {
  const policy = policyOf(map);
  const coordinates = [
    ...map.write.at,
    ...map.reads.flatMap((read) => read.at),
    ...map.indices.flatMap(({ value }) => (isRead(value) ? value.at : [])),
  ];
  const named = new Set(coordinates.flatMap(indicesOf));
  return map.indices.map(
    (index, s) =>
      index.outOfRange === policy &&
      index.excluded === undefined &&
      named.has(s) &&
      (isRead(index.value) || index.wrapNegativeBy !== undefined),
  );
}

/**
 * Returns a flag for each index operand: true if the text may omit the operand's policy and extent, which the
 * parser then derives.
 */
function bareIndices(map: AccessMap, { inputs, output }: MapContext): readonly boolean[] {
  let bare = takesPolicy(map);
  if (inputs === undefined) return bare;
  // What one is without its bound depends on the others that have none.
  for (let left = -1; left !== 0;) {
    const closed = withBounds({ ...map, indices: withoutBounds(map, bare) }, inputs, output);
    const holds = bare.map((was, s) => was && at(closed.indices, s).extent === at(map.indices, s).extent);
    left = bare.filter((was, s) => was && !at(holds, s)).length;
    bare = holds;
  }
  return bare;
}

const withoutBounds = ({ indices }: AccessMap, bare: readonly boolean[]): readonly DynamicIndex[] =>
  indices.map((index, s): DynamicIndex => {
    if (!at(bare, s)) return index;
    const { extent, wrapNegativeBy, ...rest } = index;
    return wrapNegativeBy === undefined
      ? rest
      : { ...rest, wrapNegativeBy: wrapNegativeBy === extent ? "extent" : wrapNegativeBy };
  });

/**
 * Returns the text of an index operand: a read or sum, with the policy and bound if printed. `names`: names
 * of the inputs. `inner`: texts of the other index operands. `r`: position of the reduction dim.
 */
function printIndex(
  { value, wrapNegativeBy, outOfRange, extent, excluded, bare }: PrintedIndex,
  names: readonly string[],
  inner: readonly string[],
  r: number,
): string {
  const read = isRead(value)
    ? `%${at(names, value.table)}[${value.at.map((coord) => printLinear(coord, inner, r)).join(", ")}]`
    : printLinear(value, inner, r);
  const counted =
    wrapNegativeBy === undefined
      ? read
      : wrapNegativeBy === "extent"
        ? `from_end(${read})`
        : `from_end(${read} of ${wrapNegativeBy})`;
  if (bare || outOfRange === "any") return counted;
  const bound = extent === undefined ? "" : ` in ${extent}`;
  return `${printPolicy(outOfRange)}(${counted}${bound}${excluded === undefined ? "" : ` but ${excluded}`})`;
}

/**
 * Returns the keyword of a policy around an index operand, or next to fill bits other than 0: `fill` in place
 * of `zero`.
 */
const printPolicy = (policy: OutOfBounds): string => (policy === "zero" ? "fill" : policy);

/**
 * Returns the text of a linear expression. `indices`: texts of the index operands. `r`: position of the
 * reduction dim, which is printed as `r`.
 */
export const printLinear = (form: Linear, indices: readonly string[] = [], r?: number): string =>
  printForm(form, textForms(indices, r));

/**
 * Returns the syntax of linear expressions in the text form (`.tir`). `indices`: texts of the index operands.
 * `r`: position of the reduction dim, which is printed as `r`.
 */
function textForms(indices: readonly string[], r: number | undefined): FormLanguage {
  const name = (text: string, by: number): Amount => ({ by, text, isTight: true });
  const language: FormLanguage = {
    literal: String,
    product: (factor, by) => `${by} * ${factor}`,
    amount({ by, of }) {
      switch (of.kind) {
        case "dim":
          return name(of.dim === r ? "r" : `d${of.dim}`, by);
        case "index":
          return name(at(indices, of.index), by);
        case "iv":
          return name(`%${of.name}`, by);
        case "symbol":
          return name(of.name, by);
        case "min":
          return name(`min(${of.of.map((side) => printForm(side, language)).join(", ")})`, by);
        case "div":
        case "mod":
          return { by, text: `${printOperand(of.of, language)} ${of.kind} ${of.by}` };
        default:
          return assertNever(of);
      }
    },
  };
  return language;
}

const printList = (forms: readonly Linear[]): string =>
  `[${forms.map((form) => printLinear(form)).join(", ")}]`;

/** Returns the text of a region, with offsets before sizes, in elements: `%x[%t0, 0][64, 16]`. */
export const printRegion = (region: Region): string =>
  `%${region.buffer}${printList(region.offsets)}${printList(region.sizes)}`;

const printUbType = (buffer: UbBuffer): string =>
  `ub<${formatType(buffer)}, row ${buffer.rowBytes}${buffer.buffers === 2 ? ", buffers 2" : ""}>`;

/**
 * Returns the text of a statement without inner statements, for reports and comments. `inputs`: types of the
 * function's inputs, needed if the text will be parsed again.
 */
export function printStmtHead(stmt: Stmt, inputs?: readonly TensorType[]): string {
  switch (stmt.op) {
    case "for": {
      const range = `${printLinear(stmt.lower)} to ${printLinear(stmt.upper)} step ${stmt.step}`;
      return `for %${stmt.iv} = ${range} ${stmt.mode}`;
    }
    case "alloc": {
      const place = stmt.buffer.addresses === undefined ? "" : ` at ${formatShape(stmt.buffer.addresses)}`;
      return `%${stmt.buffer.name} = alloc : ${printUbType(stmt.buffer)}${place}`;
    }
    case "load":
      return `load ${printRegion(stmt.from)} to %${stmt.to}`;
    case "gather": {
      const scratch = stmt.scratch === undefined ? "" : `, scratch = ${printNames(stmt.scratch)}`;
      const names = stmt.from.map((region) => region.buffer);
      const origins = stmt.origins.length === 0 ? "" : `, origin = ${stmt.origins.map(printList).join(", ")}`;
      const outside = printOutside(stmt.map).join(", ");
      return (
        `gather ${stmt.from.map(printRegion).join(", ")} to ${printRegion(stmt.to)} ${printChunk(stmt.chunk)}` +
        `${printMap(stmt.map, { names, ...defined({ inputs }) })} {${outside}${origins}${scratch}}`
      );
    }
    case "scatter": {
      const base = firstTable(stmt, stmt.map.write.table) > 0 ? [""] : [];
      const names = [...base, ...stmt.from.map((region) => region.buffer)];
      const domain = `domain = ${formatShape(stmt.map.domain)}, origin = ${printList(stmt.origin)}`;
      const sizes = stmt.sizes.map((size) => printLinear(size));
      return (
        `scatter ${stmt.from.map(printRegion).join(", ")} to ${printRegion(stmt.to)} ` +
        `${printMap(stmt.map, { names, sizes, ...defined({ inputs }) })} {${printOutside(stmt.map).join(", ")}, ${domain}}`
      );
    }
    case "fill":
      return `fill %${stmt.to} with ${stmt.bits}`;
    case "store":
      return `store %${stmt.from} to ${printRegion(stmt.to)}`;
    case "sync":
      return `sync ${stmt.from} -> ${stmt.to}${stmt.lag === 0 ? "" : ` lag ${stmt.lag}`}`;
    default:
      return assertNever(stmt);
  }
}

/**
 * Returns the program text for a chunk of reduction elements, such as `into %sum part %r to min(%r + 4, 8) of
 * 8`; an empty string if `chunk` is undefined.
 */
function printChunk(chunk: ReductionChunk | undefined): string {
  if (chunk === undefined) return "";
  return `into ${printNames(chunk.into)} part ${printLinear(chunk.from)} to ${printLinear(chunk.to)} of ${chunk.of} `;
}

function printStmt(stmt: Stmt, inputs: readonly TensorType[], indent: string): string[] {
  const head = indent + printStmtHead(stmt, inputs);
  if (stmt.op !== "for") return [head];
  const body = stmt.body.flatMap((inner) => printStmt(inner, inputs, `${indent}  `));
  return [`${head} {`, ...body, `${indent}}`];
}
