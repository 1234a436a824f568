/** What explain advises is what helps: each hint's flags, typed, give what the hint is about. */
import { describe, expect, it } from "vitest";
import { targets, type Schedule, type Shape } from "../../ir/index.js";
import { explain, onnx, type Explanation } from "../../src/index.js";
import { scheduleIn } from "../support/schedule-in.js";

const rows = (data: Shape, indices: Shape) => onnx.gather({ data: ["f32", data], indices: ["i32", indices] });
const target = targets.ascendA2;
const narrow = rows([64, 1600], [8]);

const operandIn = ({ traffic }: Explanation, operand: unknown) =>
  traffic.operands.find((own) => own.operand === operand);

describe("a performance hint", () => {
  it.each<[string, ReturnType<typeof rows>, Schedule, readonly string[]]>([
    ["rows cut short", narrow, { tile: [2, 8] }, ["TC901"]],
    ["a slab loaded anew", narrow, { tile: [2, 8], order: [0, 1] }, ["TC901", "TC903"]],
    ["a view", narrow, { tile: [2, 8], view: [4, 16], order: [0, 1], buffers: 2 }, ["TC901"]],
    ["one task", rows([64, 16], [800]), { tile: [800, 16] }, ["TC902"]],
    ["rows from global memory", rows([100, 64], [4096]), { tile: [2, 8], residency: "gm" }, ["TC901"]],
  ])("is followed, and helps in no more cycles: %s", (_, func, schedule, codes) => {
    const before = explain(func, { target, ...schedule });
    const hints = before.diagnostics.filter(({ code }) => ["TC901", "TC902", "TC903"].includes(code));
    expect(hints.map(({ code }) => code)).toEqual(expect.arrayContaining([...codes]));
    for (const { code, hint, data } of hints) {
      const after = explain(func, { target, ...schedule, ...scheduleIn(hint ?? "") });
      expect(after.legal).toBe(true);
      expect(after.cycles).toBeLessThanOrEqual(before.cycles);
      const [was, is] = [before, after].map((found) => operandIn(found, data?.["operand"]));
      if (code === "TC901") expect(is!.burst).toBeGreaterThan(was!.burst);
      if (code === "TC902") expect(after.traffic.tasks).toBeGreaterThan(before.traffic.tasks);
      if (code === "TC903") expect(is!.bytes).toBeLessThan(was!.bytes);
    }
  });

  it.each([
    ["three elements", onnx.gatherNd({ data: ["f32", [8, 8]], indices: ["i64", [3, 2]] }), {}],
    ["a scalar", rows([8], []), {}],
    ["every row, of 256 B, by every core", rows([64, 64], [48]), { tile: [1, 64], residency: "gm" }],
  ] as const)("is not given where no legal tile does better: %s", (_, func, schedule) => {
    const { legal, diagnostics } = explain(func, { target, ...schedule });
    expect(legal).toBe(true);
    expect(diagnostics.filter(({ code }) => ["TC901", "TC902", "TC903"].includes(code))).toEqual([]);
  });
});

describe("flags that lead to a schedule", () => {
  it("leave out the tile of a scalar, which has no entries", () => {
    const { comparison } = explain(rows([2048], []), { target, buffers: 1 });
    const flags = comparison?.alternatives.map((other) => other.flags) ?? [];
    expect(flags.length).toBeGreaterThan(1);
    expect(flags.filter((text) => text.includes("--tile"))).toEqual([]);
  });
});
