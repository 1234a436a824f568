/**
 * Numbers that follow from a program's sizes, such as the workgroups of a dispatch: whole numbers, `+ - * /`,
 * `ceil(…)` and the sizes by name, `out0` for the output's first dim and `in1_0` for the first dim of the
 * second input.
 */
import { defined, CompileError, error, inputsOf, outputOf, type Operand } from "../../../ir/index.js";
import { hintFor } from "../../../ir/did-you-mean.js";

/** Sizes of a program's dims in elements, by name, for example `out0` and `in1_0` ({@link sizesByName}). */
export type NamedSizes = ReadonlyMap<string, number>;

/**
 * Returns the sizes of a program's dims in elements, by name. `out0` is the first dim of the output, and
 * `in1_0` the first dim of the second input.
 */
export const sizesByName = (program: { readonly operands: readonly Operand[] }): NamedSizes =>
  new Map([
    ...outputOf(program).type.shape.map((size, d) => [`out${d}`, size] as const),
    ...inputsOf(program).flatMap(({ type }, k) =>
      type.shape.map((size, d) => [`in${k}_${d}`, size] as const),
    ),
  ]);

/** An exact quotient of two whole numbers; `divisor` is above 0. */
interface Quotient {
  readonly dividend: bigint;
  readonly divisor: bigint;
}

const integer = (dividend: bigint): Quotient => ({ dividend, divisor: 1n });

/**
 * Evaluates a comma-separated list of size expressions, for example `ceil(out0 / 64), out1`, and returns the
 * values. `what` names the list in messages.
 *
 * Throws a CompileError (TC702) for a syntax error, an unknown name, or a result that is not an integer from
 * 0 to 2^32 - 1.
 */
export const evaluateSizes = (text: string, sizes: NamedSizes, what: string): readonly number[] =>
  new SizeReader(text, sizes, what).list();

/** Reader of size expressions, from the left. Each method throws a CompileError (TC702) for a fault. */
class SizeReader {
  private readonly tokens: readonly RegExpExecArray[];
  private next = 0;

  constructor(
    private readonly text: string,
    private readonly sizes: NamedSizes,
    private readonly what: string,
  ) {
    this.tokens = [...text.matchAll(/\s*(?:(\d+)|([A-Za-z_]\w*)|([-+*/(),]))|\s*(\S)/g)];
  }

  /** Reads and evaluates the whole list. */
  list(): readonly number[] {
    const numbers: number[] = [];
    do numbers.push(this.number());
    while (this.take(","));
    if (this.next < this.tokens.length) this.fail(`${this.token() ?? ""} follows what is whole`);
    return numbers;
  }

  /** Reads one expression, whose value must be an integer from 0 to 2^32 - 1. */
  private number(): number {
    const from = this.next;
    const { dividend, divisor } = this.sum();
    const said = this.tokens
      .slice(from, this.next)
      .map(([token]) => token)
      .join("")
      .trim();
    if (dividend % divisor !== 0n)
      return this.fail(`${said} is ${dividend}/${divisor}, no whole number`, `ceil(${said}) rounds it up`);
    const number = Number(dividend / divisor);
    if (number < 0 || number > 0xffffffff) return this.fail(`${said} is ${number}, outside 0 to 4294967295`);
    return number;
  }

  private sum(): Quotient {
    let left = this.product();
    for (;;) {
      const sign = this.take("+") ? 1n : this.take("-") ? -1n : undefined;
      if (sign === undefined) return left;
      const right = this.product();
      left = {
        dividend: left.dividend * right.divisor + sign * right.dividend * left.divisor,
        divisor: left.divisor * right.divisor,
      };
    }
  }

  private product(): Quotient {
    let left = this.factor();
    for (;;) {
      if (this.take("*")) {
        const right = this.factor();
        left = { dividend: left.dividend * right.dividend, divisor: left.divisor * right.divisor };
      } else if (this.take("/")) {
        const { dividend, divisor } = this.factor();
        if (dividend === 0n) return this.fail("a division by 0");
        left = {
          dividend: dividend < 0n ? -left.dividend * divisor : left.dividend * divisor,
          divisor: left.divisor * (dividend < 0n ? -dividend : dividend),
        };
      } else return left;
    }
  }

  private factor(): Quotient {
    if (this.take("-")) {
      const { dividend, divisor } = this.factor();
      return { dividend: -dividend, divisor };
    }
    if (this.take("(")) return this.closed();
    const [token, digits, name] = this.tokens[this.next] ?? [];
    if (digits === undefined && name === undefined)
      return this.fail(`${token?.trim() ?? "the end"} stands where a number belongs`);
    this.next++;
    if (digits !== undefined) return integer(BigInt(digits));
    return this.named(name ?? "");
  }

  /** Reads what follows a name: the argument of `ceil`, or nothing after a size. */
  private named(name: string): Quotient {
    if (name === "ceil") {
      this.expect("(");
      const { dividend, divisor } = this.closed();
      return integer(dividend >= 0n ? (dividend + divisor - 1n) / divisor : -(-dividend / divisor));
    }
    const size = this.sizes.get(name);
    if (size !== undefined) return integer(BigInt(size));
    const names = [...this.sizes.keys()];
    return this.fail(
      `${name} is no size`,
      hintFor(name, [...names, "ceil"], `the sizes are ${names.join(", ")}`),
    );
  }

  /** Reads a sum and the parenthesis behind it. */
  private closed(): Quotient {
    const inside = this.sum();
    this.expect(")");
    return inside;
  }

  private token(): string | undefined {
    return this.tokens[this.next]?.[0].trim();
  }

  private take(word: string): boolean {
    if (this.token() !== word) return false;
    this.next++;
    return true;
  }

  private expect(word: string): void {
    if (!this.take(word)) this.fail(`${this.token() ?? "the end"} stands where ${word} belongs`);
  }

  private fail(message: string, hint?: string): never {
    throw new CompileError([error("TC702", `${this.what} "${this.text}": ${message}`, defined({ hint }))]);
  }
}
