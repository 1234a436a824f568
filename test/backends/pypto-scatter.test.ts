/** PyPTO programs of scatters: on a stand-in of PyPTO's operators they leave what the reference leaves, and what PyPTO lacks is refused. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementCount, inputsOf, outputOf, type Func, type SourceFunc } from "../../ir/index.js";
import {
  compile,
  onnx,
  pypto,
  targets,
  torch,
  tryCompile,
  type CompileOptions,
  runOn,
  type Kernel,
} from "../../src/index.js";
import { runs } from "../support/runs.js";
import { flat, nested, python, runPrograms, type Job } from "../support/pypto.js";
import { refusal } from "../support/refusal.js";
import { parsed } from "../support/parsed.js";

const target = targets.ascendA2;

const programOf = (func: Func, options: CompileOptions = {}): string =>
  compile(func, { ...options, target }).pypto();

type Dtype = "f32" | "i32";

/** A drawn call: the program, the extent that its index values are below, and the least of them. */
interface Drawn {
  readonly func: SourceFunc;
  /** Extents of its points. */
  readonly domain: readonly number[];
  readonly limit: (table: number) => number;
  readonly least: number;
}

const extent = (max: number) => fc.integer({ min: 1, max });
const dtype = fc.constantFrom<Dtype>("f32", "i32");
const indexType = fc.constantFrom("i32" as const, "i64" as const);

const slots = fc
  .record({
    type: dtype,
    index: indexType,
    b: extent(5),
    s: extent(4),
    rows: extent(12),
    page: extent(4),
    d: extent(9),
    paged: fc.boolean(),
  })
  .map(({ type, index, b, s, rows, page, d, paged }): Drawn => {
    const input = paged ? [rows, page, 1, d] : [rows, d];
    const src = paged ? [b, s, 1, d] : [b * s, d];
    const func = pypto.scatterUpdate({ input: [type, input], index: [index, [b, s]], src: [type, src] });
    return { func, domain: src, limit: () => (paged ? rows * page : rows), least: -2 };
  });

const elements = fc
  .array(fc.record({ input: extent(7), index: extent(7), more: fc.nat(2) }), { minLength: 1, maxLength: 3 })
  .chain((dims) =>
    fc
      .record({
        type: dtype,
        index: indexType,
        dim: fc.nat(dims.length - 1),
        inPlace: fc.boolean(),
        value: fc.option(fc.integer({ min: -4, max: 4 })),
        reduce: fc.constantFrom("none" as const, "add" as const, "multiply" as const),
      })
      .map(({ type, index, dim, inPlace, value, reduce }): Drawn => {
        const input = dims.map((one) => one.input);
        const indices = dims.map((one, k) => (k === dim ? one.index : Math.min(one.input, one.index)));
        const src = indices.map((one, k) => one + dims[k]!.more);
        const build = inPlace ? pypto.scatterInPlace : pypto.scatter;
        const common = { input: [type, input], index: [index, indices], dim, reduce } as const;
        const func = build(value === null ? { ...common, src: [type, src] } : { ...common, value });
        return { func, domain: indices, limit: () => input[dim]!, least: 0 };
      }),
  );

const slices = fc.array(extent(6), { minLength: 1, maxLength: 4 }).chain((input) =>
  fc
    .record({
      type: dtype,
      index: indexType,
      dim: fc.nat(input.length - 1),
      count: extent(6),
      alpha: fc.constantFrom(1, 2, -3),
      build: fc.constantFrom(pypto.indexAdd, pypto.indexAddInPlace, pypto.indexAddUb),
    })
    .map(({ type, index, dim, count, alpha, build }): Drawn => {
      const source = input.with(dim, count);
      const func = build({
        input: [type, input],
        index: [index, [count]],
        source: [type, source],
        dim,
        alpha,
      });
      return { func, domain: source, limit: () => input[dim]!, least: 0 };
    }),
);

const puts = fc.array(extent(5), { minLength: 1, maxLength: 4 }).chain((input) =>
  fc
    .record({
      type: dtype,
      index: indexType,
      arrays: fc.integer({ min: 1, max: input.length }),
      count: extent(6),
      accumulate: fc.constantFrom(0, 1),
    })
    .map(({ type, index, arrays, count, accumulate }): Drawn => {
      const named = Object.fromEntries(
        Array.from({ length: arrays }, (_, k) => [`indices${k}`, [index, [count]]] as const),
      ) as { readonly indices0: readonly [typeof index, readonly [number]] };
      const values = [type, [count, ...input.slice(arrays)]] as const;
      const func = pypto.indexPutInPlace({ input: [type, input], ...named, values, accumulate });
      return { func, domain: values[1], limit: (table) => input[table - 1]!, least: 0 };
    }),
);

/** A kernel of a drawn call under a random schedule; undefined where the tile is illegal. */
function kernelFor({ func, domain }: Drawn, seed: number): Kernel | undefined {
  let state = seed;
  const draw = (count: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 16) % count;
  };
  const output = outputOf(func).type.shape;
  const rank = domain.length;
  const isWhole = domain.map(() => draw(3) > 0);
  const view = domain.map((extent, d) =>
    isWhole[d]! ? Math.max(extent, output.length === rank ? output[d]! : 1) : 1 + draw(extent),
  );
  const tile = view.map((extent) => (draw(3) > 0 ? extent : 1 + draw(extent)));
  // Slots that two views share are taken view by view.
  if (func.op === "pypto.scatter_update" && rank === 4) view[1] = domain[1]!;
  const residency = func.op === "pypto.scatter_update" || draw(4) === 0 ? "gm" : "ub";
  const result = tryCompile(func, {
    target,
    view,
    tile,
    residency,
    profile: draw(2) === 0 ? "strict" : "head",
  });
  return result.ok ? result.kernel : undefined;
}

interface Trial extends Job {
  readonly drawn: Drawn;
  readonly numbers: readonly (readonly number[])[];
}

function trialOf(drawn: Drawn, seed: number): Trial | undefined {
  const kernel = kernelFor(drawn, seed);
  if (kernel === undefined) return undefined;
  if (refusal(() => kernel.pypto()) !== undefined) return undefined;
  const written = inputsOf(kernel.tile);
  const isIndex = (table: number): boolean =>
    kernel.access!.map.indices.some(({ value }) => "table" in value && value.table === table);
  const numbers = written.map(({ type }, table) =>
    Array.from({ length: elementCount(type.shape) }, (_, k) => {
      const random = Math.imul(seed + 7 * k + 31 * table, 2654435761) >>> 8;
      const { least, limit } = drawn;
      return isIndex(table) ? least + (random % (limit(table) - least)) : (random % 9) - 4;
    }),
  );
  const inputs = written.map(({ type }, table) => nested(type.shape, (k) => numbers[table]![k]!));
  return { kernel, inputs, drawn, numbers };
}

const arrays = { f32: Float32Array, i32: Int32Array, i64: BigInt64Array } as const;

/** Returns the output of the reference. */
async function expected({ kernel, numbers }: Trial): Promise<readonly number[]> {
  const tensors = inputsOf(kernel.tile).map(({ name, type }, table) => {
    const values = numbers[table]!;
    const array =
      type.dtype === "i64" ? BigInt64Array.from(values, BigInt) : arrays[type.dtype as Dtype].from(values);
    return [name, { type, bytes: new Uint8Array(array.buffer) }] as const;
  });
  const { output } = await runOn("reference", kernel, Object.fromEntries(tensors));
  const { dtype } = outputOf(kernel.tile).type;
  return [...new arrays[dtype as Dtype](Uint8Array.from(output).buffer)];
}

/** The writes of scatter_update on sequences of four slots, as a map that no operator names. */
const slotsByMap =
  parsed(`func @kv(%cache: inout tensor<20x8xf32>, %slot: tensor<3x4xi32>, %rows: tensor<12x8xf32>) -> tensor<20x8xf32> {
  %y = access.scatter %cache, %slot, %rows (d0 < 12, d1 < 8) -> (%slot[d0 div 4, d0 mod 4], d1) yield %rows[d0, d1] {oob = skip, duplicates = last}
  return %y
}
`);

describe("a PyPTO program of a scatter", () => {
  it("is as reviewed, of each operator", async () => {
    const cache = pypto.scatterUpdate({
      input: ["bf16", [64, 32]],
      index: ["i64", [12, 2]],
      src: ["bf16", [24, 32]],
    });
    const paged = pypto.scatterUpdate({
      input: ["i8", [8, 16, 1, 32]],
      index: ["i32", [6, 1]],
      src: ["i8", [6, 1, 1, 32]],
    });
    const part = pypto.scatter({
      input: ["f32", [20, 30]],
      index: ["i64", [9, 25]],
      src: ["f32", [10, 25]],
      dim: 0,
      reduce: "add",
    });
    const ones = pypto.scatterInPlace({ input: ["f32", [4, 16]], index: ["i32", [4, 3]], dim: 1, value: 1 });
    const adds = pypto.indexAddInPlace({
      input: ["f16", [10, 16]],
      index: ["i32", [8]],
      source: ["f16", [8, 16]],
      dim: 0,
      alpha: 1.5,
    });
    const puts = pypto.indexPutInPlace({
      input: ["i32", [9, 7, 16]],
      indices0: ["i64", [5]],
      indices1: ["i64", [5]],
      values: ["i32", [5, 16]],
      accumulate: 1,
    });
    const texts = [
      programOf(cache, { view: [10, 32], tile: [2, 32] }),
      programOf(paged, { tile: [6, 1, 1, 32] }),
      programOf(part, { view: [20, 16], tile: [20, 8], residency: "ub" }),
      programOf(ones, { tile: [4, 16], residency: "ub" }),
      programOf(adds, { view: [5, 16], tile: [5, 16], residency: "ub" }),
      programOf(puts, { view: [2, 16], tile: [2, 16] }),
    ];
    await expect(texts.join("\n\n")).toMatchFileSnapshot("pypto/goldens/scatters.py");
  });

  it.each<[string, fc.Arbitrary<Drawn>]>([
    ["scatter_update", slots],
    ["scatter", elements],
    ["index_add", slices],
    ["index_put_", puts],
  ])("of %s leaves what the reference leaves, whatever the views", async (_, arbitrary) => {
    if (python() === undefined) return;
    const drawn = fc.sample(fc.tuple(arbitrary, fc.nat()), { numRuns: runs(400), seed: 5 });
    const trials = drawn.flatMap(([one, seed]) => trialOf(one, seed) ?? []);
    expect(trials.length).toBeGreaterThan(runs(60));
    const cut = trials.filter(({ kernel }) => kernel.pypto().includes("pypto.loop"));
    expect(cut.length).toBeGreaterThan(runs(10));
    for (const [k, { output, tiles }] of runPrograms(trials).entries()) {
      const trial = trials[k]!;
      const text = trial.kernel.pypto();
      expect(tiles, text).toEqual([trial.kernel.tile.schedule.tile]);
      expect(flat(output), text).toEqual(await expected(trial));
    }
  });

  it.each<[string, Func, CompileOptions, string]>([
    [
      "a policy",
      pypto.scatter({ input: ["f32", [6, 8]], index: ["i32", [3, 8]], dim: 0, value: 1, oob: "clamp" }),
      { residency: "ub", tile: [6, 8] },
      "pypto.scatter takes indices inside their extent, and this program says oob = clamp",
    ],
    [
      "skipped points of others than slots",
      pypto.indexAddInPlace({
        input: ["i32", [6, 8]],
        index: ["i32", [3]],
        source: ["i32", [3, 8]],
        dim: 0,
        oob: "skip",
      }),
      {},
      "says oob = skip",
    ],
    [
      "min",
      onnx.scatterElements({
        data: ["f32", [6, 8]],
        indices: ["i32", [3, 8]],
        updates: ["f32", [3, 8]],
        axis: 0,
        reduction: "min",
      }),
      {},
      "PyPTO combines by add and multiply, and this scatter by min",
    ],
    [
      "tuples of indices",
      onnx.scatterNd({ data: ["f32", [6, 8]], indices: ["i64", [3, 2]], updates: ["f32", [3]] }),
      {},
      "PyPTO has no operator that writes as @scatter_nd does",
    ],
    [
      "more bytes than PyPTO has beside its own copy of the input",
      onnx.scatterElements({
        data: ["f32", [4000, 16]],
        indices: ["i64", [8, 16]],
        updates: ["f32", [8, 16]],
        axis: 0,
      }),
      { residency: "ub", tile: [4000, 8] },
      "pypto.scatter breaks rule ub-budget: ",
    ],
    [
      "its input in global memory",
      pypto.scatter({ input: ["f32", [6, 8]], index: ["i32", [3, 8]], dim: 0, value: 1 }),
      { residency: "gm" },
      "pypto.scatter has its input in UB",
    ],
    [
      "a cache in UB that scatter_update writes in global memory",
      pypto.scatterUpdate({ input: ["f32", [20, 8]], index: ["i32", [3, 4]], src: ["f32", [12, 8]] }),
      { residency: "ub" },
      "pypto.scatter_update has its input in global memory, and this program has it in UB",
    ],
    [
      "a tensor in UB that index_put_ writes in global memory",
      pypto.indexPutInPlace({ input: ["f32", [6, 8]], indices0: ["i32", [3]], values: ["f32", [3, 8]] }),
      { residency: "ub" },
      "pypto.index_put_ has its input in global memory, and this program has it in UB",
    ],
    [
      "a tile that is shorter than the input, which head takes of other frameworks",
      onnx.scatterElements({
        data: ["f32", [6, 8]],
        indices: ["i32", [3, 8]],
        updates: ["f32", [3, 8]],
        axis: 0,
      }),
      { residency: "ub", tile: [3, 8], profile: "head" },
      "pypto.scatter takes dim 0 of input and index whole, 6 elements, and tile[0] is 3",
    ],
    [
      "more blocks of the input than of the index",
      pypto.scatter({ input: ["f32", [6, 40]], index: ["i32", [3, 20]], dim: 0, value: 1 }),
      { residency: "ub", tile: [6, 8], view: [6, 16], profile: "head" },
      "view[1] = 16 cuts 20, and pypto.scatter takes as many blocks of input as of index: 3 of 40, 2 of 20",
    ],
    [
      "views of parts of a sequence of slots",
      slotsByMap,
      { residency: "gm", view: [6, 8], tile: [2, 8] },
      "pypto.scatter_update breaks rule slots: view[0] = 6 must be a multiple of 4",
    ],
    [
      "views of parts of a row",
      slotsByMap,
      { residency: "gm", view: [8, 4], tile: [2, 8] },
      "pypto.scatter_update breaks rule full-store-view: view[1] = 4 < 8, the whole row",
    ],
    [
      "a copy in each view",
      pypto.indexAdd({ input: ["i32", [6, 8]], index: ["i32", [4]], source: ["i32", [4, 8]], dim: 0 }),
      { view: [2, 8], tile: [2, 8] },
      "pypto.index_add copies its input in each view",
    ],
    [
      "more dims than a tile has entries",
      pypto.indexAddInPlace({
        input: ["i32", [2, 2, 2, 2, 2]],
        index: ["i32", [2]],
        source: ["i32", [2, 2, 2, 2, 2]],
        dim: 0,
      }),
      {},
      "the tile has 5 entries",
    ],
    [
      "an infinite number",
      pypto.scatter({ input: ["f32", [6, 8]], index: ["i32", [3, 8]], dim: 0, value: 3.5e38 }),
      { residency: "ub", tile: [6, 8] },
      "take finite numbers, and this program has Infinity",
    ],
  ])("is refused for %s", (_, func, options, words) => {
    const result = tryCompile(func, { ...options, target });
    expect(result.ok ? [] : result.diagnostics).toEqual([]);
    expect(refusalOf(func, options)).toEqual({
      code: "TC505",
      message: expect.stringContaining(words) as string,
    });
  });

  it("is no program under profiles of the page whose view cuts input and index into other numbers of blocks", () => {
    const func = pypto.scatterInPlace({ input: ["f32", [6, 40]], index: ["i32", [3, 20]], dim: 0, value: 1 });
    for (const profile of ["strict", "pages"] as const) {
      const judged = (view: readonly number[]) =>
        tryCompile(func, { target, profile, view, tile: [6, 8], residency: "ub" });
      const refused = judged([6, 16]);
      expect(refused.ok ? [] : refused.diagnostics).toEqual([
        expect.objectContaining({
          code: "TC303",
          message: expect.stringContaining("3 blocks of 40") as string,
        }),
      ]);
      // The view of the hint, and one that cuts neither.
      for (const view of [
        [6, 40],
        [6, 20],
      ])
        expect(judged(view).ok).toBe(true);
    }
    const equal = pypto.scatter({ input: ["f32", [6, 30]], index: ["i32", [3, 25]], dim: 0, value: 1 });
    expect(tryCompile(equal, { target, view: [6, 16], tile: [6, 8], residency: "ub" }).ok).toBe(true);
  });

  it("is refused for element types of the operator, by its rule", () => {
    const wide = torch.scatter({
      input: ["f64", [6, 8]],
      index: ["i64", [3, 8]],
      src: ["f64", [3, 8]],
      dim: 0,
    });
    expect(refusalOf(wide, { residency: "ub" })).toEqual({
      code: "TC104",
      message: expect.stringContaining("pypto.scatter") as string,
    });
  });

  it("is that of another framework's scatter where PyPTO has it, with dims and numbers", () => {
    const sum = torch.indexAdd({
      input: ["f32", [6, 8]],
      index: ["i32", [4]],
      source: ["f32", [6, 4]],
      dim: 1,
      alpha: 0.5,
    });
    expect(programOf(sum)).toContain(
      "gm_output[:] = pypto.index_add(gm_input, 1, gm_index, gm_source, alpha=0.5)",
    );
    const elements = onnx.scatterElements({
      data: ["f32", [6, 8]],
      indices: ["i32", [6, 3]],
      updates: ["f32", [6, 3]],
      axis: 1,
      reduction: "mul",
    });
    expect(programOf(elements, { residency: "ub", tile: [6, 8] })).toContain(
      'pypto.scatter(gm_data, 1, gm_indices, gm_updates, reduce="multiply")',
    );
  });

  it("is that of an access program that is an operator's, and no other", () => {
    const compiled = (written: string, duplicates: string): string => {
      const text =
        "func @kv(%cache: inout tensor<20x8xf32>, %slot: tensor<4x1xi64>, %rows: tensor<4x8xf32>) -> tensor<20x8xf32> {\n" +
        `  %y = access.scatter %cache, %slot, %rows (d0 < 4, d1 < 8) -> ${written} yield %rows[d0, d1] {oob = skip, duplicates = ${duplicates}}\n` +
        "  return %y\n}\n";
      const func = parsed(text);
      return compile(func, { target }).pypto();
    };
    const call = "gm_cache[:] = pypto.scatter_update(gm_cache, -2, gm_slot, gm_rows)";
    expect(compiled("(%slot[d0, 0], d1)", "last")).toContain(call);
    const unique = compiled("(%slot[d0, 0], d1)", "unique");
    expect(unique).toContain(call);
    expect(unique).not.toContain("PyPTO states no order");
    expect(() => compiled("(%slot[d0, 0], d1)", "error")).toThrow("reports no duplicates");
    expect(() => compiled("(%slot[d0, 0] + 1, d1)", "last")).toThrow(
      "PyPTO has no operator that writes as @kv does",
    );
  });
});

/** The code and the message that refuse a program. */
function refusalOf(
  func: Func,
  options: CompileOptions,
): { readonly code: string; readonly message: string } | undefined {
  const first = refusal(() => programOf(func, options));
  return first && { code: first.code, message: first.message };
}
