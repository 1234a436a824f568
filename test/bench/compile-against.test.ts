/** Two builds' compilers in turns: which programs count, what is counted of them, and a compiler in a process of its own. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { compareCompilers } from "../../bench/compile-against.js";
import type { CompileSide } from "../../bench/compile-side.js";
import { corpus } from "../../bench/corpus.js";
import { forkSide } from "../../bench/fork-side.js";
import { percentile99 } from "../../bench/statistics.js";
import { root } from "../support/root.js";

beforeAll(() => {
  vi.spyOn(console, "error").mockReturnValue();
});
afterAll(() => {
  vi.restoreAllMocks();
});

/** Compiles every program but the first `unknown`; the next ones take one millisecond, two, and so on, in their fastest pass. */
function fakeCompiler(unknown: number, factor: number): CompileSide {
  let pass = 0;
  return {
    load: (programs) => Promise.resolve(programs.map((_, k) => k >= unknown)),
    pass: (_, programs) => {
      pass++;
      return Promise.resolve(programs.map((k) => (k - 1) * factor * (pass % 3 === 0 ? 1 : 2)));
    },
    close: () => Promise.resolve(),
  };
}

describe("compilers in turns", () => {
  it("are compared by the median and the 99th percentile of each program's fastest pass, where both compile it", async () => {
    const count = corpus().length;
    const rows = await compareCompilers(() => Promise.resolve([fakeCompiler(2, 3), fakeCompiler(1, 1)]), 1);
    const ms = Array.from({ length: count - 2 }, (_, k) => k + 1);
    const [middle, high] = [(count - 1) / 2, ms[Math.floor(0.99 * ms.length)] ?? NaN];
    expect(rows.map(({ name, ms: both, ratio }) => [name, ...both, ratio.median])).toEqual(
      ["compile", "compile and emit WGSL"].flatMap((step) => [
        [`${step}, median`, 3 * middle, middle, 3],
        [`${step}, 99th percentile`, 3 * high, high, 3],
      ]),
    );
    expect(rows.map(({ verdict }) => verdict)).toEqual(Array(4).fill("slower"));
  });

  it("run in processes of their own", async () => {
    const side = await forkSide("compile", root);
    try {
      const programs = corpus().slice(0, 2);
      expect(await side.load([...programs, { ...programs[0]!, op: "onnx.no_such_op" }])).toEqual([
        true,
        true,
        false,
      ]);
      expect(await side.pass("compile", [0, 1])).toEqual([expect.any(Number), expect.any(Number)]);
      await expect(side.pass("compile", [2])).rejects.toThrow("program 2 does not compile");
    } finally {
      await side.close();
    }
  });
});

describe("the 99th percentile", () => {
  it.each([
    [1, 1],
    [99, 99],
    [100, 100],
    [101, 100],
    [406, 402],
  ])("of 1 to %i is %i", (n, expected) => {
    expect(percentile99(Array.from({ length: n }, (_, k) => n - k))).toBe(expected);
  });
});
