/**
 * Syntax of the WGSL that kernels are emitted in, and its parser: declarations, functions and statements,
 * without aliases and pointers.
 */
import { defined } from "../../../ir/defined.js";
import { InternalError } from "../../../ir/types.js";

/** Component type of a WGSL value. */
export type ScalarType = "u32" | "i32" | "f32" | "bool";

/**
 * Type of a WGSL value: a scalar (`n` = 1), a vector of `n` components, or an array of `length` scalars or
 * vectors.
 */
export interface WgslType {
  readonly of: ScalarType;
  readonly n: number;
  readonly length?: number;
}

/** Type of a WGSL buffer: the element type, and the member names of a struct. */
export interface BufferType {
  readonly element: WgslType;
  readonly members?: readonly string[];
}

/** Syntax tree of a WGSL expression, as returned by {@link parseKernel}. */
export type Expr =
  | { readonly kind: "number"; readonly value: number; readonly of?: ScalarType }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "unary"; readonly op: string; readonly of: Expr }
  | { readonly kind: "binary"; readonly op: string; readonly left: Expr; readonly right: Expr }
  | {
      readonly kind: "call";
      readonly name: string;
      readonly type?: WgslType;
      readonly args: readonly Expr[];
    }
  | { readonly kind: "index"; readonly of: Expr; readonly index: Expr }
  | { readonly kind: "member"; readonly of: Expr; readonly name: string };

/** Syntax tree of a WGSL statement, as returned by {@link parseKernel}. */
export type Statement =
  | { readonly kind: "declare"; readonly name: string; readonly value: Expr }
  /** Declaration of an array whose elements are 0. */
  | { readonly kind: "reserve"; readonly name: string; readonly type: WgslType }
  | { readonly kind: "assign"; readonly into: Expr; readonly op: string; readonly value: Expr }
  | { readonly kind: "call"; readonly call: Expr }
  | {
      readonly kind: "if";
      readonly test: Expr;
      readonly then: readonly Statement[];
      readonly otherwise: readonly Statement[];
    }
  | {
      readonly kind: "for";
      readonly start: Statement;
      readonly test: Expr;
      readonly step?: Statement;
      readonly body: readonly Statement[];
    }
  | { readonly kind: "return"; readonly value?: Expr }
  /** A loop that only a break ends. */
  | { readonly kind: "loop"; readonly body: readonly Statement[] }
  | { readonly kind: "break" }
  | { readonly kind: "block"; readonly body: readonly Statement[] };

/**
 * Syntax tree of a WGSL function. `builtin`: name of the WGSL built-in value that a parameter of an entry
 * point receives.
 */
export interface FunctionSyntax {
  readonly name: string;
  readonly params: readonly { readonly name: string; readonly type: WgslType; readonly builtin?: string }[];
  readonly result?: WgslType;
  readonly body: readonly Statement[];
}

/**
 * Declaration of a WGSL buffer variable. `space`: address space, one of `storage`, `uniform` and `workgroup`.
 */
export interface BufferSyntax {
  readonly name: string;
  readonly space: string;
  readonly type: BufferType;
}

/** Syntax tree of a WGSL kernel: buffers and functions. */
export interface KernelSyntax {
  readonly buffers: readonly BufferSyntax[];
  readonly functions: readonly FunctionSyntax[];
}

const token =
  /\s+|\/\/[^\n]*|([A-Za-z_]\w*|0[xX][\da-fA-F]+(?:p[+-]?\d+f?|[ui]?)|\d+(?:\.\d*)?(?:e[+-]?\d+)?[uif]?|<<=|>>=|->|&&|\|\||<<|>>|[<>=!+\-*/%&|^]=|\+\+|--|[-+*/%&|^~!<>=()[\]{},;:.@])/gy;

/** Binary operators, those that bind the least first. */
const levels = [
  ["||"],
  ["&&"],
  ["|"],
  ["^"],
  ["&"],
  ["==", "!="],
  ["<", ">", "<=", ">="],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "%"],
] as const;

const assignments = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];

/**
 * Parses the WGSL text of a kernel and returns the syntax tree. Throws an InternalError for syntax that
 * tilec's kernels do not use.
 */
export const parseKernel = (text: string): KernelSyntax => new Parser(text).module();

class Parser {
  private readonly tokens: string[] = [];
  private place = 0;
  private readonly structs = new Map<string, readonly string[]>();

  constructor(text: string) {
    token.lastIndex = 0;
    while (token.lastIndex < text.length) {
      const start = token.lastIndex;
      const match = token.exec(text);
      if (match === null) throw new InternalError(`no WGSL: ${text.slice(start, start + 40)}`);
      if (match[1] !== undefined) this.tokens.push(match[1]);
    }
  }

  module(): KernelSyntax {
    const buffers: BufferSyntax[] = [];
    const functions: FunctionSyntax[] = [];
    while (this.place < this.tokens.length) {
      this.attributes();
      const keyword = this.next();
      if (keyword === "struct") this.struct();
      else if (keyword === "var") buffers.push(this.buffer());
      else if (keyword === "fn") functions.push(this.func());
      else throw new InternalError(`no declaration: ${keyword}`);
    }
    return { buffers, functions };
  }

  private peek(ahead = 0): string {
    return this.tokens[this.place + ahead] ?? "";
  }

  private next(): string {
    return this.tokens[this.place++] ?? "";
  }

  private take(text: string): boolean {
    if (this.peek() !== text) return false;
    this.place++;
    return true;
  }

  private expect(text: string): void {
    const next = this.next();
    if (next === text) return;
    throw new InternalError(
      `WGSL has ${next} where ${text} is expected, before ${this.tokens.slice(this.place, this.place + 8).join(" ")}`,
    );
  }

  /** Reads attributes, and returns the built-in value that one of them names. */
  private attributes(): string | undefined {
    let builtin: string | undefined;
    while (this.take("@")) {
      const name = this.next();
      if (!this.take("(")) continue;
      if (name === "builtin") builtin = this.peek();
      while (!this.take(")")) this.place++;
    }
    return builtin;
  }

  private struct(): void {
    const name = this.next();
    const members: string[] = [];
    this.expect("{");
    while (!this.take("}")) {
      members.push(this.next());
      this.expect(":");
      this.type();
      this.take(",");
    }
    this.structs.set(name, members);
  }

  private buffer(): BufferSyntax {
    this.expect("<");
    const space = this.next();
    while (!this.closes()) this.place++;
    const name = this.next();
    this.expect(":");
    const type = this.bufferType();
    this.expect(";");
    return { name, space, type };
  }

  /** Takes the end of a template: one `>`, of two that stand together the first. */
  private closes(): boolean {
    if (this.take(">")) return true;
    if (this.peek() !== ">>") return false;
    this.tokens[this.place] = ">";
    return true;
  }

  private bufferType(): BufferType {
    const members = this.structs.get(this.peek());
    if (members !== undefined) {
      this.place++;
      return { element: { of: "u32", n: 1 }, members };
    }
    this.expect("array");
    this.expect("<");
    const element = this.type();
    if (this.take(",")) this.place++;
    if (!this.closes()) throw new InternalError("an array type ends");
    return { element };
  }

  private type(): WgslType {
    const name = this.next();
    const vector = /^vec([234])([uif])$/.exec(name);
    const letters: Readonly<Record<string, ScalarType>> = { u: "u32", i: "i32", f: "f32" };
    if (vector !== null) return { of: letters[vector[2] ?? ""] ?? "u32", n: Number(vector[1]) };
    if (name === "u32" || name === "i32" || name === "f32" || name === "bool") return { of: name, n: 1 };
    if (name === "array") {
      this.expect("<");
      const element = this.type();
      this.expect(",");
      const length = parseInt(this.next());
      if (!this.closes()) throw new InternalError("an array type ends");
      return { ...element, length };
    }
    if (name !== "atomic" && !/^vec[234]$/.test(name)) throw new InternalError(`no type: ${name}`);
    this.expect("<");
    const { of } = this.type();
    if (!this.closes()) throw new InternalError("a type ends");
    return { of, n: name === "atomic" ? 1 : Number(name[3]) };
  }

  private func(): FunctionSyntax {
    const name = this.next();
    const params: FunctionSyntax["params"][number][] = [];
    this.expect("(");
    while (!this.take(")")) {
      const builtin = this.attributes();
      const param = this.next();
      this.expect(":");
      params.push({ name: param, type: this.type(), ...defined({ builtin }) });
      this.take(",");
    }
    const result = this.take("->") ? this.type() : undefined;
    return { name, params, ...defined({ result }), body: this.braced() };
  }

  private braced(): Statement[] {
    this.expect("{");
    const body: Statement[] = [];
    while (!this.take("}")) body.push(this.statement());
    return body;
  }

  private statement(): Statement {
    switch (this.peek()) {
      case "{":
        return { kind: "block", body: this.braced() };
      case "if":
        return this.conditional();
      case "for":
        return this.loop();
      case "loop":
        this.place++;
        return { kind: "loop", body: this.braced() };
      case "break":
        this.place++;
        this.expect(";");
        return { kind: "break" };
      case "return": {
        this.place++;
        if (this.take(";")) return { kind: "return" };
        const value = this.expr();
        this.expect(";");
        return { kind: "return", value };
      }
      default: {
        const simple = this.simple();
        this.expect(";");
        return simple;
      }
    }
  }

  private conditional(): Statement {
    this.expect("if");
    const test = this.expr();
    const then = this.braced();
    if (!this.take("else")) return { kind: "if", test, then, otherwise: [] };
    return { kind: "if", test, then, otherwise: this.peek() === "if" ? [this.conditional()] : this.braced() };
  }

  private loop(): Statement {
    this.expect("for");
    this.expect("(");
    const start = this.simple();
    this.expect(";");
    const test = this.expr();
    this.expect(";");
    const step = this.peek() === ")" ? undefined : this.simple();
    this.expect(")");
    return { kind: "for", start, test, ...defined({ step }), body: this.braced() };
  }

  /** Parses a declaration, an assignment or a call. */
  private simple(): Statement {
    if (this.take("let") || this.take("var")) {
      const name = this.next();
      if (this.take(":")) return { kind: "reserve", name, type: this.type() };
      this.expect("=");
      return { kind: "declare", name, value: this.expr() };
    }
    const into = this.unary();
    if (this.take("++")) return { kind: "assign", into, op: "+", value: { kind: "number", value: 1 } };
    const op = this.peek();
    if (!assignments.includes(op)) return { kind: "call", call: into };
    this.place++;
    return { kind: "assign", into, op: op.slice(0, -1), value: this.expr() };
  }

  private expr(level = 0): Expr {
    const ops: readonly string[] | undefined = levels[level];
    if (ops === undefined) return this.unary();
    let left = this.expr(level + 1);
    while (ops.includes(this.peek())) {
      const op = this.next();
      left = { kind: "binary", op, left, right: this.expr(level + 1) };
    }
    return left;
  }

  private unary(): Expr {
    const op = this.peek();
    if (["-", "~", "!", "&"].includes(op)) {
      this.place++;
      return { kind: "unary", op, of: this.unary() };
    }
    let of = this.primary();
    for (;;) {
      if (this.take("[")) {
        of = { kind: "index", of, index: this.expr() };
        this.expect("]");
      } else if (this.take(".")) of = { kind: "member", of, name: this.next() };
      else return of;
    }
  }

  private primary(): Expr {
    if (this.take("(")) {
      const inside = this.expr();
      this.expect(")");
      return inside;
    }
    const text = this.next();
    if (/^\d/.test(text)) return numberOf(text);
    if (text === "bitcast") {
      this.expect("<");
      const type = this.type();
      if (!this.closes()) throw new InternalError("bitcast has one type");
      return { kind: "call", name: text, type, args: this.args() };
    }
    if (text === "array") {
      this.place--;
      return { kind: "call", name: "construct", type: this.type(), args: this.args() };
    }
    if (this.peek() !== "(") return { kind: "name", name: text };
    if (!/^(?:vec[234][uif]|u32|i32|f32)$/.test(text)) return { kind: "call", name: text, args: this.args() };
    this.place--;
    return { kind: "call", name: "construct", type: this.type(), args: this.args() };
  }

  private args(): Expr[] {
    const args: Expr[] = [];
    this.expect("(");
    while (!this.take(")")) {
      args.push(this.expr());
      this.take(",");
    }
    return args;
  }
}

/** Returns the expression of a WGSL number literal, with a type if the literal states one. */
function numberOf(text: string): Expr {
  const power = /^0x([\da-fA-F]+)p([+-]?\d+)f?$/.exec(text);
  if (power !== null)
    return { kind: "number", value: parseInt(power[1] ?? "", 16) * 2 ** Number(power[2]), of: "f32" };
  const of = ({ u: "u32", i: "i32" } as const)[text.slice(-1)];
  if (of !== undefined) return { kind: "number", value: Number(text.slice(0, -1)), of };
  if (text.startsWith("0x")) return { kind: "number", value: Number(text) };
  const value = Number(text.replace(/f$/, ""));
  return { kind: "number", value, ...(/[.ef]/.test(text) ? { of: "f32" as const } : {}) };
}
