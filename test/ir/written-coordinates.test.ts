/** Index values that drop out of the coordinates of a scatter: refused, since points would no longer skip. */
import { expect, it } from "vitest";
import { simulate } from "../../backends/sim/index.js";
import { parseModule, printFunc, type AccessFunc } from "../../ir/index.js";
import { compile, run, targets } from "../../src/index.js";
import { parsedAccess } from "../support/parsed.js";

const textOf = (map: string): string =>
  `func @f(%x: tensor<4x1xf32>, %i: tensor<3xi32>, %u: tensor<3xf32>) -> tensor<4x1xf32> {
  %y = access.scatter %x, %i, %u (d0 < 3) ${map} yield %u[d0] {oob = error, duplicates = last}
  return %y
}
`;

const faultsOf = (map: string): readonly string[] =>
  parseModule(textOf(map), "f.tir").diagnostics.map(
    ({ code, message, hint }) => `${code} ${message}; ${hint}`,
  );

function funcOf(map: string): AccessFunc {
  return parsedAccess(textOf(map));
}

const lost =
  "TC002 s drops out of the written coordinates: they are the same for each of its values; leave it out, or " +
  "write s div 3 in place of 0: a point whose index value has no place then writes nothing";
const ofRead = "let s = error(%i[d0] in 3 but 1)";

it.each([
  `${ofRead} -> (d0, 0 * s)`,
  `${ofRead} -> (d0, s * 0)`,
  `${ofRead} -> (d0, s mod 1)`,
  `${ofRead} -> (d0, s - s)`,
  `${ofRead} -> (d0, (2 * s + 1) mod 1)`,
  `${ofRead} -> (s - s + d0, 0)`,
  `let s = skip(%i[d0] in 3) -> (d0, s mod 1)`,
  `let s = fill(%i[d0] in 3) -> (d0, 0 * s)`,
  // By another name, inside a bounded sum, and in the place of a further index value.
  `${ofRead} let z = 0 * s -> (d0, z)`,
  `${ofRead} let t = error(s mod 1 + d0 in 4) -> (t, 0)`,
  `${ofRead} let t = error(%i[0 * s] in 4) -> (t, 0)`,
])("refuses %s", (map) => {
  expect(faultsOf(map)).toEqual([lost]);
});

it("refuses values without a name, whose policy follows the map", () => {
  expect(faultsOf("-> (d0, 0 * %i[d0])")).toEqual([
    "TC002 an index value drops out of the written coordinates: they are the same for each of its values; " +
      "leave it out, or write s div n with n the extent of s in place of 0: " +
      "a point whose index value has no place then writes nothing",
  ]);
});

it.each([
  `${ofRead} -> (s, 0 * s)`,
  `${ofRead} -> (d0 + 2 * s - s, 0)`,
  `${ofRead} let t = error(s + d0 in 4) -> (t, s mod 1)`,
  // Only the written coordinates decide what is written.
  `${ofRead} let z = 0 * s -> (d0, 0)`,
])("takes %s, and its text has the same map", (map) => {
  const func = funcOf(map);
  const again = parseModule(printFunc(func), "f.tir");
  expect(again.diagnostics).toEqual([]);
  expect(again.module.funcs[0]).toMatchObject({ map: func.map });
});

it.each(["s div 3", "s div 4"])("writes nothing at the excluded value under the hint: %s", async (coord) => {
  const inputs = {
    x: new Float32Array(4).fill(9),
    i: new Int32Array([0, 1, 2]),
    u: new Float32Array([1, 2, 3]),
  };
  const expected = new Float32Array([1, 9, 3, 9]);
  for (const target of [targets.ascendA2, targets.cpu]) {
    const kernel = compile(funcOf(`${ofRead} -> (d0, ${coord})`), { target });
    for (const executor of ["checked", "fast"] as const)
      expect(simulate(kernel, inputs, { executor }).outputs.output).toEqual(expected);
    expect((await run(kernel, inputs, { backend: "reference" })).outputs.output).toEqual(expected);
  }
});
