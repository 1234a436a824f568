/** What a kernel's text holds of a value: integers alone, since WGSL's floats have not the bits that a value states. */
import { expect, it } from "vitest";
import { movesOf, planWasm } from "../../backends/wasm/index.js";
import { movesOf as movesOfWgsl, planWgsl } from "../../backends/wgsl/index.js";
import { parseModule, targets, type Target } from "../../ir/index.js";
import { compile } from "../../src/index.js";
import { drawer } from "../fuzz/mutate.js";
import { randomValue } from "../support/random-value.js";

it("computes floats in integers: no float type, literal or builtin stands in a kernel", () => {
  const draw = drawer(5);
  for (let k = 0; k < 200; k++) {
    const [func] = parseModule(randomValue(draw).text, "value.tir").module.funcs;
    if (func?.level !== "access") throw new Error("an access program");
    const { code } = compile(func, { target: targets.webgpu }).wgsl();
    const text = code.replace(/\/\/[^\n]*/g, "");
    expect(text).not.toMatch(/\b(?:f16|f32|vec[234][fh]|float)\b|\d\.\d|\d[fh]\b|\b(?:un)?pack2x16|\bfma\b/);
    expect(text).toMatch(/let value0 = /);
  }
});

it("is told by --emit moves on both machines", () => {
  const text = `func @f(%q: tensor<6x8xi8>, %s: tensor<6xf32>, %i: tensor<3xi32>) -> tensor<3x8xf16> {
  %y = access.gather %q, %s, %i (d0, d1) let t = error(%i[d0] in 6) yield f16(f32(%q[t, d1]) * %s[t]) {oob = error}
  return %y
}
`;
  const [func] = parseModule(text, "value.tir").module.funcs;
  if (func?.level !== "access") throw new Error("an access program");
  // Two elements, a cast, a product, a cast.
  const last = (target: Target) => {
    const { tile } = compile(func, { target, residency: "gm" });
    const { moves } =
      target.kind === "cpu" ? movesOf(planWasm(tile)) : movesOfWgsl(planWgsl(tile, { target }));
    return moves.at(-1);
  };
  const [cpu, webgpu] = [last(targets.cpu), last(targets.webgpu)];
  expect(cpu).toMatchObject({ how: "computed", figures: { bytes: 2, steps: 5 } });
  expect(webgpu).toMatchObject({ figures: { steps: 5 } });
});
