/** The text of a value reads as that very value, whatever in it are numbers alone. */
import { describe, expect, it } from "vitest";
import { printFunc } from "../../ir/index.js";
import { compile, run } from "../../src/index.js";
import { drawer, type Draw } from "../fuzz/mutate.js";
import { parsedAccess } from "../support/parsed.js";

const programOf = (value: string): string => `func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %y = access.gather %a (d0) yield ${value} {oob = error}
  return %y
}
`;

const types = ["f32", "i32", "u32"] as const;
type ArithmeticName = (typeof types)[number];

/** A value of a type, in which each number says its own. */
function valueText(draw: Draw, type: ArithmeticName, depth: number): string {
  const inner = (): string => valueText(draw, type, depth - 1);
  const kind = depth === 0 ? draw(2) : draw(6);
  if (kind === 0) return `${type}(${1 + draw(9)})`;
  if (kind === 1) return type === "f32" ? "%a[d0]" : `${type}(%a[d0])`;
  if (kind === 2) return `${type}(${valueText(draw, types[draw(3)]!, depth - 1)})`;
  if (kind === 3) return `${type === "f32" ? "max" : "min"}(${inner()}, ${inner()})`;
  const operators = type === "f32" ? ["+", "-", "*", "/"] : ["+", "-", "*"];
  return `(${inner()} ${operators[draw(operators.length)]!} ${inner()})`;
}

describe("the text of a value", () => {
  it("keeps every number's type: 1,000 random values", () => {
    let ofNumbers = 0;
    for (let seed = 0; seed < 1000; seed++) {
      const source = valueText(drawer(seed * 7 + 1), "f32", 4);
      const func = parsedAccess(programOf(source));
      const text = printFunc(func);
      expect(parsedAccess(text).map.value, source).toEqual(func.map.value);
      expect(printFunc(parsedAccess(text)), source).toBe(text);
      if (/[a-z]32\([a-z]32\(\d/.test(text)) ofNumbers++;
    }
    expect(ofNumbers).toBeGreaterThan(200);
  });

  it.each([
    ["f32(i32(f32(7) * f32(0.5))) * %a[d0]", "f32(i32(f32(7) * 0x3f000000)) * %a[d0]", 3],
    ["f32(i32(f32(7) / f32(2)) + i32(%a[d0]))", "f32(i32(f32(7) / 2) + i32(%a[d0]))", 4],
    ["f32(f16(f32(1) / f32(3))) * %a[d0]", "f32(f16(f32(1) / 3)) * %a[d0]", 0.333251953125],
    ["f32(i32(7) * i32(2)) * %a[d0]", "f32(i32(7) * 2) * %a[d0]", 14],
    ["%a[d0] * 3 + (2 - 1)", "%a[d0] * 3 + (2 - 1)", 4],
  ])("is short and gives the same bits: %s", async (source, text, expected) => {
    const func = parsedAccess(programOf(source));
    expect(printFunc(func)).toContain(`yield ${text} {`);
    const { outputs } = await run(compile(parsedAccess(printFunc(func))), { a: new Float32Array(4).fill(1) });
    expect([...(outputs["output"] as Float32Array)]).toEqual([expected, expected, expected, expected]);
  });
});
