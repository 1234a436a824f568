/** Scatters on the fast executor: in the caller's memory, whatever makes the updates, however long the rows are. */
import { describe, expect, it } from "vitest";
import { referenceOfMap } from "../../backends/reference/index.js";
import { scatterPlanOf } from "../../backends/direct/scatter-plan.js";
import {
  FastExecutor,
  simulate,
  simulateBytes,
  simulateChecked,
  simulateLong,
} from "../../backends/sim/index.js";
import {
  type AccessFunc,
  byteCount,
  type Diagnostic,
  RunError,
  targets,
  type TileFunc,
} from "../../ir/index.js";
import { compile, run, toHost, type Kernel, type TensorData } from "../../src/index.js";
import type { HostInputs } from "../../backends/index.js";
import { spawnThread } from "../../src/device/index.js";
import { drawer } from "../fuzz/mutate.js";
import { refusal } from "../support/refusal.js";
import { parsedAccess, parsedTile } from "../support/parsed.js";

const fast = { executor: "fast" } as const;

/** Returns the kernel and the program of a scatter, by its parameters, its result and its statement. */
function scatter(params: string, result: string, statement: string): { kernel: Kernel; func: AccessFunc } {
  const text = `func @s(${params}) -> tensor<${result}> {\n  %y = access.scatter ${statement}\n  return %y\n}\n`;
  const func = parsedAccess(text);
  return { kernel: compile(func), func };
}

const cacheOf = (rows: number, width: number, policy = "error"): ReturnType<typeof scatter> =>
  scatter(
    `%cache: inout tensor<${rows}x${width}xf16>, %slot: tensor<8xi64>, %rows: tensor<8x${width}xf16>`,
    `${rows}x${width}xf16`,
    `%cache, %slot, %rows (d0 < 8, d1 < ${width}) let t = ${policy}(%slot[d0] in ${rows}) -> (t, d1) yield %rows[d0, d1] {oob = error, duplicates = last}`,
  );

const slots = (...values: readonly number[]): BigInt64Array => BigInt64Array.from(values, BigInt);

/** Returns the codes and the data of what an action throws. */
const thrownBy = (action: () => unknown): Diagnostic => refusal(action)!;

describe("a scatter in place", () => {
  it.each([3, 8, 512])(
    "writes rows of %i elements into the caller's array, the later of two",
    async (width) => {
      const { kernel } = cacheOf(64, width);
      const rows = Uint16Array.from({ length: 8 * width }, (_, k) => k + 1);
      const expected = new Uint16Array(64 * width).fill(7);
      const at = [5, 6, 7, 40, 5, 41, 63, 0];
      at.forEach((slot, k) => {
        expected.set(rows.subarray(k * width, (k + 1) * width), slot * width);
      });
      const cache = new Uint16Array(64 * width).fill(7);
      const { outputs, report } = simulate(kernel, { cache, slot: slots(...at), rows }, fast);
      expect(outputs.output).toBe(cache);
      expect(cache).toEqual(expected);
      const again = new Uint16Array(64 * width).fill(7);
      const checked = simulate(kernel, { cache: again, slot: slots(...at), rows });
      expect(checked.outputs.output).toBe(again);
      expect(again).toEqual(expected);
      expect({ ...report, executor: "" }).toEqual({ ...checked.report, executor: "" });
      for (const backend of ["sim", "reference"] as const) {
        const own = new Uint16Array(64 * width).fill(7);
        const ran = await run(kernel, { cache: own, slot: slots(...at), rows }, { backend });
        expect(ran.outputs.output).toBe(own);
        expect(own).toEqual(expected);
      }
    },
  );

  it("writes where an array starts between two words", () => {
    const { kernel } = cacheOf(8, 4);
    const memory = new Uint16Array(1 + 8 * 4);
    const cache = memory.subarray(1);
    const rows = Uint16Array.from({ length: 32 }, (_, k) => k + 1);
    simulate(kernel, { cache, slot: slots(7, 6, 5, 4, 3, 2, 1, 0), rows }, fast);
    expect([...memory]).toEqual([
      0,
      ...[7, 6, 5, 4, 3, 2, 1, 0].flatMap((r) => [1, 2, 3, 4].map((c) => 4 * r + c)),
    ]);
  });

  it("writes nothing where an index is out of range, and names the first point", () => {
    for (const width of [1, 3, 512]) {
      const { kernel } = cacheOf(64, width);
      const cache = new Uint16Array(64 * width).fill(7);
      const rows = new Uint16Array(8 * width).fill(1);
      const { code, data } = thrownBy(() =>
        simulate(kernel, { cache, slot: slots(1, 2, 3, 64, 4, -1, 5, 6), rows }, fast),
      );
      expect(code).toBe("TC601");
      expect(data).toMatchObject({ point: [3, 0], position: 3 });
      expect(cache.every((bits) => bits === 7)).toBe(true);
    }
  });

  it("writes nothing before the last of many points is looked at", () => {
    const { kernel } = scatter(
      "%x: inout tensor<50xi32>, %i: tensor<5000xi32>, %u: tensor<5000xi32>",
      "50xi32",
      "%x, %i, %u (d0 < 5000) -> (%i[d0]) yield %u[d0] {oob = error}",
    );
    const x = new Int32Array(50).fill(7);
    const i = Int32Array.from({ length: 5000 }, (_, k) => (k === 4999 ? 50 : k % 50));
    const { code, data } = thrownBy(() => simulate(kernel, { x, i, u: new Int32Array(5000) }, fast));
    expect(code).toBe("TC601");
    expect(data).toMatchObject({ point: [4999] });
    expect(x.every((bits) => bits === 7)).toBe(true);
  });

  it("finds duplicates along a dim that writes at all places of a window, or nowhere", () => {
    for (const [written, earlier, point] of [
      ["%i[d0] + d1", [0, 1], [1, 0]],
      ["%i[d0]", [0, 0], [0, 1]],
    ] as const) {
      const { kernel } = scatter(
        "%x: inout tensor<9xi32>, %i: tensor<2xi32>, %u: tensor<2x3xi32>",
        "9xi32",
        `%x, %i, %u (d0 < 2, d1 < 3) -> (${written}) yield %u[d0, d1] {oob = error, duplicates = error}`,
      );
      const x = new Int32Array(9).fill(7);
      const given = { x, i: Int32Array.of(4, 5), u: new Int32Array(6) };
      const { code, data } = thrownBy(() => simulate(kernel, given, fast));
      expect(code).toBe("TC607");
      expect(data).toMatchObject({ point, earlier });
      expect(x.every((bits) => bits === 7)).toBe(true);
    }
  });

  it("skips what names no row, and rejects a broken bound of unchecked", () => {
    const rows = new Uint16Array(8 * 4).fill(1);
    const slot = slots(1, -1, 64, 3, 2 ** 40, 1, 1, 1);
    const cache = new Uint16Array(64 * 4);
    simulate(cacheOf(64, 4, "skip").kernel, { cache, slot, rows }, fast);
    expect([...cache.keys()].filter((k) => cache[k] === 1)).toEqual([4, 5, 6, 7, 12, 13, 14, 15]);
    const untouched = new Uint16Array(64 * 4);
    const unchecked = cacheOf(64, 4, "unchecked").kernel;
    expect(thrownBy(() => simulate(unchecked, { cache: untouched, slot, rows }, fast)).code).toBe("TC601");
    expect(untouched.every((bits) => bits === 0)).toBe(true);
  });

  it("names both points of a duplicate under error, and writes nothing", () => {
    for (const inner of ["d1", "%j[d0, d1]"]) {
      const { kernel } = scatter(
        "%x: inout tensor<9x4xi32>, %i: tensor<5xi32>, %j: tensor<5x4xi32>, %u: tensor<5x4xi32>",
        "9x4xi32",
        `%x, %i, %j, %u (d0 < 5, d1 < 4) -> (%i[d0], ${inner}) yield %u[d0, d1] {oob = error, duplicates = error}`,
      );
      const x = new Int32Array(36).fill(7);
      const j = Int32Array.from({ length: 20 }, (_, k) => 3 - (k % 4));
      const given = { x, i: Int32Array.of(8, 2, 1, 2, 8), j, u: new Int32Array(20) };
      const { code, data } = thrownBy(() => simulate(kernel, given, fast));
      expect(code).toBe("TC607");
      expect(data).toMatchObject({ point: [3, 0], earlier: [1, 0] });
      expect(x.every((bits) => bits === 7)).toBe(true);
    }
  });

  it("refuses two operands in one memory", async () => {
    const { kernel } = cacheOf(64, 4);
    const memory = new Uint16Array(64 * 4 + 32);
    const given = {
      cache: memory.subarray(0, 256),
      slot: slots(0, 1, 2, 3, 4, 5, 6, 7),
      rows: memory.subarray(255, 287),
    };
    for (const options of [{}, fast])
      expect(thrownBy(() => simulate(kernel, given, options))).toMatchObject({
        code: "TC702",
        data: { bytes: 2 },
      });
    await expect(run(kernel, given, { backend: "reference" })).rejects.toThrow("share 2 bytes");
    const beside = { ...given, rows: memory.subarray(256) };
    expect(simulate(kernel, beside, fast).outputs.output).toBe(given.cache);
  });
});

/** Scatters whose updates are made first, or whose points are taken one by one. */
const computed = {
  "rows that are quantized": scatter(
    "%c: inout tensor<32x6xi8>, %i: tensor<8xi32>, %u: tensor<8x6xf16>, %s: tensor<8xf32>",
    "32x6xi8",
    "%c, %i, %u, %s (d0 < 8, d1 < 6) -> (error(%i[d0] in 32), d1) yield i8(f32(%u[d0, d1]) * %s[d0]) {oob = error}",
  ),
  "sums of f32 into f16": scatter(
    "%c: tensor<32x6xf16>, %i: tensor<8xi32>, %u: tensor<8x6xf16>, %s: tensor<8xf32>",
    "32x6xf16",
    "%c, %i, %u, %s (d0 < 8, d1 < 6) -> (error(%i[d0] in 32), d1) yield f32(%u[d0, d1]) * %s[d0] {oob = error, combine = add}",
  ),
  "updates that lie the other way": scatter(
    "%c: tensor<32x6xf16>, %i: tensor<8xi32>, %u: tensor<6x8xf16>, %s: tensor<8xf32>",
    "32x6xf16",
    "%c, %i, %u, %s (d0 < 8, d1 < 6) -> (skip(%i[d0] in 4), d1) yield %u[d1, d0] {oob = error}",
  ),
  "sums of terms": scatter(
    "%c: tensor<32x6xf32>, %i: tensor<8xi32>, %u: tensor<8x6x5xf32>, %s: tensor<8xf32>",
    "32x6xf32",
    "%c, %i, %u, %s (d0 < 8, d1 < 6; r < 5) -> (error(%i[d0] in 32), d1) yield fold(%u[d0, d1, r] * %s[d0]) {oob = error, combine = max}",
  ),
  "wide rows that are quantized": scatter(
    "%c: inout tensor<32x75xi8>, %i: tensor<8xi32>, %u: tensor<8x75xf16>, %s: tensor<8xf32>",
    "32x75xi8",
    "%c, %i, %u, %s (d0 < 8, d1 < 75) -> (error(%i[d0] in 32), d1) yield i8(f32(%u[d0, d1]) * %s[d0]) {oob = error}",
  ),
  "wide sums of bf16": scatter(
    "%c: inout tensor<32x75xbf16>, %i: tensor<8xi32>, %u: tensor<8x75xbf16>",
    "32x75xbf16",
    "%c, %i, %u (d0 < 8, d1 < 75) -> (skip(%i[d0] in 6), d1) yield %u[d0, d1] {oob = error, combine = add}",
  ),
  "updates by an index of their own": scatter(
    "%c: tensor<32x6xf16>, %i: tensor<8xi32>, %u: tensor<4x6xf16>, %s: tensor<8xf32>",
    "32x6xf16",
    "%c, %i, %u, %s (d0 < 8, d1 < 6) let t = fill(%i[d0] in 4) let o = error(%i[7 - d0] in 32) -> (o, d1) yield %u[t, d1] {oob = error, fill = 15360}",
  ),
} as const;

describe("a scatter of computed updates", () => {
  it("goes by rows but where the value alone may lack an element", () => {
    const kinds = Object.values(computed).map(({ kernel }) => scatterPlanOf(kernel.tile).rows?.updates.kind);
    expect(kinds).toEqual(["made", "made", "made", "made", "made", "input", undefined]);
  });

  it.each(Object.entries(computed))("has the bits of its definition: %s", (_, { kernel, func }) => {
    const draw = drawer(3);
    for (let n = 0; n < 12; n++) {
      const arrays = Object.fromEntries(
        func.operands.slice(0, -1).map(({ name, type }) => {
          const length = type.shape.reduce((product, extent) => product * extent, 1);
          const bits = Array.from({ length }, () => draw(2 ** 16));
          const data: TensorData =
            type.dtype === "i32"
              ? Int32Array.from(bits, (value) => value % (n === 11 ? 33 : 8))
              : type.dtype === "f32"
                ? Float32Array.from(bits, (value) => (value - 2 ** 15) / 999)
                : type.dtype === "i8"
                  ? Int8Array.from(bits)
                  : Uint16Array.from(bits);
          return [name, data] as const;
        }),
      );
      const hosts = (): HostInputs =>
        Object.fromEntries(
          func.operands.slice(0, -1).map(({ name, type }) => {
            const data = arrays[name] as Float32Array;
            return [name, toHost(name, type, data.slice())];
          }),
        );
      const result = (action: () => Uint8Array): unknown => {
        try {
          return Uint8Array.from(action());
        } catch (thrown) {
          if (!(thrown instanceof RunError)) throw thrown;
          return thrown.diagnostics[0]?.message;
        }
      };
      const expected = result(() => referenceOfMap(func.map, func.operands, hosts()));
      expect(result(() => simulateBytes(kernel, hosts(), fast).output)).toEqual(expected);
      expect(result(() => simulateChecked(kernel.tile, hosts(), kernel.target).output)).toEqual(expected);
    }
  });
});

describe("code of WebAssembly", () => {
  const statements = [
    "-> (%i[d0], d1) yield %u[d0, d1] {oob = error, combine = add}",
    "-> (%i[d0], d1) yield %u[d0, d1] {oob = error, duplicates = last}",
    "-> (%i[d0], d1) yield %u[d0, d1] * 0.5 {oob = error, combine = max}",
  ];
  const draw = drawer(11);
  const i = Int32Array.from({ length: 400 }, () => draw(30));
  const u = Float32Array.from({ length: 400 * 64 }, () => draw(2 ** 16) / 777);

  it.each(statements)("has one output whatever the threads and tiles: %s", async (points) => {
    for (const base of ["", "inout "]) {
      const { func } = scatter(
        `%x: ${base}tensor<30x64xf32>, %i: tensor<400xi32>, %u: tensor<400x64xf32>`,
        "30x64xf32",
        `%x, %i, %u (d0 < 400, d1 < 64) ${points}`,
      );
      const given = (): HostInputs => ({
        x: toHost("x", { dtype: "f32", shape: [30, 64] }, new Float32Array(30 * 64).fill(1 / 3)),
        i: toHost("i", { dtype: "i32", shape: [400] }, i),
        u: toHost("u", { dtype: "f32", shape: [400, 64] }, u),
      });
      const expected = referenceOfMap(func.map, func.operands, given());
      for (const tile of [
        [400, 64],
        [400, 5],
        [7, 16],
        [1, 64],
      ]) {
        const { tile: program } = compile({ ...func, schedule: { tile } });
        for (const threads of [1, 3]) {
          const executor = await FastExecutor.open(program, { threads, spawn: spawnThread });
          for (let run = 0; run < 3; run++) {
            const inputs = given();
            expect(executor.run(inputs).output).toEqual(expected);
            expect(inputs["x"]?.bytes).toEqual(base === "" ? given()["x"]?.bytes : expected);
          }
          await executor.close();
        }
      }
    }
  });

  it("leaves the memory as it is where a point is out of range, and names the first", () => {
    const { kernel } = cacheOf(64, 512);
    const executor = FastExecutor.create(kernel.tile);
    const cache = executor.array("cache") as Uint16Array;
    const slot = executor.array("slot") as BigInt64Array;
    cache.fill(7);
    slot.set(slots(1, 2, 3, 64, 4, -1, 5, 6));
    const { code, data } = thrownBy(() => executor.run());
    expect(code).toBe("TC601");
    expect(data).toMatchObject({ point: [3, 0], position: 3 });
    expect(cache.every((bits) => bits === 7)).toBe(true);
    slot.set(slots(1, 2, 3, 0, 4, 1, 5, 6));
    (executor.array("rows") as Uint16Array).fill(9);
    const { output } = executor.run();
    expect(output.buffer).toBe(cache.buffer);
    expect([cache[0], cache[6 * 512 + 511], cache[7 * 512]]).toEqual([9, 9, 7]);
  });

  it.each(Object.entries(computed).slice(0, -1))("computes updates in one tile: %s", (_, { func }) => {
    const draws = drawer(4);
    const arrays = (): HostInputs =>
      Object.fromEntries(
        func.operands.slice(0, -1).map(({ name, type }) => {
          const bytes = new Uint8Array(byteCount(type)).map(() => draws(256));
          if (type.dtype === "i32")
            for (let k = 0; k < bytes.length; k++) bytes[k] = k % 4 === 0 ? bytes[k]! & 7 : 0;
          return [name, { type, bytes }];
        }),
      );
    const { tile } = compile({ ...func, schedule: { tile: func.map.domain } });
    const executor = FastExecutor.create(tile);
    for (let n = 0; n < 8; n++) {
      const given = arrays();
      const copied = Object.fromEntries(
        Object.entries(given).map(([name, { type, bytes }]) => [name, { type, bytes: bytes.slice() }]),
      );
      const output = executor.run(given).output;
      expect(output).toEqual(referenceOfMap(func.map, func.operands, copied));
    }
  });

  it("looks at no index value where a domain has no points", () => {
    const { kernel } = scatter(
      "%x: tensor<3x4xi32>, %i: tensor<5xi32>, %u: tensor<5x0xi32>",
      "3x4xi32",
      "%x, %i, %u (d0 < 5, d1 < 0) -> (error(%i[d0] in 3), d1) yield %u[d0, d1] {oob = error, duplicates = last}",
    );
    const x = Int32Array.from({ length: 12 }, (_, k) => k);
    const { output } = FastExecutor.create(kernel.tile).run({
      x: toHost("x", { dtype: "i32", shape: [3, 4] }, new Uint8Array(x.buffer)),
      i: toHost("i", { dtype: "i32", shape: [5] }, new Uint8Array(Int32Array.of(9, 9, 9, 9, 9).buffer)),
      u: toHost("u", { dtype: "i32", shape: [5, 0] }, new Uint8Array(0)),
    });
    expect(output).toEqual(new Uint8Array(x.buffer));
  });

  it("refuses a value that may lack an element by name", () => {
    const { kernel } = computed["updates by an index of their own"];
    expect(thrownBy(() => FastExecutor.create(kernel.tile))).toMatchObject({
      code: "TC505",
      message: expect.stringContaining("a value that may lack an element") as string,
    });
  });
});

it("a long call takes threads, tells its progress, and has the same bits", async () => {
  const { kernel } = scatter(
    "%x: tensor<300x128xf32>, %i: tensor<4000xi32>, %u: tensor<4000x128xf32>",
    "300x128xf32",
    "%x, %i, %u (d0 < 4000, d1 < 128) -> (%i[d0], d1) yield %u[d0, d1] {oob = error, combine = add}",
  );
  const draw = drawer(11);
  const given = {
    x: new Float32Array(300 * 128).fill(1 / 3),
    i: Int32Array.from({ length: 4000 }, () => draw(300)),
    u: Float32Array.from({ length: 4000 * 128 }, () => draw(2 ** 16) / 777),
  };
  const told: number[] = [];
  const long = await simulateLong(kernel, given, {
    ...fast,
    threads: 3,
    spawn: spawnThread,
    onProgress: (done) => told.push(done),
  });
  expect(told.length).toBeGreaterThan(0);
  const expected = new Float32Array(given.x);
  for (let k = 0; k < 4000; k++)
    for (let d = 0; d < 128; d++) {
      const at = given.i[k]! * 128 + d;
      expected[at] = Math.fround(expected[at]! + given.u[k * 128 + d]!);
    }
  expect(long.outputs.output).toEqual(expected);
  expect(simulate(kernel, given, fast).outputs.output).toEqual(expected);
});

it("sums that are NaN have the bits that all have, others keep theirs", () => {
  const { kernel } = scatter(
    "%x: tensor<6xf32>, %i: tensor<3xi32>, %u: tensor<3xf32>",
    "6xf32",
    "%x, %i, %u (d0 < 3) -> (%i[d0]) yield %u[d0] {oob = error, combine = add}",
  );
  const x = new Uint32Array([0xffc00123, 0x7f800000, 0xffc00123, 0, 0x80000000, 0]);
  const u = new Uint32Array([0xff800000, 0x3f800000, 0x80000000]);
  const given = { x: new Float32Array(x.buffer), i: Int32Array.of(1, 2, 4), u: new Float32Array(u.buffer) };
  const { output } = simulate(kernel, given, fast).outputs;
  const bits = new Uint32Array((output as Float32Array).buffer);
  expect([...bits]).toEqual([0xffc00123, 0x7fc00000, 0x7fc00000, 0, 0x80000000, 0]);
});

describe("a scatter of strings", () => {
  const statement =
    "%x, %i, %u (d0 < 4) let t = skip(%i[d0] in 5) -> (t) yield %u[d0] {oob = error, duplicates = last}";
  const params = (given: string) => `%x: ${given}tensor<5xstring>, %i: tensor<4xi32>, %u: tensor<4xstring>`;
  const inputs = () => ({
    x: ["a", "b", "", "d", "e"],
    i: Int32Array.of(3, 0, 9, 3),
    u: ["p", "q", "r", ""],
  });
  const expected = ["q", "b", "", "", "e"];

  it.each(["", "inout "])("names the strings of each input: %s", async (given) => {
    const { kernel } = scatter(params(given), "5xstring", statement);
    for (const backend of ["reference", "sim"] as const) {
      const arrays = inputs();
      const { outputs } = await run(kernel, arrays, { backend });
      expect(outputs.output).toEqual(expected);
      expect(arrays.x).toEqual(given === "" ? inputs().x : expected);
    }
    for (const executor of ["checked", "fast"] as const) {
      const arrays = inputs();
      expect(simulate(kernel, arrays, { executor }).outputs.output).toEqual(expected);
      expect(arrays.x).toEqual(given === "" ? inputs().x : expected);
    }
  });
});

describe("a tile program that is written by hand", () => {
  /** Returns the program whose tiles of some points, one after another, are a domain of 4x4, rows of tiles outermost unless turned. */
  function tiled([rows, columns]: readonly [number, number], rule: string, isTurned = false): TileFunc {
    const loops = [`for %t0 = 0 to 4 step ${rows} serial {`, `for %t1 = 0 to 4 step ${columns} serial {`];
    const part = `[%t0, %t1][${rows}, ${columns}]`;
    const text = `func @h(%x: gm<3xi32>, %i: gm<4x4xi32>, %u: gm<4x4xi32>, %y: gm<3xi32>) target("cpu") schedule {} {
  %x_ub = alloc : ub<3xi32, row 64> at [0]
  load %x[0][3] to %x_ub
  sync MTE2 -> S
  ${(isTurned ? loops.toReversed() : loops).join("\n")}
      scatter %i${part}, %u${part} to %x_ub[0][3] (d0 < ${rows}, d1 < ${columns}) -> (error(%i[d0, d1] in 3)) yield %u[d0, d1] {oob = error, ${rule}, domain = [4, 4], origin = [%t0, %t1]}
    }
  }
  sync S -> MTE3
  store %x_ub to %y[0][3]
}
`;
    return parsedTile(text);
  }

  const inputs = (): HostInputs => ({
    x: toHost("x", { dtype: "i32", shape: [3] }, new Uint8Array(12)),
    i: toHost("i", { dtype: "i32", shape: [4, 4] }, new Uint8Array(64)),
    u: toHost(
      "u",
      { dtype: "i32", shape: [4, 4] },
      new Uint8Array(Int32Array.from({ length: 16 }, (_, k) => 3 * k + 1).buffer),
    ),
  });
  const runs = (tile: TileFunc): readonly (() => Uint8Array)[] => [
    () => simulateBytes({ tile, target: targets.cpu }, inputs(), fast).output,
    () => FastExecutor.create(tile).run(inputs()).output,
  ];

  it("runs where points keep their order, or where none can be seen", () => {
    for (const tile of [
      tiled([1, 2], "duplicates = last"),
      tiled([1, 1], "duplicates = last"),
      tiled([2, 4], "duplicates = last"),
      tiled([2, 2], "combine = add"),
      tiled([1, 2], "combine = add", true),
    ]) {
      const { output } = simulateChecked(tile, inputs(), targets.cpu);
      for (const run of runs(tile)) expect(run()).toEqual(output);
    }
  });

  it("is refused where its tiles take a point of an element before an earlier one", () => {
    for (const tile of [tiled([2, 2], "duplicates = last"), tiled([1, 2], "duplicates = last", true)])
      for (const run of runs(tile)) expect(thrownBy(run).code).toBe("TC505");
  });
});
