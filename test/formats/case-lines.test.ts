import { expect, it } from "vitest";
import { caseLines } from "../../src/formats/case-lines.js";

it("a case is on the line where it begins", () => {
  expect(caseLines('\n{"id": [1, {}]}', 0)).toEqual([2]);
  expect(caseLines('[\n  {"a": [1,\n 2], "b": {}},\n\n {"c": "]"}, null,\n  7\n]', 1)).toEqual([2, 5, 5, 6]);
  expect(caseLines('{"schema": 1, "note": [0],\n "cases": [{"x": {"cases": [\n1, 2]}},\n{}]\n}', 2)).toEqual([
    2, 4,
  ]);
  expect(caseLines("[]", 1)).toEqual([]);
  expect(caseLines(`[${"[".repeat(200_000)}${"]".repeat(200_000)}]`, 1)).toEqual([1]);
});
