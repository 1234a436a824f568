/** Figures that the documentation pins: each is checked where it stands, and holds with no slack that hides a slower kernel. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { editPipeline, definePass } from "../../passes/index.js";
import { compile, type Func } from "../../src/index.js";
import { readCases } from "../../src/formats/cases.js";
import { checkCase } from "../../src/testing/check-case.js";
import { assertThat } from "../../src/testing/index.js";
import { root } from "../support/root.js";
import { parsed } from "../support/parsed.js";

const pages = [
  "README.md",
  ...readdirSync(`${root}docs`, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`),
].map((file) => ({ file, text: readFileSync(root + file, "utf8") }));

it("has a test for every page with a figure", () => {
  const pinned = pages.flatMap(({ file, text }) =>
    [...text.matchAll(/\.(to(?:Take|Move)(?:AtMost|Exactly)|toFitUb)\(([^)]*\d[^)]*)\)/g)].map(
      ([, matcher = "", figures = ""]) =>
        `${file} ${matcher} ${figures.replaceAll(/[{} ]/g, "").replace(/\d{2,}/, "N")}`,
    ),
  );
  expect(pinned.sort()).toEqual([
    // Below.
    "docs/extending.md toTakeExactly cycles:N,clock:5",
    // test/docs/library.test.ts: no schedule has a lower ratio, and the second fails, as the page prints.
    "docs/library.md toMoveAtMost bytes:N",
    "docs/library.md toMoveAtMost ratio:1",
    // test/docs/testing.test.ts
    "docs/testing.md toMoveAtMost ratio:1",
    "docs/testing.md toTakeAtMost cycles:N,clock:5",
  ]);
});

it("states the cycles of the program that stands beside them in docs/extending.md", () => {
  const { text = "" } = pages.find(({ file }) => file === "docs/extending.md") ?? {};
  const [, program = ""] = /```tir suite\/turned\.tir\n([^]*?)```/.exec(text) ?? [];
  const [, cycles, clock] = /toTakeExactly\(\{ cycles: (\d+), clock: (\d+) \}\)/.exec(text) ?? [];
  const turned = definePass({
    name: "turned-loops",
    summary: "the order of the loops, turned",
    requires: ["scheduled"],
    ensures: ["scheduled"],
    run: (func): Func => ({ ...func, schedule: { ...func.schedule, order: [0, 1] } }),
  });
  const passes = editPipeline([{ pass: turned, after: "select-tile" }]);
  const kernel = compile(parsed(program), { passes });
  assertThat(kernel).toTakeExactly({ cycles: Number(cycles), clock: Number(clock) });
});

it("gives limits to cases that are what their kernels take", async () => {
  const blocks = pages.flatMap(({ text }) =>
    [...text.matchAll(/^```json \S+\n([^]*?)^```/gm)].map(([, json = ""]) => json),
  );
  const cases = blocks
    .filter((json) => json.includes('"limits"'))
    .flatMap((json) => readCases(json, "page.json"))
    .filter(({ limits }) => limits !== undefined);
  expect(cases.length).toBeGreaterThan(0);
  for (const test of cases) {
    const judged = async (limits: typeof test.limits) =>
      (await checkCase({ ...test, limits: limits! }, ["sim"], {})).find(({ backend }) => backend === "limits")
        ?.status;
    expect(await judged(test.limits)).toBe("pass");
    for (const [name, limit] of Object.entries(test.limits ?? {})) {
      if (name !== "clock")
        expect(await judged({ [name]: limit / 1.01 }), `${test.id}: ${name}`).toBe("fail");
    }
  }
});
