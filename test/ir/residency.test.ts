/** Where each operand of a gather lives: text, flags, rules with hints that work, footprints, the choice of auto, and bits. */
import { describe, expect, it } from "vitest";
import { simulateBytes } from "../../backends/sim/index.js";
import { equalModule, parseModule, printModule, type Func, type Residencies } from "../../ir/index.js";
import { definedOutput } from "../../src/api/against.js";
import { compile, explain, legalTiles, tryCompile } from "../../src/index.js";
import { parseEntry } from "../../src/cli/flag-values.js";
import { randomInputs } from "../../src/testing/random.js";
import { parsed } from "../support/parsed.js";

/** Rows of pages: 512 tokens of 131072, 4 to a page. */
const paged = (schedule = ""): string =>
  `func @paged(%kv: tensor<131072x128xf32>, %topk: tensor<512xi32>, %bt: tensor<1x32768xi32>) -> tensor<512x128xf32> target("ascend-a2")${schedule} {\n` +
  `  %o = access.gather %kv, %topk, %bt (d0, d1) let t = error(%topk[d0] in 131072) -> (error(4 * %bt[0, t div 4] + t mod 4 in 131072), d1) {oob = error}\n` +
  "  return %o\n}\n";

/** The same in small, with data that fits. */
const small = (): Func =>
  parsed(
    `func @small(%kv: tensor<64x16xf32>, %topk: tensor<24xi32>, %bt: tensor<1x16xi32>) -> tensor<24x16xf32> target("ascend-a2") {\n` +
      `  %o = access.gather %kv, %topk, %bt (d0, d1) let t = wrap(%topk[d0] in 64) -> (clamp(4 * %bt[0, t div 4] + t mod 4 in 64), d1) {oob = wrap}\n` +
      "  return %o\n}\n",
  );

const partsOf = (func: Func, residency: Residencies) =>
  Object.fromEntries(
    explain(func, { residency, tile: [64, 128], buffers: 1 }).footprint.parts.map(({ part, counted }) => [
      part,
      counted,
    ]),
  );

describe("residency by operand", () => {
  it("prints and parses again, in the order of the text", () => {
    const text = paged(" schedule {residency = {kv = gm, bt = ub}}");
    const { module } = parseModule(text, "residency.tir");
    expect(module.funcs[0]!.schedule.residency).toEqual({ kv: "gm", bt: "ub" });
    expect(printModule(module)).toContain("schedule {residency = {kv = gm, bt = ub}}");
    expect(equalModule(parseModule(printModule(module), "again.tir").module, module)).toBe(true);
  });

  it("is kv=gm,bt=ub on the command line", () => {
    expect(parseEntry("residency", "kv=gm,bt=ub")).toEqual({ kv: "gm", bt: "ub" });
    expect(parseEntry("residency", "auto")).toBe("auto");
    for (const wrong of ["kv=auto", "=gm", "kv=gm,kv=ub", "kv", "kv=gm=ub", ""])
      expect(() => parseEntry("residency", wrong), wrong).toThrow("a residency of an operand is ub or gm");
  });

  it("counts what is in UB alone", () => {
    const func = parsed(paged());
    const [topk, output, bt] = [64 * 4, 64 * 128 * 4, 32768 * 4];
    expect(partsOf(func, "gm")).toEqual({ topk, bt, output });
    expect(partsOf(func, { kv: "gm", bt: "ub" })).toEqual({ topk, bt, output });
    expect(partsOf(func, { kv: "gm", bt: "gm" })).toEqual({ topk, output });
  });

  it("is written down in its shortest form, and programs without tables keep theirs", () => {
    const of = (residency: Residencies) => compile(parsed(paged()), { residency }).tile.schedule.residency;
    expect(of("gm")).toBe("gm");
    expect(of({ kv: "gm" })).toBe("gm");
    expect(of({ bt: "ub", kv: "gm", topk: "ub" })).toBe("gm");
    expect(of({ bt: "gm", kv: "gm" })).toEqual({ kv: "gm", bt: "gm" });
    const plain = parsed(
      `func @rows(%d: tensor<64x8xf32>, %i: tensor<5xi32>) -> tensor<5x8xf32> {\n  %o = onnx.gather %d, %i {axis = 0}\n  return %o\n}\n`,
    );
    const stated = compile(plain, { residency: { data: "gm" } });
    expect(stated.text("tile")).toBe(compile(plain, { residency: "gm" }).text("tile"));
  });

  it("loads what is in UB and reads the rest where it lies", () => {
    const lines = compile(parsed(paged()), { residency: { kv: "gm", bt: "gm" } })
      .text("tile")
      .split("\n");
    expect(lines.filter((line) => line.includes("load")).every((line) => line.includes("%topk"))).toBe(true);
    expect(lines.some((line) => /gather %kv\[.*%topk_ub\[.*%bt\[/.test(line))).toBe(true);
  });

  it.each([
    [{ kv: "gm", topk: "gm" }, "TC403", "topk moves with the tile", { kv: "gm" }],
    [{ kv: "gm", o: "ub" }, "TC303", "names o, which is no input", undefined],
    [{ bt: "gm" }, "TC303", "residency lacks kv, the gathered input", undefined],
  ] as const)("refuses %o", (residency, code, says, mended) => {
    const result = tryCompile(parsed(paged()), { residency });
    expect(result.ok).toBe(false);
    const [refused] = result.ok ? [] : result.diagnostics;
    expect(refused).toMatchObject({ code });
    expect(refused!.message).toContain(says);
    if (mended === undefined) {
      expect(refused!.hint).toContain("--residency kv=ub,topk=ub,bt=ub (or kv and some of these)");
      return;
    }
    const flag = /^--residency (\S+)$/.exec(refused!.hint!)![1]!;
    expect(tryCompile(parsed(paged()), { residency: parseEntry("residency", flag) }).ok).toBe(true);
  });

  it("leaves tables where a machine that gathers in place has them", () => {
    const result = tryCompile(parsed(paged().replace("ascend-a2", "webgpu")), {
      residency: { kv: "gm", bt: "ub" },
    });
    const [refused] = result.ok ? [] : result.diagnostics;
    expect(refused).toMatchObject({ code: "TC403", hint: "--residency gm" });
    expect(refused!.message).toContain("target webgpu reads index tables where they lie");
  });

  it("names the table in global memory as a way out where it does not fit", () => {
    const wide = paged().replaceAll("32768", "65536");
    const result = tryCompile(parsed(wide), { residency: "gm" });
    const [refused] = result.ok ? [] : result.diagnostics;
    expect(refused).toMatchObject({ code: "TC402" });
    expect(refused!.hint).toBe("--residency kv=gm,bt=gm");
    expect(legalTiles(parsed(wide), { residency: "gm" }).count).toBe(0);
    expect(legalTiles(parsed(wide), { residency: { kv: "gm", bt: "gm" } }).count).toBeGreaterThan(0);
  });

  it("is a mix under auto where that is fastest: every stated one is as slow or slower", () => {
    // Few tokens: most of the table would be loaded for nothing.
    const func = parsed(paged().replaceAll("512x", "128x"));
    const chosen = explain(func, { residency: "auto" });
    expect(chosen.schedule.residency).toEqual({ kv: "gm", bt: "gm" });
    expect(chosen.cycles).toBeLessThan(explain(func, { residency: "gm" }).cycles);
    const said = chosen.diagnostics.find(({ code }) => code === "TC907");
    expect(said?.message).toContain("residency auto: kv=gm,bt=gm");
    const listed = new Set(
      legalTiles(func, { residency: "auto" }).tiles.map(({ residency }) => JSON.stringify(residency)),
    );
    expect(listed).toEqual(new Set(['"gm"', '{"kv":"gm","bt":"gm"}']));
  });

  it("never changes a bit, and moves what the closed form says at most", () => {
    const func = small();
    const inputs = randomInputs(compile(func), 7);
    const outputs = new Set([Buffer.from(definedOutput(func, compile(func).tile, inputs)).toString("hex")]);
    for (const residency of ["ub", "gm", { kv: "ub", bt: "gm" }, { kv: "gm", bt: "gm" }] as const) {
      for (const tile of [
        [24, 16],
        [5, 16],
        [7, 3],
      ]) {
        const { output, report } = simulateBytes(compile(func, { residency, tile }), inputs);
        outputs.add(Buffer.from(output).toString("hex"));
        const moved = explain(func, { residency, tile }).traffic;
        expect(Object.keys(report.operands)).toEqual(["kv", "topk", "bt", "output"]);
        for (const { operand, bytes } of moved.operands) {
          const counted = report.operands[operand]!.bytes;
          if (operand === "bt") expect(counted).toBeLessThanOrEqual(bytes);
          else expect(counted, operand).toBe(bytes);
        }
        expect(report.timing.cycles).toBe(explain(func, { residency, tile }).cycles);
      }
    }
    expect(outputs.size).toBe(1);
  });
});

describe("what the size of a page or of a table does", () => {
  it("names the nearest entries that do not straddle pages, each of them legal", () => {
    const text = (page: number, rows: number): Func =>
      parsed(
        `func @f(%kv: tensor<8x${page}x8xf32>, %bt: tensor<6xi32>) -> tensor<${rows}x8xf32> target("ascend-a2") {\n` +
          `  %y = access.gather %kv, %bt (d0, d1) -> (%bt[d0 div ${page}], d0 mod ${page}, d1) {oob = error}\n  return %y\n}\n`,
      );
    const said = (page: number, rows: number, entry: number) =>
      explain(text(page, rows), { tile: [entry, 8], residency: "gm" })
        .diagnostics.filter(({ code }) => code === "TC909")
        .map(({ message, hint }) => `${message}: ${hint}`);
    expect(said(16, 96, 24)).toEqual([
      "tile[0] = 24 does not end where pages of 16 end: --tile 16,8 or --tile 32,8",
    ]);
    expect(said(16, 96, 12)).toEqual([
      "tile[0] = 12 does not end where pages of 16 end: --tile 8,8 or --tile 16,8",
    ]);
    // A tile of all rows cuts nothing; the next multiple is beyond 90.
    expect(said(64, 90, 90)).toEqual([]);
    expect(said(64, 90, 80)).toEqual(["tile[0] = 80 does not end where pages of 64 end: --tile 64,8"]);
    for (const entry of [1, 2, 8, 16, 48, 96]) expect(said(16, 96, entry), String(entry)).toEqual([]);
  });

  it.each([
    ["1x32768", "0, t div 4", "round32(4 len(bt)) + 33024"],
    ["32768", "t div 4", "round32(4 len(bt)) + 33024"],
    ["32768x1", "t div 4, 0", "32 len(bt) + 33024"],
  ])("says how long a table of %s may be, and longer ones are refused", (shape, coords, formula) => {
    const of = (table: string): Func =>
      parsed(paged().replace("1x32768", table).replace("0, t div 4", coords).replaceAll("131072", "4096"));
    const [verdict] = explain(of(shape), { residency: "gm", tile: [64, 128] }).sizes;
    const budget = 196608;
    const fits = shape === "32768x1" ? (budget - 33024) / 32 : (budget - 33024) / 4;
    expect(verdict).toEqual({
      symbol: "len(bt)",
      most: 32768,
      formula: `${formula} <= ${budget}`,
      fits: Math.floor(fits),
    });
    const long = (n: number) => of(shape.replace("32768", String(n)));
    expect(tryCompile(long(Math.floor(fits)), { residency: "gm", tile: [64, 128] }).ok).toBe(true);
    expect(tryCompile(long(Math.floor(fits) + 1), { residency: "gm", tile: [64, 128] }).ok).toBe(false);
  });

  it("says nothing of a table in global memory, or of one that moves with the tile", () => {
    expect(explain(parsed(paged()), { residency: { kv: "gm", bt: "gm" } }).sizes).toEqual([]);
  });
});
