/** Kernels at the edges of the instruction set, on the judge; and what is refused by name. */
import { describe, expect, it } from "vitest";
import { emitPto } from "../../../backends/pto/index.js";
import {
  byteCount,
  elementCount,
  inputOf,
  programLowering,
  targetFacts,
  type Func,
  type GatherClass,
  type Schedule,
  type SourceFunc,
  type Stmt,
} from "../../../ir/index.js";
import { compile, onnx, pypto, runOn, targets, type Kernel } from "../../../src/index.js";
import { cppCompiler, ptoJob, runPto } from "../../support/pto.js";
import { parsed } from "../../support/parsed.js";
import { refusal } from "../../support/refusal.js";

/** The same with other names for its operands. */
const named = (func: SourceFunc, names: readonly string[]): Func => ({
  ...func,
  operands: func.operands.map((operand, k) => ({ ...operand, name: names[k]! })),
});

const swapped = (target: string): string => `
func @swapped(%data: tensor<6x20xf32>, %indices: tensor<5x4x20xi32>) -> tensor<4x5x20xf32> target("${target}") {
  %output = access.gather %data, %indices (d0, d1, d2) -> (%indices[d1, d0, d2], d2) {oob = clamp}
  return %output
}
`;

const special: readonly [string, GatherClass, Func, Schedule, RegExp][] = [
  [
    "a tile of more rows than one DMA moves",
    "flat",
    onnx.gatherElements({ data: ["f32", [5000, 8]], indices: ["i64", [9, 8]], axis: 0 }),
    { lowering: "flat" },
    /4095, 8[\s\S]*905, 8/,
  ],
  [
    "an output of more rows, the last tile short",
    "flat",
    onnx.gather({ data: ["f32", [50, 5]], indices: ["i32", [9999]], axis: 0 }),
    { tile: [4200, 5] },
    /if \(n0 > 4095\)/,
  ],
  [
    "indices whose leading dims stand in another order: never one matrix with the output",
    "flat",
    parsed(swapped("ascend-a2")),
    { tile: [4, 5, 20] },
    /pattern_ub/,
  ],
  [
    "no scratch planned",
    "flat",
    onnx.gatherElements({ data: ["f32", [30, 12]], indices: ["i32", [9, 12]], axis: 0, oob: "zero" }),
    { tile: [9, 12], budgetRule: "spec" },
    /border_ub/,
  ],
  [
    "eight dims, views and tiles that end short",
    "flat",
    onnx.gatherElements({
      data: ["c128", [2, 3, 2, 3, 2, 3, 2, 3]],
      indices: ["i64", [2, 3, 2, 3, 2, 3, 2, 3]],
      axis: 3,
    }),
    { tile: [1, 1, 2, 3, 1, 2, 2, 2], view: [2, 2, 2, 3, 2, 2, 2, 3], cores: 3 },
    /continue;/,
  ],
  [
    "data without elements: every index reads as zero",
    "scalar",
    onnx.gather({ data: ["f32", [0, 7]], indices: ["i32", [4]], axis: 0, oob: "zero" }),
    {},
    /SetValue\([^;]*, 0\);/,
  ],
  [
    "names that the kernel has as well",
    "flat",
    named(onnx.gatherElements({ data: ["f32", [30, 40]], indices: ["i32", [9, 40]], axis: 0, oob: "zero" }), [
      "base",
      "seen",
      "border",
    ]),
    { tile: [9, 16], buffers: 2, cores: 1 },
    /ub_border\[/,
  ],
  [
    "short tiles behind a dim of one row: their rows are packed",
    "scalar",
    onnx.gatherElements({ data: ["f16", [2, 5, 65]], indices: ["i64", [2, 5, 3]], axis: 2 }),
    { tile: [1, 4, 3] },
    /TSTORE\(store0, tile2\)/,
  ],
  [
    "a scalar",
    "row-copy",
    onnx.gather({ data: ["f64", [7, 3]], indices: ["i64", []], axis: 0 }),
    { tile: [3] },
    /set_flag\(PIPE_S, PIPE_V, EVENT_ID7\)/,
  ],
  [
    "rows of a table whose indices need no step: MGATHER itself does not wait for their load",
    "mgather",
    pypto.indexSelect({ input: ["f32", [40, 24]], index: ["i32", [30]], dim: 0, oob: "zero" }),
    { residency: "gm", tile: [8, 24], cores: 1, lowering: "mgather" },
    /EVENT_ID7\);\n +MGATHER/,
  ],
  [
    "elements read one by one from global memory",
    "scalar",
    onnx.gather({ data: ["f32", [7, 30]], indices: ["i32", [11]], axis: 1 }),
    { residency: "gm", tile: [4, 5] },
    /inside \? gm_data\[/,
  ],
  [
    "rows by indices that are read in global memory",
    "row-fetch",
    pypto.indexSelect({ input: ["f32", [40, 24]], index: ["i64", [30]], dim: 0, oob: "zero" }),
    { residency: { data: "gm", indices: "gm" }, tile: [8, 24], buffers: 2 },
    /\(int64_t\)gm_indices\[/,
  ],
  [
    "elements by indices that are read in global memory, both",
    "scalar",
    pypto.indexSelect({ input: ["f16", [7, 30]], index: ["i32", [11]], dim: 1 }),
    { residency: { data: "gm", indices: "gm" }, tile: [4, 5] },
    /\(int32_t\)gm_indices\[/,
  ],
  [
    "elements of a table in UB by indices that are read in global memory",
    "scalar",
    pypto.indexSelect({ input: ["i32", [7, 30]], index: ["i32", [11]], dim: 1, oob: "wrap" }),
    { residency: { data: "ub", indices: "gm" }, tile: [4, 5] },
    /\(int32_t\)gm_indices\[/,
  ],
];

function inputsOf(kernel: Kernel) {
  const [data, indices] = [inputOf(kernel.tile, 0).type, inputOf(kernel.tile, 1).type];
  const below = Math.max(1, ...(kernel.access?.map.indices.map((site) => site.extent ?? 1) ?? []));
  const wide = indices.dtype.endsWith("64");
  const values = Array.from({ length: elementCount(indices.shape) }, (_, k) => (k * 131 + 7) % below);
  return {
    data: {
      type: data,
      bytes: Uint8Array.from({ length: byteCount(data) }, (_, k) => (k * 29 + (k >> 7)) % 256),
    },
    indices: {
      type: indices,
      bytes: new Uint8Array((wide ? BigInt64Array.from(values, BigInt) : Int32Array.from(values)).buffer),
    },
  };
}

describe("a kernel for", () => {
  const kernels = special.map(([, , func, schedule]) =>
    compile(func, { ...schedule, profile: "head", target: targets.ascendA2 }),
  );

  it.each(special.map(([name, kind, , , text], k) => ({ name, kind, text, kernel: kernels[k]! })))(
    "$name is $kind",
    ({ kind, text, kernel }) => {
      expect(programLowering(kernel.tile, kernel.target)?.class).toBe(kind);
      expect(kernel.pto().code).toMatch(text);
    },
  );

  it("each of them gives the reference's bits", { timeout: 120_000 }, async (context) => {
    if (cppCompiler() === undefined) return context.skip();
    const inputs = kernels.map(inputsOf);
    const verdicts = await runPto(
      kernels.map((kernel, k) => ptoJob(kernel, `k${k}`, [inputs[k]!.data.bytes, inputs[k]!.indices.bytes])),
    );
    for (const [k, { fault, status, output }] of verdicts.entries()) {
      const { output: wanted } = await runOn("reference", kernels[k]!, inputs[k]!);
      expect([special[k]![0], fault, status, Buffer.compare(output, wanted)]).toEqual([
        special[k]![0],
        "",
        false,
        0,
      ]);
    }
  });
});

describe("tuples of rows whose members have equal extents", () => {
  it("tell of each member that is outside, alone", { timeout: 120_000 }, async (context) => {
    if (cppCompiler() === undefined) return context.skip();
    const func = onnx.gatherNd({ data: ["f32", [6, 6, 16]], indices: ["i64", [19, 2]] });
    const schedule: Schedule = { tile: [19, 16], residency: "gm", lowering: "row-fetch", profile: "head" };
    const kernel = compile(func, { ...schedule, target: targets.ascendA2 });
    expect(programLowering(kernel.tile, kernel.target)?.class).toBe("row-fetch");
    const data = new Uint8Array(6 * 6 * 16 * 4);
    // All inside, then one member outside: of the first tuple, of the last, and on either side.
    const outside = [-1, 0, 1, 36, 37].flatMap((k) =>
      k < 0
        ? [[k, 0]]
        : [
            [k, 6],
            [k, -7],
          ],
    );
    const jobs = outside.map(([at, value], k) => {
      const indices = BigInt64Array.from({ length: 38 }, (_, n) => BigInt(n === at ? value! : (n % 12) - 6));
      return ptoJob(kernel, `k${k}`, [data, new Uint8Array(indices.buffer)]);
    });
    const verdicts = await runPto(jobs);
    expect(verdicts.map(({ fault, status }) => [fault, status])).toEqual(
      outside.map(([at]) => ["", at! >= 0]),
    );
  });
});

const rowsOf = (dtype: "f32" | "string", shape: readonly number[]) =>
  onnx.gather({ data: [dtype, shape], indices: ["i32", [8]], axis: 0 });

function refusalWithHint(action: () => unknown): { readonly code: string; readonly message: string } {
  const { code, message, hint } = refusal(action)!;
  expect(hint).toBeDefined();
  return { code, message };
}

describe("refused by name", () => {
  it("another kind of target", () => {
    const kernel = compile(rowsOf("f32", [4, 5]), { target: targets.webgpu });
    expect(targetFacts[kernel.target.kind].runsPto).toBe(false);
    expect(refusalWithHint(() => kernel.pto())).toEqual({
      code: "TC505",
      message: "PTO-ISA is for Ascend targets; this program is for webgpu",
    });
  });

  it("strings", () => {
    const kernel = compile(rowsOf("string", [4, 5]), { target: targets.ascendA2 });
    expect(refusalWithHint(() => kernel.pto()).message).toBe(
      "strings do not exist in PTO-ISA, and %data holds them",
    );
  });

  it("offsets of 2^31 words", () => {
    const func = onnx.gather({ data: ["f64", [2 ** 27, 12]], indices: ["i32", [8]], axis: 0 });
    const kernel = compile(func, { target: targets.ascendA2, residency: "gm", tile: [8, 12] });
    expect(refusalWithHint(() => kernel.pto())).toEqual({
      code: "TC505",
      message: `%data is ${2 ** 27 * 24} words of int32_t, and offsets stay below ${2 ** 31}`,
    });
  });

  it("more event ids than there are, and buffers without addresses", () => {
    const { tile, target } = compile(rowsOf("f32", [4, 8]), {
      target: targets.ascendA2,
      residency: "ub",
      tile: [4, 8],
    });
    const sync = { op: "sync", from: "V", to: "MTE2", lag: 0 } as const;
    const many: readonly Stmt[] = [...tile.body, ...Array.from({ length: 7 }, () => sync)];
    expect(refusalWithHint(() => emitPto({ ...tile, body: many }, target)).message).toMatch(
      /^sync V -> MTE2 needs \d+ event ids; 6 are free$/,
    );
    const unplaced = tile.body.map((stmt): Stmt => {
      if (stmt.op !== "alloc") return stmt;
      const { addresses: _, ...buffer } = stmt.buffer;
      return { ...stmt, buffer };
    });
    expect(refusalWithHint(() => emitPto({ ...tile, body: unplaced }, target)).code).toBe("TC202");
  });

  it("what the lowering adds, behind buffers that leave a gap", () => {
    const columns = pypto.gather({
      input: ["f32", [300, 40]],
      index: ["i32", [300, 40]],
      dim: 0,
      oob: "clamp",
    });
    const { tile, target } = compile(columns, { tile: [300, 16], target: targets.ascendA2 });
    // Without a tile for what the lowering adds.
    const bare = (stmts: readonly Stmt[]): readonly Stmt[] =>
      stmts.flatMap((stmt): readonly Stmt[] => {
        if (stmt.op === "for") return [{ ...stmt, body: bare(stmt.body) }];
        if (stmt.op === "gather") return [{ ...stmt, scratch: [] }];
        if (stmt.op !== "alloc") return [stmt];
        if (stmt.buffer.name === "base_ub") return [];
        if (stmt.buffer.name !== "output_ub") return [stmt];
        return [{ ...stmt, buffer: { ...stmt.buffer, addresses: [target.ubBytes - 19200] } }];
      });
    const body = bare(tile.body);
    const { code, message } = refusalWithHint(() => emitPto({ ...tile, body }, target));
    expect([code, message]).toEqual([
      "TC401",
      "the kernel needs 215808 B of unified buffer, over 196608 B (target ascend-a2)",
    ]);
  });

  it("not an output without elements: it has a kernel with no statement, and no block", () => {
    const kernel = compile(onnx.gather({ data: ["f32", [4, 0]], indices: ["i32", [8]], axis: 0 }), {
      target: targets.ascendA2,
    });
    expect(kernel.pto()).toMatchObject({ blocks: 0, ubPeak: 0, buffers: [] });
    expect(kernel.pto().code).toContain("{\n}\n");
  });
});

describe("a kernel's text", () => {
  const of = (name: string, func: Func): string =>
    compile({ ...func, name }, { target: targets.ascendA2 }).pto().code;

  it("does not grow with the tensors", () => {
    const text = (rows: number): string =>
      compile(onnx.gather({ data: ["f32", [64, 40]], indices: ["i32", [rows]], axis: 0 }), {
        tile: [16, 40],
        target: targets.ascendA2,
      }).pto().code;
    expect(text(2 ** 24).split("\n").length).toBe(text(2 ** 12).split("\n").length);
  });

  it("has identifiers of its own for the names of a program, apart from those that C++ keeps for itself", () => {
    const func = rowsOf("f32", [4, 8]);
    for (const name of ["int", "TLOAD", "set_flag", "status", "data", "tile0", "row0", "data_ub"])
      expect(of(name, func)).toMatch(new RegExp(`void tilec_kernel_${name}\\(`));
    expect(of("a__b", func)).toMatch(/void tilec_kernel_a_b\(/);
    const operands = func.operands.map((operand, k) => ({ ...operand, name: ["class", "a__b", "a_b"][k]! }));
    expect(of("f", { ...func, operands })).toContain(
      "(__gm__ int32_t* gm_class, __gm__ int32_t* gm_a_b, __gm__ int32_t* gm_a_b_2, ",
    );
  });
});
