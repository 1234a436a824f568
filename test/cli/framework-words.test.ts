/** What `explain`, `legal` and `tune` say in PyPTO's words. */
import { describe, expect, it } from "vitest";
import { runHere } from "../support/run-here.js";

const explained = async (...flags: readonly string[]) => {
  const { stdout } = await runHere(["explain", ...flags]);
  return stdout.split("\n").map((line) => line.trim());
};
const gather = (data: string, indices: string, axis: number): readonly string[] => [
  ...["--op", "pypto.gather", "--data", data, "--indices", indices, "--axis", String(axis)],
];

describe("explain of an operator of PyPTO", () => {
  it("prints the line of the nearest legal tile, its last entry, and legal lines where that is whole", async () => {
    const lines = await explained(...gather("f32[10,10]", "i64[5,9]", 0), "--tile", "3,9");
    const at = lines.indexOf("in a program of PyPTO, the nearest legal tile");
    // 9 x 4 B are no multiple of 32 B: 8 and 16 are the next entries that are.
    expect(lines.slice(at + 1, at + 7)).toEqual([
      "line     pypto.set_vec_tile_shapes(10, 9)",
      "shared   the call tiles every operator behind it too, up to the next call",
      "tail     tile[1] = 9 x 4 B = 36 B, no multiple of 32 B: operators that check it refuse the call",
      "instead  pypto.set_vec_tile_shapes(10, 8)",
      "instead  pypto.set_vec_tile_shapes(10, 16)",
      "source   hicann/pypto docs/zh/tutorials/appendix/faq/tileshape-32byte-alignment.md at 883e7df",
    ]);
    const nearest = lines.indexOf("nearest legal");
    expect(lines.slice(nearest + 1, nearest + 3)).toEqual([
      "--tile 10,9: pypto.set_vec_tile_shapes(10, 9) (its last entry is no multiple of 32 B)",
      "--profile pages: pypto.set_vec_tile_shapes(3, 9) (its last entry is no multiple of 32 B)",
    ]);
  });

  it("offers lines that are legal: of a pinned dim with its view, and none below what is pinned", async () => {
    const lines = await explained(...gather("i16[4,33]", "i32[4,33]", 1), "--tile", "4,33");
    // The tile along dim is the view, which is 33 at least: 32 would cut the input, 48 is whole 2-byte rows.
    expect(lines.filter((line) => line.startsWith("instead"))).toEqual([
      "instead  pypto.set_vec_tile_shapes(4, 48)",
    ]);
    const judged = await explained(...gather("i16[4,33]", "i32[4,33]", 1), "--tile", "4,48");
    expect(judged[0]).toBe("@gather on ascend-a2: legal, judged as tile 4,33");
    expect(judged).toContain("tail     tile[1] = 48 x 2 B = 96 B, a multiple of 32 B");
  });

  it("keeps the entries of a tile that are of other operators, and clips the others in every note", async () => {
    const columns = gather("f32[3200,1600]", "i32[3200,9]", 1);
    const lines = async (tile: string) => {
      const told = await runHere(["explain", ...columns, "--tile", tile, "--profile", "head"]);
      return [told.stdout, ...told.stderr.split("\n").filter((line) => line.includes("note: judged as"))];
    };
    const [legal = "", ...notes] = await lines("16,64,7");
    expect(legal).toContain("legal, judged as tile 16,9\n");
    expect(legal).toContain("line     pypto.set_vec_tile_shapes(16, 64, 7)\n");
    expect(notes).toEqual(["   = note: judged as tile 16,9", "   = note: judged as tile 16,9"]);
    const [refused = ""] = await lines("160,9,7");
    const calls = refused.match(/set_vec_tile_shapes\(.*?\)/g) ?? [];
    // The nearest legal tile, its line, and lines with whole rows of 32 B.
    expect(calls.length).toBeGreaterThan(2);
    expect(calls.filter((call) => !call.endsWith(", 7)"))).toEqual([]);
  });

  it("gives the view that a line is legal in where it is another one, or cuts", async () => {
    const columns = gather("f32[1024,32]", "i32[512,18]", 1);
    const cut = await explained(...columns, "--tile", "1024,9", "--view", "512,17");
    expect(cut).toContain(
      "--tile 1024,32 --view 512,32: pypto.set_vec_tile_shapes(1024, 32), in views of 512,32",
    );
    const at = cut.indexOf("line     pypto.set_vec_tile_shapes(1024, 32)");
    expect(cut[at + 1]).toBe("view     512,32 of the loop around it");
    const { stderr } = await runHere(["compile", ...columns, "--tile", "1024,9", "--view", "512,17"]);
    expect(stderr).toContain(
      "in a program of PyPTO: pypto.set_vec_tile_shapes(1024, 32), in views of 512,32",
    );
    const whole = await explained(...columns, "--tile", "64,32");
    expect(whole.filter((line) => line.startsWith("view"))).toEqual([]);
  });

  it("gives the cycles of both numbers of buffers, which are those of --buffers", async () => {
    const flags = [...gather("f32[128,160]", "i32[128,8]", 1), "--tile", "1,160"];
    const cycles: number[] = [];
    for (const buffers of ["1", "2"]) {
      const { stdout } = await runHere(["explain", ...flags, "--buffers", buffers, "--json"]);
      cycles.push((JSON.parse(stdout) as { cycles: number }).cycles);
    }
    expect(cycles[0]).not.toBe(cycles[1]);
    expect(await explained(...flags)).toContain(
      `buffers  PyPTO chooses: about ${cycles[0]!.toLocaleString("en")} cycles with 1, about ${cycles[1]!.toLocaleString("en")} cycles with 2`,
    );
    const { stdout } = await runHere(["explain", ...flags, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      framework: {
        name: "pypto",
        elementBytes: 4,
        tile: {
          tile: [1, 160],
          call: "pypto.set_vec_tile_shapes(1, 160)",
          tail: { dim: 1, bytes: 640, aligned: true, instead: [] },
          buffers: [
            { buffers: 1, cycles: cycles[0] },
            { buffers: 2, cycles: cycles[1] },
          ],
          cores: 48,
        },
      },
    });
  });

  it("proposes no residency that PyPTO does not have, and says what the line of each proposal breaks", async () => {
    const rows = [
      "--op",
      "pypto.index_select",
      "--data",
      "f32[64,256]",
      "--indices",
      "i32[4096]",
      "--axis",
      "0",
    ];
    const lines = await explained(...rows, "--tile", "64,256");
    expect(lines.join("\n")).toContain("residency ub");
    expect(lines.find((line) => line.startsWith("try"))).not.toContain("--residency ub");
    const pages = ["--data", "i8[262144,656]", "--indices", "i32[1,2048]", "--indices", "i32[1,512]"];
    const tried = (
      await explained("--op", "pypto.gather_in_ub", ...pages, "--block-size", "128", "--tile", "1,672")
    ).find((line) => line.startsWith("try"));
    expect(tried).toMatch(
      /^try {10}(?:--residency gm )?--tile \d+,656.*, pypto\.set_vec_tile_shapes\(\d+, 656\) \(its last entry is no multiple of 32 B\)$/,
    );
  });

  it("is silent where PyPTO does not run, and of other dialects", async () => {
    const elsewhere = await explained(...gather("f32[10,10]", "i64[5,9]", 0), "--target", "webgpu");
    const other = ["--op", "onnx.gather_elements", "--data", "f32[10,10]", "--indices", "i64[5,9]"];
    for (const lines of [elsewhere, await explained(...other)])
      expect(lines.filter((line) => line.includes("PyPTO chooses"))).toEqual([]);
  });
});

describe("a type on which PyPTO contradicts itself", () => {
  it("is told by legal and tune too (TC911)", async () => {
    const flags = [...gather("i8[4,8]", "i32[4,8]", 0), "--profile", "head"];
    for (const command of [["legal"], ["tune", "--budget", "2"]]) {
      const told = await runHere([...command, ...flags]);
      expect(told.status, told.stderr).toBe(0);
      expect(told.stderr, command[0]).toContain(
        "warning[TC911]: PyPTO contradicts itself on i8 of pypto.gather",
      );
      const { stdout } = await runHere([...command, ...flags, "--json"]);
      const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly { code: string }[] };
      expect(diagnostics.map(({ code }) => code)).toContain("TC911");
    }
  });
});
