import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readCases } from "../../src/formats/cases.js";
import { checkCase } from "../../src/testing/check-case.js";
import { elementCount } from "../../ir/index.js";
import { testRunner } from "../support/gpu.js";
import { tried } from "../support/runs.js";

const folder = new URL("cases/", import.meta.url);
/** Larger outputs belong to `tilec check`; here they would take most of the time. */
const mostElements = 60_000;

describe.each(readdirSync(folder).sort())("%s", (name) => {
  const cases = readCases(readFileSync(new URL(name, folder), "utf8"), name).filter(
    ({ inputs }) =>
      Object.values(inputs).reduce((sum, { type }) => sum + elementCount(type.shape), 0) <= mostElements,
  );

  it("passes on reference and sim", async () => {
    expect(cases.length).toBeGreaterThan(0);
    for (const test of cases) {
      const results = await checkCase(test, ["reference", "sim"], {});
      expect(results.filter((result) => result.status !== "pass")).toEqual([]);
    }
  });

  it("passes on WebGPU", async (context) => {
    const runner = await testRunner();
    if (runner === undefined) {
      context.skip();
      return;
    }
    for (const test of tried(cases)) {
      const [result] = await checkCase(test, ["webgpu"], { runner });
      expect(result).toMatchObject({ id: test.id, status: "pass" });
    }
  });
});
