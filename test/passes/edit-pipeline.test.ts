import { describe, expect, it } from "vitest";
import { CompileError, targets } from "../../ir/index.js";
import {
  defaultPipeline,
  definePass,
  editPipeline,
  isDefaultPipeline,
  parsePipeline,
  type Pass,
} from "../../passes/index.js";
import { compile, onnx } from "../../src/index.js";
import { assertThat } from "../../src/testing/index.js";

const named = (name: string): Pass =>
  definePass({ name, summary: "does nothing", requires: [], ensures: [], run: (func) => func });
const mine = named("mine");
const other = named("other");
const namesOf = (passes: readonly Pass[]): string => passes.map(({ name }) => name).join(" ");
const parsed = (list: string): string => namesOf(parsePipeline(list, [mine, other]));

/** What a list is refused with: its code, message and hint. */
function refusal(list: string, own: readonly Pass[] = [mine, other]): string {
  try {
    return namesOf(parsePipeline(list, own));
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown;
    return thrown.diagnostics
      .map(({ code, message, hint }) => `${code} ${message}; ${hint ?? ""}`)
      .join("\n");
  }
}

// docs/architecture.md draws the built-in pipeline in this order.
const before =
  "canonicalize-access select-tile enforce-full-load fit-ub lower-to-tile hoist-loads allocate-ub";

describe("a list", () => {
  it.each([
    ["default", `${before} insert-sync`],
    ["mine,other", "mine other"],
    ["  lower-to-tile ,\n  mine, lower-to-tile", "lower-to-tile mine lower-to-tile"],
    ["default, mine", `${before} insert-sync mine`],
    [
      "default, mine after select-tile",
      "canonicalize-access select-tile mine enforce-full-load fit-ub lower-to-tile hoist-loads allocate-ub insert-sync",
    ],
    [
      "default, mine before hoist-loads",
      "canonicalize-access select-tile enforce-full-load fit-ub lower-to-tile mine hoist-loads allocate-ub insert-sync",
    ],
    ["default, mine instead of insert-sync", `${before} mine`],
    [
      "default, no hoist-loads",
      "canonicalize-access select-tile enforce-full-load fit-ub lower-to-tile allocate-ub insert-sync",
    ],
    ["default, mine instead   of insert-sync, other after mine", `${before} mine other`],
    ["default, no insert-sync, mine before canonicalize-access", `mine ${before}`],
  ])("%j", (list, passes) => {
    expect(parsed(list)).toBe(passes);
  });

  it("of edits is the same as its data", () => {
    expect(
      parsePipeline("default, mine after select-tile, other before mine, no fit-ub", [mine, other]),
    ).toEqual(
      editPipeline([{ pass: mine, after: "select-tile" }, { pass: other, before: "mine" }, { no: "fit-ub" }]),
    );
    expect(editPipeline([{ pass: mine, insteadOf: "other" }, { pass: other }], [other])).toEqual([
      mine,
      other,
    ]);
  });

  it("that changes nothing is the built-in pipeline", () => {
    expect(parsePipeline("default")).toBe(defaultPipeline);
    expect(isDefaultPipeline(parsePipeline("default, mine, no mine", [mine]))).toBe(true);
    expect(isDefaultPipeline(parsePipeline("default, no fit-ub"))).toBe(false);
  });
});

describe("what is no list is refused", () => {
  it.each([
    ["", "TC702 an empty text is not an entry of a pipeline"],
    ["mine,", "TC702 an empty text is not an entry of a pipeline"],
    ["mine after", "TC702 mine after is not an entry of a pipeline"],
    ["mine inside fit-ub", "TC702 mine inside fit-ub is not an entry of a pipeline"],
    ["mine, default", "TC702 default is not an entry of a pipeline"],
    ["yours", "TC702 there is no pass yours; canonicalize-access, "],
    ["default, mine after yours", "TC702 the pipeline has no pass yours; canonicalize-access, "],
    ["default, no fit-ub, mine after fit-ub", "TC702 the pipeline has no pass fit-ub"],
    ["default, mine, mine, other after mine", "TC702 the pipeline runs mine twice"],
    ["mine, no mine", "TC702 no mine edits the default pipeline; default, no mine"],
    ["mine after fit-ub", "TC702 mine after fit-ub edits the default pipeline; default, mine after fit-ub"],
  ])("%j", (list, start) => {
    expect(refusal(list).slice(0, start.length)).toBe(start);
  });

  it("so are passes that it cannot name", () => {
    expect(refusal("default", [named("no")])).toContain('a pass cannot be named "no"');
    expect(refusal("default", [named("two words")])).toContain('a pass cannot be named "two words"');
    expect(refusal("default", [mine, named("mine")])).toContain("there are two passes of the name mine");
    const origin = { file: "./a.mjs", text: "" };
    expect(refusal("default", [{ ...named("fit-ub"), origin }])).toContain(
      "./a.mjs: there are two passes of the name fit-ub",
    );
    expect(refusal("default", [mine, mine])).toBe(`${before} insert-sync`);
  });
});

describe("a kernel keeps its pipeline", () => {
  const op = () => onnx.gather({ data: ["f32", [40, 24]], indices: ["i32", [30]] });
  const counted = () => {
    const seen: string[] = [];
    const pass = definePass({
      ...named("counted"),
      requires: ["scheduled"],
      ensures: ["scheduled"],
      run(func) {
        seen.push(`${func.target} ${func.schedule.tile?.join()}`);
        return func;
      },
    });
    return { seen, passes: editPipeline([{ pass, after: "select-tile" }]) };
  };

  it("for another kind of target", () => {
    const { seen, passes } = counted();
    const kernel = compile(op(), { passes, target: "ascend-a2", tile: [8, 8] });
    expect(kernel.passes).toBe(passes);
    expect(kernel.forTarget(targets.webgpu).passes).toBe(passes);
    expect(seen).toEqual(["ascend-a2 8,8", "webgpu 8,8"]);
  });

  it("for the tiles of a matcher", () => {
    const { seen, passes } = counted();
    const kernel = compile(op(), { passes, target: "ascend-a2", tile: [8, 8] });
    assertThat(kernel).toBeDeterministicOver([
      [4, 8],
      [8, 24],
    ]);
    expect(seen).toEqual(["ascend-a2 8,8", "ascend-a2 4,8", "ascend-a2 8,24"]);
  });
});
