/** Kernels of tile programs written by hand: where regions lie, what is elided, and what no kernel can be. */
import { describe, expect, it } from "vitest";
import { printMoves } from "../../backends/moves.js";
import { defaultLimits, emitWgsl, movesOf, planWgsl, type Runner } from "../../backends/webgpu/index.js";
import { CompileError, RunError, verifyStructure, type Stmt, type TileFunc } from "../../ir/index.js";
import { compile } from "../../src/index.js";
import { operandOf } from "../support/operands.js";
import { runnerOr } from "../support/gpu.js";
import { refusals } from "../support/refusal.js";
import { parsedTile } from "../support/parsed.js";

/** A tile program, verified. */
function program(text: string): TileFunc {
  const func = parsedTile(text);
  expect(verifyStructure(func)).toEqual([]);
  return func;
}

const refused = (func: TileFunc) => refusals(() => planWgsl(func));

/** Data of 1, 2, 3, … in elements of some bytes. */
const counting = (count: number, size: number): Uint8Array => {
  const bytes = new Uint8Array(count * size);
  for (let k = 0; k < count; k++) bytes[k * size] = k + 1;
  return bytes;
};

/** Compiling puts in the syncs that the statements need. */
const withoutSyncs = (body: readonly Stmt[]): Stmt[] =>
  body.flatMap((stmt): Stmt[] => {
    if (stmt.op === "sync") return [];
    return stmt.op === "for" ? [{ ...stmt, body: withoutSyncs(stmt.body) }] : [stmt];
  });

/** The elements that a program gathers from data of 1, 2, 3, …, by their low bytes. */
async function gathered(runner: Runner, func: TileFunc, indices: readonly number[]): Promise<number[]> {
  const [data, table, output] = (["data", "indices", "output"] as const).map((role) => operandOf(func, role));
  const sizes = { u8: 1, i16: 2, f32: 4, f64: 8 } as const;
  const size = sizes[data!.type.dtype as keyof typeof sizes];
  const inputs = {
    data: {
      type: data!.type,
      bytes: counting(
        data!.type.shape.reduce((a, b) => a * b, 1),
        size,
      ),
    },
    indices: { type: table!.type, bytes: new Uint8Array(Int32Array.from(indices).buffer) },
  };
  const { tile } = compile({ ...func, body: withoutSyncs(func.body) });
  const bytes = await runner.runBytes({ tile }, inputs);
  const count = output!.type.shape.reduce((a, b) => a * b, 1);
  return Array.from({ length: count }, (_, k) => bytes[k * size]!);
}

describe.each(["u8", "i16", "f32", "f64"] as const)(
  "data of %s that starts elsewhere than the output",
  (dtype) => {
    const size = { u8: 1, i16: 2, f32: 4, f64: 8 }[dtype];
    const head = (rows: number) =>
      `func @off(%data: gm<${rows + 1}x3x${dtype}>, %indices: gm<${rows}x3xi32>, %output: gm<${rows}x3x${dtype}>) target("webgpu")`;
    const map = "(d0, d1) -> (d0, %indices[d0, d1])";

    it("is read at its own offset, in place", async (context) => {
      const func = program(`${head(1)} {
  gather %data[1, 0][1, 3], %indices[0, 0][1, 3] to %output[0, 0][1, 3] ${map} {oob = clamp, origin = [0, 0]}
}`);
      expect(await gathered(await runnerOr(context), func, [2, 0, 9])).toEqual([6, 4, 6]);
    });

    it("is read at its own offset, from a tile that was loaded at one", async (context) => {
      const row = Math.ceil((3 * size) / 4) * 4;
      const func = program(`${head(1)} {
  %tile = alloc : ub<1x3x${dtype}, row ${row}>
  load %data[1, 0][1, 3] to %tile
  sync MTE2 -> V
  gather %tile[0, 0][1, 3], %indices[0, 0][1, 3] to %output[0, 0][1, 3] ${map} {oob = zero, origin = [0, 0]}
}`);
      expect(await gathered(await runnerOr(context), func, [2, 0, 9])).toEqual([6, 4, 0]);
    });

    it("is read at another distance in every tile: words that tiles share get each its own bits", async (context) => {
      const func = program(`${head(4)} {
  for %t0 = 0 to 4 step 1 parallel {
    gather %data[4 - %t0, 0][1, 3], %indices[%t0, 0][1, 3] to %output[%t0, 0][1, 3] ${map} {oob = wrap, origin = [%t0, 0]}
  }
}`);
      const indices = [0, 1, 2, 2, 1, 0, 1, 1, 1, 0, -1, 5];
      const want = indices.map((index, k) => (4 - Math.floor(k / 3)) * 3 + (((index % 3) + 3) % 3) + 1);
      expect(await gathered(await runnerOr(context), func, indices)).toEqual(want);
    });

    it("is the same through a unified buffer that each iteration fills anew", async (context) => {
      const row = Math.ceil((3 * size) / 4) * 4;
      const func = program(`${head(4)} {
  %tile = alloc : ub<1x3x${dtype}, row ${row}, buffers 2>
  for %t0 = 0 to 4 step 1 serial {
    load %data[4 - %t0, 0][1, 3] to %tile
    sync MTE2 -> V
    gather %tile[0, 0][1, 3], %indices[%t0, 0][1, 3] to %output[%t0, 0][1, 3] ${map} {oob = clamp, origin = [%t0, 0]}
  }
}`);
      const indices = [0, 1, 2, 2, 1, 0, 1, 1, 1, 0, -1, 5];
      const want = indices.map(
        (index, k) => (4 - Math.floor(k / 3)) * 3 + Math.max(0, Math.min(2, index)) + 1,
      );
      expect(await gathered(await runnerOr(context), func, indices)).toEqual(want);
    });
  },
);

describe("vectors", () => {
  const shifted = (offset: number) =>
    program(`func @s(%data: gm<3x8xf32>, %indices: gm<5xi32>, %output: gm<5x4xf32>) target("webgpu") {
  gather %data[0, ${offset}][3, 4], %indices[0][5] to %output[0, 0][5, 4] (d0, d1) -> (%indices[d0], d1) {oob = error, origin = [0]}
}`);

  it("are read where the data starts at one, and parts of them elsewhere", async (context) => {
    expect(planWgsl(shifted(4)).gather).toMatchObject({ unit: { how: "rows", width: 4 } });
    expect(planWgsl(shifted(2)).gather).toMatchObject({ unit: { how: "across", width: 2 } });
    const runner = await runnerOr(context);
    for (const offset of [2, 4]) {
      const want = [2, 0, 1, 1, 2].flatMap((row) => [1, 2, 3, 4].map((d) => row * 8 + offset + d));
      expect(await gathered(runner, shifted(offset), [2, 0, 1, 1, 2])).toEqual(want);
    }
  });
});

const staged = (
  buffers = "",
) => `func @g(%x: gm<4x8xf32>, %i: gm<4x8xi32>, %y: gm<4x8xf32>) target("webgpu") {
  %a = alloc : ub<1x8xf32, row 32${buffers}>
  %b = alloc : ub<1x8xi32, row 32>
  %c = alloc : ub<1x8xf32, row 32>
  for %t = 0 to 4 step 1 serial {
    load %x[%t, 0][1, 8] to %a
    load %i[%t, 0][1, 8] to %b
    sync MTE2 -> V
    gather %a[0, 0][1, 8], %b[0, 0][1, 8] to %c[0, 0][1, 8] (d0, d1) -> (d0, %b[d0, d1]) {oob = error, origin = [%t, 0]}
    sync V -> MTE3
    store %c to %y[%t, 0][1, 8]
  }
}
`;

describe("a plan of moves", () => {
  it("says what is copied, by how many lanes, how wide, and what is elided", () => {
    expect(printMoves(movesOf(planWgsl(program(staged())))))
      .toBe(`wgsl: workgroups 1 x 1 x 1, lanes 2 x 1, workgroup bytes 32
load %x[%t, 0][1, 8] to %a
  words: words 8
load %i[%t, 0][1, 8] to %b
  elided: read where it lies
sync MTE2 -> V
  barrier
gather %a[0, 0][1, 8], %b[0, 0][1, 8] to %c[0, 0][1, 8] (d0, d1) -> (d0, %b[d0, d1]) {oob = error, origin = [%t, 0]}
  groups: elements 4, %x bytes 16, %i bytes 16, %y bytes 16, indices resolved along d0 d1, and shared along no dim
sync V -> MTE3
  barrier
store %c to %y[%t, 0][1, 8]
  elided: written where it goes
`);
  });

  it("is honoured: nothing is declared or moved for a copy that is elided", async (context) => {
    const func = program(staged());
    const { code, workgroupBytes } = emitWgsl(func);
    expect([...code.matchAll(/var<workgroup> (\w+)/g)].map(([, name]) => name)).toEqual(["ub_a"]);
    expect(workgroupBytes).toBe(32);
    const indices = Array.from({ length: 32 }, (_, k) => (k * 5) % 8);
    const want = indices.map((index, k) => Math.floor(k / 8) * 8 + index + 1);
    expect(await gathered(await runnerOr(context), func, indices)).toEqual(want);
  });

  it("says that a kernel has one copy of a double buffer, and lets its readers finish", () => {
    const plan = planWgsl(program(staged(", buffers 2")));
    expect(plan.diagnostics).toMatchObject([
      { code: "TC908", severity: "hint", message: expect.stringContaining("%a") },
    ]);
    expect(printMoves(movesOf(plan))).toContain("words: words 8, copies 1 of 2, barriers 1");
    const { code } = emitWgsl(program(staged(", buffers 2")));
    expect(code.match(/workgroupBarrier/g)).toHaveLength(3);
    expect(planWgsl(program(staged())).diagnostics).toEqual([]);
  });
});

describe("a program that no kernel can be", () => {
  const loop = (bounds: string, row: string) =>
    program(`func @g(%x: gm<4x3xf32>, %i: gm<4x3xi32>, %y: gm<4x3xf32>) target("webgpu") {
  for %t = ${bounds} serial {
    gather %x[${row}, 0][1, 3], %i[${row}, 0][1, 3] to %y[${row}, 0][1, 3] (d0, d1) -> (d0, %i[d0, d1]) {oob = zero, origin = [${row}, 0]}
  }
}
`);

  /** The text form writes numbers below 2^31; sums of them go further. */
  const near = (below: number): string => `1073741824 + 1073741824 + 1073741824 + ${1073741824 - below}`;

  it.each([
    ["below zero", "-2 to 2 step 1", "%t + 2"],
    ["beyond 2^32", `${near(2)} to ${near(-2)} step 1`, `%t - ${near(2).replaceAll("+", "-")}`],
    ["beyond 2^32 in one side of a minimum", "0 to 4 step 1", `min(%t, %t + ${near(0)})`],
  ])("counts %s", (_, bounds, row) => {
    expect(refused(loop(bounds, row))).toMatchObject([
      {
        code: "TC502",
        message: expect.stringContaining("32-bit"),
        notes: [expect.stringMatching(/^(?:for|gather) /)],
      },
    ]);
  });

  it("counts beyond the last 32-bit number in its last step", () => {
    const from = (below: number): readonly [string, string] => [
      `${near(below)} to ${near(below - 4)} step 1`,
      `%t - ${near(below).replaceAll("+", "-")}`,
    ];
    expect(refused(loop(...from(5)))).toMatchObject([{ code: "TC502" }]);
    expect(refused(loop(...from(6)))).toEqual([]);
  });

  it("has rows between words", () => {
    const func = program(`func @g(%x: gm<4x3xu8>, %i: gm<4x3xi32>, %y: gm<4x3xu8>) target("webgpu") {
  %a = alloc : ub<4x3xu8, row 3>
  load %x[0, 0][4, 3] to %a
  sync MTE2 -> V
  gather %a[0, 0][4, 3], %i[0, 0][4, 3] to %y[0, 0][4, 3] (d0, d1) -> (d0, %i[d0, d1]) {oob = zero, origin = [0, 0]}
}
`);
    expect(refused(func)).toMatchObject([
      { code: "TC502", notes: [expect.stringContaining("%a = alloc")], data: { rowBytes: 3 } },
    ]);
  });

  it("has more tasks than a dispatch has workgroups", () => {
    const func =
      program(`func @g(%x: gm<4x4x4x4xu8>, %i: gm<4x4x4x4xi32>, %y: gm<4x4x4x4xu8>) target("webgpu") {
  for %a = 0 to 4 step 1 parallel {
    for %b = 0 to 4 step 1 parallel {
      for %c = 0 to 4 step 1 parallel {
        for %d = 0 to 4 step 1 parallel {
          gather %x[%a, %b, %c, 0][1, 1, 1, 4], %i[%a, %b, %c, %d][1, 1, 1, 1] to %y[%a, %b, %c, %d][1, 1, 1, 1] (d0, d1, d2, d3) -> (d0, d1, d2, %i[d0, d1, d2, d3]) {oob = zero, origin = [%a, %b, %c, %d]}
        }
      }
    }
  }
}
`);
    const limits = { ...defaultLimits, maxComputeWorkgroupsPerDimension: 15 };
    expect(() => planWgsl(func, { limits })).toThrow(CompileError);
    expect(planWgsl(func).grid).toMatchObject({ dispatch: [256, 1, 1], folded: true });
  });
});

describe("a bad index", () => {
  it("is the one of the first output element, whatever lane sees one first", async (context) => {
    const runner = await runnerOr(context);
    // Indices along the last dim are shared by every row: position 2 is met in row 0 first.
    const func = program(`func @g(%x: gm<4x3xu8>, %i: gm<5xi32>, %y: gm<4x5xu8>) target("webgpu") {
  for %t = 0 to 4 step 2 parallel {
    gather %x[%t, 0][2, 3], %i[0][5] to %y[%t, 0][2, 5] (d0, d1) -> (d0, %i[d1]) {oob = error, origin = [0]}
  }
}
`);
    const thrown: unknown = await gathered(runner, func, [0, 1, 7, 2, -4]).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(RunError);
    expect((thrown as RunError).diagnostics).toMatchObject([
      { code: "TC601", data: { position: 2, value: "7", axis: 1, extent: 3, point: [0, 2] } },
    ]);
  });
});
