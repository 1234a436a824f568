import { describe, expect, it } from "vitest";
import { readFileSync } from "node:fs";
import { readCases } from "../../src/formats/cases.js";
import { differences, recordCase } from "./record.js";

describe("recordings of outputs", () => {
  it("hold the texts and the bits of a case", () => {
    const file = new URL("../conformance/cases/seed.json", import.meta.url);
    const [test] = readCases(readFileSync(file, "utf8"), "seed.json");
    const parts = recordCase(test!);
    expect(parts["own/explanation"]).toContain('"legal":true');
    expect(parts["ascend-a2/tile"]).toContain("gather");
    expect(parts["own/wgsl"]).toContain("@compute");
    expect(parts["run/fast"]).toMatch(/"output":"[0-9a-f]{64}"/);
  });

  it("are compared part by part, with the first line that differs", () => {
    const before = { same: "a", gone: "b", changed: "one\ntwo", longer: "x" };
    const after = { same: "a", changed: "one\n2", longer: "x\ny", added: "c" };
    expect(differences(before, after)).toEqual([
      "gone: gone",
      "changed, line 2:\n  - two\n  + 2",
      "longer, line 2:\n  - \n  + y",
      "added: new",
    ]);
  });
});
