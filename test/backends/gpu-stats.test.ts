/** Counts of WebGPU kernels, which need no device: of a text by hand, and of kernels of every form, within limits. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { compileGpuKernel, gpuKernels } from "../../bench/gpu-kernels.js";
import { emitWgsl, kernelStats, type BufferStats, type KernelStats } from "../../backends/wgsl/index.js";
import { LaneRunner } from "../../backends/wgsl/stats/lane.js";
import { meanBytes, outputOf, targets, type TileFunc } from "../../ir/index.js";
import { taskOfTile } from "../../ir/task/index.js";
import { compile, onnx } from "../../src/index.js";
import { verifyMap } from "../../ir/verify/map-rules.js";
import { drawer } from "../fuzz/mutate.js";
import { textOf } from "../oracle/scatter.js";
import { randomScatter } from "../support/random-scatter.js";
import { runHere } from "../support/run-here.js";
import { parsed } from "../support/parsed.js";

/** Rows of 64 floats by 32 indices, and its kernel. */
const { tile } = compile(onnx.gather({ data: ["f32", [9, 64]], indices: ["i32", [32]], axis: 0 }), {
  target: targets.webgpu,
});

/** Counts of a text in the place of its own, on one workgroup of 32 lanes. */
function countsOf(body: string, helpers = ""): KernelStats {
  const kernel = emitWgsl(tile);
  const code = `@group(0) @binding(0) var<storage, read> gm_data: array<u32, 576>;
@group(0) @binding(1) var<storage, read> gm_indices: array<u32, 32>;
@group(0) @binding(2) var<storage, read_write> gm_output: array<u32, 2048>;
${helpers}
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_id) lane: vec3u) {
  ${body}
}
`;
  const stats = kernelStats(tile, { ...kernel, code, workgroupSize: [32, 1] });
  if (stats === undefined) throw new Error("the kernel is launched");
  return stats;
}

const bufferOf = ({ buffers }: KernelStats, name: string): BufferStats | undefined =>
  buffers.find((buffer) => buffer.name === name);

describe("counts of a text", () => {
  it("are its accesses, sectors and operations, by hand", () => {
    const stats = countsOf("let at = lane.x * 2u;\n  gm_output[at] = gm_data[at] + 1u;");
    expect(stats.outputBytes).toBe(32 * 4);
    // A product, a sum, a load and a store for four bytes.
    expect(stats.instructions).toBe(1);
    expect(stats).toMatchObject({ activeLanes: 1, loadsInFlight: 1, divisionsInLoops: 0, int128InLoops: 0 });
    // Every second word: 64 words touched in 8 sectors, 32 words that 4 sectors hold.
    expect(bufferOf(stats, "gm_output")).toEqual({
      name: "gm_output",
      kind: "store",
      bytesPerAccess: 4,
      perOutputByte: 1 / 4,
      sectorEfficiency: 0.5,
    });
  });

  it("leave out lanes that wait", () => {
    expect(countsOf("if (lane.x < 24u) { gm_output[lane.x] = 0u; }").activeLanes).toBe(24 / 32);
  });

  it("take a loop of a constant number of rounds as unrolled, and one of another as loads one by one", () => {
    const loop = (end: string): string =>
      `let end = gm_indices[0] + 4u;
  for (var k = 0u; k < ${end}; k += 1u) { gm_output[lane.x + 32u * k] = gm_data[lane.x + 32u * k]; }`;
    expect(countsOf(loop("4u")).loadsInFlight).toBe(4);
    expect(countsOf(loop("end")).loadsInFlight).toBe(1);
  });

  it("weight the rounds of a long loop as if all were run", () => {
    const sum = (rounds: number): number =>
      countsOf(
        `var sum = 0u;\n  for (var k = 0u; k < ${rounds}u; k += 1u) { sum += k * k; }\n  gm_output[lane.x] = sum;`,
      ).instructions;
    // A test, a product, a sum and a step each round: 1000 rounds more are 4000 operations for 4 bytes.
    expect(sum(2000) - sum(1000)).toBeCloseTo(1000, 0);
  });

  it("name divisions and 128-bit numbers inside of loops alone", () => {
    const twice = (inside: string): string =>
      `var at = lane.x;\n  for (var k = 0u; k < 2u; k += 1u) { ${inside} }\n  gm_output[lane.x] = at / 3u;`;
    const helper = "fn half_i128(a: u32) -> u32 { return a >> 1u; }";
    expect(countsOf(twice("at = at / 3u;")).divisionsInLoops).toBe(2 / 4);
    expect(countsOf(twice("at = at / 4u;")).divisionsInLoops).toBe(0);
    expect(countsOf(twice("at = half_i128(at);"), helper).int128InLoops).toBe(2 / 4);
  });
});

/** A figure of a kernel with its limit. */
interface Limit {
  /** Undefined where the limit is not of this kernel. */
  readonly value: (stats: KernelStats, func: TileFunc) => number | undefined;
  readonly atLeast?: number;
  readonly atMost?: number;
}

const elementBytes = (func: TileFunc): number => meanBytes(outputOf(func).type.dtype);

const stores = ({ buffers }: KernelStats): BufferStats | undefined =>
  buffers.find(({ name, kind }) => kind === "store" && name.startsWith("gm_"));

/** Loads of index operands, which no index scatters: every global load but the first table's. */
const indexLoads = ({ buffers }: KernelStats, func: TileFunc): readonly BufferStats[] =>
  buffers.filter(
    ({ name, kind }) =>
      kind === "load" && name.startsWith("gm_") && name !== `gm_${func.operands[0]?.name ?? ""}`,
  );

const reduces = (func: TileFunc): boolean => taskOfTile(func).gather?.stmt.map.reduced !== undefined;

/** Bytes of the first table for each byte of the output: the reduction elements. */
const bytesLoaded = ({ buffers }: KernelStats, func: TileFunc): number =>
  buffers
    .filter(({ name, kind }) => kind === "load" && name === `gm_${func.operands[0]?.name ?? ""}`)
    .reduce((sum, { bytesPerAccess, perOutputByte }) => sum + bytesPerAccess * perOutputByte, 0);

const limits: Readonly<Record<string, Limit>> = {
  "bytes a store": {
    value: (stats, func) => (elementBytes(func) === 4 ? stores(stats)?.bytesPerAccess : undefined),
    atLeast: 12,
  },
  "output sectors": { value: (stats) => stores(stats)?.sectorEfficiency, atLeast: 0.8 },
  "index sectors": {
    value: (stats, func) =>
      Math.min(...indexLoads(stats, func).map(({ sectorEfficiency }) => sectorEfficiency)),
    atLeast: 0.8,
  },
  "instructions a byte": {
    value: ({ instructions }, func) => (elementBytes(func) === 1 || reduces(func) ? undefined : instructions),
    atMost: 4,
  },
  "instructions a term": {
    value: (stats, func) =>
      reduces(func) ? (stats.instructions * elementBytes(func)) / bytesLoaded(stats, func) : undefined,
    atMost: 60,
  },
  "instructions an element of a byte": {
    value: ({ instructions }, func) => (elementBytes(func) === 1 ? instructions : undefined),
    atMost: 28,
  },
  "128-bit calls in loops": { value: ({ int128InLoops }) => int128InLoops, atMost: 0 },
  "loads in flight": { value: ({ loadsInFlight }) => loadsInFlight, atLeast: 4 },
  "active lanes": { value: ({ activeLanes }) => activeLanes, atLeast: 0.85 },
};

/** Kernels beyond a limit, with the figure that they may not leave. The list gets shorter, never longer. */
const exceptions: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "pages-f16": { "loads in flight": 2 },
  "elements-i64": { "index sectors": 0.5, "instructions a byte": 4.86 },
  "elements-u8-ub": { "loads in flight": 2 },
  "quantized-f32": { "instructions a byte": 18.07, "loads in flight": 2 },
};

/** True if a figure is no worse than a bound. */
const holds = ({ atLeast }: Limit, value: number, bound: number): boolean =>
  atLeast === undefined ? value <= bound + 0.005 : value >= bound - 0.005;

describe("kernels of every form", () => {
  it.each(gpuKernels.map((kernel) => [kernel.name, kernel] as const))(
    "%s is within limits",
    (name, gpuKernel) => {
      const { kernel, wgsl } = compileGpuKernel(gpuKernel);
      const stats = kernelStats(kernel.tile, wgsl);
      if (stats === undefined) throw new Error("the kernel is launched");
      const beyond = Object.entries(limits).flatMap(([figure, limit]) => {
        const value = limit.value(stats, kernel.tile);
        const bound = limit.atLeast ?? limit.atMost ?? 0;
        return value === undefined || holds(limit, value, bound) ? [] : [[figure, value] as const];
      });
      const excepted = exceptions[name] ?? {};
      // One that holds its limit is no exception any more.
      expect(beyond.map(([figure]) => figure)).toEqual(Object.keys(excepted));
      for (const [figure, value] of beyond) {
        const limit = limits[figure];
        if (limit === undefined) throw new Error(`no limit ${figure}`);
        expect([figure, value, holds(limit, value, excepted[figure] ?? 0)]).toEqual([figure, value, true]);
      }
    },
  );

  it("have no more exceptions than before", () => {
    const count = Object.values(exceptions).reduce((sum, figures) => sum + Object.keys(figures).length, 0);
    expect(count).toBeLessThanOrEqual(6);
    expect(
      Object.keys(exceptions).filter((name) => gpuKernels.every((kernel) => kernel.name !== name)),
    ).toEqual([]);
  });
});

describe("counts of a scatter", () => {
  /** Returns the counts of rows of 64 elements that are written into 1000. */
  function countsOfRows(entries: string, dtype = "f32", base = ""): KernelStats {
    const type = `tensor<1000x64x${dtype}>`;
    const text = `func @rows(%x: ${base}${type}, %i: tensor<8xi32>, %u: tensor<8x64x${dtype}>) -> ${type} {
  %y = access.scatter %x, %i, %u (d0 < 8, d1 < 64) let t = skip(%i[d0] in 1000) -> (t, d1) yield %u[d0, d1] {oob = error, ${entries}}
  return %y
}
`;
    const func = parsed(text);
    const kernel = compile(func, { target: targets.webgpu });
    const stats = kernelStats(kernel.tile, kernel.wgsl());
    if (stats === undefined) throw new Error("the kernel is launched");
    return stats;
  }

  it("are those of its dispatches, of the bytes that points write", () => {
    const stats = countsOfRows("duplicates = last");
    const [first, own] = stats.before ?? [];
    expect(stats.before?.map(({ entryPoint }) => entryPoint)).toEqual(["base_points", "own_points"]);
    // 16,000 lanes copy 16 B each of the base; 512 points write 4 B each.
    const copied = (buffer: string, kind: string): number =>
      first!.buffers.filter((one) => one.name === buffer && one.kind === kind)[0]!.perOutputByte;
    expect([copied("gm_x", "load"), copied("gm_y", "store")]).toEqual([16_000 / 2048, 16_000 / 2048]);
    // One lane a row reads its index, and owns a row: 8 lanes of a subgroup of 32, in 8 sectors or fewer.
    expect(own).toMatchObject({ outputBytes: 2048, activeLanes: 8 / 32 });
    expect(own!.buffers).toMatchObject([
      { name: "gm_i", kind: "load", bytesPerAccess: 4, perOutputByte: 8 / 2048, sectorEfficiency: 1 },
      { name: "owner", kind: "atomic", bytesPerAccess: 4, perOutputByte: 8 / 2048 },
    ]);
    // 128 lanes, each of which owns its row and writes 16 B of it.
    expect(stats).toMatchObject({ outputBytes: 2048, activeLanes: 1, loadsInFlight: 1 });
    expect(bufferOf(stats, "gm_y")).toEqual({
      name: "gm_y",
      kind: "store",
      bytesPerAccess: 16,
      perOutputByte: 1 / 16,
      sectorEfficiency: 1,
    });
  });

  it("are of the operand that is written in place", () => {
    const stats = countsOfRows("duplicates = last", "f32", "inout ");
    expect(stats.before?.map(({ entryPoint }) => entryPoint)).toEqual(["clear_points", "own_points"]);
    expect(bufferOf(stats, "gm_x")).toMatchObject({
      kind: "store",
      bytesPerAccess: 16,
      perOutputByte: 1 / 16,
    });
  });

  it("have atomics, each of which ends as it does without other lanes", () => {
    const sums = countsOfRows("combine = add", "i32");
    expect(bufferOf(sums, "gm_y")).toMatchObject({ kind: "atomic", bytesPerAccess: 4, perOutputByte: 1 / 4 });
    const halves = countsOfRows("combine = min", "f16");
    const accesses = halves.buffers.filter(({ name }) => name === "gm_y");
    expect(accesses).toMatchObject([
      { kind: "load", perOutputByte: 1 / 2 },
      { kind: "atomic", perOutputByte: 1 / 2 },
    ]);
  });

  it("take the points of ordered sums one after another", () => {
    const stats = countsOfRows("combine = add");
    // 64 lanes, one for each element of a row, take 8 points each.
    expect(stats).toMatchObject({ outputBytes: 2048, activeLanes: 1 });
    expect(bufferOf(stats, "gm_u")).toMatchObject({ perOutputByte: 1 / 4 });
  });

  /** Bytes that all lanes of a dispatch access, by kind and buffer. */
  const bytesIn = ({ buffers, outputBytes }: Omit<KernelStats, "before">): Record<string, number> =>
    Object.fromEntries(
      buffers.map(({ name, kind, bytesPerAccess, perOutputByte }) => [
        `${kind} ${name}`,
        Math.round(bytesPerAccess * perOutputByte * outputBytes * 1e6) / 1e6,
      ]),
    );

  /** A scatter of f32 into `shape`: what it writes, and the entry of `owner` of each point by its coordinates. */
  const walks: readonly {
    readonly shape: readonly number[];
    readonly domain: readonly number[];
    readonly index: readonly number[];
    readonly to: string;
    /** Points that share an owner. */
    readonly owner: (point: readonly number[]) => string;
    /** Number of entries. */
    readonly owners: number;
  }[] = [
    ...[
      [1, 1, 1],
      [3, 1, 4],
      [1000, 5, 3],
      [1000, 8, 64],
      [70_001, 33, 5],
      [5000, 7, 4],
      [70_001, 70, 1],
      [70_001, 100, 12],
    ].map(([rows = 0, points = 0, columns = 0]) => ({
      shape: [rows, columns],
      domain: [points, columns],
      index: [points],
      to: "(%i[d0], d1)",
      owner: ([d0]: readonly number[]) => String(d0),
      // A dim of one column is all of a row.
      owners: rows,
    })),
    {
      shape: [70_001, 5],
      domain: [30, 5],
      index: [30, 5],
      to: "(%i[d0, d1], d1)",
      owner: String,
      owners: 5 * 70_001,
    },
    // The owners are of the inner dim, and the points of the last workgroup lie in two rows.
    {
      shape: [6, 50_021],
      domain: [6, 40],
      index: [40],
      to: "(d0, %i[d1])",
      owner: ([, d1]: readonly number[]) => String(d1),
      owners: 50_021,
    },
    // The points of the last workgroup have owners in two workgroups.
    {
      shape: [5_000_011, 3],
      domain: [2, 3, 70],
      index: [2, 70],
      to: "(%i[d0, d2], d1)",
      owner: ([d0, , d2]: readonly number[]) => `${d0} ${d2}`,
      owners: 5_000_011,
    },
    {
      shape: [9, 70_001, 6],
      domain: [9, 11, 6],
      index: [11],
      to: "(d0, %i[d1], d2)",
      owner: ([, d1]: readonly number[]) => String(d1),
      owners: 70_001,
    },
  ];

  const productOf = (extents: readonly number[]): number => extents.reduce((product, n) => product * n, 1);

  it.each(walks)("are those of a walk over the points: $domain into $shape at $to", (walk) => {
    const { shape, domain, index, to, owner, owners } = walk;
    const type = `tensor<${shape.join("x")}xf32>`;
    const coords = domain.map((_, d) => `d${d}`);
    const text = `func @walk(%x: ${type}, %i: tensor<${index.join("x")}xi32>, %u: tensor<${domain.join("x")}xf32>) -> ${type} {
  %y = access.scatter %x, %i, %u (${domain.map((extent, d) => `d${d} < ${extent}`).join(", ")}) -> ${to} yield %u[${coords.join(", ")}] {oob = error, duplicates = last}
  return %y
}
`;
    const kernel = compile(parsed(text), { target: targets.webgpu });
    const stats = kernelStats(kernel.tile, kernel.wgsl())!;
    // The generated index values name no element twice, where there is more than one.
    const telling = new Set<string>();
    const points = productOf(domain);
    for (let point = 0; point < points; point++) {
      let rest = point;
      const at = domain.map(() => 0);
      for (let d = domain.length - 1; d >= 0; d--) {
        at[d] = rest % domain[d]!;
        rest = (rest - at[d]!) / domain[d]!;
      }
      telling.add(owner(at));
    }
    const elements = productOf(shape);
    const [base, own] = stats.before!;
    expect(bytesIn(base!)).toEqual({
      "load gm_x": 4 * elements,
      "store gm_y": 4 * elements,
      "store owner": 4 * owners,
    });
    expect(bytesIn(own!)).toEqual({
      "load gm_i": 4 * telling.size,
      "atomic owner": 4 * telling.size,
    });
    expect(stats.outputBytes).toBe(4 * points);
    expect(bytesIn(stats)).toMatchObject({ "store gm_y": 4 * points, "load gm_u": 4 * points });
  });

  it("are made on a number of lanes that sizes do not change", () => {
    const lanesOf = (rows: number, points: number): number => {
      const run = vi.spyOn(LaneRunner.prototype, "run");
      const type = `tensor<${rows}x32xf32>`;
      const text = `func @far(%x: ${type}, %i: tensor<${points}xi32>, %u: tensor<${points}x32xf32>) -> ${type} {
  %y = access.scatter %x, %i, %u (d0 < ${points}, d1 < 32) -> (%i[d0], d1) yield %u[d0, d1] {oob = error, duplicates = error}
  return %y
}
`;
      const kernel = compile(parsed(text), { target: targets.webgpu });
      expect(kernelStats(kernel.tile, kernel.wgsl())?.before).toHaveLength(3);
      const { length } = run.mock.calls;
      run.mockRestore();
      return length;
    };
    const few = lanesOf(2 ** 10, 2 ** 9);
    expect(lanesOf(2 ** 20, 2 ** 9)).toBe(few);
    expect(lanesOf(2 ** 10, 2 ** 20)).toBe(few);
  });

  it("are numbers for scatters of every form", () => {
    const forms = new Set<string>();
    for (let seed = 0; seed < 80; seed++) {
      const text = textOf(randomScatter(drawer(seed * 23 + 7)));
      const func = parsed(text);
      // More points than elements under `unique`, and the like.
      if (func?.level !== "access" || verifyMap(func.map, func, undefined).length > 0) continue;
      const kernel = compile(func, { target: targets.webgpu });
      const wgsl = kernel.wgsl();
      const stats = kernelStats(kernel.tile, wgsl);
      if (stats === undefined) {
        expect(wgsl.dispatch, text).toContain(0);
        continue;
      }
      const { before = [] } = stats;
      expect(before.map(({ entryPoint }) => entryPoint)).toEqual(
        (wgsl.before ?? []).map(({ entryPoint }) => entryPoint),
      );
      for (const step of [...before, stats]) {
        const { activeLanes, buffers, instructions, outputBytes } = step;
        const figures = buffers.flatMap(({ bytesPerAccess, perOutputByte, sectorEfficiency }) => [
          bytesPerAccess,
          perOutputByte,
          sectorEfficiency,
        ]);
        for (const figure of [activeLanes, instructions, outputBytes, ...figures])
          expect(figure > 0 && figure < 1e9, text).toBe(true);
        expect(activeLanes, text).toBeLessThanOrEqual(1);
      }
      forms.add(`${before.map(({ entryPoint }) => entryPoint).join(", ")}; ${buffersWritten(stats)}`);
    }
    expect(forms.size).toBeGreaterThan(8);
  });

  const buffersWritten = ({ buffers }: KernelStats): string =>
    buffers.flatMap(({ name, kind }) => (kind === "load" ? [] : [`${kind} ${name}`])).join(", ");
});

describe("the command line", () => {
  it("prints the counts of every dispatch of a scatter, and has them in an explanation", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tilec-gpu-stats-"));
    const file = join(folder, "elements.tir");
    writeFileSync(
      file,
      `func @f(%x: tensor<64x8xf32>, %i: tensor<4x8xi64>, %u: tensor<4x8xf32>) -> tensor<64x8xf32> {
  %y = onnx.scatter_elements %x, %i, %u {axis = 0}
  return %y
}
`,
    );
    const flags = [file, "--target", "webgpu"];
    const { stdout, stderr } = await runHere(["compile", ...flags, "--emit", "gpu-stats"]);
    expect(stdout, stderr).toMatch(
      /dispatch base_points[^]*dispatch own_points[^]*dispatch main[^]*store gm_/,
    );
    const json = await runHere(["explain", ...flags, "--json"]);
    const { gpu } = JSON.parse(json.stdout) as { readonly gpu: KernelStats };
    expect(gpu.before).toHaveLength(2);
    rmSync(folder, { recursive: true });
  });

  const op = ["--op", "gather", "--data", "f32[9,64]", "--indices", "i32[32]"];

  it("prints the counts of a kernel, and of a program for another target those on WebGPU", async () => {
    const { stdout, status } = await runHere(["compile", ...op, "--target", "webgpu", "--emit", "gpu-stats"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^@gather: WebGPU kernel[^]*for each byte of the output[^]*store gm_output +16 +0\.063 +100 %/,
    );
    const other = await runHere([
      "compile",
      ...op,
      "--target",
      "ascend-a2",
      "--residency",
      "gm",
      "--emit",
      "gpu-stats",
    ]);
    expect(other.stdout).toContain("store gm_output");
  });

  it("are part of an explanation for WebGPU, and of no other", async () => {
    const { stdout } = await runHere(["explain", ...op, "--target", "webgpu"]);
    expect(stdout).toContain("WebGPU kernel, counted on one workgroup");
    const json = await runHere(["explain", ...op, "--target", "webgpu", "--json"]);
    const { gpu } = JSON.parse(json.stdout) as { readonly gpu: KernelStats };
    expect(gpu).toMatchObject({ int128InLoops: 0, workgroupBytes: 0 });
    expect((await runHere(["explain", ...op, "--target", "cpu"])).stdout).not.toContain("WebGPU kernel");
  });

  it("say that no kernel is launched for an output without elements", async () => {
    const empty = ["--op", "gather", "--data", "f32[9,64]", "--indices", "i32[0]", "--target", "webgpu"];
    const { stdout, status } = await runHere(["compile", ...empty, "--emit", "gpu-stats"]);
    expect([status, stdout]).toEqual([0, expect.stringContaining("no kernel is launched")]);
  });
});

describe("the page on WebGPU", () => {
  /** Cells of the rows of the page's table of counts, by kernel. The last figure of a cell is that of today. */
  const cells = new Map(
    readFileSync("docs/webgpu.md", "utf8")
      .split("\n")
      .slice(...tableOfCounts())
      .map((line) => line.split("|").map((cell) => cell.trim().split(" → ").at(-1) ?? ""))
      .map(([, name = "", ...rest]) => [name, rest.slice(0, -1)] as const),
  );

  function tableOfCounts(): [number, number] {
    const lines = readFileSync("docs/webgpu.md", "utf8").split("\n");
    const head = lines.findIndex((line) => /^\| Kernel +\| Loads a byte/.test(line));
    const end = lines.findIndex((line, k) => k > head && !line.startsWith("|"));
    return [head + 2, end];
  }

  const share = (value: number): string => `${Math.round(100 * value)} %`;

  it("has the counts of every kernel", () => {
    const counted = gpuKernels.map((gpuKernel) => {
      const { kernel, wgsl } = compileGpuKernel(gpuKernel);
      const stats = kernelStats(kernel.tile, wgsl);
      if (stats === undefined) throw new Error("the kernel is launched");
      const { buffers, instructions, loadsInFlight, activeLanes, workgroupBytes } = stats;
      const loads = buffers.filter(({ name, kind }) => kind === "load" && name.startsWith("gm_"));
      const { bytesPerAccess = 0, sectorEfficiency = 0 } = stores(stats) ?? {};
      return [
        gpuKernel.name,
        [
          loads.reduce((sum, { perOutputByte }) => sum + perOutputByte, 0).toFixed(3),
          instructions.toFixed(2),
          `${bytesPerAccess} B, ${share(sectorEfficiency)}`,
          `${loadsInFlight}`,
          share(activeLanes),
          `${workgroupBytes}`,
        ],
      ] as const;
    });
    expect([...cells]).toEqual(counted);
  });
});
