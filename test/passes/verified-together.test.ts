import { describe, expect, it, vi } from "vitest";
import type { Func, LoadStmt, Stmt } from "../../ir/index.js";
import type * as Actual from "../../passes/hoist-loads.js";

/** What one of tilec's own passes does wrong in this file. */
const wrong = vi.hoisted(() => ({ hoistLoads: (func: unknown): unknown => func }));

vi.mock("../../passes/hoist-loads.js", async (actual) => {
  const { hoistLoads } = await actual<typeof Actual>();
  const run = (func: Func): Func => wrong.hoistLoads(func) as Func;
  return { hoistLoads: Object.freeze({ ...hoistLoads, run }) };
});

const { defaultPipeline, PassError, runPipeline } = await import("../../passes/index.js");
const { onnx, targets } = await import("../../src/index.js");

const program: Func = {
  ...onnx.gather({ data: ["f32", [100, 64]], indices: ["i32", [4096]], axis: 0 }),
  // Without buffers and instructions to choose, no pass runs before its turn.
  schedule: { tile: [1024, 16], buffers: 1, residency: "ub" },
};

const changed = (body: readonly Stmt[], change: (load: LoadStmt) => Stmt): Stmt[] =>
  body.map((stmt) =>
    stmt.op === "for"
      ? { ...stmt, body: changed(stmt.body, change) }
      : stmt.op === "load"
        ? change(stmt)
        : stmt,
  );

const broken = (change: (load: LoadStmt) => Stmt) => {
  wrong.hoistLoads = (func) => {
    const given = func as Func;
    return given.level === "tile" ? { ...given, body: changed(given.body, change) } : given;
  };
  try {
    runPipeline(program, defaultPipeline, targets.cpu);
  } catch (thrown) {
    if (thrown instanceof PassError) return thrown;
    throw thrown;
  }
  throw new Error("the broken pass was not caught");
};

describe("passes that are verified together", () => {
  it("names the pass that broke the program, though others ran on its result", () => {
    const { pass, message, input, diagnostics } = broken((load) => ({
      ...load,
      from: { ...load.from, offsets: load.from.offsets.map((offset) => ({ ...offset, at: offset.at + 1 })) },
    }));
    expect(pass).toBe("hoist-loads");
    expect(message).toContain("after hoist-loads: ");
    expect(input.level).toBe("tile");
    expect(diagnostics.map(({ message: what }) => what).join()).toContain("leaves dim");
  });

  it("names it where the next one crashes over what it made", () => {
    const { pass, diagnostics } = broken((load) => ({ ...load, to: "nowhere" }));
    expect(pass).toBe("hoist-loads");
    expect(diagnostics.map(({ message: what }) => what).join()).toContain("%nowhere");
  });
});
