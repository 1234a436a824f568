/** The lines of an explanation's summary: the verdict with its profile, and what limits a schedule. */
import { describe, expect, it } from "vitest";
import { explain, gather, gatherElements, pypto, targets, type CompileOptions } from "../../src/index.js";
import { renderExplanation, renderSummary } from "../../src/report/index.js";
import { renderVerdict } from "../../src/report/explanation.js";
import type { Func } from "../../ir/index.js";

const summary = (program: Func, options: CompileOptions): string => renderSummary(explain(program, options));
const line = (label: string, text: string): string =>
  text
    .split("\n")
    .find((one) => one.startsWith(`${label} `))
    ?.slice(label.length)
    .trim() ?? "";

describe("the verdict", () => {
  it("is legal without a condition where elements are read in place, and a line says so", () => {
    const program = gatherElements({ data: ["f32", [1024, 512]], indices: ["i64", [1024, 256]], axis: 1 });
    const text = summary(program, { target: targets.webgpu });
    expect(text.split("\n")[0]).toBe("@gather_elements on webgpu: legal");
    expect(line("residency", text)).toBe(
      "gm: elements are read from global memory, so the data need not be loaded whole",
    );
    expect(line("residency", renderVerdict(explain(program, { target: targets.webgpu })))).toMatch(/^gm: /);
    expect(summary(program, { target: targets.ascendA2, residency: "ub" })).not.toMatch(/^residency/m);
  });

  it("names both profiles in one line where they differ", () => {
    const program = pypto.gather({ input: ["f16", [64, 8192]], dim: 1, index: ["i32", [64, 512]] });
    const [head] = summary(program, { target: targets.ascendA2, tile: [8, 64] }).split("\n");
    expect(head).toBe(
      "@gather on ascend-a2: refused under PyPTO's specification (profile strict); " +
        "legal under PyPTO's documentation since 2026-04-02 (--profile pages)",
    );
    const [clipped] = summary(program, { target: targets.ascendA2, tile: [8, 8193] }).split("\n");
    expect(clipped).toBe("@gather on ascend-a2: legal, judged as tile 8,8192");
  });
});

describe("what limits a schedule", () => {
  const limit = (program: Func, options: CompileOptions): string =>
    line("limited by", summary(program, options));

  it("is the idle cores where the busiest pipe has time to spare", () => {
    const update = pypto.scatterUpdate({
      input: ["f16", [8192, 512]],
      index: ["i64", [1, 512]],
      src: ["f16", [512, 512]],
    });
    expect(limit(update, { target: targets.ascendA2 })).toMatch(
      /^too few tasks: 1 task leaves 47 of 48 cores idle; busiest on that core: stores \(MTE3\), \d\d %; [\d.]+ of 1,425 GB\/s$/,
    );
    const square = gatherElements({ data: ["f32", [512, 300]], indices: ["i32", [400, 300]], axis: 0 });
    expect(limit(square, { target: targets.ascendA2, tile: [512, 20] })).toMatch(
      /^too few tasks: 15 tasks leave 33 of 48 cores idle; busiest on the 15 working cores: /,
    );
  });

  it("is the number of loads or stores where they are short, and their bytes where they are long", () => {
    const rows = gather({ data: ["f32", [4096]], indices: ["i32", [65536]], axis: 0 });
    const options = { target: targets.ascend950, residency: "gm", cores: 1 } as const;
    expect(limit(rows, options)).toMatch(
      /^the number of loads, not their bytes: loads \(MTE2\), busy \d+ % of the time; /,
    );
    // One core moves the same share of all cores' bandwidth, in rows of 16 KiB.
    const wide = gather({ data: ["f32", [4096, 4096]], indices: ["i32", [65536]], axis: 0 });
    expect(limit(wide, options)).toMatch(/^(?:loads|stores) \(MTE[23]\), busy (?:9\d|100) % of the time; /);
  });
});

describe("the lower bound", () => {
  it("holds for any schedule, and what sets it stands beside it", () => {
    const rows = gather({ data: ["f32", [3000, 64]], indices: ["i32", [4096]], axis: 0 });
    const text = summary(rows, { target: targets.ascendA2, residency: "ub" });
    expect(line("lower bound", text)).toMatch(
      /^[\d,]+ cycles for any schedule, set by the vector unit; this one takes [\d.]+ times that$/,
    );
    expect(line("limited by", text)).toMatch(/^loads \(MTE2\), busy \d+ %/);
    const short = summary(gather({ data: ["f32", [32, 64]], indices: ["i32", [7]] }), {
      target: targets.ascend950,
    });
    expect(line("lower bound", short)).toContain(", set by loads and stores; ");
  });
});

describe("a refusal", () => {
  it("has the rule, what it means along the dim, and flags that fit where no tile is legal", () => {
    const table = gather({ data: ["f32", [50257, 768]], indices: ["i32", [16384]], axis: 0 });
    const rows = summary(table, { target: targets.ascendA2, residency: "ub" });
    expect(line("refused by", rows)).toBe(
      "ub-budget: even the smallest tile [1, 1] needs 1,608,352 B, over 196,608 B by 1,411,744 B",
    );
    expect(line("meaning", rows)).toBe(
      "gather dim 0 of data is loaded whole: 50,257 elements, rows of 4 B padded to 32 B; at most 6,140 would fit",
    );
    const of = (length: number): Func =>
      pypto.gather({ input: ["f32", [64, length]], dim: 1, index: ["i32", [64, 512]] });
    const long = summary(of(65536), { target: targets.ascend950 });
    expect(line("meaning", long)).toBe(
      "gather dim 1 of data is loaded whole: 65,536 elements; at most 61,440 would fit",
    );
    expect(line("try", long)).toBe("--data f32[64,61440]: the longest gather dim 1 that fits");
    expect(explain(of(61440), { target: targets.ascend950 }).legal).toBe(true);
    expect(explain(of(61441), { target: targets.ascend950 }).legal).toBe(false);
  });

  it("has the meaning of the first rule that fails, with its dim", () => {
    const columns = pypto.gather({ input: ["f16", [64, 8192]], dim: 1, index: ["i32", [64, 512]] });
    const meaning = (options: CompileOptions): string =>
      line("meaning", summary(columns, { target: targets.ascendA2, ...options }));
    expect(meaning({ tile: [8, 64] })).toBe(
      "the tile cuts gather dim 1, which must be whole; tilec explain TC301 has more",
    );
    expect(meaning({ tile: [8, 64], view: [64, 64] })).toMatch(/cuts gather dim 1, which must be whole; /);
    expect(meaning({ tile: [64, 8192] })).toBe(
      "gather dim 1 of data is loaded whole: 8,192 elements; tilec explain TC401 has more",
    );
  });

  it("names the flags of equal ways out in one line, and a shorter one alone", () => {
    const long = pypto.gather({ input: ["f32", [8, 3000]], dim: 1, index: ["i32", [8, 30000]] });
    const text = renderExplanation(explain(long, { target: targets.ascendA2 }));
    expect(text.match(/^ {2}--.*: about.*$/gm)).toEqual([
      expect.stringMatching(/^ {2}--profile pages or --profile head: about [\d,]+ cycles, pypto\./),
    ]);
    const rows = gather({ data: ["f32", [1000, 64]], indices: ["i32", [300]], axis: 0 });
    const flat = renderExplanation(
      explain(rows, { target: targets.ascendA2, residency: "gm", lowering: "flat" }),
    );
    expect(flat.match(/^ {2}--.*: about/gm)).toEqual(["  --residency ub: about"]);
  });

  it("has a sum of bytes whose parts have names, and none where nothing is copied", () => {
    const rows = gather({ data: ["f32", [32, 64]], indices: ["i32", [7]], axis: 0 });
    const sum = (options: CompileOptions): string =>
      explain(rows, options).rules.find(({ rule }) => rule === "ub-budget")!.detail;
    expect(sum({ target: targets.ascend950, residency: "ub", tile: [1, 64], buffers: 1 })).toBe(
      "8192 (data) + 32 (indices) + 256 (output) = 8480 B <= 253952 B",
    );
    expect(sum({ target: targets.webgpu })).toBe("nothing is copied to UB: 0 B <= 16384 B");
  });
});
