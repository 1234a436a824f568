import { describe, expect, it } from "vitest";
import { printMoves } from "../../backends/moves.js";
import { emitWgsl, movesOf, planWgsl } from "../../backends/wgsl/index.js";
import { bytesOf, targets, type DType } from "../../ir/index.js";
import { compile, onnx, run, type Kernel } from "../../src/index.js";
import { testRunner } from "../support/gpu.js";
import { parsed } from "../support/parsed.js";

const target = targets.webgpu;

/** Rows of `columns` elements through a table of 8 pages of 4 rows; a token of -1 fills. */
const paged = (dtype: DType, columns: number, fill = ""): Kernel =>
  compile(
    parsed(`func @f(%kv: tensor<8x4x${columns}x${dtype}>, %tokens: tensor<9xi32>, %bt: tensor<5xi32>) -> tensor<9x${columns}x${dtype}> {
  %y = access.gather %kv, %tokens, %bt (d0, d1) let t = fill(%tokens[d0] in 20) -> (%bt[t div 4], t mod 4, d1) {oob = error${fill}}
  return %y
}
`),
    { target, tile: [9, columns] },
  );
const tokens = Int32Array.of(0, 19, -1, 7, 8, 20, 3, 11, 16);
const bt = Int32Array.of(7, 0, 3, 3, 5);

const unitOf = ({ tile }: Kernel) => {
  const { gather } = planWgsl(tile);
  return gather?.unit;
};

describe("a general map's rows on WebGPU", () => {
  it.each([
    ["f32", 128, { how: "rows", group: 4, width: 4 }],
    ["f16", 128, { how: "rows", group: 8, width: 4 }],
    ["u8", 16, { how: "rows", group: 16, width: 4 }],
    ["f64", 3, { how: "rows", group: 1, width: 2 }],
    ["c128", 3, { how: "rows", group: 1, width: 4 }],
    ["f32", 6, { how: "rows", group: 2, width: 2 }],
    ["f32", 5, { how: "rows", group: 1, width: 1 }],
    ["f16", 6, { how: "rows", group: 2, width: 1 }],
    ["u8", 12, { how: "rows", group: 4, width: 1 }],
    ["u8", 3, { how: "packed", group: 4, shared: { by: "recomputed" } }],
  ] as const)("move by the widest access that all of them keep: %s, %i columns", (dtype, columns, unit) => {
    expect(unitOf(paged(dtype, columns))).toMatchObject(unit);
  });

  it("are copied from where they start, which is found once", () => {
    for (const fill of ["", ", fill = 43981"]) {
      const { code } = emitWgsl(paged("f16", 128, fill).tile);
      expect(code).toContain("gm_y[to + unit] = gm_kv[source + unit];");
      expect(code).not.toMatch(/gm_kv\[[^\]]*(?:at\d|\*)/);
      expect(code).toMatch(/let source = at1 \* 64u \+ \(at0 & 3u\) \* 16u;/);
    }
  });

  it("have their index values taken once a row", () => {
    const plan = planWgsl(paged("f16", 128).tile);
    expect(printMoves(movesOf(plan))).toContain(
      "  rows: elements 8, %kv bytes 16, %tokens bytes 4, %bt bytes 4, %y bytes 16, indices resolved along d0, and shared along d1\n",
    );
    expect(emitWgsl(paged("f16", 128).tile).code).toContain("var<storage, read> gm_kv: array<vec4u, 512>;");
  });

  it.each(["u8", "f16", "f32", "f64", "c128"] as const)(
    "have the bits of the definition: %s",
    async (dtype) => {
      const runner = await testRunner();
      if (runner === undefined) return;
      const fill =
        dtype === "u8" ? ", fill = 171" : dtype === "f16" ? ", fill = 43981" : ", fill = 2882400018";
      for (const columns of [1, 2, 3, 4, 6, 8, 16, 20]) {
        for (const bits of ["", fill]) {
          const kernel = paged(dtype, columns, bits);
          const bytes = Uint8Array.from(
            { length: 32 * columns * bytesOf(dtype) },
            (_, k) => (k * 89 + (k >> 7)) & 255,
          );
          const kv =
            dtype === "u8"
              ? bytes
              : dtype === "f16"
                ? new Uint16Array(bytes.buffer)
                : dtype === "f32"
                  ? new Float32Array(bytes.buffer)
                  : new Float64Array(bytes.buffer);
          const [gpu, cpu] = await Promise.all(
            (["webgpu", "reference"] as const).map(async (backend) => {
              const { output } = (await run(kernel, { kv, tokens, bt }, { backend, runner })).outputs;
              const { buffer, byteOffset, byteLength } = output as Uint8Array;
              return Buffer.from(buffer, byteOffset, byteLength).toString("hex");
            }),
          );
          expect(gpu, `${columns} columns${bits}`).toEqual(cpu);
        }
      }
    },
  );

  it.each([
    ["rows that start off an access in the data", "8x4x21", "d1 + 1", [9, 20]],
    ["rows that lie at odd steps in the data", "8x4x22", "d1", [9, 20]],
    ["reversed rows", "8x4x20", "19 - d1", [9, 20]],
    ["tiles that end inside an access", "8x4x20", "d1", [9, 6]],
  ] as const)("move element by element where they are %s", async (_, shape, column, tile) => {
    const kernel = compile(
      parsed(`func @f(%kv: tensor<${shape}xf32>, %tokens: tensor<9xi32>, %bt: tensor<5xi32>) -> tensor<9x20xf32> {
  %y = access.gather %kv, %tokens, %bt (d0, d1) let t = fill(%tokens[d0] in 20) -> (%bt[t div 4], t mod 4, ${column}) {oob = error}
  return %y
}
`),
      { target, tile },
    );
    expect(unitOf(kernel)?.group).toBeLessThan(4);
    const runner = await testRunner();
    if (runner === undefined) return;
    const kv = Float32Array.from({ length: 32 * 22 }, (_, k) => k).subarray(0, 32 * Number(shape.slice(4)));
    const [gpu, cpu] = await Promise.all(
      (["webgpu", "reference"] as const).map(
        async (backend) => (await run(kernel, { kv, tokens, bt }, { backend, runner })).outputs.output,
      ),
    );
    expect(gpu).toEqual(cpu);
  });

  it("are cut short with the tensor, and read as indices by words", async () => {
    const runner = await testRunner();
    if (runner === undefined) return;
    // Tiles of 8 columns of 20, the last of 4; the data name rows of themselves.
    const kernel = compile(
      parsed(`func @f(%x: tensor<6x20xi32>, %i: tensor<7xi32>) -> tensor<7x20xi32> {
  %y = access.gather %x, %i (d0, d1) let a = error(%i[d0] in 6) -> (clamp(%x[a, 3] in 6), d1) {oob = error}
  return %y
}
`),
      { target, tile: [3, 8] },
    );
    expect(unitOf(kernel)).toEqual({ how: "rows", group: 1, width: 1 });
    const x = Int32Array.from({ length: 120 }, (_, k) => (k * 7) % 9);
    const i = Int32Array.of(5, 0, 3, 3, 1, 2, 4);
    const { outputs } = await run(kernel, { x, i }, { backend: "webgpu", runner });
    const row = (a: number): number => Math.min(5, x[20 * a + 3]!);
    expect([...(outputs.output as Int32Array)]).toEqual(
      Array.from({ length: 140 }, (_, k) => x[20 * row(i[Math.floor(k / 20)]!) + (k % 20)]!),
    );
  });
});

describe("forms of a general map on WebGPU", () => {
  it("are wide where a loop variable takes a div beyond 32 bits", () => {
    const wide = (rows: number): boolean =>
      emitWgsl(
        compile(
          parsed(`func @f(%x: tensor<${rows}xf32>) -> tensor<${rows}xf32> {
  %y = access.gather %x (d0) -> ((4000 * d0) div 4000) {oob = error}
  return %y
}
`),
          { target, tile: [64] },
        ).tile,
      ).code.includes("quotient_i128(");
    expect(wide(1_073_664)).toBe(false);
    expect(wide(1_073_760)).toBe(true);
  });
});

describe("a quotient inside a sum that may be wide", () => {
  /** Ends of segments, of which the last is a constant: a sum with what is read may leave u32, its quotient of a place does not. */
  const ends = (form: string): string =>
    compile(
      parsed(`func @f(%x: tensor<64x8xf32>, %i: tensor<16xu32>) -> tensor<16x8xf32> {
  %y = access.gather %x, %i (d0, d1) let e = error(${form} in 64) -> (e, d1) {oob = error}
  return %y
}
`),
      { target },
    ).wgsl().code;
  const calls = (code: string): number =>
    code.slice(code.indexOf("@compute")).split(/(?:quotient|remainder)_i128\(/).length - 1;

  it("is one of 32 bits where what it is of stays inside them, and a loop over 128 where it may not", () => {
    const narrow = ends("%i[(d0 + 1) mod 16] + 64 * ((d0 + 1) div 16)");
    expect(narrow).toContain("i128_0.x + ((iv_t0 + d0 + 1u) & 0xfffffff0u) * 4u");
    expect(calls(narrow)).toBe(0);
    expect(calls(ends("%i[d0] + (%i[d0] + 1) div 16"))).toBe(1);
  });

  it("has the bits of the definition", async () => {
    const runner = await testRunner();
    if (runner === undefined) return;
    for (const form of ["%i[(d0 + 1) mod 16] + 16 * ((d0 + 1) div 16)", "%i[d0] + (%i[d0] + 1) div 16"]) {
      const kernel = compile(
        parsed(`func @f(%x: tensor<64x8xf32>, %i: tensor<16xu32>) -> tensor<16x8xf32> {
  %y = access.gather %x, %i (d0, d1) let e = error(${form} in 64) -> (e, d1) {oob = error}
  return %y
}
`),
        { target },
      );
      const inputs = {
        x: Float32Array.from({ length: 512 }, (_, k) => k),
        i: Uint32Array.from({ length: 16 }, (_, k) => 2 * k),
      };
      const expected = (await run(kernel, inputs, { backend: "reference" })).outputs.output;
      expect((await run(kernel, inputs, { backend: "webgpu", runner })).outputs.output).toEqual(expected);
    }
  });
});

describe("data without elements", () => {
  it("are an array of one access, however wide", async () => {
    const runner = await testRunner();
    if (runner === undefined) return;
    for (const axis of [0, 1]) {
      const func = onnx.gatherElements({
        data: ["f32", [0, 8].toSorted((a, b) => (axis === 0 ? a - b : b - a))],
        indices: ["i32", [4, 8]],
        axis,
        oob: "zero",
      });
      const kernel = compile(func, { target });
      expect(emitWgsl(kernel.tile).code).not.toMatch(/array<\w+, \d*\.\d/);
      const inputs = { data: new Float32Array(0), indices: new Int32Array(32) };
      const { outputs } = await run(kernel, inputs, { backend: "webgpu", runner });
      expect([...(outputs.output as Float32Array)]).toEqual(new Array(32).fill(0));
    }
  });

  it("are staged in one word too", async (context) => {
    const runner = await testRunner();
    if (runner === undefined) {
      context.skip();
      return;
    }
    const func = onnx.gatherNd({ data: ["c128", [0, 0, 1]], indices: ["i64", [3]], oob: "zero" });
    const kernel = compile(func, { target, residency: "ub" });
    expect(emitWgsl(kernel.tile).code).toContain("var<workgroup> ub_data: array<u32, 1>");
    const bytes = await runner.runBytes(kernel, {
      data: { type: { dtype: "c128", shape: [0, 0, 1] }, bytes: new Uint8Array(0) },
      indices: { type: { dtype: "i64", shape: [3] }, bytes: new Uint8Array(24) },
    });
    expect([...bytes]).toEqual(new Array(16).fill(0));
  });
});

describe("a promised index value", () => {
  const text = (
    first: string,
  ) => `func @f(%x: tensor<6xf32>, %i: tensor<2xi32>, %j: tensor<2xi32>) -> tensor<2xf32> {
  %y = access.gather %x, %i, %j (d0) let a = ${first}(%i[d0] in 6) let b = unchecked(%j[d0] in 6) -> (b) {oob = error}
  return %y
}
`;

  it("is promised where the element did not end before: behind one that did, any value is read by safely", async () => {
    const kernel = compile(parsed(text("error")), { target });
    expect(kernel.wgsl().code).toContain("at1 = select(0u, element, alive);");
    const inputs = { x: new Float32Array(6), i: Int32Array.of(0, 9), j: Int32Array.of(5, -(2 ** 31)) };
    const failed = run(kernel, inputs, { backend: "webgpu", runner: await testRunner() });
    await expect(failed).rejects.toMatchObject({ diagnostics: [{ code: "TC601" }] });
  });

  it("is read as it is where nothing can end the element before", () => {
    expect(compile(parsed(text("clamp")), { target }).wgsl().code).toContain("let at1 = resolve_1(d0);");
  });
});
