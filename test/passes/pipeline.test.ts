import { describe, expect, it } from "vitest";
import { InternalError, parseModule, type Func, type TileFunc } from "../../ir/index.js";
import { defaultPipeline, definePass, PassError, runPipeline, type Pass } from "../../passes/index.js";
import { compile, onnx, targets } from "../../src/index.js";
import { passPage } from "../../src/report/pass-page.js";
import { reproducer } from "../../src/cli/reproducer.js";

const program: Func = {
  ...onnx.gather({ data: ["f32", [100, 64]], indices: ["i32", [4096]], axis: 0 }),
  schedule: { tile: [1024, 16] },
};
const withPass = (pass: Pass): readonly Pass[] =>
  defaultPipeline.flatMap((other) => (other.name === "allocate-ub" ? [pass, other] : [other]));

const broken = (run: Pass["run"]): PassError => {
  const pass = definePass({ name: "mine", summary: "", requires: ["tile"], ensures: ["tile"], run });
  try {
    runPipeline(program, withPass(pass), targets.ascendA2);
  } catch (thrown) {
    if (thrown instanceof PassError) return thrown;
    throw thrown;
  }
  throw new Error("the broken pass was not caught");
};

describe("the pipeline", () => {
  it("runs passes in order and names what each changed", () => {
    const seen: [string, boolean][] = [];
    runPipeline(program, defaultPipeline, targets.ascendA2, {
      afterPass: (pass, before, after) => seen.push([pass.name, before !== after]),
    });
    expect(seen.map(([name]) => name)).toEqual(defaultPipeline.map((pass) => pass.name));
    expect(seen.find(([name]) => name === "fit-ub")).toEqual(["fit-ub", false]);
  });

  it("refuses to run a pass before what it requires holds", () => {
    const { diagnostics } = runPipeline(program, [defaultPipeline[4]!], targets.ascendA2);
    expect(diagnostics[0]?.message).toContain("lower-to-tile cannot run");
  });

  it("gives the same program when a pass runs on its own output", () => {
    const { func } = runPipeline(program, defaultPipeline, targets.ascendA2);
    const again = defaultPipeline.filter(
      (pass) => pass.requires.includes("tile") || pass.requires.includes("allocated"),
    );
    expect(runPipeline(func, again, targets.ascendA2).func).toEqual(func);
  });

  it("catches a user's pass that breaks an invariant, with the program it was given", () => {
    const error = broken((func) => (func.level === "tile" ? { ...func, body: func.body.slice(1) } : func));
    expect(error).toBeInstanceOf(InternalError);
    expect(error.message).toContain("after mine: ");
    expect(error.input.level).toBe("tile");
  });

  it("turns a crash of a pass into an internal error whose reproducer parses", () => {
    const error = broken(() => {
      throw new TypeError("oops");
    });
    const { file, text } = reproducer(error, "tilec compile x.tir");
    expect(file).toMatch(/^tilec-reproducer-[0-9a-f]{8}\.tir$/);
    const { module, diagnostics } = parseModule(text, file);
    expect(diagnostics).toEqual([]);
    expect(module.funcs[0]?.level).toBe("tile");
  });
});

describe("the pass page", () => {
  const before: TileFunc = { ...compile(program, { target: targets.ascendA2, buffers: 2 }).tile, name: "a" };
  const after: TileFunc = {
    ...before,
    name: "b",
    schedule: { ...before.schedule, buffers: before.schedule.buffers === 1 ? 2 : 1 },
  };

  it("marks the words that changed and leaves out passes that changed nothing", () => {
    const page = passPage("<p>", [
      { pass: "one", before, after },
      { pass: "two", before, after: before },
    ]);
    expect(page).toContain("<title>&lt;p&gt;</title>");
    expect(page).toContain("<h2>one</h2>");
    expect(page).toMatch(/<del>func @<mark>a<\/mark>\(/);
    expect(page).toMatch(/<ins>func @<mark>b<\/mark>\(/);
    expect(page).toContain("Changed nothing: two.");
    expect(page).not.toContain("<h2>two</h2>");
  });

  it("folds the schedule, an entry a line, and says whether it changed", () => {
    const page = passPage("p", [{ pass: "one", before, after }]);
    const [, folded = ""] = /<details>(.*?)<\/details>/s.exec(page) ?? [];
    expect(folded).toContain("<summary>schedule, changed</summary>");
    expect(folded).toMatch(
      /<del>buffers = <mark>[12]<\/mark><\/del><ins>buffers = <mark>[12]<\/mark><\/ins>/,
    );
    expect(page.replace(folded, "")).not.toContain("budget_rule");
  });
});
