/** Sizes for some of a program's symbols: the others stay open, and come to the same whichever is bound first. */
import { describe, expect, it } from "vitest";
import {
  bindSizes,
  bindSome,
  dynamicSymbols,
  parseModule,
  printFunc,
  type Func,
  type Sizes,
} from "../../ir/index.js";
import { openPrograms } from "../support/open-programs.js";
import { parsed } from "../support/parsed.js";

function some(func: Func, sizes: Sizes): Func {
  const bound = bindSome(func, sizes);
  if (!bound.ok) throw new Error(bound.diagnostics[0]?.message);
  return bound.func;
}
const without = (sizes: Sizes, name: string): Sizes =>
  Object.fromEntries(Object.entries(sizes).filter(([other]) => other !== name));

describe("binding some symbols", () => {
  for (const { name, text, sizes: all } of openPrograms) {
    it(`${name}: one symbol after the other is all at once, and the program between is a program`, () => {
      const func = parsed(text);
      const names = dynamicSymbols(func).map((symbol) => symbol.name);
      for (const sizes of all) {
        const whole = bindSizes(func, sizes);
        expect(whole.ok).toBe(true);
        for (const last of names) {
          const between = some(func, without(sizes, last));
          expect(dynamicSymbols(between).map((symbol) => symbol.name)).toEqual([last]);
          expect(bindSizes(between, { [last]: sizes[last] ?? NaN })).toEqual(whole);
          expect(some(between, { [last]: sizes[last] ?? NaN })).toEqual(whole.ok && whole.func);
          const printed = printFunc(between);
          const { module, diagnostics } = parseModule(printed, "between.tir");
          expect(diagnostics, printed).toEqual([]);
          expect(printFunc(module.funcs[0]!)).toBe(printed);
        }
      }
    });
  }

  it("gives a bound of 0 where a symbol leaves less, bound alone or with the others", () => {
    const func = parsed(`dim V <= 9
dim N <= 9
func @f(%x: tensor<Vx4xf32>, %i: tensor<Nxi32>) -> tensor<Nx4xf32> {
  %y = access.gather %x, %i (d0, d1) let s = fill(%i[d0] in V - 3) -> (s, d1) {oob = fill}
  return %y
}
`);
    const whole = bindSizes(func, { V: 1, N: 2 });
    const apart = bindSizes(some(func, { V: 1 }), { N: 2 });
    for (const bound of [whole, apart]) {
      const program = bound.ok ? bound.func : undefined;
      expect(program?.level === "access" && program.map.indices[0]?.extent).toBe(0);
    }
    const { module } = parseModule(printFunc(some(func, { V: 1 })), "between.tir");
    expect(printFunc(module.funcs[0]!)).toContain(" in 0)");
  });

  it("refuses a name that is no symbol, and a size beyond its maximum", () => {
    const func = parsed(openPrograms[0]!.text);
    for (const [sizes, message] of [
      [{ Q: 1 }, "no symbol Q"],
      [{ V: 4000 }, "symbol V is 4000"],
    ] as const) {
      const bound = bindSome(func, sizes);
      expect(
        bound.ok ? "" : bound.diagnostics.map(({ code, message: said }) => `${code} ${said}`).join(),
      ).toContain(message);
    }
  });
});
