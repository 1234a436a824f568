/** Printing a form takes work that grows with its atoms, in the text of programs and in that of kernels. */
import { describe, expect, it } from "vitest";
import { add, constant, dim, div, mod, printForm, printLinear, type Linear } from "../../ir/index.js";
import { wgslForms } from "../../backends/wgsl/forms.js";
import { countWork } from "../support/count-work.js";

/** (((d0 + 1) mod 4) + 1) div 3 …, so many of them. */
const nested = (depth: number): Linear =>
  depth === 0 ? dim(0) : (depth % 2 === 0 ? div : mod)(add(nested(depth - 1), constant(1)), 3 + (depth % 2));

const kernels = wgslForms({
  iv: (name) => name,
  dims: [{ by: 1, text: "d0", isTight: true }],
  indices: [],
});

describe("a nested form", () => {
  it.each([
    ["a program", (form: Linear) => printLinear(form), "((d0 + 1) mod 4 + 1) div 3"],
    ["a kernel", (form: Linear) => printForm(form, kernels), "((((d0 + 1u) & 3u) + 1u) / 3u)"],
  ])("is printed once in the text of %s", (_, print, text) => {
    expect(print(nested(2))).toBe(text);
    const [few, many] = [6, 12].map((depth) => countWork(() => print(nested(depth))));
    expect(many!).toBeLessThan(3 * few!);
  });
});
