/** Random access maps on every backend, under random schedules, against the oracle; and what such maps have found. */
import { describe, expect, it } from "vitest";
import { defined, parseModule } from "../../ir/index.js";
import { compile, run, targets, tryCompile } from "../../src/index.js";
import { drawer, withOtherRank } from "../fuzz/mutate.js";
import { elementsOf, textOf, type OracleMap } from "../oracle/maps.js";
import { testRunner } from "../support/gpu.js";
import { parsed } from "../support/parsed.js";
import { judgeBound, judgeMap } from "../support/map-trials.js";
import { randomMap } from "../support/random-map.js";
import { runs } from "../support/runs.js";

describe("random access maps", () => {
  it("give the oracle's bits, or its first bad point, whatever the schedule, the residency and the binding", async () => {
    const runner = await testRunner();
    const counts = { "right bits": 0, error: 0, refused: 0, accepted: 0 };
    for (let seed = 0; seed < 150; seed++) {
      const draw = drawer(seed * 17 + 3);
      const map = randomMap(draw);
      if (map !== undefined) counts[await judgeMap(map, draw, seed % 16 === 1 ? runner : undefined)]++;
    }
    expect(counts["right bits"]).toBeGreaterThan(50);
    expect(counts.error).toBeGreaterThan(15);
    expect(counts.refused).toBeLessThan(30);
  }, 120_000);
});

describe("random maps of other ranks", () => {
  it("compile, or are refused by a diagnostic", () => {
    const codes = new Map<string, number>();
    for (let seed = 0; seed < 1000; seed++) {
      const draw = drawer(seed * 29 + 7);
      const map = randomMap(draw);
      if (map === undefined) continue;
      const { module, diagnostics } = parseModule(withOtherRank(textOf(map), draw), "ranks.tir");
      const [func] = module.funcs;
      const compiled = func === undefined ? undefined : tryCompile(func, { target: targets.webgpu });
      const found =
        compiled?.ok === true ? compiled.kernel.diagnostics : (compiled?.diagnostics ?? diagnostics);
      for (const code of new Set(found.map((diagnostic) => diagnostic.code)))
        codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect(codes.get("TC204")).toBeGreaterThan(300);
  }, 120_000);
});

describe("random maps over symbols", () => {
  it("bound to sizes, a kernel compiled at the most gives the oracle's bits, or its first bad point", async () => {
    const runner = await testRunner();
    const counts = { shared: 0, alone: 0, texts: 0 };
    for (let seed = 0; seed < runs(240); seed++) {
      const draw = drawer(seed * 23 + 5);
      const map = randomMap(draw);
      if (map === undefined || Object.keys(map.most).length === 0) continue;
      const { shared, alone, texts } = await judgeBound(map, draw, seed % 4 === 1 ? runner : undefined);
      counts.shared += shared;
      counts.alone += alone;
      counts.texts += texts;
    }
    expect(counts.shared).toBeGreaterThan(runs(80));
    // A size of 0, and what no proof shows to hold.
    expect(counts.alone).toBeGreaterThan(0);
    expect(counts.alone).toBeLessThan(counts.shared);
    if (runner !== undefined) expect(counts.texts).toBeGreaterThan(runs(20));
  }, 120_000);
});

const base: Omit<OracleMap, "tables" | "lets" | "results"> = {
  output: [1],
  oob: "error",
  fill: 0n,
  sizes: {},
  most: {},
};

describe("found by random maps", () => {
  it("a window under wrap whose modulus is stated starts at its index modulo that number", async () => {
    const read = {
      kind: "read",
      table: 1,
      at: [
        { kind: "dim", dim: 1 },
        { kind: "dim", dim: 2 },
      ],
    } as const;
    const start = { kind: "policy", keep: "wrap", of: read, below: { kind: "whole", value: 3 } } as const;
    const map: OracleMap = {
      ...base,
      output: [6, 2, 8],
      tables: [
        { name: "data", dtype: "f32", shape: [8, 8], values: [] },
        {
          name: "t",
          dtype: "i32",
          shape: [2, 8],
          values: Array.from({ length: 16 }, (_, k) => BigInt(7 * k - 50)),
        },
      ],
      lets: [],
      results: [
        { kind: "plus", left: start, right: { kind: "dim", dim: 0 } },
        { kind: "dim", dim: 2 },
      ],
    };
    for (let seed = 0; seed < 8; seed++)
      expect(await judgeMap(map, drawer(seed), await testRunner())).toBe("right bits");
  });

  it("a mod of an open dim gives the oracle's bits at every size", async () => {
    const map: OracleMap = {
      ...base,
      output: ["N", 3],
      tables: [{ name: "data", dtype: "f32", shape: [2, 3], values: [] }],
      lets: [],
      results: [
        { kind: "mod", of: { kind: "dim", dim: 0 }, by: 4 },
        { kind: "dim", dim: 1 },
      ],
      most: { N: 2 },
    };
    for (const N of [1, 2]) {
      const { shared, alone } = await judgeBound({ ...map, sizes: { N } }, drawer(N), await testRunner());
      expect(shared + alone).toBeGreaterThan(0);
    }
  });

  it("a sum that is 0 is below its bound on WebGPU, and what follows it is still looked at", async () => {
    const map: OracleMap = {
      ...base,
      tables: [
        { name: "data", dtype: "i32", shape: [3, 5], values: [] },
        { name: "i", dtype: "i32", shape: [1], values: [7n] },
      ],
      lets: [
        {
          name: "s0",
          value: {
            kind: "policy",
            keep: "fill",
            of: { kind: "dim", dim: 0 },
            below: { kind: "whole", value: 5 },
          },
        },
      ],
      results: [
        {
          kind: "policy",
          keep: "error",
          of: { kind: "read", table: 1, at: [{ kind: "dim", dim: 0 }] },
          below: { kind: "whole", value: 3 },
        },
        { kind: "let", name: "s0" },
      ],
    };
    expect(elementsOf(map)).toEqual({ point: [0], value: 7n, read: { table: "i", position: 0 } });
    expect(await judgeMap(map, drawer(1), await testRunner())).toBe("error");
  });

  it.each([
    ["fill((-1 * %i[d0] - error(0 in 5)) in 5)", [0n, 3n], [10, 7]],
    ["fill((%i[d0] - error(0 in 5)) in 5)", [0n, 3n], [10, 40]],
    ["wrap((-1 * %i[d0] - error(0 in 5)) in 5)", [0n, 3n], [10, 30]],
    ["wrap((-1 * %i[d0] - error(2 in 5)) in 5)", [0n, 3n], [40, 10]],
  ])("a 0 that no operand changes is taken away from 128 bits: %s", async (sum, indices, expected) => {
    const func = parsed(`func @f(%data: tensor<5xu8>, %i: tensor<2xu64>) -> tensor<2xu8> {
  %y = access.gather %data, %i (d0) let s0 = ${sum} -> (s0) {oob = error${sum.startsWith("fill") ? ", fill = 7" : ""}}
  return %y
}`);
    const kernel = compile(func, { target: targets.webgpu });
    const inputs = { data: Uint8Array.of(10, 20, 30, 40, 50), i: BigUint64Array.from(indices) };
    const runner = await testRunner();
    for (const backend of [
      "reference",
      "sim",
      ...(runner === undefined ? [] : (["webgpu"] as const)),
    ] as const) {
      const { outputs } = await run(kernel, inputs, { backend, ...defined({ runner }) });
      expect([backend, ...(outputs.output as Uint8Array)]).toEqual([backend, ...expected]);
    }
  });
});
