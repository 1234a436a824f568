import { describe, expect, it } from "vitest";
import { executors, simulateBytes, watOf } from "../../backends/sim/index.js";
import { targets, verifyStructure, type TileFunc } from "../../ir/index.js";
import { parsedTile } from "../support/parsed.js";

/** The last element first, written by hand: `y[k] = x[i[k]]` over 16 elements, in the given loops. */
const program = (head: string, offset: string, size: string): string => `
func @reversed(%x: gm<16xu8>, %i: gm<16xi32>, %y: gm<16xu8>) target("cpu") {
  ${head} {
    gather %x[0][16], %i[${offset}][${size}] to %y[${offset}][${size}] (d0) -> (%i[d0]) {oob = error, origin = [${offset}]}
  }
}`;

function parsed(text: string): TileFunc {
  const tile = parsedTile(text);
  expect(verifyStructure(tile)).toEqual([]);
  return tile;
}

const run = (tile: TileFunc, executor: (typeof executors)[number]): number[] => {
  const inputs = {
    data: { type: tile.operands[0]!.type, bytes: Uint8Array.from({ length: 16 }, (_, k) => k + 1) },
    indices: {
      type: tile.operands[1]!.type,
      bytes: new Uint8Array(Int32Array.from({ length: 16 }, (_, k) => 15 - k).buffer),
    },
  };
  return [...simulateBytes({ tile, target: targets.cpu }, inputs, { executor }).output];
};

const reversed = Array.from({ length: 16 }, (_, k) => 16 - k);

describe.each(executors)("index arithmetic beyond 32 bits on the %s executor", (executor) => {
  it.each([
    ["a minimum with a sum over 2^31", "for %t = 0 to 16 step 4 parallel", "%t", "min(4, 2147483647 + %t)"],
    [
      "an offset below a sum near 2^32",
      "for %t = 0 to 16 step 4 serial",
      "min(%t, 2147483640 + %t + 2147483640)",
      "4",
    ],
    ["a minimum that is taken away", "for %t = 0 to 16 step 4 serial", "%t", "4 - min(0, 2147483648 + %t)"],
    [
      "a minimum inside a minimum",
      "for %t = 0 to 16 step 4 serial",
      "%t",
      "min(min(2147483648 + %t, 4), 16 - %t)",
    ],
    ["a step of 2^31", "for %t = 0 to 16 step 2147483648 serial", "%t", "16"],
    ["a step of 2^31 over tasks", "for %t = 0 to 16 step 2147483648 parallel", "%t", "16"],
  ])("is exact: %s", (_, head, offset, size) => {
    expect(run(parsed(program(head, offset, size)), executor)).toEqual(reversed);
  });

  it("is exact for a tile loop in a view whose end lies beyond 2^31", () => {
    const end = "min(%v + 2147483647, 16)";
    const head = `for %v = 0 to 16 step 2147483647 parallel {\n  for %t = %v to ${end} step 1073741824 parallel`;
    const tile = parsed(program(head, "%t", `min(1073741824, ${end} - %t)`).replace(/}$/, "}}"));
    expect(run(tile, executor)).toEqual(reversed);
  });

  it.each(["serial", "parallel"])("counts a %s loop from below zero", (mode) => {
    const tile = parsed(program(`for %t = -8 to 8 step 5 ${mode}`, "%t + 8", "min(5, 8 - %t)"));
    expect(run(tile, executor)).toEqual(reversed);
  });

  it("does not run a loop that ends before it begins", () => {
    const inner = "for %u = -4 to -7 step 1 serial {\n load %x[0][16] to %b }";
    const text = program("for %t = 0 to 16 step 16 serial", "%t", "16")
      .replace("{\n  for", "{\n  %b = alloc : ub<16xu8, row 16> at [0]\n  for")
      .replace("gather", `${inner}\n gather`);
    expect(run(parsed(text), executor)).toEqual(reversed);
  });
});

describe("the width of index arithmetic", () => {
  it("is 32 bits where every value fits, as in all that compiles from an operator of ordinary size", () => {
    expect(watOf(parsed(program("for %t = 0 to 16 step 4 parallel", "%t", "min(4, 16 - %t)")))).not.toMatch(
      /i64/,
    );
  });

  it("is 64 bits where a value that is compared does not", () => {
    expect(
      watOf(parsed(program("for %t = 0 to 16 step 4 parallel", "%t", "min(4, 2147483647 + %t)"))),
    ).toContain("i64.lt_s");
  });

  it("is refused beyond 2^53, where no executor is exact", () => {
    const tile = parsed(
      program("for %t = 0 to 16 step 4 parallel", "%t", "min(4, 2147483647 * (2147483647 * (%t + 1)))"),
    );
    expect(() => watOf(tile)).toThrow("TC502");
  });
});
