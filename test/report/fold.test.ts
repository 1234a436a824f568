import { describe, expect, it } from "vitest";
import { folded } from "../../src/report/fold.js";

describe("a report on a narrow terminal", () => {
  it("folds at words, and goes on below the column in which it began", () => {
    expect(folded("  pass  full-load  gather dim 1 is loaded whole: 80 elements", 40)).toBe(
      "  pass  full-load  gather dim 1 is\n" +
        "                   loaded whole: 80\n" +
        "                   elements",
    );
    expect(folded("schedule  tile = [2, 27], view = [64, 80], profile = strict", 32)).toBe(
      "schedule  tile = [2, 27], view =\n          [64, 80], profile =\n          strict",
    );
  });

  it("indents by two what has no columns, and keeps what fits and words longer than a line", () => {
    expect(folded("one two three four", 9)).toBe("one two\n  three\n  four");
    expect(folded("short\n\n  lines", 9)).toBe("short\n\n  lines");
    expect(folded(`a ${"b".repeat(20)} c`, 10)).toBe(`a ${"b".repeat(20)}\n  c`);
  });

  it("keeps every word in its order, whatever the width", () => {
    const text =
      "  schedule  tile = [22, 768], view = [4096, 768]   34,541  MTE2 is busy\nlower bound 29,147 cycles (global memory), this takes 1.2 times that";
    const words = (all: string): readonly string[] => all.split(/\s+/);
    for (let width = 1; width <= 100; width++) {
      expect(words(folded(text, width))).toEqual(words(text));
      if (width >= 24)
        for (const line of folded(text, width).split("\n")) expect(line.length).toBeLessThanOrEqual(width);
    }
  });
});
