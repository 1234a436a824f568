/** Gathers of graphs that PyPTO dumps (test/support/pypto-dump.ts), by their files and lines. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Diagnostic } from "../../ir/index.js";
import { parseType } from "../../src/cli/flag-values.js";
import { dumpedGathers, isPyptoDump } from "../../src/formats/pypto-dump.js";
import { pyptoDump, type DumpedCall } from "../support/pypto-dump.js";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";
import { refusal } from "../support/refusal.js";

const folder = scratchFolder("dump");
let files = 0;
const written = (dump: unknown): string => {
  const file = join(folder, `After_004_ExpandFunction_TENSOR_${files++}.json`);
  writeFileSync(file, JSON.stringify(dump, null, 1));
  return file;
};

const experts: DumpedCall = {
  ...{ op: "pypto.gather", axis: 1, tile: [1, 160], file: "glm_select_experts.py", line: 175 },
  types: [
    ["f32", [32, 160]],
    ["i32", [32, 8]],
  ],
};
const selected: DumpedCall = {
  ...{ op: "pypto.index_select", axis: 1, tile: [8, 8, 16, 8], file: "select.py", line: 12 },
  types: [
    ["f32", [32, 128, 64]],
    ["i64", [4, 16]],
  ],
};
const paged: DumpedCall = {
  ...{
    op: "pypto.gather_in_ub",
    blockSize: 128,
    tile: [32, 512],
    file: "sparse_flash_attention.py",
    line: 224,
  },
  types: [
    ["bf16", [262144, 512]],
    ["i32", [1, 2048]],
    ["i32", [1, 512]],
  ],
};

describe("a dump of PyPTO", () => {
  it.each([true, false])(
    "of a tile graph has each gather once, with the tile that was cut (slices: %s)",
    (slices) => {
      const dump = pyptoDump([experts, selected, paged], "After", { slices });
      expect(isPyptoDump(dump)).toBe(true);
      expect(dumpedGathers(dump, "d.json")).toEqual([
        {
          place: "glm_select_experts.py:175",
          op: "pypto.gather",
          attrs: { dim: 1 },
          inputs: [parseType("f32[32,160]", "data"), parseType("i32[32,8]", "indices")],
          // A tile of the whole index, 8, may be the longer one that covers the data.
          tile: [1, 160],
        },
        {
          place: "select.py:12",
          op: "pypto.index_select",
          attrs: { dim: 1 },
          inputs: [parseType("f32[32,128,64]", "data"), parseType("i64[4,16]", "indices")],
          tile: [8, 4, 16, 8],
        },
        {
          place: "sparse_flash_attention.py:224",
          op: "pypto.gather_in_ub",
          attrs: { block_size: 128, axis: -2 },
          inputs: ["bf16[262144,512]", "i32[1,2048]", "i32[1,512]"].map((type) => parseType(type, "data")),
          tile: [32, 512],
        },
      ]);
    },
  );

  it("of a tensor graph has no tile, and counts dims as the program does", () => {
    const [first] = dumpedGathers(pyptoDump([{ ...experts, axis: -1 }], "Before"), "d.json");
    expect(first).toMatchObject({ op: "pypto.gather", attrs: { dim: 1 } });
    expect(first).not.toHaveProperty("tile");
  });

  it("of another version than PyPTO's printer writes is read with a warning (TC020)", async () => {
    const dump = pyptoDump([experts], "After");
    const told = async (version: unknown) =>
      runHere(["explain", written({ ...dump, version }), "--profile", "pages"]);
    const own = await told("2.0");
    expect([own.status, own.stderr]).toEqual([0, expect.not.stringContaining("version")]);
    for (const version of ["1.0", "2.1", 2, null]) {
      const other = await told(version);
      expect(other.stdout).toBe(own.stdout);
      expect(other.stderr).toContain(`has version ${JSON.stringify(version)}; it is read as version "2.0"`);
    }
  });

  it("names a gather by its function and number where it has no source locations", () => {
    const [first] = dumpedGathers(pyptoDump([experts], "Before", { locations: false }), "d.json");
    expect(first?.place).toBe("TENSOR_loop_0_Unroll1_PATH0_hiddenfunc0_8, operation 10000");
  });

  it("keeps apart two gathers of the same tensors, and finds the longer rows of the data of pypto.gather", () => {
    const again = { ...experts, line: 176, tile: [4, 160] };
    const short: DumpedCall = {
      ...{ op: "pypto.gather", axis: 1, tile: [64, 1024], file: "rows.py", line: 3 },
      types: [
        ["f32", [4096, 1024]],
        ["i32", [8, 8]],
      ],
    };
    const gathers = dumpedGathers(pyptoDump([experts, again, short], "After"), "d.json");
    expect(gathers.map((gather) => ("tile" in gather ? gather.tile : undefined))).toEqual([
      [1, 160],
      [4, 160],
      [64, 1024],
    ]);
  });

  it("judges a dynamic number of rows that stay in global memory, and says which other extents it lacks", () => {
    const open = { ...paged, types: [["bf16", [-1, 512]] as const, ...paged.types.slice(1)] };
    const [gather] = dumpedGathers(pyptoDump([open], "Before"), "d.json");
    expect(gather).toMatchObject({ inputs: [{ shape: [Math.floor((2 ** 31 - 1) / 512), 512] }, {}, {}] });
    const lacking = { ...experts, types: [["f32", [-1, 160]] as const, experts.types[1]!] };
    expect(dumpedGathers(pyptoDump([lacking], "Before"), "d.json")).toEqual([
      {
        place: "glm_select_experts.py:175",
        why: "dim 0 of input 0 of pypto.gather is dynamic: its shape is [-1, 160]",
      },
    ]);
  });

  it("is refused with the field that is not as PyPTO prints it, whatever stands there", () => {
    const told = (dump: unknown): Diagnostic | undefined => refusal(() => dumpedGathers(dump, "d.json"));
    const fields = [
      ...["rawtensors.0.datatype", "rawtensors.0.rawmagic", "tensors.0.magic", "tensors.0.shape"],
      ...["tensors.0.shape.0", "tensors.0.rawtensor", "operations.0.opcode", "operations.0.ioperands"],
      ...["operations.0.op_attr", "operations.0.op_attr.op_attr_axis", "operations", "tensors", "rawtensors"],
    ];
    for (const path of fields)
      for (const value of [null, "x", 1.5, {}, undefined]) {
        if (path.endsWith("op_attr") && value !== null && typeof value === "object") continue;
        const dump = structuredClone(pyptoDump([experts], "Before")) as unknown as { functions: [object] };
        const keys = path.split(".");
        const last = keys.pop()!;
        let holder = dump.functions[0] as Record<string, unknown>;
        for (const key of keys) holder = holder[key] as Record<string, unknown>;
        if (last === "opcode" && value === "x") continue;
        holder[last] = value;
        const diagnostic = told(dump);
        expect(diagnostic?.code, `${path} = ${JSON.stringify(value)}`).toBe("TC020");
        expect(diagnostic?.message).toContain(keys[0] === undefined ? last : keys[0]);
      }
  });
});

describe("explain of a dump", () => {
  it("gives a verdict for each gather with file and line, and the line to write", async () => {
    const over = { ...paged, line: 300, tile: [256, 512] };
    const file = written(pyptoDump([paged, over, experts], "After"));
    const { stdout, status } = await runHere(["explain", file, "--profile", "head"]);
    expect(status).toBe(1);
    const lines = stdout.split("\n");
    expect(lines.filter((line) => line.includes(".py:") || line.startsWith("@"))).toEqual([
      "sparse_flash_attention.py:224: pypto.gather_in_ub bf16[262144,512] by i32[1,2048] and i32[1,512], tile 32,512",
      "@gather_1 on ascend-a2: legal",
      "sparse_flash_attention.py:300: pypto.gather_in_ub bf16[262144,512] by i32[1,2048] and i32[1,512], tile 256,512",
      "@gather_2 on ascend-a2: refused",
      "glm_select_experts.py:175: pypto.gather f32[32,160] by i32[32,8], tile 1,160",
      "@gather_3 on ascend-a2: legal, judged as tile 1,8",
    ]);
    // 256 x 512 x 2 B are 262144 B, more than 196608 B.
    expect(stdout).toMatch(/FAIL {2}ub-budget .*262144/);
    expect(stdout).toContain("line     pypto.set_vec_tile_shapes(32, 512)");
    const { stdout: json } = await runHere(["explain", file, "--profile", "head", "--json"]);
    const { gathers } = JSON.parse(json) as { gathers: readonly { place: string; legal: boolean }[] };
    expect(gathers.map(({ place, legal }) => [place, legal])).toEqual([
      ["sparse_flash_attention.py:224", true],
      ["sparse_flash_attention.py:300", false],
      ["glm_select_experts.py:175", true],
    ]);
  });

  it("does not refuse under strict what only the end of the index has cut", async () => {
    const file = written(pyptoDump([experts], "After"));
    for (const profile of ["strict", "pages", "head"])
      expect((await runHere(["explain", file, "--profile", profile])).status, profile).toBe(0);
    // Cut along dim by the program.
    const cut = written(pyptoDump([{ ...experts, tile: [1, 4] }], "After"));
    const verdicts = [];
    for (const profile of ["strict", "pages"])
      verdicts.push((await runHere(["explain", cut, "--profile", profile])).status);
    expect(verdicts).toEqual([1, 0]);
  });

  it("has the data of a static function's index_select in UB", async () => {
    const call = { ...selected, axis: 0, tile: [4, 16, 8, 64] };
    const dump = JSON.parse(
      JSON.stringify(pyptoDump([call], "After")).replaceAll('"GATHER"', '"GATHER_FROM_UB"'),
    ) as unknown;
    const { stdout } = await runHere(["explain", written(dump), "--json"]);
    const { gathers } = JSON.parse(stdout) as { gathers: readonly { schedule: { residency: string } }[] };
    expect(gathers.map(({ schedule }) => schedule.residency)).toEqual(["ub"]);
  });

  it("explains one in full by --case, and takes a tile for a tensor graph", async () => {
    const file = written(pyptoDump([paged, experts], "Before"));
    const one = await runHere(["explain", file, "--case", "glm_select_experts.py:175", "--tile", "2,160"]);
    expect(one.status).toBe(0);
    expect(one.stdout).toContain("rules (profile strict: PyPTO's specification)");
    expect(one.stdout).toContain("line     pypto.set_vec_tile_shapes(2, 160)");
    expect((await runHere(["explain", file])).stdout).toContain("no tile in a tensor graph");
    expect((await runHere(["explain", file, "--case", "x.py:1"])).stderr).toContain(
      "has no gather at x.py:1",
    );
    expect((await runHere(["explain", file, "--sensitivity"])).stderr).toContain("--case PLACE");
  });

  it("judges the view along dim by the pages, and not by the code, which reads none", async () => {
    const viewed: DumpedCall = {
      ...{ op: "pypto.gather", axis: 0, tile: [8, 8], file: "view.py", line: 9, viewOf: [16, 8] },
      types: [
        ["f32", [8, 8]],
        ["i32", [5, 8]],
      ],
    };
    const file = written(pyptoDump([viewed], "After"));
    const said = async (profile: string) => (await runHere(["explain", file, "--profile", profile])).stdout;
    for (const profile of ["strict", "pages"])
      expect(await said(profile)).toContain("view[0] = 8 < 16 = max(input 16, index 5)");
    expect(await said("head")).toContain("@main on ascend-a2: legal");
    const whole = written(pyptoDump([{ ...viewed, viewOf: [8, 32] }], "After"));
    expect((await runHere(["explain", whole, "--profile", "pages"])).status).toBe(0);
  });

  it("warns of what it cannot judge, and judges the others", async () => {
    const open = { ...experts, line: 1, types: [["f32", [-1, 160]] as const, experts.types[1]!] };
    const { status, stdout, stderr } = await runHere([
      "explain",
      written(pyptoDump([open, paged], "Before")),
    ]);
    expect([status, stdout.includes("sparse_flash_attention.py:224")]).toEqual([0, true]);
    expect(stderr).toContain("warning[TC020]: glm_select_experts.py:1: dim 0 of input 0");
    const alone = await runHere(["explain", written(pyptoDump([open], "Before"))]);
    expect([alone.status, alone.stderr.includes("error[TC020]")]).toEqual([1, true]);
    const none = { ...pyptoDump([experts], "Before") };
    none.functions[0]!.operations.length = 0;
    expect((await runHere(["explain", written(none)])).stderr).toContain("has no gather");
  });
});

interface BoardTest {
  readonly id: string;
  readonly op: "pypto.gather" | "pypto.index_select";
  readonly data: string;
  readonly indices: string;
  readonly axis: number;
  readonly tile: readonly number[];
}

describe("a dump of each test that PyPTO runs on boards", () => {
  const { gathers } = JSON.parse(
    readFileSync(new URL("../conformance/pypto-board-tests.json", import.meta.url), "utf8"),
  ) as { readonly gathers: readonly BoardTest[] };

  it("has its operator, its shapes and the tile that it cuts", () => {
    let count = 0;
    for (const { id, op, data, indices, axis, tile } of gathers) {
      const types = [parseType(data, "data"), parseType(indices, "indices")];
      // Thousands of tiles say no more.
      if (types.some(({ shape }) => shape.reduce((product, extent) => product * extent, 1) > 20_000))
        continue;
      count++;
      const call = { op, axis, tile, types: types.map(({ dtype, shape }) => [dtype, shape] as const) };
      const [gather, ...others] = dumpedGathers(pyptoDump([call], "After"), id);
      expect(others, id).toEqual([]);
      const rank = types[0]!.shape.length;
      const dim = axis < 0 ? axis + rank : axis;
      const [input, index] = types.map(({ shape }) => shape) as [readonly number[], readonly number[]];
      const output =
        op === "pypto.gather" ? index : [...input.slice(0, dim), ...index, ...input.slice(dim + 1)];
      const cut = output.map((extent, d) =>
        op === "pypto.gather" && d === dim && tile[d]! >= extent
          ? Math.max(extent, input[d]!)
          : Math.min(tile[d]!, op === "pypto.gather" && d !== dim ? Math.max(extent, input[d]!) : extent),
      );
      expect(gather, id).toMatchObject({ op, attrs: { dim }, inputs: types, tile: cut });
    }
    expect(count).toBeGreaterThan(30);
  });
});
