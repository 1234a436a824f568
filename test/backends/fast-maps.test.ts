import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import wabt from "wabt";
import { printMoves } from "../../backends/moves.js";
import { watOf } from "../../backends/sim/index.js";
import { emitWasm, encodeModule, movesOf, planWasm } from "../../backends/wasm/index.js";
import { emitWgsl } from "../../backends/wgsl/index.js";
import { CompileError, defined, outputOf, type Schedule, targets } from "../../ir/index.js";
import { caseProgram } from "../../src/formats/case-program.js";
import { readCases } from "../../src/formats/cases.js";
import { compile, run, tryCompile, type Kernel } from "../../src/index.js";
import { fits, hostInputsOf } from "../support/case-kernel.js";
import { testRunner } from "../support/gpu.js";
import { runs, tried } from "../support/runs.js";
import { fastOutput, outcomeOn } from "../support/fast.js";
import { parsed } from "../support/parsed.js";

const folder = new URL("../conformance/cases/", import.meta.url);
/** Those whose program is one, with the sizes of its symbols. */
const cases = ["maps.json", "gather-in-ub.json"]
  .flatMap((name) => readCases(readFileSync(new URL(name, folder), "utf8"), name))
  .flatMap((test) => {
    const found = caseProgram(test);
    return found.ok ? [{ test, func: found.func }] : [];
  });

/** Values at the ends of 64 bits, and some between. */
const extremes = [
  0n,
  1n,
  -1n,
  7n,
  -8n,
  2n ** 31n,
  -(2n ** 31n),
  2n ** 53n + 1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
];
const long = extremes.flatMap((a) => extremes.map((b) => [a, b] as const));
const unsigned = (value: bigint): bigint => BigInt.asUintN(64, value);
const modulo = (value: bigint, by: bigint): bigint => ((value % by) + by) % by;
const rows = 7n;

/**
 * Sums of two index values that 64 bits do not hold, with their values: a from %a, i64, b from %b, i64, u and v the same
 * bits as u64 from %u and %v, d0 the dim of the output. A policy is put around each.
 */
const sums: readonly (readonly [text: string, value: (a: bigint, b: bigint, d0: bigint) => bigint])[] = [
  ["%a[d0] + %b[d0]", (a, b) => a + b],
  ["%a[d0] - %b[d0]", (a, b) => a - b],
  ["3 * %a[d0] - 2 * %b[d0] + 5", (a, b) => 3n * a - 2n * b + 5n],
  [
    "2147483647 * (2097151 * %a[d0]) + 2147483646 * (1048577 * %b[d0]) - 3",
    (a, b) => 2147483647n * 2097151n * a + 2147483646n * 1048577n * b - 3n,
  ],
  ["%u[d0] - %v[d0]", (a, b) => unsigned(a) - unsigned(b)],
  ["%u[d0] mod 7 + %v[d0] mod 5", (a, b) => (unsigned(a) % 7n) + (unsigned(b) % 5n)],
  [
    "((5 * %u[d0] + %v[d0]) div 2147483647) div 1073741823",
    (a, b) => (5n * unsigned(a) + unsigned(b)) / 2147483647n / 1073741823n,
  ],
  [
    "(3 * %u[d0]) mod 2147483647 - 2 * ((%v[d0] + 1) div 3)",
    (a, b) => ((3n * unsigned(a)) % 2147483647n) - 2n * ((unsigned(b) + 1n) / 3n),
  ],
  [
    "9007199254740991 * %a[d0] - 9007199254740991 * d0 - 9007199254740991",
    (a, _, d0) => 9007199254740991n * (a - d0 - 1n),
  ],
  ["from_end(%a[d0] of 9) + from_end(%b[d0] of 7)", (a, b) => (a < 0n ? a + 9n : a) + (b < 0n ? b + 7n : b)],
  ["from_end(%a[d0] - %b[d0] of 6) + 1", (a, b) => (a - b < 0n ? a - b + 6n : a - b) + 1n],
];

describe.each(["sim", "webgpu"] as const)("index arithmetic of %s", (backend) => {
  const inputs = {
    x: Int32Array.from({ length: Number(rows) }, (_, k) => 100 + k),
    a: BigInt64Array.from(long, ([a]) => a),
    b: BigInt64Array.from(long, ([, b]) => b),
    u: BigUint64Array.from(long, ([a]) => unsigned(a)),
    v: BigUint64Array.from(long, ([, b]) => unsigned(b)),
  };
  const text = (coord: string): string => {
    const names = Object.keys(inputs).filter((name) => name === "x" || coord.includes(`%${name}[`));
    const types = names.map((name) =>
      name === "x"
        ? `%x: tensor<${rows}xi32>`
        : `%${name}: tensor<${long.length}x${name < "c" ? "i64" : "u64"}>`,
    );
    return `func @f(${types.join(", ")}) -> tensor<${long.length}xi32> target("cpu") {
  %y = access.gather ${names.map((name) => `%${name}`).join(", ")} (d0) -> (${coord}) {oob = fill, fill = 4294967295}
  return %y
}
`;
  };
  const outputOf = async (coord: string): Promise<number[]> => {
    const func = parsed(text(coord));
    const given = Object.entries(inputs).filter(([name]) => name === "x" || coord.includes(`%${name}[`));
    const { outputs } = await run(compile(func, {}), Object.fromEntries(given), await options());
    return [...(outputs.output as Int32Array)];
  };
  const options = async () =>
    backend === "sim" ? ({ backend, executor: "fast" } as const) : { backend, runner: await testRunner() };
  const inside = (value: bigint): boolean => value >= 0n && value < rows;
  const policies = {
    fill: (value: bigint) => (inside(value) ? 100 + Number(value) : -1),
    clamp: (value: bigint) => 100 + (value < 0n ? 0 : value < rows ? Number(value) : Number(rows) - 1),
    wrap: (value: bigint) => 100 + Number(modulo(value, rows)),
  };

  it.each(sums)("is exact beyond 64 bits: %s", async (sum, value) => {
    if (backend === "webgpu" && (await testRunner()) === undefined) return;
    for (const [policy, element] of Object.entries(policies)) {
      // Fill bits stand with a policy that fills.
      const coord =
        policy === "fill" ? `fill(${sum} in ${rows})` : `fill(${policy}(${sum} in ${rows}) in ${rows})`;
      expect(await outputOf(coord), coord).toEqual(long.map(([a, b], k) => element(value(a, b, BigInt(k)))));
    }
  });

  it("refuses what 128 bits may not hold, with the limit", () => {
    const large = (of: string): string => `2147483647 * (2097151 * ${of})`;
    const much = large(`from_end(${large("%u[d0]")} - 1 of 5)`);
    const kernel = compile(parsed(text(`fill(${much} in ${rows})`)), {});
    const emitted = (): unknown =>
      backend === "sim" ? emitWasm(planWasm(kernel.tile)) : emitWgsl(kernel.tile);
    expect(emitted).toThrow(CompileError);
    expect(emitted).toThrow("2^126");
  });

  it("ends an element at the first site that gives none or an error, whatever dims they follow", async () => {
    // What is read along d1 comes first, so that the error of d0 alone does not count where it fills.
    const func =
      parsed(`func @f(%x: tensor<3x3xi32>, %i: tensor<2x4xi32>, %j: tensor<2xi32>) -> tensor<2x4xi32> target("cpu") {
  %y = access.gather %x, %i, %j (d0, d1) -> (fill(%i[d0, d1] in 3), error(%j[d0] in 3)) {oob = error}
  return %y
}
`);
    const x = Int32Array.from({ length: 9 }, (_, k) => k + 1);
    const j = Int32Array.of(2, 3);
    if (backend === "webgpu" && (await testRunner()) === undefined) return;
    const result = async (i: number[]) =>
      run(compile(func, {}), { x, i: Int32Array.from(i), j }, await options());
    const { outputs } = await result([0, 1, 9, 2, -1, 9, 9, 9]);
    expect([...(outputs.output as Int32Array)]).toEqual([3, 6, 0, 9, 0, 0, 0, 0]);
    await expect(result([0, 1, 9, 2, -1, 9, 1, 2])).rejects.toMatchObject({
      diagnostics: [{ code: "TC601", data: { table: "j", value: "3", point: [1, 2] } }],
    });
  });
});

describe("a tile program whose tiles read the same columns", () => {
  it("relates coordinates inside its regions: each tile writes what the first one does", async () => {
    const kernelFor = (target: string): Kernel =>
      compile(
        parsed(`func @again(%x: gm<4x3xu8>, %i: gm<5xi32>, %y: gm<5x6xu8>) target("${target}") {
  for %t1 = 0 to 6 step 3 parallel {
    gather %x[0, 0][4, 3], %i[0][5] to %y[0, %t1][5, 3] (d0, d1) -> (%i[d0], d1) {oob = clamp, origin = [0]}
  }
}
`),
      );
    const x = Uint8Array.from({ length: 12 }, (_, k) => k);
    const i = Int32Array.of(2, -1, 0, 9, 3);
    const expected = [2, 0, 0, 3, 3].flatMap((row) => [0, 1, 2, 0, 1, 2].map((column) => 3 * row + column));
    for (const executor of ["checked", "fast"] as const) {
      const { outputs } = await run(kernelFor("cpu"), { x, i }, { executor });
      expect([...(outputs.output as Uint8Array)]).toEqual(expected);
    }
    const runner = await testRunner();
    if (runner === undefined) return;
    const { outputs } = await run(kernelFor("webgpu"), { x, i }, { backend: "webgpu", runner });
    expect([...(outputs.output as Uint8Array)]).toEqual(expected);
  });
});

describe("a general map on the fast executor", () => {
  const schedules: readonly Schedule[] = [
    {},
    { residency: "gm" },
    ...[1, 3].map((rows): Schedule => ({ tile: [rows] })),
  ];

  it("has the bits, the report and the error of the checked one under any tile and residency", () => {
    let compared = 0;
    for (const { test, func } of tried(cases)) {
      for (const target of [targets.ascendA2, targets.cpu]) {
        for (const { tile, ...schedule } of schedules) {
          const { shape } = outputOf(func).type;
          if (shape.includes(0)) continue;
          const cut = tile && shape.map((extent, d) => (d === 0 ? tile[0]! : extent));
          const result = tryCompile(func, { target, ...schedule, ...defined({ tile: cut }) });
          if (!result.ok || !fits(test, result.kernel.tile)) continue;
          const inputs = hostInputsOf(test, result.kernel.tile);
          const [fast, checked] = (["fast", "checked"] as const).map((executor) =>
            outcomeOn(executor, result.kernel, inputs),
          );
          expect(fast, `${test.id} ${target.name} ${JSON.stringify({ cut, schedule })}`).toEqual(checked);
          compared++;
        }
      }
    }
    expect(compared).toBeGreaterThan(runs(300));
  });

  it("is cut where its task is long, with the same bits", async () => {
    const func =
      parsed(`func @f(%x: tensor<1000x7xu8>, %i: tensor<500000xi32>) -> tensor<500000x3xu8> target("cpu") {
  %y = access.gather %x, %i (d0, d1) -> (error(2 * %i[d0] + d0 mod 2 in 1000), 2 * d1 + 1) {oob = error}
  return %y
}
`);
    const kernel = compile(func, { tile: [500_000, 3], residency: "gm" });
    expect(planWasm(kernel.tile).nest.tasks).toBeGreaterThan(1);
    const x = Uint8Array.from({ length: 7000 }, (_, k) => (k * 31) >> 4);
    const i = Int32Array.from({ length: 500_000 }, (_, k) => (k * 7919) % 500);
    const { outputs } = await run(kernel, { x, i }, { executor: "fast" });
    const expected = Uint8Array.from({ length: 1_500_000 }, (_, k) => {
      const d0 = Math.floor(k / 3);
      return x[7 * (2 * i[d0]! + (d0 % 2)) + 2 * (k % 3) + 1]!;
    });
    expect(Buffer.from(outputs.output as Uint8Array).equals(Buffer.from(expected))).toBe(true);
  });

  it("tells an index without an element from one that goes back, by any number of bytes", () => {
    for (const by of [-3, -2, -1, 1, 2]) {
      const start = by < 0 ? -2 * by : 0;
      const func = parsed(`func @f(%x: tensor<7xu8>, %i: tensor<6xi32>) -> tensor<8x6xu8> target("cpu") {
  %y = access.gather %x, %i (d0, d1) -> (${start} + ${by} * zero(%i[d1] in 3)) {oob = error}
  return %y
}
`);
      const { tile } = compile(func, { tile: [8, 6], residency: "gm" });
      expect(planWasm(tile).gather?.table).toBeDefined();
      const x = Uint8Array.of(10, 11, 12, 13, 14, 15, 16);
      const i = Int32Array.of(0, 1, 2, 3, -1, 1);
      const row = [...i].map((value) => (value < 0 || value > 2 ? 0 : x[start + by * value]!));
      const expected = Uint8Array.from({ length: 48 }, (_, k) => row[k % 6]!);
      const bytes = new Uint8Array(i.buffer);
      const inputs = {
        data: { type: { dtype: "u8", shape: [7] }, bytes: x },
        indices: { type: { dtype: "i32", shape: [6] }, bytes },
      } as const;
      expect(fastOutput({ tile }, inputs), `by ${by}`).toEqual(expected);
    }
  });

  const paged = compile(
    parsed(`func @f(%kv: tensor<32x16x64xf32>, %topk: tensor<100xi32>, %bt: tensor<8xi32>) -> tensor<100x64xf32> target("cpu") {
  %y = access.gather %kv, %topk, %bt (d0, d1) let t = error(%topk[d0] in 128) -> (%bt[t div 16], t mod 16, d1) {oob = error}
  return %y
}
`),
    { tile: [100, 64], residency: "gm" },
  );

  it("takes the sites of a row once, and copies the row whole", () => {
    const text = printMoves(movesOf(planWasm(paged.tile)));
    expect(text).toContain("  sites: index values 0 1, along d0\n");
    expect(text).toContain("  rows: bytes 256, by instructions\n");
  });

  it("is text that assembles to the bytes that run", async () => {
    const assembler = await wabt();
    const kernels = cases.flatMap(({ func }) => {
      const result = tryCompile(func, { target: targets.cpu });
      return result.ok ? [result.kernel] : [];
    });
    expect(kernels.length).toBeGreaterThan(50);
    for (const { tile } of [paged, ...kernels]) {
      const { module } = emitWasm(planWasm(tile));
      const assembled = assembler.parseWat("kernel.wat", watOf(tile));
      assembled.validate();
      const { buffer } = assembled.toBinary({ canonicalize_lebs: true });
      expect(Buffer.from(encodeModule(module)).equals(Buffer.from(buffer))).toBe(true);
      assembled.destroy();
    }
  });
});
