/** State that all statements of a kernel share: code, loop variables, and the addresses of its memories. */
import { outputPlace } from "../../ir/func.js";
import { CompileError, error } from "../../ir/diagnostic.js";
import { rangeOf, type Ranges } from "../../ir/intervals/range.js";
import { atomsOf, isConstant, scale, sub, type Atom, type Linear, type Term } from "../../ir/linear.js";
import type { IndexRule } from "../../ir/policy.js";
import { sizesAround } from "../../ir/symbols/symbols.js";
import type { ForStmt } from "../../ir/tile.js";
import { assertNever, at, invariant } from "../../ir/types.js";
import { int128Limit } from "../index-walk.js";
import {
  CodeBuilder,
  type WasmAmount,
  type IntegerLocals,
  type LocalId,
  type Int128,
  type WasmInteger,
} from "./code.js";
import type { RuleBounds } from "./resolve.js";
import { bufferAddress, layoutOf, type WasmLayout } from "./layout.js";
import { startName } from "./sizes.js";
import type { Memory } from "./memory-addresses.js";
import { type WasmPlan } from "./plan.js";
import { accumulate, int128Constant, int128FromI64, int128Product, int128Quotient } from "./int128.js";

/**
 * Integer type for the exact value of a linear expression: the type of one local, or `i128` for two i64
 * locals.
 */
export type FormWidth = WasmInteger | "i128";

/**
 * Values that emitted linear expressions can use: WebAssembly locals that hold output coordinates (`dims`)
 * and index values (`indices`), and the ranges of both.
 */
export interface FormScope {
  readonly ranges: Ranges;
  readonly dims: ReadonlyMap<number, LocalId>;
  /** Locals by number of the index operand; only index operands that are already emitted. */
  readonly indices: Map<number, IntegerLocals>;
}

/**
 * State of the emission of one kernel's WebAssembly code: the emitted code, loop variables, and memory
 * addresses.
 */
export class WasmContext {
  readonly code = new CodeBuilder();
  readonly ub: LocalId;
  readonly bad: LocalId;
  readonly from: LocalId;
  readonly to: LocalId;
  readonly layout: WasmLayout;
  /** Locals of the parameters that depend on dynamic sizes, by name. */
  private readonly params: ReadonlyMap<string, LocalId>;
  /** Loops around the statement that is emitted, outermost first. */
  private loops: readonly ForStmt[];
  private readonly ivs = new Map<string, LocalId>();
  private point: FormScope | undefined;

  constructor(readonly plan: WasmPlan) {
    this.layout = layoutOf(plan.func, plan.gather?.table);
    this.from = this.code.local("from");
    this.to = this.code.local("to");
    this.ub = this.code.local("ub");
    this.params = new Map(plan.params.map((name) => [name, this.code.local(name)]));
    this.loops = sizesAround(plan.source);
    this.bad = this.code.local("bad");
  }

  /** Returns the variable of a loop: 64 bits where one step beyond its values leaves 32. */
  iv(loop: ForStmt): LocalId {
    const [least, first] = this.reach(loop.lower);
    const [, length] = this.reach(sub(loop.upper, loop.lower));
    const type = narrow(least, first + Math.max(0, length) + loop.step) ? "i32" : "i64";
    const existing = this.ivs.get(loop.iv);
    if (existing !== undefined && this.code.typeOf(existing) === type) return existing;
    const local = this.code.local(loop.iv, type);
    this.ivs.set(loop.iv, local);
    return local;
  }

  /** Emits what stands inside a loop. */
  inside(loop: ForStmt, body: () => void): void {
    const outer = this.loops;
    this.loops = [...outer, loop];
    body();
    this.loops = outer;
  }

  /** Emits what is over the dims and index operands of a point. */
  at(point: FormScope, body: () => void): void {
    this.point = point;
    body();
    this.point = undefined;
  }

  /**
   * Returns the width that holds a form of a point exactly. Throws a CompileError (TC502) for a form that may
   * not fit into 128 bits.
   */
  widthOf(form: Linear): FormWidth {
    if (this.point === undefined) return "i64";
    const [least, max] = rangeOf(form, this.point.ranges);
    if (Math.max(-least, max) >= int128Limit) throw this.beyond("2^126");
    if (narrow(least, max)) return "i32";
    return least > -(2 ** 63) && max < 2 ** 63 ? "i64" : "i128";
  }

  private reach(form: Linear): readonly [least: number, most: number] {
    const [least, max] = rangeOf(form, { loops: this.loops });
    if (Math.max(-least, max) > Number.MAX_SAFE_INTEGER) {
      throw this.beyond("2^53");
    }
    return [least, max];
  }

  private beyond(limit: string): CompileError {
    const { name, span } = this.plan.source;
    const message = `the index arithmetic of @${name} goes beyond ${limit}`;
    const hint = "write offsets, bounds and factors that stay within it";
    return new CompileError([error("TC502", message, { span, hint })]);
  }

  /**
   * Pushes the value of a form. As i32 it is exact modulo 2^32, which addresses take and sizes never leave;
   * the sides of a minimum, which are compared, have 64 bits where 32 do not hold them.
   */
  value(form: Linear, type: WasmInteger = "i32"): void {
    const { code } = this;
    const added = form.terms.filter((term) => term.by > 0);
    const taken = form.terms.filter((term) => term.by < 0);
    added.forEach((term, n) => {
      this.term(term, type);
      if (n > 0) code.op(`${type}.add`);
    });
    if (added.length === 0) code.integer(type, form.at);
    else if (form.at !== 0) code.integer(type, form.at).op(`${type}.add`);
    for (const term of taken) {
      this.term({ ...term, by: -term.by }, type);
      code.op(`${type}.sub`);
    }
  }

  private term({ by, of }: Term, type: WasmInteger): void {
    const { code } = this;
    switch (of.kind) {
      case "iv": {
        const local = this.variable(of.name);
        code.get(local).convert(code.typeOf(local), type);
        break;
      }
      case "dim": {
        const local = this.point?.dims.get(of.dim);
        invariant(local !== undefined, `d${of.dim} is no number of the loops`);
        code.get(local).convert("i32", type);
        break;
      }
      case "index": {
        const value = this.indexLocal(of.index);
        const local = typeof value === "number" ? value : value.low;
        code.get(local).convert(code.typeOf(local), type);
        break;
      }
      case "min": {
        const wide =
          type === "i64" || of.of.some((side) => isOverPoint(side) || !narrow(...this.reach(side)));
        const sides: WasmInteger = wide ? "i64" : "i32";
        const [lhs, rhs] = [code.local("lhs", sides), code.local("rhs", sides)];
        this.value(of.of[0], sides);
        code.set(lhs);
        this.value(of.of[1], sides);
        code.set(rhs);
        code.get(lhs).get(rhs).get(lhs).get(rhs).op(`${sides}.lt_s`).op("select");
        code.convert(sides, type);
        break;
      }
      case "div":
      case "mod": {
        const width = this.widthOf(of.of);
        if (width === "i128") {
          const { quotient, remainder } = int128Quotient(code, this.int128(of.of), {
            kind: "const",
            value: of.by,
          });
          code.get(of.kind === "div" ? quotient.low : remainder).convert("i64", type);
          break;
        }
        // A divisor beyond 32 bits leaves nothing of a number within them.
        const wide: WasmInteger = of.by < 2 ** 31 ? width : "i64";
        this.value(of.of, wide);
        code.integer(wide, of.by).op(`${wide}.${of.kind === "div" ? "div_u" : "rem_u"}`);
        code.convert(wide, type);
        break;
      }
      case "symbol":
        code.amount(this.param(of.name), type);
        break;
      default:
        assertNever(of);
    }
    code.times(by, type);
  }

  /** Returns the value of a form of a point in 128 bits. */
  int128(form: Linear): Int128 {
    const { code } = this;
    const sum = int128Constant(code, form.at);
    for (const { by, of } of form.terms) {
      const value = this.int128Atom(of);
      const size = Math.abs(by);
      accumulate(code, sum, size === 1 ? value : int128Product(code, value, size), by < 0 ? "sub" : "add");
    }
    return sum;
  }

  private int128Atom(of: Atom): Int128 {
    if (of.kind === "index") {
      const local = this.indexLocal(of.index);
      if (typeof local !== "number") return local;
    }
    if (of.kind === "div" && this.widthOf(of.of) === "i128")
      return int128Quotient(this.code, this.int128(of.of), { kind: "const", value: of.by }).quotient;
    this.term({ by: 1, of }, "i64");
    return int128FromI64(this.code);
  }

  private indexLocal(index: number): IntegerLocals {
    const local = this.point?.indices.get(index);
    invariant(local !== undefined, `index value ${index} is no number of the loops`);
    return local;
  }

  private variable(name: string): LocalId {
    const local = this.ivs.get(name);
    invariant(local !== undefined, `loop variable %${name} is not in scope`);
    return local;
  }

  /** Returns a number that sizes tell. */
  param(name: string): WasmAmount {
    const local = this.params.get(name);
    invariant(local !== undefined, `${name} is told by the sizes`);
    return { kind: "local", local };
  }

  /** Returns the same where it has a name, else the number itself. */
  number(value: number, name: string | undefined): WasmAmount {
    return name === undefined ? { kind: "const", value } : this.param(name);
  }

  /** Returns the numbers of an index rule. */
  bounds({ extent, wrapNegativeBy, dynamic }: IndexRule): RuleBounds {
    return {
      extent: this.number(extent, dynamic?.extent),
      ...(wrapNegativeBy === undefined
        ? {}
        : { wrapNegativeBy: this.number(wrapNegativeBy, dynamic?.wrapNegativeBy) }),
    };
  }

  /** Returns a size as a constant, or in a local. */
  amount(form: Linear): WasmAmount {
    if (isConstant(form)) return { kind: "const", value: form.at };
    const local = this.code.local("size");
    this.value(form);
    this.code.set(local);
    return { kind: "local", local };
  }

  /**
   * Pushes the number of the output element at an address in a local, where the output lies in its tensor.
   */
  outputNumber(out: LocalId, elementBytes: number): void {
    const { code } = this;
    const start = this.start(outputPlace(this.plan.source));
    if (start.kind === "const") code.get(out).plus(-start.value);
    else code.get(out).amount(start).op("i32.sub");
    const shift = Math.log2(elementBytes);
    if (shift > 0) code.const(shift).op("i32.shr_u");
  }

  /** Returns the byte address at which an operand starts in memory. */
  private start(operand: number): WasmAmount {
    const name = startName(operand);
    return this.params.has(name)
      ? this.param(name)
      : { kind: "const", value: at(this.layout.operands, operand) };
  }

  /** Pushes the byte address where a memory begins, or so many bytes further. */
  first(memory: Memory, further = 0): void {
    const { code, ub } = this;
    switch (memory.kind) {
      case "tensor":
        code.amount(this.start(memory.operand), "i32", further);
        break;
      case "ub":
        code.get(ub).plus(bufferAddress(memory.buffer) + further);
        break;
      default:
        assertNever(memory);
    }
  }

  /** Pushes the byte address of an element, counted in elements from the start of a memory. */
  address(memory: Memory, element: Linear, elementBytes: number): void {
    const { code } = this;
    const offset = scale(element, elementBytes);
    this.first(memory, offset.at);
    for (const term of offset.terms) {
      this.term(term, "i32");
      code.op("i32.add");
    }
  }
}

const isOverPoint = (form: Linear): boolean =>
  atomsOf(form).some(({ kind }) => kind === "dim" || kind === "index");

const narrow = (least: number, max: number): boolean => least >= -(2 ** 31) && max < 2 ** 31;
