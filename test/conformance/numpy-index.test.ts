/** numpy's own results of `x[…]`, x holding 0, 1, 2, … in order: what numpy 2.4 gave for random subscripts. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { elementCount, inputsOf, keyOf, outputOf } from "../../ir/index.js";
import { compile, program, run, targets } from "../../src/index.js";

interface IndexCase {
  readonly x: readonly number[];
  readonly subscript: string;
  readonly arrays: readonly { readonly shape: readonly number[]; readonly values: readonly number[] }[];
  readonly output: { readonly shape: readonly number[]; readonly values: readonly number[] };
}

const file = new URL("numpy/index.json", import.meta.url);
const cases = JSON.parse(readFileSync(file, "utf8")) as readonly IndexCase[];

it("numpy.index gives numpy's shape and elements, on the definition and the simulator", async () => {
  expect(cases.length).toBeGreaterThan(50);
  for (const { x, subscript, arrays, output } of cases) {
    const [indices, ...others] = arrays.map(({ shape }) => ({ dtype: "i64", shape }) as const);
    const func = program({
      op: "numpy.index",
      attrs: { subscript },
      data: { dtype: "i32", shape: x },
      indices: indices!,
      others,
    });
    const values = [
      Int32Array.from({ length: elementCount(x) }, (_, k) => k),
      ...arrays.map((array) => BigInt64Array.from(array.values.map(BigInt))),
    ];
    const inputs = Object.fromEntries(inputsOf(func).map((operand, k) => [keyOf(operand), values[k]!]));
    const kernel = compile(func, { target: targets.webgpu });
    for (const backend of ["reference", "sim"] as const) {
      const { outputs } = await run(kernel, inputs, { backend });
      const found = { shape: outputOf(func).type.shape, values: [...(outputs.output as Int32Array)] };
      expect(found, `x${JSON.stringify(x)}[${subscript}] on ${backend}`).toEqual(output);
    }
  }
});
