/**
 * The tiles that PyPTO's own models and examples set before a gather (hicann/pypto at 883e7df), through `explain`.
 *
 * Expected verdicts follow from PyPTO's rules alone: gather takes a tile whose entry along dim is the view's (strict) and any tile of a
 * whole input (pages, head) as long as the tiles fit UB; gather_in_ub keeps its inputs in global memory and takes a result below UB. Its page
 * has FP32 and FP16 alone, so pages refuses the other types that the models gather.
 */
import { describe, expect, it } from "vitest";
import { profiles, type SourceFunc } from "../../ir/index.js";
import { program } from "../../src/api/program.js";
import { parseType } from "../../src/cli/flag-values.js";
import { explain, targets } from "../../src/index.js";
import { verdict } from "../support/refusal.js";
import { runHere } from "../support/run-here.js";

type Verdict = "accepted" | "TC104";

interface ModelTile {
  /** File and line of the call. */
  readonly place: string;
  readonly op: "pypto.gather" | "pypto.gather_in_ub";
  readonly types: readonly string[];
  readonly axis: number;
  readonly tile: readonly number[];
  /** Bytes of an element of the result. */
  readonly bytes: number;
  readonly output: readonly number[];
  /** Under strict, pages and head. */
  readonly expected: readonly [Verdict, Verdict, Verdict];
}

const legal = ["accepted", "accepted", "accepted"] as const;
const offPage = ["accepted", "TC104", "accepted"] as const;

const transform = "examples/01_beginner/transform/transform_ops.py:174";
const gathered = (
  place: string,
  data: string,
  indices: string,
  dim: number,
  tile: readonly number[],
): ModelTile => ({
  ...{ place, op: "pypto.gather", tile, bytes: 4, expected: legal },
  types: [data, indices],
  axis: dim,
  output: [...indices.matchAll(/\d+(?=[,\]])/g)].map(Number),
});
/** 2048 rows of a cache of 4 x 65536 tokens in pages of 128, through a view of one row of the page table. */
const paged = (
  place: string,
  [type, bytes, columns]: readonly [string, number, number],
  tile: readonly number[],
  {
    rows = 262_144,
    expected = offPage,
  }: { readonly rows?: number; readonly expected?: ModelTile["expected"] } = {},
): ModelTile => ({
  ...{ place, op: "pypto.gather_in_ub", tile, bytes, expected, output: [2048, columns] },
  types: [`${type}[${rows},${columns}]`, "i32[1,2048]", "i32[1,512]"],
  axis: -2,
});

const antiquant = "models/deepseek_v32_exp/sparse_attention_antiquant_impl.py";
const quant = "models/deepseek_v32_exp/sparse_flash_attention_quant_impl.py";
const tiles: readonly ModelTile[] = [
  gathered(transform, "i32[3,5]", "i32[3,4]", 0, [8, 8]),
  gathered(transform, "i32[3,5]", "i32[3,4]", -1, [8, 8]),
  gathered(transform, "i32[2,3,4]", "i32[2,3,2]", 2, [8, 8, 8]),
  gathered("models/glm_v4_5/glm_select_experts.py:175", "f32[1,160]", "i32[1,8]", 1, [1, 160]),
  gathered("models/glm_v4_5/glm_moe_fusion.py:225", "f32[32,160]", "i32[32,8]", 1, [1, 160]),
  gathered("models/glm_v4_5/glm_moe_fusion_mix.py:240", "f32[32,160]", "i32[32,8]", 1, [1, 160]),
  paged(`${antiquant}:152`, ["i8", 1, 672], [16, 672]),
  paged(`${antiquant}:554`, ["i8", 1, 656], [32, 656]),
  paged(`${quant}:155`, ["f32", 4, 8], [16, 1024], { expected: legal }),
  paged(`${quant}:161`, ["i8", 1, 512], [16, 1024]),
  paged(`${quant}:224`, ["bf16", 2, 512], [32, 512]),
  paged(`${quant}:235`, ["bf16", 2, 64], [32, 512]),
  paged(`${quant}:404`, ["f32", 4, 4], [32, 512], { expected: legal }),
  paged(`${quant}:407`, ["i8", 1, 512], [32, 512]),
  paged("models/deepseek_v4/sparse_compress_flash_attention_impl.py:129", ["bf16", 2, 512], [128, 512], {
    rows: 2048,
  }),
];

/** The Ascend targets with their bytes of UB (PyPTO's platform files). */
const ascend = [
  [targets.ascendA2, 196_608],
  [targets.ascendA3, 196_608],
  [targets.ascend950, 253_952],
] as const;

/** Bytes of the result of a tile. */
const resultBytes = ({ tile, output, bytes }: ModelTile): number =>
  tile.reduce((product, entry, d) => product * Math.min(entry, output[d]!), bytes);

const programOf = ({ op, types, axis, tile }: ModelTile): SourceFunc => {
  const [data, indices, ...others] = types.map((type) => parseType(type, "data"));
  const attrs = op === "pypto.gather" ? { dim: axis } : { axis, block_size: 128 };
  return program({ op, attrs, data: data!, indices: indices!, others, schedule: { tile } });
};

describe("the tiles of PyPTO's models and examples", () => {
  it("are fifteen, each of a result that fits UB", () => {
    expect(tiles).toHaveLength(15);
    for (const model of tiles)
      for (const [, most] of ascend) expect(resultBytes(model), model.place).toBeLessThan(most);
  });

  it.each(tiles)("have PyPTO's verdict: $place, $types", (model) => {
    const { tile, output, expected, op } = model;
    const clipped = tile.map((entry, d) => Math.min(entry, output[d]!));
    for (const [target] of ascend)
      for (const [k, profile] of profiles.entries()) {
        const said = verdict(() => {
          const { legal, judgedTile = tile } = explain(programOf(model), { target, profile });
          expect(legal).toBe(true);
          // Of pypto.gather the tile cuts the input, which goes on where the index ends.
          if (op === "pypto.gather_in_ub") expect(judgedTile).toEqual(clipped);
        });
        expect(said, `${target.name}, ${profile}`).toBe(expected[k]);
      }
  });

  it.each(tiles)("are told with the line to write: $place, $types", async (model) => {
    const { op, types, axis, tile, bytes } = model;
    const [data = "", ...indices] = types;
    const { stdout } = await runHere([
      ...["explain", "--op", op, "--data", data, ...indices.flatMap((type) => ["--indices", type])],
      ...(op === "pypto.gather" ? ["--axis", String(axis)] : ["--block-size", "128"]),
      ...["--tile", tile.join()],
    ]);
    const lines = stdout.split("\n").map((line) => line.trim());
    expect(lines).toContain(`line     pypto.set_vec_tile_shapes(${tile.join(", ")})`);
    const row = tile.at(-1)! * bytes;
    expect(lines).toContain(
      `tail     tile[${tile.length - 1}] = ${tile.at(-1)} x ${bytes} B = ${row} B, ${row % 32 === 0 ? "a" : "no"} multiple of 32 B${row % 32 === 0 ? "" : ": operators that check it refuse the call"}`,
    );
    const twice = 2 * resultBytes(model) < 196_608 ? "about [\\d,]+ cycles with 2" : "2 do not fit";
    expect(stdout).toMatch(new RegExp(`buffers  PyPTO chooses: about [\\d,]+ cycles with 1, ${twice}\n`));
    expect(lines).toContain("cores    PyPTO chooses: the cycles are of 48 cores");
  });
});
