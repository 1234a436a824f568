/** Rows that follow their dim by the page, on adapters in software: what a lane copies at once, and the bits of the definition. */
import { describe, expect, it, type TestContext } from "vitest";
import { printMoves } from "../../backends/moves.js";
import { defaultLimits, emitWgsl, movesOf, planWgsl, targetOf } from "../../backends/webgpu/index.js";
import { dynamicFormOf, targets } from "../../ir/index.js";
import { compile, onnx, run, type Kernel } from "../../src/index.js";
import { testRunner } from "../support/gpu.js";
import { parsed } from "../support/parsed.js";

const software = targetOf(defaultLimits, true);

interface Workload {
  readonly pool: string;
  readonly table: string;
  readonly output: string;
  readonly map: string;
  readonly tile: readonly number[];
  readonly oob?: string;
}

const kernelOf = ({ pool, table, output, map, tile, oob = "error" }: Workload, target = software): Kernel =>
  compile(
    parsed(`func @paged(%kv: tensor<${pool}>, %bt: tensor<${table}xi32>) -> tensor<${output}> {
  %y = access.gather %kv, %bt ${map} {oob = ${oob}}
  return %y
}
`),
    { target, tile, residency: "gm" },
  );

/** Tokens in order, by pages of 16 rows. */
const decode: Workload = {
  pool: "9x16x8xf32",
  table: "8",
  output: "128x8xf32",
  map: "(d0, d1) -> (%bt[d0 div 16], d0 mod 16, d1)",
  tile: [64, 8],
};

const planOf = ({ tile }: Kernel, target = software) => planWgsl(tile, { target });
const pageOf = (kernel: Kernel, target = software) => {
  const { gather } = planOf(kernel, target);
  return gather?.page;
};

describe("rows of a page on an adapter in software", () => {
  it("are one run of accesses, whose index value is read once", () => {
    const kernel = kernelOf(decode);
    const { code } = emitWgsl(kernel.tile, { target: software });
    // 4 lanes, 64 rows of 2 accesses: a page each.
    expect(code).toContain("let d0 = lane.y * 16u;");
    expect(code).toContain("for (var unit = 0u; unit < 32u; unit += 1u)");
    expect(code).not.toContain("d0_turn");
    expect(printMoves(movesOf(planOf(kernel)))).toMatch(/lanes 1 x 4, rows in runs[^]*page of d0 16/);
  });

  it("are runs of tokens with all their heads, which lie end to end", () => {
    const kernel = kernelOf(shapes["heads of a token, which are one row"]!);
    const { code } = emitWgsl(kernel.tile, { target: software });
    expect(code).toContain("let d0 = lane.y * 16u;");
    expect(code).toContain("for (var unit = 0u; unit < 128u; unit += 1u)");
    expect(code.match(/for \(/g)).toHaveLength(1);
  });

  it("are parts of a run where lanes have several pages, or a part of one", () => {
    const turns = (by: number): string => {
      const pool = `${512 / by}x${by}x8xf32`;
      const map = `(d0, d1) -> (%bt[d0 div ${by}], d0 mod ${by}, d1)`;
      const kernel = kernelOf({ ...decode, pool, table: `${128 / by}`, map });
      return emitWgsl(kernel.tile, { target: software }).code;
    };
    expect(turns(8)).toContain("let d0 = lane.y * 16u + d0_turn * 8u;");
    expect(turns(64)).toContain("let d0 = lane.y * 16u;");
    expect(turns(64)).toContain("unit < 32u;");
  });

  it("are copied row by row by a GPU, whose lanes read side by side", () => {
    const kernel = kernelOf(decode, targets.webgpu);
    expect(pageOf(kernel, targets.webgpu)).toBeUndefined();
    expect(planOf(kernel, targets.webgpu).lanes.inRuns).toBe(false);
  });

  it.each([
    ["rows of the data lie apart", { pool: "9x16x12xf32" }],
    ["tiles have a part of the columns", { tile: [64, 4] }],
    ["an index value follows the row", { table: "128", map: "(d0, d1) -> (%bt[d0], d0 mod 16, d1)" }],
    ["pages of two lengths meet", { pool: "9x8x8xf32", map: "(d0, d1) -> (%bt[d0 div 16], d0 mod 8, d1)" }],
  ] as const)("are copied row by row where %s", (_, change) => {
    expect(pageOf(kernelOf({ ...decode, ...change }))).toBeUndefined();
  });
});

const shapes: Readonly<Record<string, Workload>> = {
  "whole pages": decode,
  "pages that tiles straddle": { ...decode, tile: [20, 8] },
  "a last tile that is cut short": { ...decode, output: "123x8xf32", tile: [40, 8] },
  "tiles inside a page": { ...decode, tile: [4, 8] },
  "a tile of one row": { ...decode, tile: [1, 8] },
  "pages that begin before the tensor": {
    ...decode,
    table: "9",
    map: "(d0, d1) -> (%bt[(d0 + 5) div 16], (d0 + 5) mod 16, d1)",
  },
  "pages of seven rows": {
    ...decode,
    pool: "9x7x8xf32",
    table: "19",
    map: "(d0, d1) -> (%bt[d0 div 7], d0 mod 7, d1)",
  },
  "tiles of whole pages of seven rows": {
    pool: "9x7x8xf32",
    table: "20",
    output: "140x8xf32",
    map: "(d0, d1) -> (%bt[d0 div 7], d0 mod 7, d1)",
    tile: [28, 8],
  },
  halves: { ...decode, pool: "9x16x24xf16", output: "128x24xf16", tile: [64, 24] },
  "rows of one access": { ...decode, pool: "9x16x16xu8", output: "128x16xu8", tile: [64, 16] },
  "rows of three words": { ...decode, pool: "9x16x3xf32", output: "128x3xf32", tile: [64, 3] },
  "rows of three words, some missing": {
    ...decode,
    pool: "9x16x3xf32",
    output: "128x3xf32",
    map: "(d0, d1) let p = fill(%bt[d0 div 16] in 9) -> (p, d0 mod 16, d1)",
    tile: [24, 3],
    oob: "error, fill = 3735928559",
  },
  "pages that may be missing": {
    ...decode,
    map: "(d0, d1) let p = fill(%bt[d0 div 16] in 9) -> (p, d0 mod 16, d1)",
    tile: [24, 8],
    oob: "error, fill = 3735928559",
  },
  "heads of a token, which are one row": {
    pool: "9x16x4x8xf32",
    table: "8",
    output: "128x4x8xf32",
    map: "(d0, d1, d2) -> (%bt[d0 div 16], d0 mod 16, d1, d2)",
    tile: [64, 4, 8],
  },
  "a table of several rows": {
    pool: "9x16x8xf32",
    table: "3x4",
    output: "3x50x8xf32",
    map: "(d0, d1, d2) -> (%bt[d0, d1 div 16], d1 mod 16, d2)",
    tile: [2, 32, 8],
  },
  "an outer dim of the data": {
    pool: "3x9x16x8xf32",
    table: "4",
    output: "3x50x8xf32",
    map: "(d0, d1, d2) -> (d0, %bt[d1 div 16], d1 mod 16, d2)",
    tile: [2, 32, 8],
  },
};

const bytesOf = (output: unknown): string => {
  const { buffer, byteOffset, byteLength } = output as Uint8Array;
  return Buffer.from(buffer, byteOffset, byteLength).toString("hex");
};

function inputsOf(kernel: Kernel, bad?: readonly [position: number, value: number]) {
  const [kv, bt] = kernel.tile.operands.map(({ type }) => type);
  const elements = (shape: readonly number[]): number => shape.reduce((product, n) => product * n, 1);
  const table = Int32Array.from({ length: elements(bt!.shape) }, (_, k) => (k * 5 + 8) % 9);
  if (bad !== undefined) table[bad[0]] = bad[1];
  const count = elements(kv!.shape);
  const number = (_: unknown, k: number): number => (k * 89 + (k >> 7)) % 251;
  const data =
    kv!.dtype === "f16"
      ? Uint16Array.from({ length: count }, number)
      : kv!.dtype === "u8"
        ? Uint8Array.from({ length: count }, number)
        : Float32Array.from({ length: count }, number);
  return { data, indices: table };
}

describe.each([[], ["disable_robustness"]])("pages on WebGPU, toggles %j", (...toggles) => {
  it.for(Object.entries(shapes))("have the bits of the definition: %s", async ([name, workload], context) => {
    expect(pageOf(kernelOf(workload)) !== undefined).toBe(name !== "a tile of one row");
    const runner = await testRunner({ toggles });
    if (runner === undefined) {
      context.skip();
      return;
    }
    const kernel = kernelOf(workload, runner.target);
    const missing = workload.map.includes("fill") ? ([3, -1] as const) : undefined;
    const inputs = inputsOf(kernel, missing);
    const gpu = await run(kernel, inputs, { backend: "webgpu", runner });
    const defined = await run(kernel, inputs, { backend: "reference" });
    expect(bytesOf(gpu.outputs.output)).toBe(bytesOf(defined.outputs.output));
  });
});

describe("a bad page", () => {
  it.each([
    ["whole pages", 5],
    ["pages that tiles straddle", 3],
    ["pages that begin before the tensor", 7],
    ["a table of several rows", 6],
  ] as const)("is reported by its first row, as by the definition: %s", async (name, position) => {
    const runner = await testRunner();
    if (runner === undefined) return;
    const kernel = kernelOf(shapes[name]!, runner.target);
    const outcome = async (backend: "webgpu" | "reference"): Promise<unknown> => {
      const inputs = inputsOf(kernel, [position, 9]);
      const options = backend === "webgpu" ? { backend, runner } : { backend };
      return run(kernel, inputs, options).then(
        () => "no error",
        (thrown: unknown) => (thrown as { diagnostics: unknown }).diagnostics,
      );
    };
    const defined = await outcome("reference");
    expect(defined).toMatchObject([{ code: "TC601" }]);
    expect(await outcome("webgpu")).toEqual(defined);
  });
});

describe("pages of open sizes", () => {
  const text = `dim N <= 96
func @paged(%kv: tensor<9x16x8xf32>, %bt: tensor<6xi32>) -> tensor<Nx8xf32> {
  %y = access.gather %kv, %bt (d0, d1) -> (%bt[d0 div 16], d0 mod 16, d1) {oob = error}
  return %y
}
`;

  it("are one text, with the bits of every size", async (context: TestContext) => {
    const runner = await testRunner();
    if (runner === undefined) {
      context.skip();
      return;
    }
    const kernel = compile(parsed(text), { target: runner.target, tile: [48, 8], residency: "gm" });
    const texts = new Set<string>();
    for (const N of [1, 2, 15, 16, 17, 47, 48, 49, 95, 96]) {
      const bound = kernel.bind({ N });
      expect(pageOf(bound, runner.target)?.by).toBe(16);
      expect(dynamicFormOf(bound.tile)).toBeDefined();
      texts.add(runner.wgsl(bound).code);
      const inputs = inputsOf(bound);
      const gpu = await run(bound, inputs, { backend: "webgpu", runner });
      const defined = await run(bound, inputs, { backend: "reference" });
      expect(bytesOf(gpu.outputs.output), `N = ${N}`).toBe(bytesOf(defined.outputs.output));
    }
    expect(texts.size).toBe(1);
  });
});

describe("rows by an index on an adapter in software", () => {
  it("lie side by side for each lane, which reads and writes what lies together", () => {
    const func = onnx.gather({ data: ["f32", [40, 64]], indices: ["i32", [64]], axis: 0 });
    const kernel = compile(func, { target: software, tile: [16, 64], residency: "gm" });
    expect(planOf(kernel).lanes).toMatchObject({ x: 1, y: 4, inRuns: true });
    expect(emitWgsl(kernel.tile, { target: software }).code).toContain("let d0 = lane.y * 4u + d0_turn;");
    expect(planOf(kernel, targets.webgpu).lanes.inRuns).toBe(false);
    const short = compile(func, { target: software, tile: [24, 64], residency: "gm" });
    const { code } = emitWgsl(short.tile, { target: software });
    expect(code).toContain("let d0_run = (min(24u, 64u - iv_t0) + 3u) / 4u;");
    expect(code).toContain("for (var d0 = d0_start; d0 < d0_stop; d0 += 1u)");
  });

  it.each([5, 6, 7, 13, 16])("are all written, %i of a tile, and those that end one short", async (rows) => {
    const runner = await testRunner();
    if (runner === undefined) return;
    const func = onnx.gather({ data: ["f32", [40, 16]], indices: ["i32", [61]], axis: 0 });
    const kernel = compile(func, { target: runner.target, tile: [rows, 16], residency: "gm" });
    expect(planOf(kernel, runner.target).lanes.inRuns).toBe(true);
    const data = Float32Array.from({ length: 640 }, (_, k) => k + 1);
    const indices = Int32Array.from({ length: 61 }, (_, k) => (k * 7) % 40);
    const { output } = (await run(kernel, { data, indices }, { backend: "webgpu", runner })).outputs;
    const expected = Array.from(indices, (row) => [...data.subarray(16 * row, 16 * row + 16)]);
    expect([...(output as Float32Array)]).toEqual(expected.flat());
  });
});
