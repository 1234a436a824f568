/** Scatters over symbols, bound to sizes: the bits of a plain loop at each size, in place and not. */
import { describe, expect, it } from "vitest";
import { simulate } from "../../backends/sim/index.js";
import { type AccessFunc } from "../../ir/index.js";
import { compile, RunError, run, targets } from "../../src/index.js";
import { drawer } from "../fuzz/mutate.js";
import { parsedAccess } from "../support/parsed.js";

/** Returns a scatter of rows of floats; `rows` and `points` are numbers or symbols of at most as many. */
function scatterOf(
  rows: string,
  points: string,
  symbols: string,
  inout: boolean,
  policy = "skip",
): AccessFunc {
  return parsedAccess(`${symbols}func @f(%x: ${inout ? "inout " : ""}tensor<${rows}x3xf32>, %i: tensor<${points}xi32>, %u: tensor<${points}x3xf32>) -> tensor<${rows}x3xf32> {
  %y = access.scatter %x, %i, %u (d0 < ${points}, d1 < 3) let t = ${policy}(%i[d0] in ${rows}) -> (t, d1) yield %u[d0, d1] {oob = error, duplicates = last}
  return %y
}
`);
}

const maxRows = 9;
const maxPoints = 11;
const programs = [
  { name: "open points", rows: String(maxRows), points: "N", symbols: `dim N <= ${maxPoints}\n` },
  { name: "open rows", rows: "V", points: String(maxPoints), symbols: `dim V <= ${maxRows}\n` },
  { name: "both open", rows: "V", points: "N", symbols: `dim N <= ${maxPoints}\ndim V <= ${maxRows}\n` },
];

describe.each(programs)("a scatter with $name", ({ rows, points, symbols }) => {
  it.each([
    ["ascend-a2", targets.ascendA2],
    ["cpu", targets.cpu],
    ["webgpu", targets.webgpu],
  ])("bound to sizes has the bits of a loop: %s", async (_, target) => {
    const draw = drawer(7);
    for (const inout of [false, true])
      for (const tile of [undefined, [1, 3], [3, 2], [4, 1]]) {
        const kernel = compile(scatterOf(rows, points, symbols, inout), {
          target,
          ...(tile === undefined ? {} : { tile }),
        });
        for (const [v, n] of [
          [maxRows, maxPoints],
          [6, 6],
          [1, 7],
          [5, 1],
          [4, 0],
        ] as const) {
          const sizes = { ...(rows === "V" ? { V: v } : {}), ...(points === "N" ? { N: n } : {}) };
          const [height, count] = [sizes.V ?? maxRows, sizes.N ?? maxPoints];
          const x = Float32Array.from({ length: height * 3 }, (_element, k) => -k);
          const i = Int32Array.from({ length: count }, () => draw(height + 2) - 1);
          const u = Float32Array.from({ length: count * 3 }, (_element, k) => k + 1);
          const expected = x.slice();
          i.forEach((row, k) => {
            if (row >= 0 && row < height) expected.set(u.subarray(k * 3, k * 3 + 3), row * 3);
          });
          const bound = kernel.bind(sizes);
          for (const executor of ["checked", "fast"] as const) {
            const given = x.slice();
            expect(simulate(bound, { x: given, i, u }, { executor }).outputs.output).toEqual(expected);
            expect(given).toEqual(inout ? expected : x);
          }
          expect((await run(bound, { x: x.slice(), i, u }, { backend: "reference" })).outputs.output).toEqual(
            expected,
          );
        }
      }
  });
});

it("a scatter bound to sizes rejects a bad index, and writes nothing", () => {
  const func = scatterOf("5", "N", "dim N <= 10\n", true, "error");
  const bound = compile(func, { target: targets.cpu, tile: [3, 3] }).bind({ N: 4 });
  const x = new Float32Array(15);
  const inputs = { x, i: Int32Array.of(0, 1, 2, 5), u: new Float32Array(12).fill(1) };
  for (const executor of ["checked", "fast"] as const)
    expect(() => simulate(bound, inputs, { executor })).toThrow(RunError);
  expect(x).toEqual(new Float32Array(15));
});

it.each(["2 * d1", "7 - 2 * d1", "2 * d1 + 1", "7 - d1", "d0 + 2 * d1"])(
  "without points, a scatter gives the base, whatever its value reads: %s",
  async (coord) => {
    for (const target of [targets.ascendA2, targets.cpu, targets.webgpu])
      for (const length of ["N", "0"]) {
        const func =
          parsedAccess(`${length === "N" ? "dim N <= 2\n" : ""}func @f(%x: tensor<9x4xf32>, %i: tensor<${length}xi32>, %u: tensor<${length}x8xf32>) -> tensor<9x4xf32> {
  %y = access.scatter %x, %i, %u (d0 < ${length}, d1 < 4) let t = error(%i[d0] in 9) -> (t, d1) yield %u[d0, ${coord}] {oob = error, duplicates = last}
  return %y
}
`);
        const kernel = length === "N" ? compile(func, { target }).bind({ N: 0 }) : compile(func, { target });
        const x = Float32Array.from({ length: 36 }, (_, k) => k + 1);
        const inputs = { x, i: new Int32Array(0), u: new Float32Array(0) };
        for (const executor of ["checked", "fast"] as const)
          expect(simulate(kernel, inputs, { executor }).outputs.output).toEqual(x);
        expect((await run(kernel, inputs, { backend: "reference" })).outputs.output).toEqual(x);
      }
  },
);
