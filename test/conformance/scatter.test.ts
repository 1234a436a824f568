import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseModule, printModule } from "../../ir/index.js";
import { readCases } from "../../src/formats/cases.js";
import { checkCase } from "../../src/testing/check-case.js";

const folder = new URL("scatter/", import.meta.url);

describe.each(readdirSync(folder).sort())("%s", (name) => {
  const cases = readCases(readFileSync(new URL(name, folder), "utf8"), name);

  it("passes on reference", async () => {
    expect(cases.length).toBeGreaterThan(0);
    const results = [];
    for (const test of cases) results.push(...(await checkCase(test, ["reference"], {})));
    expect(results.filter(({ status }) => status !== "pass")).toEqual([]);
  });

  it("is refused by what has no scatters yet", async () => {
    for (const test of cases.filter(({ expectedError }) => expectedError === undefined)) {
      const results = await checkCase(test, ["sim"], {});
      expect(results).toMatchObject([{ id: test.id, code: "TC505" }]);
    }
  });

  it("has texts that print and parse to the same value", () => {
    for (const { id, tir = "" } of cases) {
      const { module, diagnostics } = parseModule(tir, id);
      expect(diagnostics).toEqual([]);
      const text = printModule(module);
      const again = parseModule(text, id);
      expect(again.diagnostics).toEqual([]);
      expect(printModule(again.module)).toBe(text);
      expect(withoutSpans(again.module)).toEqual(withoutSpans(module));
    }
  });
});

/** A value without the places of its text. */
const withoutSpans = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, part: unknown) => (/span/i.test(key) ? undefined : part)));
