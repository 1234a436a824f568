/** The magnitudes of a value's steps, beside an oracle that evaluates the same expression in exact fractions. */
import { describe, expect, it } from "vitest";
import {
  magnitudes,
  magnitudeOfType,
  foldMagnitude,
  largestOf,
  type Dyadic,
  type ElementBounds,
  type Magnitude,
} from "../../ir/values/magnitude.js";
import type { ValueStep } from "../../ir/values/steps.js";
import { drawer, type Draw } from "../fuzz/mutate.js";
import { bitsOf, decode, types, type Exact, type Node, type Type } from "../oracle/values.js";
import { randomBits, randomOperation } from "../support/random-value.js";
import { runs } from "../support/runs.js";

type Float = "f32" | "f16" | "bf16";
const isFloat = (type: Type): type is Float => type === "f32" || type === "f16" || type === "bf16";

/** Bits of a finite number within bounds, often at one of them. */
function elementOf(type: Type, bounds: ElementBounds, draw: Draw): bigint {
  for (;;) {
    const bits = draw(3) === 0 && isFloat(type) ? atBound(type, bounds, draw) : randomBits(type, draw);
    if (!isFloat(type)) return bits;
    const value = decode(type, bits);
    if (value.kind === "zero") return bits;
    if (value.kind !== "finite") continue;
    const length = topOf(value);
    // 2^(length - 1) <= |value| < 2^length
    if (length - 1 >= (bounds.least ?? -Infinity) && length <= (bounds.below ?? Infinity)) return bits;
  }
}

const layouts: Readonly<Record<Float, readonly [width: number, digits: number, bias: number]>> = {
  f32: [32, 23, 127],
  f16: [16, 10, 15],
  bf16: [16, 7, 127],
};

/** The least or the largest number that bounds leave, of either sign. */
function atBound(type: Float, { least, below }: ElementBounds, draw: Draw): bigint {
  const [width, digits, bias] = layouts[type];
  const power = (exponent: number): bigint => {
    const field = exponent + bias;
    return field > 0 ? BigInt(field) << BigInt(digits) : 1n << BigInt(Math.max(0, digits - 1 + field));
  };
  const size = draw(2) === 0 ? (least === undefined ? 1n : power(least)) : power(below ?? bias + 1) - 1n;
  return size | (BigInt(draw(2)) << BigInt(width - 1));
}

const sizeOf = (value: bigint): bigint => (value < 0n ? -value : value);
const topOf = ({ top, exponent }: Extract<Exact, { kind: "finite" }>): number =>
  exponent + sizeOf(top).toString(2).length;

/** Whether a * 2^b is at most c * 2^d. */
const atMost = (a: bigint, b: number, { units: c, exponent: d }: Dyadic): boolean => {
  const least = Math.min(b, d);
  return a << BigInt(b - least) <= c << BigInt(d - least);
};

/** What is wrong with a magnitude of a value. */
function objection(value: Exact, found: Magnitude): string | undefined {
  if (value.kind === "zero") return value.negative && !found.negativeZero ? "-0" : undefined;
  if (value.kind !== "finite") return found.finite ? value.kind : undefined;
  let { top, exponent } = value;
  for (; top % 2n === 0n; top /= 2n) exponent++;
  if (exponent < found.unit) return `a multiple of 2^${exponent}, below 2^${found.unit}`;
  if (topOf(value) - 1 < found.least) return `at 2^${topOf(value) - 1}, below 2^${found.least}`;
  if (!atMost(sizeOf(top), exponent, largestOf(found))) return "beyond the most";
  if (!atMost(top, exponent, found.high)) return "above the highest";
  if (!atMost(-top, exponent, { ...found.low, units: -found.low.units })) return "below the lowest";
  return undefined;
}

interface Trial {
  readonly nodes: readonly Node[];
  readonly steps: readonly ValueStep[];
  readonly reads: readonly { readonly type: Type; readonly bounds: ElementBounds }[];
}

/** A few steps one behind the other, of nodes before them. */
function trialOf(draw: Draw): Trial {
  const nodes: Node[] = [];
  const steps: ValueStep[] = [];
  const reads = Array.from({ length: 2 + draw(2) }, (_, k) => {
    const type = types[draw(types.length)]!;
    const least = draw(2) === 0 ? undefined : draw(90) - 80;
    const below = draw(2) === 0 ? undefined : (least ?? 0) + 1 + draw(30);
    const bounds =
      isFloat(type) && type !== "f16"
        ? { ...(least === undefined ? {} : { least }), ...(below === undefined ? {} : { below }) }
        : {};
    nodes.push({ kind: "read", name: String(k), type });
    steps.push({ kind: "read", type, read: k });
    return { type, bounds };
  });
  const isArithmetic = (type: string): type is "i32" | "u32" | "f32" => ["i32", "u32", "f32"].includes(type);
  for (let k = 0; k < 7; k++) {
    const of = draw(nodes.length);
    const from = nodes[of]!;
    const others = nodes.flatMap((node, other) => (node.type === from.type ? [other] : []));
    if (!isArithmetic(from.type) || draw(4) === 0) {
      const to = draw(2) === 0 ? "f32" : types[draw(types.length)]!;
      if (to === from.type) continue;
      nodes.push({ kind: "cast", type: to, of: from });
      steps.push({ kind: "cast", type: to, from: from.type as Type, of });
      continue;
    }
    const other = others[draw(others.length)]!;
    const op = randomOperation(from.type, draw);
    nodes.push({ kind: op, type: from.type, of: [from, nodes[other]!] });
    steps.push({ kind: "op", op, type: from.type, of: [of, other] });
  }
  return { nodes, steps, reads };
}

describe("the magnitude of a step", () => {
  it("holds for every value that random elements come to", () => {
    let rounded = 0;
    for (let seed = 0; seed < runs(1500); seed++) {
      const draw = drawer(seed * 7 + 3);
      const { nodes, steps, reads } = trialOf(draw);
      const found = magnitudes(steps, { bounds: (read) => reads[read]!.bounds });
      for (let k = 0; k < 8; k++) {
        const elements = reads.map(({ type, bounds }) => elementOf(type, bounds, draw));
        nodes.forEach((node, step) => {
          const value = decode(
            node.type,
            bitsOf(node, (name) => elements[Number(name)]!),
          );
          if (found.slice(0, step + 1).some((own, other) => overflows(own, nodes[other]!.type))) return;
          if (value.kind === "finite" && node.kind !== "read" && node.type === "f32") rounded++;
          expect([seed, step, objection(value, found[step]!)]).toEqual([seed, step, undefined]);
        });
      }
    }
    expect(rounded).toBeGreaterThan(runs(3000));
  });

  it("holds for sums of many terms", () => {
    const draw = drawer(11);
    for (let seed = 0; seed < runs(100); seed++) {
      const bounds = { least: -20 - draw(60), below: -10 + draw(40) };
      const count = 1 + draw(300);
      const found = foldMagnitude(magnitudeOfType("f32", bounds), count);
      let sum = 0n;
      for (let k = 0; k < count; k++) {
        const term: Node = { kind: "number", type: "f32", bits: elementOf("f32", bounds, draw) };
        sum = bitsOf(
          { kind: "add", type: "f32", of: [{ kind: "number", type: "f32", bits: sum }, term] },
          () => 0n,
        );
        expect(objection(decode("f32", sum), found)).toBeUndefined();
      }
    }
  });

  it("is that of the table of the documents", () => {
    const of = (type: Type, bounds?: ElementBounds) => {
      const { unit, least } = magnitudeOfType(type, bounds);
      return [unit, least];
    };
    expect(of("f32")).toEqual([-149, -149]);
    expect(of("f32", { least: -103 })).toEqual([-126, -103]);
    expect(of("bf16", { least: -119 })).toEqual([-126, -119]);
    expect(of("f16")).toEqual([-24, -24]);
    expect(of("i8")).toEqual([0, 0]);
  });
});

/** Whether a step may have left the range of its type, behind which nothing is said. */
const overflows = (found: Magnitude, type: string): boolean =>
  !found.finite ||
  (type === "f16" && atMost(65520n, 0, largestOf(found))) ||
  (isFloat(type as Type) && atMost(511n, 119, largestOf(found)));
