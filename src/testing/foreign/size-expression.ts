/**
 * Numbers that follow from a program's sizes, such as the workgroups of a dispatch: whole numbers, `+ - * /`,
 * `ceil(…)` and the sizes by name, `out0` for the output's first dim and `in1_0` for the first dim of the
 * second input.
 */
import { defined, CompileError, error, inputsOf, outputOf, type Operand } from "../../../ir/index.js";
import { didYouMean } from "../../../ir/did-you-mean.js";

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

/** An exact quotient of two whole numbers; `by` is above 0. */
interface Quotient {
  readonly of: bigint;
  readonly by: bigint;
}

const integer = (of: bigint): Quotient => ({ of, by: 1n });

/**
 * Evaluates a comma-separated list of size expressions, for example `ceil(out0 / 64), out1`, and returns the
 * values. `what` names the list in messages.
 *
 * Throws a CompileError (TC702) for a syntax error, an unknown name, or a result that is not an integer from
 * 0 to 2^32 - 1.
 */
export function evaluateSizes(text: string, sizes: NamedSizes, what: string): readonly number[] {
  const tokens = [...text.matchAll(/\s*(?:(\d+)|([A-Za-z_]\w*)|([-+*/(),]))|\s*(\S)/g)];
  const fail = (message: string, hint?: string): never => {
    throw new CompileError([error("TC702", `${what} "${text}": ${message}`, defined({ hint }))]);
  };
  let next = 0;
  const token = (): string | undefined => tokens[next]?.[0].trim();
  const take = (word: string): boolean => {
    if (token() !== word) return false;
    next++;
    return true;
  };
  const expect = (word: string): void => {
    if (!take(word)) fail(`${token() ?? "the end"} stands where ${word} belongs`);
  };
  const sum = (): Quotient => {
    let left = product();
    for (;;) {
      const sign = take("+") ? 1n : take("-") ? -1n : undefined;
      if (sign === undefined) return left;
      const right = product();
      left = { of: left.of * right.by + sign * right.of * left.by, by: left.by * right.by };
    }
  };
  const product = (): Quotient => {
    let left = factor();
    for (;;) {
      if (take("*")) {
        const right = factor();
        left = { of: left.of * right.of, by: left.by * right.by };
      } else if (take("/")) {
        const { of, by } = factor();
        if (of === 0n) return fail("a division by 0");
        left = { of: of < 0n ? -left.of * by : left.of * by, by: left.by * (of < 0n ? -of : of) };
      } else return left;
    }
  };
  const factor = (): Quotient => {
    if (take("-")) {
      const { of, by } = factor();
      return { of: -of, by };
    }
    if (take("(")) {
      const inside = sum();
      expect(")");
      return inside;
    }
    const [token, digits, name] = tokens[next] ?? [];
    if (digits !== undefined) {
      next++;
      return integer(BigInt(digits));
    }
    if (name === undefined) return fail(`${token?.trim() ?? "the end"} stands where a number belongs`);
    next++;
    if (name === "ceil") {
      expect("(");
      const { of, by } = sum();
      expect(")");
      return integer(of >= 0n ? (of + by - 1n) / by : -(-of / by));
    }
    const size = sizes.get(name);
    if (size !== undefined) return integer(BigInt(size));
    const near = didYouMean(name, [...sizes.keys(), "ceil"]);
    return fail(
      `${name} is no size`,
      near === undefined ? `the sizes are ${[...sizes.keys()].join(", ")}` : `did you mean ${near}?`,
    );
  };
  const numbers: number[] = [];
  do {
    const from = next;
    const { of, by } = sum();
    const said = tokens
      .slice(from, next)
      .map(([token]) => token)
      .join("")
      .trim();
    if (of % by !== 0n) return fail(`${said} is ${of}/${by}, no whole number`, `ceil(${said}) rounds it up`);
    const number = Number(of / by);
    if (number < 0 || number > 0xffffffff) return fail(`${said} is ${number}, outside 0 to 4294967295`);
    numbers.push(number);
  } while (take(","));
  if (next < tokens.length) return fail(`${token() ?? ""} follows what is whole`);
  return numbers;
}
