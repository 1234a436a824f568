import { expect, it } from "vitest";
import { htmlTable } from "../../src/report/page.js";

it("a table keeps four digits of a short time, and every digit of a count", () => {
  const text = htmlTable("t", ["ms", "cycles"], [{ cells: [0.0051752, 1234567] }]);
  expect(text).toContain(">0.005175<");
  expect(text).toContain(">1,234,567<");
});
