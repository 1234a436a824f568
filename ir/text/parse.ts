/**
 * Text to IR: recursive descent over an LL(1) grammar (docs/ir.md). Reports every function's first mistake
 * with its place; what the grammar admits but the level forbids is the verifier's business.
 */
import { defined } from "../defined.js";
import { checkArgument } from "../argument.js";
import {
  combines,
  duplicatePolicies,
  formsOf,
  gatherOver,
  outOfBoundsPolicies,
  readData,
  sameRead,
  type AccessMap,
  type Combine,
  type Duplicates,
  type OutOfBounds,
  type Read,
  type Reduced,
  type Write,
} from "../access.js";
import { counted } from "../counted.js";
import { bindMap } from "../symbols/bind.js";
import { error, type Diagnostic } from "../diagnostic.js";
import type { Attrs, AttrValue } from "../attrs.js";
import {
  inputsOf,
  keyOf,
  operandsOf,
  outputOf,
  type AccessFunc,
  type Func,
  type Module,
  type Operand,
  type SourceFunc,
  type TileFunc,
  type Value,
} from "../func.js";
import {
  add,
  atomsOf,
  constant,
  dim,
  div,
  equalLinear,
  index,
  isConstant,
  iv,
  min,
  mod,
  scale,
  soleAtom,
  sub,
  symbol,
  symbolsOf,
  type Linear,
} from "../linear.js";
import { lex, type Token, type TokenKind } from "./lex.js";
import { depthOf, maxDepth } from "./nesting.js";
import { IndexList, type Mentions } from "./index-list.js";
import { typedValue, type DraftValue } from "./value-text.js";
import { ParseError, TokenReader } from "./token-reader.js";
import { frameworks, type Framework } from "../framework.js";
import { pyptoLevels, type PyptoLevel } from "../profile.js";
import type { Copies, EntryValue, Schedule } from "../schedule.js";
import { entryInText, type ScheduleEntry } from "../schedule-entries.js";
import { maxSizes, isSymbolName, type Sym, type Symbolic, type SymbolicMap } from "../symbols/symbols.js";
import type { Operators } from "../ops/op-def.js";
import { findOp } from "../ops/registry.js";
import { reductions } from "../values/expression.js";
import { hasScatter, pipes, type ReductionChunk, type Region, type Stmt, type UbBuffer } from "../tile.js";
import { dtypeMeant } from "../element-type-names.js";
import { assertNever, at, isDType, type DType, type Shape, type TensorType } from "../types.js";

/**
 * Result of parsing a `.tir` file: a module with the functions that could be parsed, and the diagnostics.
 * These functions may still break rules. If two functions have the same name (TC003), the module contains
 * both.
 */
export interface ParseResult {
  readonly module: Module;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Returns the functions in the text of a `.tir` file, and the diagnostics. `file`: name of the text in
 * diagnostics. `operators`: operators that the text may name; by default the built-in operators.
 */
export function parseModule(text: string, file: string, operators?: Operators): ParseResult {
  checkArgument("parseModule", "text", text);
  const lexed = lex(text, file);
  if (lexed.diagnostics.length > 0) return { module: { funcs: [] }, diagnostics: lexed.diagnostics };
  return parseTokens(lexed.tokens, operators);
}

/**
 * Returns the functions in a list of tokens, the diagnostics, and the source line of each line of the
 * canonical text (`lines`). `operators`: operators that the tokens may name; by default the built-in
 * operators.
 */
export function parseTokens(
  tokens: readonly Token[],
  operators?: Operators,
): ParseResult & { readonly lines: readonly number[] } {
  const parser = new Parser(tokens, operators);
  const { lines } = parser;
  const funcs: Func[] = [];
  const diagnostics: Diagnostic[] = [];
  try {
    parser.declarations();
  } catch (thrown) {
    if (!(thrown instanceof ParseError)) throw thrown;
    return { module: { funcs }, diagnostics: [thrown.diagnostic], lines };
  }
  while (!parser.atEnd()) {
    try {
      funcs.push(parser.func());
    } catch (thrown) {
      if (!(thrown instanceof ParseError)) throw thrown;
      diagnostics.push(thrown.diagnostic);
      parser.skipToNextFunc();
    }
  }
  if (funcs.length === 0 && diagnostics.length === 0) {
    const span = at(tokens, tokens.length - 1).span;
    diagnostics.push(
      error("TC002", "the text holds no function", { span, hint: "a program begins with `func @name(`" }),
    );
  }
  const names = new Set<string>();
  for (const func of funcs) {
    if (names.has(func.name)) {
      diagnostics.push(error("TC003", `function @${func.name} is defined twice`, { span: func.span }));
    }
    names.add(func.name);
  }
  const { symbols } = parser;
  return { module: { ...(symbols.length === 0 ? {} : { symbols }), funcs }, diagnostics: diagnostics, lines };
}

/**
 * Returns a schedule parsed from a text such as `tile = [8, 64], residency = gm`, and the diagnostics. The
 * schedule is empty if there are diagnostics. `file`: name of the text in diagnostics.
 */
export function parseSchedule(
  text: string,
  file: string,
): { readonly schedule: Schedule; readonly diagnostics: readonly Diagnostic[] } {
  checkArgument("parseSchedule", "text", text);
  const inBraces = /^\s*(?:schedule\s*)?\{/.test(text);
  const { tokens, diagnostics } = lex(inBraces ? text : `{${text}}`, file);
  if (diagnostics.length > 0) return { schedule: {}, diagnostics };
  try {
    return { schedule: new Parser(tokens).fullSchedule(), diagnostics: [] };
  } catch (thrown) {
    if (!(thrown instanceof ParseError)) throw thrown;
    return { schedule: {}, diagnostics: [thrown.diagnostic] };
  }
}

/** Domain of a map as it is read: extents at their most, and the symbols that are extents. */
interface DomainText {
  readonly extents: Shape;
  readonly symbols: readonly (string | null)[];
  /** Points of a tile along each dim. */
  readonly sizes: readonly Linear[];
}

/** Definition of a name: its linear expression, and the mentions in its text. */
interface Definition {
  readonly form: Linear;
  readonly mentions: Mentions;
}

/**
 * Returns text for hints: a quotient that is 0 for each legal value of an index operand. `name`: name in the
 * text. `extent`: extent in the text, if it is a number.
 */
const keptBy = (name = "s", extent?: number): string =>
  extent === undefined ? `${name} div n with n the extent of ${name}` : `${name} div ${Math.max(2, extent)}`;

/** Names that the text of a map can refer to. */
interface MapScope {
  /** Names of the inputs in the text, by table. */
  readonly names: readonly string[];
  readonly outRank: number;
  readonly indices: IndexList;
  readonly lets: Map<string, Definition>;
}

const reservedWords: ReadonlySet<string> = new Set([
  ...outOfBoundsPolicies,
  "fill",
  "from_end",
  "div",
  "mod",
  "min",
  "in",
  "but",
  "of",
  "let",
  "yield",
]);

const withResult = "a program with an operator states its result type: add -> tensor<…> after the operands";

type StatementWord = Exclude<Stmt["op"], "alloc">;
/** Keywords with which statements begin. An alloc begins with its buffer. */
const statementWords = Object.keys({
  for: true,
  load: true,
  gather: true,
  scatter: true,
  fill: true,
  store: true,
  sync: true,
} satisfies Record<StatementWord, true>) as readonly StatementWord[];

class Parser extends TokenReader {
  constructor(tokens: readonly Token[], operators?: Operators) {
    super(tokens);
    this.head = operators && { operators };
  }

  /** Fields that each program gets in a text that is parsed with custom operators. */
  private readonly head: Pick<SourceFunc, "operators"> | undefined;

  private depth = 0;
  /** Operands of the tile program that is being parsed. The map of its gather refers to them. */
  private operands: readonly Operand[] = [];
  /** In the order of their declarations. */
  readonly symbols: Sym[] = [];
  /** Lines at which declarations, function heads, statements and the ends of bodies begin. */
  readonly lines: number[] = [];

  /** Records that a line of the canonical text begins with the next token. */
  private newLine(): void {
    this.lines.push(this.peek().span.line);
  }

  /** Parses the declarations before the functions: `dim N <= 4096`. */
  declarations(): void {
    for (;;) {
      const before = this.peek();
      if (!this.acceptWord("dim")) return;
      this.lines.push(before.span.line);
      const token = this.take("word", "a symbol such as N");
      if (!isSymbolName(token.text))
        this.fail(
          token,
          `${token.text} cannot name a symbol`,
          "use capitals, digits and _, such as N or MAX_PAGES; X separates extents",
        );
      if (this.symbolNamed(token.text) !== undefined) this.fail(token, `dim ${token.text} is declared twice`);
      this.punct("<=");
      const bound = this.peek();
      const max = this.int();
      if (max < 1) this.fail(bound, `the maximum of a symbol must be 1 or more, not ${max}`);
      this.symbols.push({ name: token.text, most: max });
    }
  }

  private symbolNamed(name: string): Sym | undefined {
    return this.symbols.find((symbol) => symbol.name === name);
  }

  atEnd(): boolean {
    return this.peek().kind === "end";
  }

  skipToNextFunc(): void {
    this.depth = 0;
    if (!this.atEnd()) this.position++;
    while (!this.atEnd() && !(this.peek().kind === "word" && this.peek().text === "func")) this.position++;
  }

  func(): Func {
    this.operands = [];
    this.newLine();
    const start = this.word("func");
    const name = this.take("symbol", "a function name such as @gather").text;
    this.punct("(");
    const params = this.listOf(() => this.param());
    this.punct(")");
    const gathers = this.accept("->");
    const values = params.map(({ value }) => value);
    const isSymbolic = params.some(({ outermost }) => outermost !== null);
    if (!gathers) {
      if (isSymbolic)
        return this.fail(start, "a tile program takes numbers as extents, not symbols", withResult);
      if (values.length < 2)
        return this.fail(
          start,
          `@${name} has 1 operand; a tile program needs its inputs and the output`,
          withResult,
        );
      return this.tileFunc(start, name, operandsOf(values));
    }
    const result = this.dynamicType();
    const tail = this.tail();
    this.punct("{");
    this.newLine();
    const outputName = this.take("value", "the result, such as %output").text;
    this.punct("=");
    const opToken = this.take("word", "an operator such as onnx.gather");
    this.operandList(values);
    const isScatter = opToken.text === "access.scatter";
    const writes = isScatter || findOp(opToken.text, this.head?.operators)?.writes !== undefined;
    const operands = operandsOf([...values, { name: outputName, type: result.type }], !writes);
    const head = {
      name,
      operands,
      ...tail,
      span: start.span,
      opSpan: opToken.span,
    };
    const isAccess = isScatter || opToken.text === "access.gather";
    if (!isAccess && (isSymbolic || result.outermost !== null))
      return this.fail(
        opToken,
        `${opToken.text} takes numbers as extents, not symbols`,
        "write numbers, or use access.gather or access.scatter, which take symbols",
      );
    const inPlace = values.find(({ inout }) => inout === true);
    if (!writes && inPlace !== undefined)
      return this.fail(opToken, `%${inPlace.name} is inout, and ${opToken.text} writes no operand in place`);
    const outermost = [...params, result].map((typed) => typed.outermost);
    const func: SourceFunc | AccessFunc = isAccess
      ? { level: "access", ...head, ...this.accessBody(head, outermost, isScatter) }
      : { level: "source", ...head, op: opToken.text, attrs: this.attrs(), ...this.head };
    this.newLine();
    this.word("return");
    const returned = this.take("value", `%${outputName}`);
    if (returned.text !== outputName)
      this.fail(returned, `the function returns %${outputName}, its only result`);
    this.newLine();
    this.punct("}");
    return func;
  }

  private tileFunc(start: Token, name: string, operands: readonly Operand[]): TileFunc {
    const tail = this.tail();
    this.operands = operands;
    const body = this.block();
    const named = hasScatter(body) ? operandsOf(operands, false) : operands;
    return { level: "tile", name, operands: named, ...tail, body, span: start.span };
  }

  private param(): {
    readonly value: Value & Pick<Operand, "inout">;
    readonly outermost: string | null;
  } {
    const name = this.take("value", "a parameter such as %data").text;
    this.punct(":");
    const inout = this.acceptWord("inout") ? { inout: true } : {};
    const { type, outermost } = this.dynamicType();
    return { value: { name, type, ...inout }, outermost };
  }

  /** Returns a type whose outermost extent may be a symbol, at its most. */
  private dynamicType(): { readonly type: TensorType; readonly outermost: string | null } {
    const word = this.take("word", "tensor<…> or gm<…>");
    if (word.text !== "tensor" && word.text !== "gm")
      this.fail(word, `expected tensor<…> or gm<…>, not ${word.text}`);
    this.punct("<");
    const token = this.peek();
    const shape = this.extents();
    this.punct(">");
    const [first] = shape.extents;
    const outer = first === undefined || !isSymbolName(first) ? undefined : this.symbolNamed(first);
    if (first !== undefined && isSymbolName(first) && outer === undefined)
      this.fail(token, `no dim ${first} is declared`, `dim ${first} <= 4096 before the functions`, "TC003");
    const extents = outer === undefined ? shape.extents : [String(outer.most), ...shape.extents.slice(1)];
    const type = this.typeOf(token, shape.dtype, extents);
    return { type, outermost: outer?.name ?? null };
  }

  /** Parses a type: `3x5xf32`, or `f32` for a scalar. */
  private shapedType(): TensorType {
    const token = this.peek();
    const { extents, dtype } = this.extents();
    return this.typeOf(token, dtype, extents);
  }

  private extents(): { readonly extents: readonly string[]; readonly dtype: DType } {
    const token = this.take("word", "a type such as 3x5xf32");
    const words = token.text.split("x");
    // No element type begins with a digit, so the last part is the type.
    const dtype = words.pop() ?? "";
    if (!isDType(dtype))
      return this.fail(
        token,
        `unknown element type ${dtype}`,
        hintOfType(dtype, "see docs/ir.md for the types"),
      );
    return { extents: words, dtype };
  }

  private typeOf(token: Token, dtype: DType, extents: readonly string[]): TensorType {
    const inner = extents.find(isSymbolName);
    if (inner !== undefined)
      this.fail(
        token,
        `${inner} is not the outermost extent of ${token.text}`,
        `make ${inner} the first extent: strides must be numbers`,
        "TC204",
      );
    const shape = extents.map(Number);
    if (shape.some((extent) => !Number.isSafeInteger(extent) || extent < 0)) {
      return this.fail(token, `${token.text} is not a type`);
    }
    return { dtype, shape };
  }

  private tail(): { target?: string; schedule: Schedule } {
    let target: string | undefined;
    if (this.acceptWord("target")) {
      this.punct("(");
      target = this.take("string", 'a target name such as "ascend-a2"').text;
      this.punct(")");
    }
    const schedule = this.acceptWord("schedule") ? this.schedule() : {};
    return target === undefined ? { schedule } : { target, schedule };
  }

  fullSchedule(): Schedule {
    this.acceptWord("schedule");
    const schedule = this.schedule();
    if (!this.atEnd()) this.fail(this.peek(), `expected the end of the schedule; found ${this.peek().text}`);
    return schedule;
  }

  private schedule(): Schedule {
    const given: [string, EntryValue][] = [];
    this.entries((key) => {
      const entry = entryInText(key.text);
      if (entry === undefined)
        return this.fail(key, `a schedule has no entry ${key.text}`, undefined, "TC003");
      given.push([entry.key, this.entryValue(entry)]);
    });
    return Object.fromEntries(given);
  }

  private entryValue(entry: ScheduleEntry): EntryValue {
    switch (entry.form) {
      case "list":
        return this.intList();
      case "count":
        return this.int();
      case "word":
        return this.oneOf(entry.words) as EntryValue;
      case "by-operand": {
        if (this.peek().text !== "{") return this.oneValue(entry.text, entry.all) as EntryValue;
        const byOperand: [string, string | number][] = [];
        this.entries((key) => byOperand.push([key.text, this.oneValue(entry.text, entry.each)]));
        return Object.fromEntries(byOperand) as EntryValue;
      }
    }
  }

  /** Returns one of these words, or of these numbers. */
  private oneValue(name: string, values: readonly (string | number)[]): string | number {
    const words = values.filter((value) => typeof value === "string");
    if (words.length > 0) return this.oneOf(words);
    const token = this.peek();
    const count = this.int();
    return values.includes(count) ? count : this.fail(token, `${name} is ${values.join(" or ")}`);
  }

  private attrs(): Attrs {
    const attrs: [string, AttrValue][] = [];
    if (this.peek().text !== "{") return {};
    this.entries((key) => {
      const token = this.peek();
      if (token.kind === "string") attrs.push([key.text, this.take("string", "a value").text]);
      else if (token.kind === "word") attrs.push([key.text, this.take("word", "a value").text]);
      else if (token.kind === "number") attrs.push([key.text, Number(this.take("number", "a value").text)]);
      else if (token.text === "[") attrs.push([key.text, this.intList()]);
      else attrs.push([key.text, this.int()]);
    });
    // Not by assignment, which would make a key `__proto__` the object's prototype.
    return Object.fromEntries(attrs);
  }

  /** Parses `{key = value, …}`; a repeated key is an error. */
  private entries(read: (key: Token) => void): void {
    const names = new Set<string>();
    this.punct("{");
    while (!this.accept("}")) {
      if (names.size > 0) this.punct(",");
      const key = this.take(this.peek().kind === "value" ? "value" : "word", "a name");
      if (names.has(key.text)) this.fail(key, `${key.text} is given twice`);
      names.add(key.text);
      this.punct("=");
      read(key);
    }
  }

  private accessBody(
    func: Pick<AccessFunc, "operands">,
    outermost: Symbolic["outermost"],
    isScatter: boolean,
  ): Pick<AccessFunc, "map" | "sharedDims" | "framework" | "frameworkOp" | "tiles" | "symbolic"> {
    const inputs = inputsOf(func);
    const types = inputs.map(({ type }) => type);
    const statement = isScatter ? "access.scatter" : "access.gather";
    const { domain, mapOf } = this.map(
      inputs.map((input) => input.name),
      types.map(({ dtype }) => dtype),
      isScatter ? undefined : outputOf(func).type.shape,
    );
    let oob: OutOfBounds | undefined;
    let fill: string | undefined;
    let writes: WriteEntries = {};
    let shared: Shape = [];
    let framework: Framework | undefined;
    let operator: string | undefined;
    let level: PyptoLevel | undefined;
    const tiles = new Map<string, Shape>();
    const start = this.peek();
    this.entries((key) => {
      const tiled = inputs.find((input) => key.text === `${keyOf(input)}_tile`);
      if (key.text === "oob") oob = this.policy();
      else if (key.text === "fill") fill = this.bits();
      else if (isScatter && isWriteEntry(key.text)) writes = { ...writes, ...this.writeEntry(key.text) };
      else if (key.text === "paired") shared = this.intList();
      else if (key.text === "framework") framework = this.oneOf(frameworks);
      else if (key.text === "operator" && framework !== undefined)
        operator = this.take("word", "an operator of the framework, such as gather").text;
      else if (key.text === "level" && operator !== undefined) level = this.oneOf(pyptoLevels);
      else if (tiled !== undefined) tiles.set(tiled.name, this.intList());
      else this.fail(key, `${statement} has no attribute ${key.text}`, undefined, "TC003");
    });
    if (oob === undefined)
      return this.fail(start, `${statement} lacks its out-of-range policy`, "add oob = error");
    const given = inputs.flatMap((input) => (tiles.has(input.name) ? [tiles.get(input.name) ?? []] : []));
    if (given.length !== 0 && given.length !== inputs.length) {
      const names = inputs.map((input) => `${keyOf(input)}_tile`);
      return this.fail(start, `give ${names.join(" and ")} together, or none of them`);
    }
    const over = mapOf(oob, fill, writes);
    const named = new Set([...outermost, ...domain.symbols, ...symbolsIn(over)]);
    const symbols = this.symbols.filter(({ name }) => named.has(name));
    return {
      map: bindMap(over, maxSizes(symbols), types, outputOf(func).type.shape),
      sharedDims: shared,
      ...defined({ framework }),
      ...(operator === undefined ? {} : { frameworkOp: { name: operator, ...defined({ level }) } }),
      ...(symbols.length === 0
        ? {}
        : { symbolic: { symbols, outermost, ...(isScatter ? { domain: domain.symbols } : {}), map: over } }),
      ...(given.length === 0 ? {} : { tiles: given }),
    };
  }

  /**
   * Parses an out-of-range policy. The word `fill` gives the policy `zero`, which is the name for fill bits
   * of 0.
   */
  private policy(): OutOfBounds {
    if (this.acceptWord("fill")) return "zero";
    return this.oneOf(outOfBoundsPolicies);
  }

  /** Returns the bits of an element, absent for 0, as they are without any. */
  private bits(): string | undefined {
    const token = this.take("int", "the bits of an element as a decimal");
    if (token.text.startsWith("-"))
      this.fail(token, `${token.text} is negative: bits are an unsigned decimal`);
    const bits = BigInt(token.text);
    return bits === 0n ? undefined : bits.toString();
  }

  /**
   * Parses a map: `(d0, d1) -> (from_end(%indices[d0, d1]), d1)`, or of a scatter `(d0 < 8, d1 < 64) ->
   * (%i[d0], d1) yield %u[d0, d1]`. `names`: names of the inputs in the text, by table. `output`: the shape
   * of a gather's output; absent for a scatter. The policy of bare reads and the entries about writes come
   * after the map, so `mapOf` is a function of them.
   */
  private map(
    names: readonly string[],
    types: readonly DType[],
    output: Shape | undefined,
  ): {
    readonly domain: DomainText;
    readonly mapOf: (outOfRange: OutOfBounds, fill: string | undefined, writes: WriteEntries) => SymbolicMap;
  } {
    this.punct("(");
    const domain = this.domain(output);
    const outRank = domain.extents.length;
    const scope: MapScope = { names, outRank, indices: new IndexList(), lets: new Map() };
    const reduced = this.accept(";") ? this.reduced(scope) : undefined;
    this.punct(")");
    this.lets(scope);
    const table = names.length;
    const written = output === undefined ? { table, at: this.writtenCoords(scope) } : undefined;
    if (written !== undefined) this.word("yield");
    const read =
      written !== undefined || this.acceptWord("yield")
        ? this.yielded(scope, types)
        : this.copiedElement(scope);
    return {
      domain,
      mapOf(outOfRange, fill, writes) {
        const body = { ...defined({ reduced, fill }), ...read, indices: [] };
        const map =
          written === undefined
            ? gatherOver(domain.extents, table, body)
            : { domain: domain.extents, ...body, write: { ...written, ...writeOf(writes) } };
        return scope.indices.close(map, outOfRange);
      },
    };
  }

  /** Parses the dims of a map: `d0, d1`, or of a scatter `d0 < 8, d1 < N`. `output`: see {@link map}. */
  private domain(output: Shape | undefined): DomainText {
    const extents: number[] = [];
    const symbols: (string | null)[] = [];
    const sizes: Linear[] = [];
    while (this.peek().text !== ";" && this.peek().text !== ")") {
      const d = extents.length;
      if (d > 0) this.punct(",");
      const token = this.take("word", `d${d}`);
      if (token.text !== `d${d}`)
        this.fail(
          token,
          `${output === undefined ? "" : "output "}dims are d0, d1, … in order; expected d${d}`,
        );
      // An output of another rank is for the verifier to refuse.
      let extent = output?.[d] ?? 1;
      let name: string | null = null;
      if (output === undefined) {
        this.punct("<");
        const bound = this.peek();
        const isTile = this.operands.length > 0;
        const symbolic = !isTile && bound.kind === "word" ? this.symbolNamed(bound.text) : undefined;
        if (isTile) sizes.push(this.expr());
        else if (symbolic === undefined) extent = this.int();
        else [extent, name] = [symbolic.most, this.take("word", "a symbol").text];
        if (extent < 0) this.fail(bound, `a dim has 0 elements or more, not ${extent}`);
      }
      extents.push(extent);
      symbols.push(name);
    }
    return { extents, symbols, sizes };
  }

  /**
   * Parses the coordinates of the element that a scatter writes: `-> (t, d1)`. Each index operand that they
   * mention decides whether a point writes, so none may drop out of their sums.
   */
  private writtenCoords(scope: MapScope): readonly Linear[] {
    this.punct("->");
    const token = this.peek();
    this.punct("(");
    const [coords, mentions] = scope.indices.mentionedIn(() => this.coords(scope, ")"));
    const lost = scope.indices.lostFrom(coords, mentions);
    if (lost === undefined) return coords;
    const named = [...scope.lets].find(([, { form }]) => equalLinear(form, index(lost)))?.[0];
    const name = named ?? "an index value";
    const kept = keptBy(named, scope.indices.extentOf(lost));
    return this.fail(
      token,
      `${name} drops out of the written coordinates: they are the same for each of its values`,
      `leave it out, or write ${kept} in place of 0: a point whose index value has no place then writes nothing`,
    );
  }

  /** Entries that say what becomes of a written element. */
  private writeEntry(key: WriteKey): WriteEntries {
    switch (key) {
      case "combine":
        return { combine: this.oneOf(combines) };
      case "duplicates":
        return { duplicates: this.oneOf(duplicatePolicies) };
      case "base":
        this.word("fill");
        return { base: this.bits() ?? "0" };
      default:
        return assertNever(key);
    }
  }

  /** Parses any number of definitions: `let t = error(%i[d0] in 8)`. */
  private lets(scope: MapScope): void {
    while (this.acceptWord("let")) {
      const token = this.take("word", "a name for an index value");
      const isSymbol = this.symbolNamed(token.text) !== undefined;
      if (reservedWords.has(token.text) || /^d\d+$/.test(token.text) || isSymbol)
        this.fail(token, `${token.text} is a reserved word and cannot name an index value`);
      if (scope.lets.has(token.text)) this.fail(token, `${token.text} is defined twice`);
      this.punct("=");
      const [form, mentions] = scope.indices.mentionedIn(() => this.coord(scope));
      scope.lets.set(token.text, { form, mentions });
    }
  }

  /**
   * Parses the range of a reduction, after its definitions: `r < 8`, or of a segment `r in error(%off[d0] in
   * 65) to error(%off[d0 + 1] in 65) most 16`.
   */
  private reduced(scope: MapScope): Reduced {
    this.lets(scope);
    this.word("r");
    if (this.accept("<")) return { max: this.int() };
    this.word("in");
    const from = this.segmentEnd(scope);
    this.word("to");
    const to = this.segmentEnd(scope);
    this.word("most");
    return { max: this.int(), segment: { from, to } };
  }

  /** Returns an index value with its bound: the number of its index operand. */
  private segmentEnd(scope: MapScope): number {
    const token = this.peek();
    const only = soleAtom(this.coordFactor(scope));
    if (only?.kind === "index" && scope.indices.isBounded(only.index)) return only.index;
    return this.fail(token, "r runs between two index values that have bounds", "error(%offsets[d0] in 65)");
  }

  /** Parses the coordinates of a copied element of the data: `-> (t, d1)`. */
  private copiedElement(scope: MapScope): Pick<AccessMap, "reads" | "value"> {
    this.punct("->");
    this.punct("(");
    return readData(this.coords(scope, ")"));
  }

  /** Parses coordinates up to a closing bracket. */
  private coords(scope: MapScope, end: ")" | "]"): readonly Linear[] {
    return this.listUpTo(end, () => this.coord(scope));
  }

  /** Parses the value of an element after `yield`: `f16(f32(%q[t, d1]) * %s[t])`. */
  private yielded(scope: MapScope, types: readonly DType[]): Pick<AccessMap, "reads" | "value"> {
    const reads: Read[] = [];
    const draft = this.value(scope, reads);
    const value = typedValue(
      draft,
      reads.map(({ table }) => at(types, table)),
      (...wrong) => this.fail(...wrong),
    );
    return { reads, value };
  }

  private value(scope: MapScope, reads: Read[]): DraftValue {
    return this.sum<DraftValue>(
      () => this.valueProduct(scope, reads),
      (op, left, right) => ({ kind: "op", op, of: [left, right] }),
      ["int", "number"],
    );
  }

  /**
   * Parses a sum of terms. `signed`: kinds of numbers that may have the sign of a sum: in `d0 -1` the lexer
   * takes it for the number's.
   */
  private sum<T>(
    term: () => T,
    combine: (op: "add" | "sub", left: T, right: T) => T,
    signed: readonly TokenKind[],
  ): T {
    if (++this.depth > maxDepth) this.failDepth(this.peek());
    let left = term();
    for (;;) {
      const { kind, text } = this.peek();
      if (this.accept("-")) left = combine("sub", left, term());
      else if (this.accept("+") || (signed.includes(kind) && text.startsWith("-")))
        left = combine("add", left, term());
      else break;
    }
    this.depth--;
    return left;
  }

  private valueProduct(scope: MapScope, reads: Read[]): DraftValue {
    let left = this.valueFactor(scope, reads);
    for (;;) {
      const op = this.accept("*") ? "mul" : this.accept("/") ? "div" : undefined;
      if (op === undefined) return left;
      left = { kind: "op", op, of: [left, this.valueFactor(scope, reads)] };
    }
  }

  private valueFactor(scope: MapScope, reads: Read[]): DraftValue {
    const token = this.peek();
    if (token.kind === "int" || token.kind === "number") {
      this.position++;
      return { kind: "literal", token, text: token.text };
    }
    if (token.kind === "value") {
      const read = this.read(scope);
      const position = reads.findIndex((other) => sameRead(other, read));
      return { kind: "read", read: position === -1 ? reads.push(read) - 1 : position };
    }
    const call = this.accept("(")
      ? undefined
      : this.take("word", "an element, a number, a cast, min, max, fold, exact or mean").text;
    if (call !== undefined) this.punct("(");
    const of = this.value(scope, reads);
    if ((call === "min" || call === "max") && this.accept(",")) {
      const other = this.value(scope, reads);
      this.punct(")");
      return { kind: "op", op: call, of: [of, other] };
    }
    this.punct(")");
    if (call === undefined) return of;
    const how = reductions.find((name) => name === call);
    if (how !== undefined) return { kind: "reduce", how, of };
    if (!isDType(call))
      return this.fail(
        token,
        `${call} is no element type`,
        hintOfType(call, "i8, u8, i16, u16, i32, u32, f16, bf16 or f32 casts"),
      );
    return { kind: "cast", to: call, of };
  }

  /** Parses a read of an input: `%q[t, d1]`. */
  private read(scope: MapScope): Read {
    const token = this.take("value", "an input");
    const table = scope.names.lastIndexOf(token.text);
    if (table === -1) this.fail(token, `an access map reads %${scope.names.join(", %")}, not %${token.text}`);
    this.punct("[");
    return { table, at: this.coords(scope, "]") };
  }

  private coord(scope: MapScope): Linear {
    const token = this.peek();
    return this.sum<Linear>(
      () => this.coordProduct(scope),
      (op, left, right) => this.requireExact(token, (op === "add" ? add : sub)(left, right)),
      ["int"],
    );
  }

  /** Returns an expression that begins at a token. Fails if a number in it is beyond 2^53. */
  private requireExact(token: Token, form: Linear): Linear {
    const isExact = [form.at, ...form.terms.map(({ by }) => by)].every(Number.isSafeInteger);
    return isExact
      ? form
      : this.fail(
          token,
          "a number of this coordinate is beyond 2^53",
          "numbers, and the factors and sums that they fold to, are at most 2^53 - 1 either way",
        );
  }

  private failDepth(token: Token): never {
    return this.fail(
      token,
      `coordinates nest deeper than ${maxDepth}`,
      "name an inner coordinate: let a = …",
    );
  }

  private coordProduct(scope: MapScope): Linear {
    const first = this.peek();
    let left = this.coordFactor(scope);
    for (;;) {
      const token = this.peek();
      if (this.accept("*")) {
        const right = this.coordFactor(scope);
        if (!isConstant(left) && !isConstant(right))
          this.fail(token, "one side of a product must be a number");
        left = this.requireExact(first, isConstant(right) ? scale(left, right.at) : scale(right, left.at));
      } else if (this.acceptWord("div")) left = div(left, this.divisor());
      else if (this.acceptWord("mod")) left = mod(left, this.divisor());
      else return left;
      if (this.depth - 1 + depthOf(left) > maxDepth) this.failDepth(token);
    }
  }

  private divisor(): number {
    const token = this.peek();
    const by = this.int();
    return by >= 1 ? by : this.fail(token, `the divisor of div and mod must be 1 or more, not ${by}`);
  }

  private coordFactor(scope: MapScope): Linear {
    const token = this.peek();
    // A printed number may be a product of written ones, and then beyond the limit of other numbers.
    if (token.kind === "int")
      return this.requireExact(token, constant(Number(this.take("int", "a number").text)));
    if (token.kind === "value") return this.readOrLoop(scope);
    if (this.accept("(")) {
      const inner = this.coord(scope);
      this.punct(")");
      return inner;
    }
    const word = this.take("word", "an output dim such as d0, a read or a policy");
    if (word.text === "min") {
      if (this.operands.length === 0)
        this.fail(
          word,
          "min is allowed in tile programs only; an access map has sums, div and mod of dims and index values",
          "to limit an index value to 0 to n - 1, write clamp(… in n)",
        );
      return this.minOf(() => this.coord(scope));
    }
    if (word.text === "from_end") {
      this.punct("(");
      const value = this.coord(scope);
      const wrapNegativeBy = this.acceptWord("of") ? this.bound(scope) : "extent";
      this.punct(")");
      return scope.indices.push({ value, wrapNegativeBy });
    }
    const outOfRange =
      word.text === "fill" ? "zero" : outOfBoundsPolicies.find((policy) => policy === word.text);
    if (outOfRange !== undefined) {
      this.punct("(");
      const value = this.coord(scope);
      const extent = this.acceptWord("in") ? { extent: this.bound(scope) } : {};
      const excluded = this.acceptWord("but") ? { excluded: this.int() } : {};
      this.punct(")");
      return scope.indices.push({ value, outOfRange, ...extent, ...excluded });
    }
    const named = scope.lets.get(word.text);
    if (named !== undefined) {
      scope.indices.mention(named.mentions);
      return named.form;
    }
    if (this.operands.length === 0 && this.symbolNamed(word.text) !== undefined) return symbol(word.text);
    // Where it may stand is for the verifier to say.
    if (word.text === "r") return dim(scope.outRank);
    const d = /^d(\d{1,2})$/.exec(word.text)?.[1];
    if (d === undefined || Number(d) >= scope.outRank)
      return this.fail(word, `${word.text} is no output dim`);
    return dim(Number(d));
  }

  /** Returns a number, or a sum of symbols: `V div 2 - 1`. */
  private bound(scope: MapScope): Linear {
    const token = this.peek();
    const form = this.coord(scope);
    if (atomsOf(form).some(({ kind }) => kind !== "symbol" && kind !== "div" && kind !== "mod"))
      this.fail(
        token,
        "a bound is a number, or a sum of symbols",
        "dim N <= 4096 before the functions declares one",
      );
    return form;
  }

  /**
   * Parses a read as an index operand, `%indices[d0, d1]`; at the tile level also the loop variable `%t0`.
   */
  private readOrLoop(scope: MapScope): Linear {
    const token = this.peek();
    const isInput = scope.names.includes(token.text);
    if (this.operands.length > 0 && !isInput && this.tokens[this.position + 1]?.text !== "[") {
      this.position++;
      return iv(token.text);
    }
    return scope.indices.push({ value: this.read(scope) });
  }

  private block(): Stmt[] {
    this.punct("{");
    if (++this.depth > maxDepth) this.fail(this.peek(), `statements nest deeper than ${maxDepth}`);
    const body: Stmt[] = [];
    this.newLine();
    while (!this.accept("}")) {
      body.push(this.stmt());
      this.newLine();
    }
    this.depth--;
    return body;
  }

  private stmt(): Stmt {
    const token = this.peek();
    const { span } = token;
    if (token.kind === "value") return { op: "alloc", buffer: this.alloc(), span };
    const keyword = this.take("word", "a statement");
    const op = statementWords.find((word) => word === keyword.text);
    switch (op) {
      case "for": {
        const name = this.take("value", "a loop variable such as %t0").text;
        this.punct("=");
        const lower = this.expr();
        this.word("to");
        const upper = this.expr();
        this.word("step");
        const stepToken = this.peek();
        const step = this.int();
        if (step < 1) this.fail(stepToken, "a step is at least 1");
        const mode = this.oneOf(["parallel", "serial"] as const);
        return { op: "for", iv: name, lower, upper, step, mode, body: this.block(), span };
      }
      case "load": {
        const from = this.region();
        this.word("to");
        return { op: "load", from, to: this.buffer(), span };
      }
      case "store": {
        const from = this.buffer();
        this.word("to");
        return { op: "store", from, to: this.region(), span };
      }
      case "gather":
        return this.gather(token);
      case "scatter":
        return this.scatter(token);
      case "fill": {
        const to = this.buffer();
        this.word("with");
        return { op: "fill", to, bits: this.bits() ?? "0", span };
      }
      case "sync": {
        const from = this.oneOf(pipes);
        this.punct("->");
        const to = this.oneOf(pipes);
        const lagToken = this.peek();
        const lag = this.acceptWord("lag") ? this.int() : 0;
        if (lag !== 0 && lag !== 1) return this.fail(lagToken, "lag is 0 or 1");
        return { op: "sync", from, to, lag, span };
      }
      case undefined: {
        const hint = `${statementWords.join(", ")}, or %x = alloc`;
        return this.fail(keyword, `unknown statement ${keyword.text}`, hint);
      }
      default:
        return assertNever(op);
    }
  }

  private gather(start: Token): Stmt {
    const from = this.listOf(() => this.region());
    const inputs = inputsOf({ operands: this.operands });
    if (from.length !== inputs.length)
      this.fail(
        start,
        `a gather needs a region for each of ${inputs.length} inputs, not ${counted(from.length, "region")}`,
      );
    this.word("to");
    const to = this.region();
    const chunk = this.acceptWord("into") ? this.chunk() : undefined;
    const types = inputs.map(({ type }) => type);
    const { mapOf } = this.map(
      from.map((region) => region.buffer),
      types.map(({ dtype }) => dtype),
      outputOf({ operands: this.operands }).type.shape,
    );
    let oob: OutOfBounds | undefined;
    let fill: string | undefined;
    let origins: Linear[][] = [];
    let scratch: string[] | undefined;
    this.entries((key) => {
      if (key.text === "oob") oob = this.policy();
      else if (key.text === "fill") fill = this.bits();
      else if (key.text === "origin") origins = this.origins(inputs.length - 1);
      else if (key.text === "scratch") scratch = this.buffers();
      else this.fail(key, `gather has no attribute ${key.text}`, undefined, "TC003");
    });
    if (oob === undefined || origins.length !== inputs.length - 1) {
      return this.fail(
        start,
        "gather lacks its out-of-range policy or its origin",
        "add {oob = error, origin = […]}",
      );
    }
    const map = bindMap(mapOf(oob, fill, {}), {}, types, undefined);
    return {
      op: "gather",
      from,
      to,
      ...defined({ chunk }),
      map,
      origins,
      ...defined({ scratch }),
      span: start.span,
    };
  }

  /**
   * Parses a statement: `scatter %i_ub[0][8], %u_ub[0, 0][8, 32] to %y_ub[0, 0][1000, 32] (d0 < 8, d1 < 32)
   * -> … {…, domain = [20, 64], origin = [%t0, %t1]}`.
   */
  private scatter(start: Token): Stmt {
    const from = this.listOf(() => this.region());
    const inputs = inputsOf({ operands: this.operands });
    const first = inputs.length - from.length;
    if (first !== 0 && first !== 1)
      this.fail(
        start,
        `a scatter needs a region for each input, with or without the base: ${inputs.length} or ${inputs.length - 1}, not ${from.length}`,
      );
    this.word("to");
    const to = this.region();
    const types = inputs.map(({ type }) => type);
    const { domain, mapOf } = this.map(
      // No text can spell the name of the base that it does not read.
      [...(first === 1 ? [""] : []), ...from.map((region) => region.buffer)],
      types.map(({ dtype }) => dtype),
      undefined,
    );
    let oob: OutOfBounds | undefined;
    let fill: string | undefined;
    let writes: WriteEntries = {};
    let extents: Shape | undefined;
    let origin: Linear[] | undefined;
    this.entries((key) => {
      if (key.text === "oob") oob = this.policy();
      else if (key.text === "fill") fill = this.bits();
      else if (isWriteEntry(key.text)) writes = { ...writes, ...this.writeEntry(key.text) };
      else if (key.text === "domain") extents = this.intList();
      else if (key.text === "origin") origin = this.exprList();
      else this.fail(key, `scatter has no attribute ${key.text}`, undefined, "TC003");
    });
    if (oob === undefined || extents === undefined || origin === undefined)
      return this.fail(
        start,
        "scatter lacks its out-of-range policy, its domain or its origin",
        "add {oob = error, domain = […], origin = […]}",
      );
    const { sizes } = domain;
    const map = bindMap(mapOf(oob, fill, writes), {}, types, undefined);
    return { op: "scatter", from, to, map: { ...map, domain: extents }, sizes, origin, span: start.span };
  }

  /** Parses a reduction chunk: `%sum part %r to min(%r + 4, 8) of 8`. */
  private chunk(): ReductionChunk {
    const into = this.buffers();
    this.word("part");
    const from = this.expr();
    this.word("to");
    const to = this.expr();
    this.word("of");
    return { into, from, to, of: this.int() };
  }

  private buffer(): string {
    return this.take("value", "a buffer").text;
  }

  /** Parses names of buffers: `%a, %b`. */
  private buffers(): string[] {
    const names = [this.buffer()];
    while (this.peek().text === "," && this.tokens[this.position + 1]?.kind === "value") {
      this.punct(",");
      names.push(this.buffer());
    }
    return names;
  }

  /** Parses the origins of the index inputs, one list for each: `[0], [%t0, 0]`. */
  private origins(count: number): Linear[][] {
    const lists = [this.exprList()];
    while (lists.length < count) {
      this.punct(",");
      lists.push(this.exprList());
    }
    return lists;
  }

  /** Parses an allocation: `%x = alloc : ub<3x2xf32, row 32, buffers 2> at [0, 96]`. */
  private alloc(): UbBuffer {
    const name = this.buffer();
    this.punct("=");
    const word = this.peek();
    if (word.text.includes("."))
      this.fail(word, `a tile program has no operators; found ${word.text}`, withResult);
    this.word("alloc");
    this.punct(":");
    this.word("ub");
    this.punct("<");
    const type = this.shapedType();
    this.punct(",");
    this.word("row");
    const rowToken = this.peek();
    const rowBytes = this.int();
    if (rowBytes < 1) this.fail(rowToken, "a row has at least 1 byte");
    let buffers: Copies = 1;
    if (this.accept(",")) {
      this.word("buffers");
      buffers = this.copies();
    }
    this.punct(">");
    const place = this.peek();
    if (!this.acceptWord("at")) return { name, ...type, rowBytes, buffers };
    const addresses = this.intList();
    if (addresses.length !== buffers || addresses.some((address) => address < 0)) {
      this.fail(place, `${counted(buffers, "buffer")} need ${buffers} addresses, each 0 or more`);
    }
    return { name, ...type, rowBytes, buffers, addresses };
  }

  private region(): Region {
    const buffer = this.buffer();
    const offsets = this.exprList();
    const sizesToken = this.peek();
    const sizes = this.exprList();
    if (offsets.length !== sizes.length) this.fail(sizesToken, "a region has as many sizes as offsets");
    return { buffer, offsets, sizes };
  }

  private exprList(): Linear[] {
    this.punct("[");
    return this.listUpTo("]", () => this.expr());
  }

  private expr(): Linear {
    if (++this.depth > maxDepth) this.fail(this.peek(), `expressions nest deeper than ${maxDepth}`);
    let left = this.linearProduct();
    for (;;) {
      if (this.accept("+")) left = add(left, this.linearProduct());
      else if (this.accept("-")) left = sub(left, this.linearProduct());
      else break;
    }
    this.depth--;
    return left;
  }

  private linearProduct(): Linear {
    const token = this.peek();
    if (token.kind === "int") {
      const value = this.int();
      if (!this.accept("*")) return constant(value);
      const factor = this.peek();
      if (factor.kind === "int")
        this.fail(factor, "a number is multiplied with a variable, not with another number");
      return scale(this.linearProduct(), value);
    }
    if (token.kind === "value") return iv(this.take("value", "a loop variable").text);
    if (this.acceptWord("min")) return this.minOf(() => this.expr());
    this.punct("(");
    const inner = this.expr();
    this.punct(")");
    return inner;
  }

  /** Parses the operands of a minimum: `(%t0 + 64, 100)`. */
  private minOf(read: () => Linear): Linear {
    this.punct("(");
    const lhs = read();
    this.punct(",");
    const rhs = read();
    this.punct(")");
    return min(lhs, rhs);
  }

  private copies(): Copies {
    const token = this.peek();
    const count = this.int();
    if (count !== 1 && count !== 2) return this.fail(token, "buffers is 1 or 2");
    return count;
  }

  /** Takes the operands of an operator: the parameters, each once and in their order. */
  private operandList(params: readonly Value[]): void {
    params.forEach(({ name }, k) => {
      if (k > 0) this.punct(",");
      const token = this.take("value", `%${name}`);
      if (token.text !== name) this.fail(token, `expected %${name}: operands come in parameter order`);
    });
    const surplus = this.peek();
    if (this.accept(",")) {
      const names = params.map(({ name }) => `%${name}`).join(", ");
      this.fail(surplus, `the operands end here: they are the parameters, ${names}`);
    }
  }
}

/** Returns a hint with the element type that a framework's name means, or `otherwise`. */
const hintOfType = (name: string, otherwise: string): string => {
  const meant = dtypeMeant(name);
  return meant === undefined ? otherwise : `write ${meant}`;
};

/** Returns the symbols of a map's coordinates and bounds. */
const symbolsIn = (map: SymbolicMap): readonly string[] =>
  [
    ...formsOf(map),
    ...map.indices.flatMap(({ extent, wrapNegativeBy }) =>
      [extent, wrapNegativeBy].flatMap((form) => (form === undefined || form === "extent" ? [] : [form])),
    ),
  ].flatMap(symbolsOf);

/** Entries of a scatter that say what becomes of a written element. */
interface WriteEntries {
  readonly combine?: Combine;
  readonly duplicates?: Duplicates;
  /** Bits of the elements that no point writes. Absent: the first input has them. */
  readonly base?: string;
}

type WriteKey = keyof WriteEntries;
const writeKeys = Object.keys({
  combine: true,
  duplicates: true,
  base: true,
} satisfies Record<WriteKey, true>) as readonly WriteKey[];
const isWriteEntry = (text: string): text is WriteKey => writeKeys.some((key) => key === text);

/**
 * Returns a scatter's combination, duplicates policy and base, as parsed from the scatter's text. A setting
 * that the text omits gets the default.
 */
function writeOf({ combine = "set", duplicates, base }: WriteEntries): Omit<Write, keyof Read> {
  return {
    combine,
    ...(combine === "set" ? { duplicates: duplicates ?? "last" } : defined({ duplicates })),
    base: base === undefined ? { operand: 0 } : { fill: base },
  };
}
