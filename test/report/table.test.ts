import { expect, it } from "vitest";
import { table } from "../../src/report/table.js";

it("numbers line up on the right, words on the left, and no line ends in blanks", () => {
  const rows = [
    ["a", 5, "x"],
    ["long name", 12345, ""],
  ];
  expect(table(["name", "n", "why"], rows)).toBe(
    ["name            n  why", "a               5  x", "long name  12,345"].join("\n"),
  );
});

it("a name with control characters is one line", () => {
  expect(table(["name"], [["a\tb\nc\u0007"]])).toBe("name\na b c");
});
