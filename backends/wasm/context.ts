/** What every statement of a kernel shares: its code, loop variables, and where its memories lie. */
import { CompileError, error } from "../../ir/diagnostic.js";
import { isConstant, scale, sub, type Linear, type Term } from "../../ir/linear.js";
import { boundsOf } from "../../ir/ranges.js";
import type { ForStmt } from "../../ir/tile.js";
import { assertNever, at, InternalError, invariant } from "../../ir/types.js";
import { Code, type Amount, type LocalId, type WholeType } from "./code.js";
import { addressOf, layoutOf, type WasmLayout } from "./layout.js";
import type { Memory } from "./places.js";
import type { WasmPlan } from "./plan.js";

export class Context {
  readonly code = new Code();
  readonly ub: LocalId;
  readonly bad: LocalId;
  readonly from: LocalId;
  readonly to: LocalId;
  readonly layout: WasmLayout;
  /** Loops around the statement that is emitted, outermost first. */
  private loops: readonly ForStmt[] = [];
  private readonly ivs = new Map<string, LocalId>();

  constructor(readonly plan: WasmPlan) {
    this.layout = layoutOf(plan.func, plan.gather?.table);
    this.from = this.code.local("from");
    this.to = this.code.local("to");
    this.ub = this.code.local("ub");
    this.bad = this.code.local("bad");
  }

  /** The variable of a loop: 64 bits where one step beyond its values leaves 32. */
  iv(loop: ForStmt): LocalId {
    const [least, first] = this.bounds(loop.lower);
    const [, length] = this.bounds(sub(loop.upper, loop.lower));
    const type = narrow(least, first + Math.max(0, length) + loop.step) ? "i32" : "i64";
    const known = this.ivs.get(loop.iv);
    if (known !== undefined && this.code.typeOf(known) === type) return known;
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

  private bounds(form: Linear): readonly [least: number, most: number] {
    const [least, most] = boundsOf(form, this.loops);
    if (Math.max(-least, most) > Number.MAX_SAFE_INTEGER) {
      const { name, span } = this.plan.source;
      const message = `the index arithmetic of @${name} goes beyond 2^53`;
      throw new CompileError([
        error("TC502", message, { span, hint: "write offsets and bounds that stay within it" }),
      ]);
    }
    return [least, most];
  }

  /**
   * Pushes the value of a form. As i32 it is exact modulo 2^32, which addresses take and sizes never leave; the sides of a
   * minimum, which are compared, have 64 bits where 32 do not hold them.
   */
  value(form: Linear, type: WholeType = "i32"): void {
    const { code } = this;
    const added = form.terms.filter((term) => term.by > 0);
    const taken = form.terms.filter((term) => term.by < 0);
    added.forEach((term, n) => {
      this.term(term, type);
      if (n > 0) code.op(`${type}.add`);
    });
    if (added.length === 0) code.whole(type, form.at);
    else if (form.at !== 0) code.whole(type, form.at).op(`${type}.add`);
    for (const term of taken) {
      this.term({ ...term, by: -term.by }, type);
      code.op(`${type}.sub`);
    }
  }

  private term({ by, of }: Term, type: WholeType): void {
    const { code } = this;
    switch (of.kind) {
      case "iv": {
        const local = this.variable(of.name);
        code.get(local).convert(code.typeOf(local), type);
        break;
      }
      case "min": {
        const wide = type === "i64" || of.of.some((side) => !narrow(...this.bounds(side)));
        const sides: WholeType = wide ? "i64" : "i32";
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
      case "mod":
        this.value(of.of, "i64");
        code.op("i64.const", of.by).op(of.kind === "div" ? "i64.div_u" : "i64.rem_u");
        code.convert("i64", type);
        break;
      case "dim":
      case "site":
      case "symbol":
        throw new InternalError(`a ${of.kind} is no number of the loops`);
      default:
        assertNever(of);
    }
    code.times(by, type);
  }

  private variable(name: string): LocalId {
    const local = this.ivs.get(name);
    invariant(local !== undefined, `loop variable %${name} is not in scope`);
    return local;
  }

  /** A size as a constant, or in a local. */
  amount(form: Linear): Amount {
    if (isConstant(form)) return { kind: "const", value: form.at };
    const local = this.code.local("size");
    this.value(form);
    this.code.set(local);
    return { kind: "local", local };
  }

  /** Pushes the byte address of an element, counted in elements from the start of a memory. */
  address(memory: Memory, element: Linear, elementBytes: number): void {
    const { code, layout, ub } = this;
    const offset = scale(element, elementBytes);
    switch (memory.kind) {
      case "tensor":
        code.whole("i32", at(layout.operands, memory.operand) + offset.at);
        break;
      case "ub":
        code.get(ub).plus(addressOf(memory.buffer) + offset.at);
        break;
      default:
        assertNever(memory);
    }
    for (const term of offset.terms) {
      this.term(term, "i32");
      code.op("i32.add");
    }
  }
}

const narrow = (least: number, most: number): boolean => least >= -(2 ** 31) && most < 2 ** 31;
