/** The bad index value that a scatter reports, where tiles read index values behind their own points. */
import { expect, it } from "vitest";
import { simulate } from "../../backends/sim/index.js";
import { type AccessFunc } from "../../ir/index.js";
import { compile, targets } from "../../src/index.js";
import { refusals, shown } from "../support/refusal.js";
import { parsedAccess } from "../support/parsed.js";

function funcOf(index: string): AccessFunc {
  return parsedAccess(`func @f(%x: tensor<9xf32>, %i: tensor<12xi32>, %u: tensor<4xf32>) -> tensor<9xf32> {
  %y = access.scatter %x, %i, %u (d0 < 4) let t = error(${index} in 9) -> (t) yield %u[d0] {oob = error, combine = max}
  return %y
}
`);
}

it.each([
  { index: "%i[d0 + 1]", first: 1, step: 1 },
  { index: "%i[2 * d0 + 5]", first: 5, step: 2 },
  { index: "%i[8 - 2 * d0]", first: 8, step: -2 },
  { index: "%i[7 - d0]", first: 7, step: -1 },
])("names the value of the first bad point: $index", ({ index, first, step }) => {
  for (const tile of [[1], [2], [3], [4]])
    for (const residency of ["ub", "gm"] as const)
      for (let bad = 0; bad < 4; bad++) {
        const kernel = compile(funcOf(index), { target: targets.ascendA2, tile, residency });
        // No value beside those of the points is in range, and each bad one is another.
        const i = Int32Array.from({ length: 12 }, (_, k) => 100 + k);
        for (let d = 0; d < bad; d++) i[first + step * d] = d;
        const place = first + step * bad;
        const inputs = { x: new Float32Array(9), i, u: new Float32Array(4) };
        for (const executor of ["checked", "fast"] as const)
          expect(shown(refusals(() => simulate(kernel, inputs, { executor })))).toEqual([
            `TC601 index ${100 + place} at i[${place}] is out of range for dim 0 of output, which takes [0, 8]`,
          ]);
      }
});
