/** Quotients of f32 by exact binary fractions, on every backend; where they may stand, and their text. */
import { describe, expect, it } from "vitest";
import { parseModule, printModule, targets } from "../../ir/index.js";
import { vectorProgram } from "../../ir/values/vector-steps.js";
import { tryCompile } from "../../src/index.js";
import { drawer } from "../fuzz/mutate.js";
import { bitsOf, type Node } from "../oracle/values.js";
import { runnerOr } from "../support/gpu.js";
import { bytes, randomBits, type RandomValue } from "../support/random-value.js";
import { judgeValue } from "../support/value-trials.js";

/** Zeros, ones, thirds, the ends of subnormal and of normal numbers and what is beside them, infinities and NaN, by their bits. */
const special = [
  ...[0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f800001, 0x40400000, 0x3eaaaaab, 0xc1200000],
  ...[0x00000001, 0x80000001, 0x00000002, 0x00000003, 0x007fffff, 0x807fffff, 0x00800000, 0x00800001],
  ...[0x00ffffff, 0x7f7fffff, 0xff7fffff, 0x7f000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xff812345],
].map(BigInt);

const [rows, columns] = [19, 57];
const text = (value: string, type = "f32"): string =>
  `func @f(%a: tensor<${rows}x${columns}x${type}>, %b: tensor<${rows}x${columns}x${type}>, %i: tensor<${rows}xi32>) -> tensor<${rows}x${columns}x${type}> {
  %y = access.gather %a, %b, %i (d0, d1) let s0 = error(%i[d0] in ${rows}) yield ${value} {oob = error}
  return %y
}
`;

/** Each special number by each, and random patterns, in rows that stand in reverse. */
function quotients(type: "f32" | "f16", seed: number): RandomValue {
  const draw = drawer(seed);
  const pairs = Array.from({ length: rows * columns }, (_, k): readonly [bigint, bigint] => {
    const [a, b] = [special[k % special.length]!, special[Math.floor(k / special.length)]];
    if (b !== undefined && type === "f32") return [a, b];
    const x = randomBits(type, draw);
    // Of near exponents, so that the quotient stays in the range, and of any.
    return [x, draw(2) === 0 ? randomBits(type, draw) : x ^ BigInt(draw(2 ** 10))];
  });
  const read = (name: string): Node => {
    const own: Node = { kind: "read", name, type };
    return type === "f32" ? own : { kind: "cast", type: "f32", of: own };
  };
  const quotient: Node = { kind: "div", type: "f32", of: [read("a"), read("b")] };
  const value: Node = type === "f32" ? quotient : { kind: "cast", type, of: quotient };
  const output = pairs.map(([a, b]) => bitsOf(value, (name) => (name === "a" ? a : b)));
  const reversed = (list: readonly bigint[]): bigint[] =>
    Array.from({ length: rows }, (_, d) => list.slice((rows - 1 - d) * columns, (rows - d) * columns)).flat();
  return {
    text: text(type === "f32" ? "%a[s0, d1] / %b[s0, d1]" : "f16(f32(%a[s0, d1]) / f32(%b[s0, d1]))", type),
    inputs: {
      a: bytes(
        type,
        pairs.map(([a]) => a),
      ),
      b: bytes(
        type,
        pairs.map(([, b]) => b),
      ),
      i: bytes(
        "i32",
        Array.from({ length: rows }, (_, d) => BigInt(rows - 1 - d)),
      ),
    },
    output: bytes(type, reversed(output)),
  };
}

/** Code and message of each diagnostic of a program on a target. */
const said = (program: string): readonly string[] => {
  const { module, diagnostics } = parseModule(program, "division.tir");
  const [func] = module.funcs;
  if (func === undefined) return diagnostics.map(({ code, message }) => `${code} ${message}`);
  const result = tryCompile(func, { target: targets.cpu });
  return result.ok ? [] : result.diagnostics.map(({ code, message }) => `${code} ${message}`);
};

describe("a quotient of f32", () => {
  it("has the special numbers of IEEE 754, and one form of NaN", () => {
    const quotient = (a: bigint, b: bigint): string =>
      bitsOf(
        {
          kind: "div",
          type: "f32",
          of: [
            { kind: "number", type: "f32", bits: a },
            { kind: "number", type: "f32", bits: b },
          ],
        },
        () => 0n,
      ).toString(16);
    expect(quotient(0x3f800000n, 0n)).toBe("7f800000");
    expect(quotient(0x3f800000n, 0x80000000n)).toBe("ff800000");
    expect(quotient(0n, 0x80000000n)).toBe("7fc00000");
    expect(quotient(0x7f800000n, 0xff800000n)).toBe("7fc00000");
    expect(quotient(0xbf800000n, 0x7f800000n)).toBe("80000000");
    // A third, rounded up; half of the least number, a tie to even; a third of it times four.
    expect(quotient(0x3f800000n, 0x40400000n)).toBe("3eaaaaab");
    expect(quotient(1n, 0x40000000n)).toBe("0");
    expect(quotient(3n, 0x40000000n)).toBe("2");
    expect(quotient(0x00800000n, 0x40000000n)).toBe("400000");
  });

  it.each(["f32", "f16"] as const)("of %s has the oracle's bits on the executors", async (type) => {
    for (let seed = 0; seed < 4; seed++)
      expect(await judgeValue(quotients(type, seed), drawer(seed))).toBe("right bits");
  });

  it.for(["f32", "f16"] as const)("of %s has the oracle's bits on WebGPU", async (type, context) => {
    const runner = await runnerOr(context);
    expect(await judgeValue(quotients(type, 7), drawer(7), { runner })).toBe("right bits");
  });

  it.each([
    ["%a[s0, d1] / %b[s0, d1] * %a[s0, d1]", undefined],
    ["%a[s0, d1] * %b[s0, d1] / %a[s0, d1]", undefined],
    ["%a[s0, d1] / (%b[s0, d1] * %a[s0, d1])", undefined],
    ["%a[s0, d1] / (%b[s0, d1] / %a[s0, d1])", undefined],
    ["(%a[s0, d1] + %b[s0, d1]) / -2", undefined],
    ["1 / %b[s0, d1] - %a[s0, d1]", undefined],
    ["((%a[s0, d1] / %b[s0, d1])) / %a[s0, d1]", "%a[s0, d1] / %b[s0, d1] / %a[s0, d1]"],
  ])("is printed with the parentheses that it needs: %s", (value, printed = value) => {
    const { module, diagnostics } = parseModule(text(value), "division.tir");
    expect(diagnostics).toEqual([]);
    const again = printModule(module);
    expect(again).toContain(` yield ${printed} {`);
    expect(printModule(parseModule(again, "again.tir").module)).toBe(again);
  });

  it("is of f32 alone (B2), and no term of an exact sum (B7)", () => {
    expect(said(text("%a[s0, d1] / %b[s0, d1]", "i32"))).toEqual([
      "TC104 B2: div of i32: a quotient is of f32",
    ]);
    const exact = text("exact(%a[s0, d1] / %b[r, d1])").replace("(d0, d1)", "(d0, d1; r < 3)");
    expect(said(exact)).toEqual([
      "TC205 B7: the reduction elements of an exact sum: a quotient is a multiple of no unit",
    ]);
    expect(said(exact.replace("exact", "fold"))).toEqual([]);
  });

  it("is one instruction on an Ascend core, whose sides stay where they are", () => {
    const read = { kind: "read", type: "f32", read: 0 } as const;
    const one = { kind: "number", type: "f32", bits: 0x3f800000 } as const;
    const laid = (of: readonly [number, number]) =>
      vectorProgram({ steps: [read, one, { kind: "op", op: "div", type: "f32", of }] }).element;
    const output = { kind: "output" } as const;
    const row = { kind: "slot", slot: 0 } as const;
    expect(laid([0, 1])).toEqual([
      { op: "TDIVS", to: output, of: { kind: "read", read: 0 }, word: "f32", by: one.bits },
    ]);
    expect(laid([1, 0])).toEqual([
      { op: "TEXPANDS", to: row, word: "f32", by: one.bits },
      { op: "TDIV", to: output, of: [row, { kind: "read", read: 0 }], word: "f32" },
    ]);
  });

  it("leaves comments to two slashes", () => {
    expect(said(text("%a[s0, d1] // of %b\n / %b[s0, d1]"))).toEqual([]);
  });
});
