import { expect, it } from "vitest";
import { defined } from "../../ir/defined.js";

it("keeps what has a value, in its order, and drops what is undefined", () => {
  const members: { d: null; b: string; c: number | undefined; a: number } = {
    d: null,
    b: "",
    c: undefined,
    a: 0,
  };
  expect(Object.entries(defined(members))).toEqual([
    ["d", null],
    ["b", ""],
    ["a", 0],
  ]);
});
