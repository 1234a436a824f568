/** Words that are nearly right: distances of the literature, and the hint for a misspelt operator. */
import { expect, it } from "vitest";
import { resolveSource } from "../../ir/index.js";
import { distance } from "../../ir/did-you-mean.js";

it("counts letters as Levenshtein does", () => {
  expect([distance("kitten", "sitting"), distance("saturday", "sunday"), distance("", "abc")]).toEqual([
    3, 3, 3,
  ]);
});

it("names the operator that a misspelt one was meant to be", () => {
  const result = resolveSource({ op: "pypto.gathr", inputs: [], attrs: {} });
  expect(result.ok ? [] : result.diagnostics.map(({ code, hint }) => [code, hint])).toEqual([
    ["TC003", "did you mean pypto.gather?"],
  ]);
});
