/** docs/pypto-tests.md, and the verdicts of `strict` by the rules of the specification's page alone. */
import { describe, expect, it } from "vitest";
import { meanBytes } from "../../ir/index.js";
import { parseType } from "../../src/cli/flag-values.js";
import { brokenRules } from "../oracle/budget.js";
import { boardPage, boardTargets, boardTests, boardVerdict } from "./pypto-tests-page.js";

describe("docs/pypto-tests.md", () => {
  it("has the verdicts of today (npm run docs:pypto writes it)", async () => {
    await expect(boardPage()).toMatchFileSnapshot("../../docs/pypto-tests.md");
  });

  it("has under strict what the specification's page of gather says of types, ranks, view, tile and bytes", () => {
    const specified = ["f32", "f16", "bf16", "i16", "i32"];
    const seen = { legal: 0, TC104: 0, TC102: 0, TC301: 0 };
    for (const test of boardTests.gathers.filter(({ op }) => op === "pypto.gather"))
      for (const target of boardTargets) {
        const [data, indices] = [parseType(test.data, "data"), parseType(test.indices, "indices")];
        const axis = test.axis < 0 ? test.axis + data.shape.length : test.axis;
        const rules = (): readonly string[] =>
          brokenRules(
            {
              ...{ op: "gather_elements", axis, batchDims: 0, pypto: true },
              ...{ dataShape: data.shape, indexShape: indices.shape },
              ...{ elementBytes: meanBytes(data.dtype), indexBytes: meanBytes(indices.dtype) },
            },
            { tile: test.tile, view: test.view, profile: "strict", residency: "ub", buffers: 1 },
            "ascend",
            target.ubBytes,
          );
        const expected = !specified.includes(data.dtype)
          ? "TC104"
          : data.shape.length < 2 || data.shape.length > 4
            ? "TC102"
            : rules().includes("full-load")
              ? "TC301"
              : rules().length > 0
                ? "TC401"
                : "legal";
        const found = boardVerdict(test, "strict", target);
        expect(found, `${test.id} on ${target.name}`).toBe(expected);
        if (found in seen) seen[found as keyof typeof seen]++;
      }
    for (const [verdict, count] of Object.entries(seen))
      expect([verdict, count > 0]).toEqual([verdict, true]);
  });
});
