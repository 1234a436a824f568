import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifyStructure, type Func } from "../../ir/index.js";
import { compile, run, tryCompile } from "../../src/index.js";
import { Negative, None, textOf, valueOf, type Node } from "../oracle/symbolic.js";
import { runs } from "../support/runs.js";
import { parsed } from "../support/parsed.js";

const size = fc.constantFrom("N", "V").map((name): Node => ({ kind: "size", name }));
const whole = fc.integer({ min: 0, max: 3 }).map((value): Node => ({ kind: "whole", value }));
const dim = fc.integer({ min: 0, max: 1 }).map((d): Node => ({ kind: "dim", dim: d }));

const sums = (leaf: fc.Arbitrary<Node>, depth: number): fc.Arbitrary<Node> => {
  if (depth === 0) return leaf;
  const inner = sums(leaf, depth - 1);
  return fc.oneof(
    { weight: 3, arbitrary: leaf },
    fc.record({ kind: fc.constantFrom("plus" as const, "minus" as const), left: inner, right: inner }),
    fc.record({ kind: fc.constant("times" as const), by: fc.integer({ min: 1, max: 3 }), of: inner }),
    fc.record({
      kind: fc.constantFrom("div" as const, "mod" as const),
      of: inner,
      // By 1 they are nothing at all, whatever they are of.
      by: fc.integer({ min: 2, max: 3 }),
    }),
  );
};

/** What is often right, so that random maps are not all refused. */
const likely: readonly Node[] = (() => {
  const N: Node = { kind: "size", name: "N" };
  const V: Node = { kind: "size", name: "V" };
  const one: Node = { kind: "whole", value: 1 };
  const d0: Node = { kind: "dim", dim: 0 };
  const d1: Node = { kind: "dim", dim: 1 };
  const site = (bound: Node): Node => ({ kind: "site", bound });
  const minus = (left: Node, right: Node): Node => ({ kind: "minus", left, right });
  const plus = (left: Node, right: Node): Node => ({ kind: "plus", left, right });
  const half = (of: Node): Node => ({ kind: "div", of, by: 2 });
  return [
    d0,
    minus(minus(N, one), d0),
    site(V),
    minus(minus(V, one), site(V)),
    plus({ kind: "times", by: 2, of: site(half(V)) }, { kind: "mod", of: d1, by: 2 }),
    plus(site(minus(V, one)), one),
    half(d0),
    half(site({ kind: "times", by: 2, of: V })),
    { kind: "mod", of: site(V), by: 3 },
  ];
})();

/** A remainder that the compiler could fold at once, were it not of a negative number. */
const remainderOfNegative: Program = {
  rows: "N",
  most: { N: 1, V: 1 },
  coord: {
    kind: "mod",
    of: { kind: "minus", left: { kind: "whole", value: 0 }, right: { kind: "whole", value: 3 } },
    by: 3,
  },
};

const coordinate = fc.oneof(
  fc.constantFrom(...likely),
  sums(
    fc.oneof(
      dim,
      size,
      whole,
      sums(fc.oneof(size, whole), 1).map((bound): Node => ({ kind: "site", bound })),
    ),
    2,
  ),
);

interface Program {
  /** What the rows of data are as many as: a symbol, or a number. */
  readonly rows: "N" | "V" | number;
  readonly most: { readonly N: number; readonly V: number };
  readonly coord: Node;
}

const program: fc.Arbitrary<Program> = fc.record({
  rows: fc.constantFrom("N" as const, "V" as const, 3, 7),
  most: fc.record({ N: fc.integer({ min: 1, max: 6 }), V: fc.integer({ min: 1, max: 7 }) }),
  coord: coordinate,
});

const columns = 2;

const textFor = ({ rows, most, coord }: Program): string => `dim N <= ${most.N}
dim V <= ${most.V}
func @f(%x: tensor<${rows}x${columns}xi32>, %i: tensor<Nxi32>, %v: tensor<Vxi32>) -> tensor<Nx${columns}xi32> target("cpu") {
  %y = access.gather %x, %i, %v (d0, d1) -> (${textOf(coord)}, d1) {oob = fill}
  return %y
}
`;

const rowsOf = ({ rows }: Program, sizes: Readonly<Record<"N" | "V", number>>): number =>
  typeof rows === "number" ? rows : sizes[rows];

function* bindings({ most }: Program): Generator<Readonly<Record<"N" | "V", number>>> {
  for (let N = 0; N <= most.N; N++) for (let V = 0; V <= most.V; V++) yield { N, V };
}

/** Every read that some index value would make, at every size and place. */
function leaves(test: Program): string | undefined {
  for (const sizes of bindings(test)) {
    for (let d0 = 0; d0 < sizes.N; d0++) {
      for (let d1 = 0; d1 < columns; d1++) {
        for (let read = -1; read <= 24; read++) {
          try {
            const row = valueOf(test.coord, { dims: [d0, d1], sizes, read });
            if (row < 0 || row >= rowsOf(test, sizes))
              return `N ${sizes.N} V ${sizes.V} at ${d0}, ${d1} index ${read}: ${row}`;
          } catch (thrown) {
            if (thrown instanceof Negative) return "negative";
            if (!(thrown instanceof None)) throw thrown;
          }
        }
      }
    }
  }
  return undefined;
}

const valid = (func: Func): boolean => verifyStructure(func).every(({ severity }) => severity !== "error");

describe("symbols", () => {
  it("verify only what stays inside at every size that they may have", () => {
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(program, (test) => {
        const text = textFor(test);
        const accepted = valid(parsed(text));
        seen[accepted ? "accepted" : "refused"]++;
        if (accepted) expect(leaves(test), text).toBeUndefined();
      }),
      { numRuns: runs(800), examples: [[remainderOfNegative]] },
    );
    expect(seen.accepted).toBeGreaterThan(runs(100));
    expect(seen.refused).toBeGreaterThan(runs(100));
  });

  it("bind by substitution: bits are those of the definition at every size, on reference and sim", async () => {
    let ran = 0;
    await fc.assert(
      fc.asyncProperty(program, fc.infiniteStream(fc.integer({ min: -1, max: 8 })), async (test, stream) => {
        const func = parsed(textFor(test));
        if (!valid(func)) return;
        for (const sizes of bindings(test)) {
          const rows = rowsOf(test, sizes);
          const data = Int32Array.from({ length: rows * columns }, (_, k) => k + 1);
          const index = Int32Array.from({ length: sizes.N }, () => stream.next().value as number);
          const expected = Array.from({ length: sizes.N * columns }, (_, k) => {
            const dims = [Math.floor(k / columns), k % columns];
            try {
              const row = valueOf(test.coord, { dims, sizes, read: index[dims[0]!]! });
              return data[row * columns + dims[1]!]!;
            } catch (thrown) {
              if (thrown instanceof None) return 0;
              throw thrown;
            }
          });
          const kernel = compile(func, { bind: sizes });
          const inputs = { x: data, i: index, v: new Int32Array(sizes.V) };
          for (const backend of ["reference", "sim"] as const) {
            const { outputs } = await run(kernel, inputs, { backend });
            expect([...(outputs.output as Int32Array)], `${textFor(test)} ${JSON.stringify(sizes)}`).toEqual(
              expected,
            );
            ran++;
          }
        }
      }),
      { numRuns: runs(60) },
    );
    expect(ran).toBeGreaterThan(runs(200));
  });

  it("refuse sizes beyond their most, in every program that they stand in", () => {
    const test: Program = { rows: "V", most: { N: 4, V: 6 }, coord: likely[2]! };
    for (const bind of [{ N: 5, V: 6 }, { N: 4, V: 7 }, { N: -1, V: 1 }, { N: 1.5, V: 1 }, { N: 1 }]) {
      const result = tryCompile(parsed(textFor(test)), { bind: bind });
      expect(result.ok ? [] : result.diagnostics.map(({ code }) => code), JSON.stringify(bind)).toEqual([
        "TC107",
      ]);
    }
    expect(tryCompile(parsed(textFor(test)), { bind: { N: 4, V: 6 } }).ok).toBe(true);
    expect(tryCompile(parsed(textFor(test)), { bind: { N: 0, V: 0 } }).ok).toBe(true);
  });
});
