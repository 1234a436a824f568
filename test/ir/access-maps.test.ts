/** Maps that are no access maps are refused where they are written, or by the verifier where they are built. */
import { describe, expect, it } from "vitest";
import {
  dim,
  constant,
  iv,
  min,
  parseModule,
  verifyStructure,
  type AccessFunc,
  type Linear,
} from "../../ir/index.js";

const text = (coord: string): string =>
  `func @f(%x: tensor<8x2xf32>, %i: tensor<4xi32>) -> tensor<4x2xf32> {\n` +
  `  %y = access.gather %x, %i (d0, d1) -> (${coord}, d1) {oob = error}\n  return %y\n}\n`;

/** The program with another coordinate along dim 1 of the data. */
function built(coord: Linear): AccessFunc {
  const [func] = parseModule(text("%i[d0]"), "map.tir").module.funcs;
  if (func?.level !== "access") throw new Error("an access program");
  return { ...func, map: { ...func.map, results: [func.map.results[0]!, coord] } };
}

describe("what stands in tile programs alone", () => {
  it.each(["min(d0, 3)", "min(%i[d0], 3)", "%i[min(d0, 2)]", "error(min(%i[d0], 9) in 8)"])(
    "min is refused in the text of an access map: %s",
    (coord) => {
      const { diagnostics } = parseModule(text(coord), "map.tir");
      expect(diagnostics.map(({ code }) => code)).toEqual(["TC002"]);
      expect(diagnostics[0]!.message).toContain("min is of tile programs");
    },
  );

  it("a minimum and a loop variable are refused in a map that was built", () => {
    const refusal = (coord: Linear) =>
      verifyStructure(built(coord)).map(({ code, message }) => `${code} ${message}`);
    expect(refusal(min(dim(1), constant(1)))).toEqual([
      "TC204 A9: a map over whole tensors has a minimum in a coordinate",
    ]);
    expect(refusal(iv("t0"))).toEqual([
      "TC204 A9: a map over whole tensors has the loop variable %t0 in a coordinate",
    ]);
    expect(refusal(dim(1))).toEqual([]);
  });
});
