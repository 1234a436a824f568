import { readdirSync, readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { opDefs, scheduleEntries, type Schedule, type ScheduleEntry } from "../../ir/index.js";
import { caseProblemsAmong } from "../../src/formats/case-problems.js";
import { caseSchema, type CaseJson } from "../../src/formats/case-schema.js";
import { readCaseList } from "../../src/formats/cases.js";
import { drawer } from "../fuzz/mutate.js";
import { changedJson, mutatedJson } from "../support/mutate-json.js";
import { unlessRefused } from "../support/refusal.js";

const written = new URL("../../schema/case.json", import.meta.url);
const conformance = new URL("../conformance/cases/", import.meta.url);

// The alternatives of a tensor require fields that are described beside them.
const ajv = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true });
const validate = ajv.compile(JSON.parse(readFileSync(written, "utf8")) as object);

const conformanceFiles = readdirSync(conformance).map((name) => {
  const cases = JSON.parse(readFileSync(new URL(name, conformance), "utf8")) as readonly unknown[];
  return { name, cases };
});

describe("schema/case.json", () => {
  it("is what the definitions say (npm run docs:schema writes it)", async () => {
    const text = `${JSON.stringify(caseSchema(), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(written.pathname);
  });

  it("is a strict schema of draft-07, by which every conformance file is valid", () => {
    expect(conformanceFiles.length).toBeGreaterThan(5);
    for (const { name, cases } of conformanceFiles) {
      expect([name, validate(cases), validate.errors]).toEqual([name, true, null]);
      expect(validate({ schema: 1, cases })).toBe(true);
    }
    expect(validate([{ id: "a" }])).toBe(false);
    const page = readFileSync(new URL("../../docs/cases.md", import.meta.url), "utf8");
    const example: unknown = JSON.parse(/^```json\n([\s\S]*?)^```/m.exec(page)?.[1] ?? "");
    expect(validate(example)).toBe(true);
  });
});

const tensor = { dtype: "i32", shape: [2, 2], values: [1, 2, 3, 4] };
const plain = {
  id: "mine/plain",
  op: "gather_elements",
  dialect: "onnx",
  attributes: { axis: 0 },
  data: tensor,
  indices: { dtype: "i32", shape: [1, 2], fill: { seed: 1, min: 0, max: 2 } },
  expect: "ok",
};

function sample(entry: ScheduleEntry): unknown {
  switch (entry.form) {
    case "list":
      return [2, 2];
    case "count":
      return 2;
    case "word":
      return entry.words[0];
    case "by-operand":
      return { indices: entry.each[0] };
  }
}

const schedule = Object.fromEntries(
  Object.values(scheduleEntries).map((entry) => [entry.key, sample(entry)]),
);

/** Every field that a case may have, though not all of them beside one another. */
const full = {
  ...schedule,
  ...plain,
  source: "mine",
  note: "every field",
  op: "gather_nd",
  dialect: "directml",
  attributes: { batchDims: 0, featureLevel: "3.0" },
  inputs: { data: tensor, "a b": { dtype: "f16", shape: [1], bits: ["3c00"] } },
  bind: { N: 4 },
  first: [0, 1],
  inout: "data",
  output: tensor,
  oob: "clamp",
  target: "cpu",
  targetFile: "mine.json",
  doubleBuffer: true,
  limits: { bytes: 1, ubPeak: 2, cycles: 3, clock: 4 },
  tir: "func",
  expect: { error: "axis" },
} satisfies Readonly<Record<Exclude<keyof CaseJson, keyof Schedule>, unknown>>;

/** What readCaseList says of a whole file. */
const isRead = (file: unknown): boolean =>
  unlessRefused(() => readCaseList(JSON.stringify(file), "c.json"))?.every(
    (test) => !("malformed" in test),
  ) ?? false;

/** Verdicts on each of these as a case, those on which ajv and the checker differ by name. */
function verdicts(cases: Iterable<unknown>): {
  readonly valid: number;
  readonly invalid: number;
  readonly differing: readonly unknown[];
} {
  const count = { valid: 0, invalid: 0 };
  const differing: unknown[] = [];
  for (const one of cases) {
    // A file says of itself by these fields that it is no case.
    if (typeof one === "object" && one !== null && ("schema" in one || "cases" in one)) continue;
    const valid = validate(one);
    count[valid ? "valid" : "invalid"]++;
    const problems = caseProblemsAmong(opDefs)(one);
    if (valid !== (problems.length === 0)) differing.push({ one, valid, problems });
  }
  return { ...count, differing };
}

describe("the schema takes what the checker takes, by ajv", () => {
  it("of every conformance case", () => {
    const cases = conformanceFiles.flatMap((file) => file.cases);
    expect(verdicts([...cases, plain, full])).toEqual({ valid: cases.length + 2, invalid: 0, differing: [] });
  });

  it("of cases with one change, whatever it is", () => {
    const { valid, invalid, differing } = verdicts([...changedJson(plain), ...changedJson(full)]);
    expect(differing).toEqual([]);
    expect([valid > 500, invalid > 500]).toEqual([true, true]);
  });

  it("of cases with a few changes", () => {
    const draw = drawer(27);
    const cases = [full, ...conformanceFiles.flatMap((file) => file.cases)].filter(
      (one) => JSON.stringify(one).length < 2000,
    );
    const changed = Array.from({ length: 2000 }, () => mutatedJson(cases[draw(cases.length)], draw));
    const { valid, invalid, differing } = verdicts(changed);
    expect(differing).toEqual([]);
    expect([valid > 300, invalid > 300]).toEqual([true, true]);
  });

  it.each([
    ...[[], [plain], plain, { schema: 1, cases: [] }, { schema: 1, cases: [plain] }],
    ...[
      { $schema: "case.json", schema: 1, cases: [plain] },
      { $schema: 5, schema: 1, cases: [plain] },
    ],
    ...[5, null, "a", {}, [5], [[plain]], { ...plain, schema: 1 }, { schema: 1 }, { cases: [plain] }],
    ...[
      { schema: 2, cases: [plain] },
      { schema: 1, cases: plain },
      { schema: 1, cases: [plain], more: 1 },
    ],
    ...[
      { schema: 1, cases: [{ ...plain, tiles: [1] }] },
      { schema: "1", cases: [plain] },
    ],
  ])("of the file %j", (file) => {
    expect(isRead(file)).toBe(validate(file));
  });
});
