import { expect, it } from "vitest";
import { defined } from "../../ir/defined.js";

it("keeps what has a value, in its order, and drops what is undefined", () => {
  const members: { a?: number; b: string; c: number | undefined; d: null } = { b: "", c: undefined, d: null };
  const { d, ...others } = members;
  expect(Object.entries(defined({ d, ...others, a: 0 }))).toEqual([
    ["d", null],
    ["b", ""],
    ["a", 0],
  ]);
  expect("c" in defined(members)).toBe(false);
});
