/** Sizes for some of a program's symbols: the others stay open, and come to the same whichever is bound first. */
import { describe, expect, it } from "vitest";
import {
  bindSizes,
  bindSome,
  openSymbols,
  parseModule,
  printFunc,
  type Func,
  type Sizes,
} from "../../ir/index.js";
import { openPrograms, readOpen } from "../support/open-programs.js";

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
      const func = readOpen(text);
      const names = openSymbols(func).map((symbol) => symbol.name);
      for (const sizes of all) {
        const whole = bindSizes(func, sizes);
        expect(whole.ok).toBe(true);
        for (const last of names) {
          const between = some(func, without(sizes, last));
          expect(openSymbols(between).map((symbol) => symbol.name)).toEqual([last]);
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

  it("refuses a name that is no symbol, and a size beyond its most", () => {
    const func = readOpen(openPrograms[0]!.text);
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
