/** A map in canonical form stays the object that it is, so that what is derived from it is derived once. */
import { describe, expect, it } from "vitest";
import { canonicalMap } from "../../ir/canonical-map.js";
import { parsedAccess } from "../support/parsed.js";

/** Programs by what their index operands are. */
const programs = {
  "read from a tensor": `func @f(%x: tensor<8x4xf32>, %i: tensor<3xi32>) -> tensor<3x4xf32> {
  %y = access.gather %x, %i (d0, d1) -> (%i[d0], d1) {oob = error}
  return %y
}`,
  "the value of another, both under a policy": `func @f(%x: tensor<8x4xf32>, %i: tensor<3xi32>) -> tensor<3x4xf32> {
  %y = access.gather %x, %i (d0, d1) let s = error(%i[d0] in 64) -> (clamp(s in 8), d1) {oob = error}
  return %y
}`,
  absent: `func @f(%x: tensor<8x4xf32>) -> tensor<4x8xf32> {
  %y = access.gather %x (d0, d1) -> (d1, d0) {oob = error}
  return %y
}`,
};

describe("a canonical map", () => {
  it.for(Object.entries(programs))("whose index operand is %s stays the same object", ([, text]) => {
    const { map } = parsedAccess(text);
    expect(canonicalMap(map)).toBe(map);
  });

  it("replaces an index operand that is no more than the value of another", () => {
    const { map } = parsedAccess(programs["the value of another, both under a policy"]);
    const loose = {
      ...map,
      indices: map.indices.map((operand, k) =>
        k === 0 ? { ...operand, outOfRange: "any" as const } : operand,
      ),
    };
    expect(loose.indices).toHaveLength(2);
    expect(canonicalMap(loose).indices).toHaveLength(1);
  });
});
