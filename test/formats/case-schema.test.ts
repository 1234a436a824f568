import { readdirSync, readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { caseSchema } from "../../src/formats/case-schema.js";

const written = new URL("../../schema/case.json", import.meta.url);
const conformance = new URL("../conformance/cases/", import.meta.url);

describe("schema/case.json", () => {
  it("is what the definitions say (npm run docs:schema writes it)", async () => {
    const text = `${JSON.stringify(caseSchema, null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(written.pathname);
  });

  it("is a strict schema of draft-07, by which every conformance file is valid", () => {
    // The alternatives of a tensor require fields that are described beside them.
    const ajv = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true });
    const validate = ajv.compile(JSON.parse(readFileSync(written, "utf8")) as object);
    const files = readdirSync(conformance);
    expect(files.length).toBeGreaterThan(5);
    for (const name of files) {
      const cases: unknown = JSON.parse(readFileSync(new URL(name, conformance), "utf8"));
      expect([name, validate(cases), validate.errors]).toEqual([name, true, null]);
      expect(validate({ schema: 1, cases })).toBe(true);
    }
    expect(validate([{ id: "a" }])).toBe(false);
    const page = readFileSync(new URL("../../docs/cases.md", import.meta.url), "utf8");
    const example: unknown = JSON.parse(/^```json\n([\s\S]*?)^```/m.exec(page)?.[1] ?? "");
    expect(validate(example)).toBe(true);
  });
});
