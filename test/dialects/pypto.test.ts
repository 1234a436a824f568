/** PyPTO's rules, one by one. Expected values: the pages and the code of hicann/pypto; see docs/specifications.md. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { simulate } from "../../backends/sim/index.js";
import {
  parseModule,
  printModule,
  profiles,
  pyptoLevels,
  type DType,
  type Func,
  type PyptoLevel,
  type Schedule,
  type Shape,
  type SourceFunc,
  type Target,
} from "../../ir/index.js";
import {
  compile,
  directml,
  explain,
  legalTiles,
  onnx,
  pypto,
  targets,
  tryCompile,
  type CompileOptions,
} from "../../src/index.js";
import { readCases } from "../../src/formats/cases.js";
import { program } from "../../src/api/program.js";
import { refusal, verdict } from "../support/refusal.js";
import { operandOf } from "../support/operands.js";
import { runHere } from "../support/run-here.js";
import { root } from "../support/root.js";
import { parsed } from "../support/parsed.js";

const specifications = readFileSync(`${root}docs/specifications.md`, "utf8");

const gather = (input: Shape, index: Shape, dim = 0, level: PyptoLevel = "head") =>
  pypto.gather({ input: ["f32", input], index: ["i32", index], dim, level });
const indexSelect = (input: Shape, index: Shape, dim = 0, level: PyptoLevel = "head") =>
  pypto.indexSelect({ input: ["f32", input], index: ["i32", index], dim, level });
const twos = (rank: number): Shape => new Array<number>(rank).fill(2);

const gathered = (func: SourceFunc, data: readonly number[], indices: readonly number[]): number[] => {
  const inputs = { data: Float32Array.from(data), indices: Int32Array.from(indices) };
  return Array.from(simulate(compile(func), inputs).outputs.output as Float32Array);
};

/** The tables of the specification's page and of PyPTO's pages, and for head the code's checks. */
const taken = {
  gather: {
    specification: { types: ["f16", "bf16", "f32", "i16", "i32"], ranks: [2, 3, 4] },
    documented: { types: ["f16", "bf16", "f32", "i16", "i32", "u16", "u32"], ranks: [1, 2, 3, 4, 5] },
    head: { types: ["f16", "bf16", "f32", "i8", "i16", "i32", "u8", "u16", "u32"], ranks: [1, 2, 3, 4, 5] },
  },
  indexSelect: {
    types: [
      ...(["f16", "bf16", "f32", "i8", "i16", "i32", "u8", "u16", "u32", "bool"] as const),
      ...(["f8e4m3fn", "f8e5m2", "f8e8m0fnu"] as const),
    ],
    ranks: [1, 2, 3, 4],
  },
} as const;
const everyType: readonly DType[] = [
  ...(["f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"] as const),
  ...(["bool", "string", "c64", "c128", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz"] as const),
  ...(["f8e8m0fnu", "hif8", "u4", "i4", "u2", "i2"] as const),
];
const oneToNine = [1, 2, 3, 4, 5, 6, 7, 8, 9];

describe.each(pyptoLevels)("level %s", (level) => {
  it("gather takes the element types of PG1", () => {
    const build = (dtype: DType) => () =>
      pypto.gather({ input: [dtype, [2, 2]], index: ["i32", [2, 2]], dim: 0, level });
    const types = everyType.filter((dtype) => verdict(build(dtype)) === "accepted");
    expect(types).toEqual(taken.gather[level].types);
    expect(refusal(build("f64"))).toMatchObject({
      code: "TC104",
      message: `pypto.gather at level ${level} (PG1) does not take data of type f64`,
    });
  });

  it("gather takes the ranks of PG3, PG8 and PG13: one rank for both", () => {
    const ranks = oneToNine.filter(
      (rank) => verdict(() => gather(twos(rank), twos(rank), 0, level)) === "accepted",
    );
    expect(ranks).toEqual(taken.gather[level].ranks);
    expect(refusal(() => gather(twos(6), twos(6), 0, level))).toMatchObject({ code: "TC102" });
    expect(refusal(() => gather(twos(3), twos(2), 0, level))).toMatchObject({
      code: "TC102",
      message: `pypto.gather at level ${level} (PG13) takes data and indices of one rank, not 3 and 2`,
    });
  });

  it("index_select takes the element types of PS1", () => {
    const build = (dtype: DType) => () =>
      pypto.indexSelect({ input: [dtype, [2, 2]], index: ["i32", [2]], dim: 0, level });
    const types = everyType.filter((dtype) => verdict(build(dtype)) === "accepted");
    expect(types).toEqual(taken.indexSelect.types);
    expect(refusal(build("f64"))?.message).toBe(
      `pypto.index_select at level ${level} (PS1) does not take data of type f64`,
    );
  });

  it("index_select takes bool and the 8-bit floats on the 950 alone (PS1)", () => {
    const rows = (dtype: DType, target: Target) => {
      const func = pypto.indexSelect({ input: [dtype, [4, 8]], index: ["i32", [3]], dim: 0, level });
      return [
        verdict(() => compile(func, { target })),
        verdict(() => compile(func, { target, tile: [3, 8] })),
        verdict(() => explain(func, { target })),
        verdict(() => legalTiles(func, { target })),
      ];
    };
    const every = (code: string): string[] => [code, code, code, code];
    const renamed: Target = { ...targets.ascendA3, name: "ascend-950" };
    const board: Target = { ...targets.ascend950, name: "board" };
    for (const dtype of ["bool", "f8e4m3fn", "f8e5m2", "f8e8m0fnu"] as const) {
      for (const target of [targets.ascendA2, targets.ascendA3, renamed])
        expect(rows(dtype, target), `${dtype} on ${target.title}`).toEqual(every("TC104"));
      // What no Ascend core runs is no matter of a chip.
      for (const target of [targets.ascend950, board, targets.webgpu, targets.cpu])
        expect(rows(dtype, target), `${dtype} on ${target.name}`).toEqual(every("accepted"));
    }
    expect(rows("u8", targets.ascendA2)).toEqual(every("accepted"));
    expect(
      refusal(() => compile(pypto.indexSelect({ input: ["bool", [4]], index: ["i32", [3]], dim: 0, level }))),
    ).toMatchObject({
      code: "TC104",
      message: `pypto.index_select at level ${level} (PS1) takes data of type bool on the 950 alone, not on ascend-a2`,
      hint: "--target ascend-950 takes it (Ascend 950PR), or gather u8",
    });
  });

  it("index_select takes the ranks of PS3 and PS8", () => {
    const of = (build: (rank: number) => SourceFunc) =>
      oneToNine.filter((rank) => verdict(() => build(rank)) === "accepted");
    expect(of((rank) => indexSelect(twos(rank), [2], 0, level))).toEqual(taken.indexSelect.ranks);
    expect(of((rank) => indexSelect([2, 2], twos(rank), 0, level))).toEqual([1, 2]);
    expect(verdict(() => indexSelect([2, 2], [], 0, level))).toBe("TC102");
  });

  it.each([
    ["gather", "PG6"],
    ["indexSelect", "PS6"],
  ] as const)("%s takes index types int32 and int64 (%s)", (name, number) => {
    const build = (dtype: DType) => () =>
      pypto[name]({
        input: ["f32", [2, 2]],
        index: [dtype, name === "gather" ? [2, 2] : [2]],
        dim: 0,
        level,
      });
    expect(everyType.filter((dtype) => verdict(build(dtype)) === "accepted")).toEqual(["i32", "i64"]);
    expect(refusal(build("u32"))?.message).toContain(`(${number})`);
  });

  it("gather_in_ub takes the element types of PU1, and INT32 in both tables (PU4)", () => {
    const build = (param: DType, indices: DType, blockTable: DType) => () =>
      pypto.gatherInUb({
        param: [param, [4, 8]],
        indices: [indices, [1, 3]],
        blockTable: [blockTable, [1, 2]],
        blockSize: 2,
        axis: -2,
        level,
      });
    const accepted = (of: (dtype: DType) => () => SourceFunc): DType[] =>
      everyType.filter((dtype) => verdict(of(dtype)) === "accepted");
    expect(accepted((dtype) => build(dtype, "i32", "i32"))).toEqual(
      level === "documented" ? ["f16", "f32"] : ["f16", "bf16", "f32", "i8", "u8"],
    );
    expect(accepted((dtype) => build("f32", dtype, "i32"))).toEqual(["i32"]);
    expect(accepted((dtype) => build("f32", "i32", dtype))).toEqual(["i32"]);
    expect(refusal(build("bf16", "i64", "i32"))?.message).toBe(
      level === "documented"
        ? "pypto.gather_in_ub at level documented (PU1) does not take param of type bf16"
        : `pypto.gather_in_ub at level ${level} (PU4) does not take indices of type i64`,
    );
  });

  it("gather_in_ub takes matrices that are not empty, tables of one row, axis -2 and pages of rows (PU2, PU3, PU5 to PU7)", () => {
    const build =
      (param: Shape, indices: Shape, blockTable: Shape, axis = -2, blockSize = 2) =>
      () =>
        pypto.gatherInUb({
          param: ["f32", param],
          indices: ["i32", indices],
          blockTable: ["i32", blockTable],
          blockSize,
          axis,
          level,
        });
    const said = (run: () => SourceFunc): string | undefined => {
      const found = refusal(run);
      return found && `${found.code} ${/PU\d/.exec(found.message)?.[0] ?? ""}`;
    };
    expect(verdict(build([4, 8], [1, 3], [1, 2]))).toBe("accepted");
    expect([
      said(build([8], [1, 3], [1, 2])),
      said(build([4, 8], [3], [1, 2])),
      said(build([4, 8], [1, 3], [2])),
      said(build([0, 8], [1, 3], [1, 2])),
      said(build([4, 8], [1, 0], [1, 2])),
      said(build([4, 8], [1, 3], [1, 0])),
      said(build([4, 8], [3, 1], [1, 2])),
      said(build([4, 8], [1, 3], [2, 1])),
      said(build([4, 8], [1, 3], [1, 2], 0)),
      said(build([4, 8], [1, 3], [1, 2], -1)),
      said(build([4, 8], [1, 3], [1, 2], -2, 0)),
    ]).toEqual([
      ...["TC102 PU2", "TC102 PU2", "TC102 PU2"],
      ...["TC103 PU3", "TC103 PU3", "TC103 PU3"],
      ...["TC103 PU5", "TC103 PU5"],
      ...["TC101 PU6", "TC101 PU6"],
      "TC105 PU7",
    ]);
  });

  it("takes no empty tensors (PG2, PG7, PS2, PS7)", () => {
    const found = [
      refusal(() => gather([0, 2], [2, 2], 0, level)),
      refusal(() => gather([2, 2], [0, 2], 0, level)),
      refusal(() => indexSelect([0, 2], [2], 0, level)),
      refusal(() => indexSelect([2, 2], [0], 0, level)),
    ];
    expect(found.map((diagnostic) => diagnostic?.code)).toEqual(["TC103", "TC103", "TC103", "TC103"]);
    const numbers = found.map((diagnostic) => /\((P[GS]\d+)\)/.exec(diagnostic!.message)?.[1]);
    expect(numbers).toEqual(["PG2", "PG7", "PS2", "PS7"]);
  });

  it("takes tensors of fewer than 2^31 elements (PG4, PS4)", () => {
    const [most, over] = [
      [2 ** 31 - 1, 1],
      [2 ** 16, 2 ** 15],
    ];
    expect(verdict(() => gather(most, [2, 1], 0, level))).toBe("accepted");
    expect(verdict(() => gather(over, [2, 1], 0, level))).toBe("TC106");
    expect(verdict(() => indexSelect(most, [2], 0, level))).toBe("accepted");
    expect(verdict(() => indexSelect(over, [2], 0, level))).toBe("TC106");
    expect(verdict(() => indexSelect([2, 1], [2 ** 16, 2 ** 15], 0, level))).toBe("TC106");
  });

  it("takes dim from -rank to rank - 1 (PG5, PS5)", () => {
    for (const [dim, expected] of [
      [-3, "TC101"],
      [-2, "accepted"],
      [1, "accepted"],
      [2, "TC101"],
    ] as const) {
      expect(verdict(() => gather([2, 2], [2, 2], dim, level))).toBe(expected);
      expect(verdict(() => indexSelect([2, 2], [2], dim, level))).toBe(expected);
    }
    expect(operandOf(indexSelect([2, 3], [5], -1, level), "output").type.shape).toEqual([2, 5]);
  });

  it("gather takes an index no larger than input off dim (PG14)", () => {
    expect(verdict(() => gather([3, 5], [3, 4], 0, level))).toBe("accepted");
    expect(refusal(() => gather([3, 5], [3, 6], 0, level))).toMatchObject({
      code: "TC103",
      message: `dim 1 of indices is 6 and of data 5; except along axis 0, pypto.gather at level ${level} (PG14) takes no larger extent in indices`,
    });
  });

  it("gives the output input's type, and index's shape or index in dim's place (PG11, PG12, PS9, PS10)", () => {
    const args = { input: ["i16", [4, 5, 6]], dim: 1, level } as const;
    const selected = operandOf(pypto.indexSelect({ ...args, index: ["i64", [2, 3]] }), "output").type;
    expect(selected).toEqual({ dtype: "i16", shape: [4, 2, 3, 6] });
    const element = operandOf(pypto.gather({ ...args, index: ["i64", [4, 3, 2]] }), "output").type;
    expect(element).toEqual({ dtype: "i16", shape: [4, 3, 2] });
  });
});

describe("the level", () => {
  it("D2: every level takes an index longer than input along dim, as the constraints and PyPTO's board tests do", () => {
    expect(gathered(gather([2, 2], [3, 2]), [1, 2, 3, 4], [0, 1, 1, 0, 1, 1])).toEqual([1, 4, 3, 2, 3, 4]);
    for (const level of pyptoLevels) expect(verdict(() => gather([2, 2], [3, 2], 0, level))).toBe("accepted");
  });

  it("D3: each operator takes the ranks of its page, at every level", () => {
    for (const level of pyptoLevels) {
      const ranks = level === "specification" ? "2 to 4" : "1 to 5";
      expect(refusal(() => gather(twos(6), twos(6), 0, level))?.message).toBe(
        `pypto.gather at level ${level} (PG3) takes data of rank ${ranks}, not 6`,
      );
      expect(refusal(() => indexSelect(twos(5), [2], 0, level))?.message).toBe(
        `pypto.index_select at level ${level} (PS3) takes data of rank 1 to 4, not 5`,
      );
    }
  });

  it("is the profile's where none is given, and head without a schedule", () => {
    const args = { input: ["u8", [4]], index: ["i32", [6]], dim: 0 } as const;
    const func = pypto.gather(args);
    expect(operandOf(func, "output").type).toEqual({ dtype: "u8", shape: [6] });
    expect(verdict(() => pypto.gather({ ...args, level: "documented" }))).toBe("TC104");
    const types = (dtype: DType, rank: number) =>
      profiles.map((profile) =>
        verdict(() =>
          compile(pypto.gather({ input: [dtype, twos(rank)], index: ["i32", twos(rank)], dim: 0 }), {
            profile,
          }),
        ),
      );
    expect(types("f32", 2)).toEqual(["accepted", "accepted", "accepted"]);
    expect(types("u16", 2)).toEqual(["TC104", "accepted", "accepted"]);
    expect(types("u8", 2)).toEqual(["TC104", "TC104", "accepted"]);
    expect(types("f32", 1)).toEqual(["TC102", "accepted", "accepted"]);
    expect(types("f32", 5)).toEqual(["TC102", "accepted", "accepted"]);
    expect(verdict(() => compile(func))).toBe("TC104");
    // The level overrides the profile.
    expect(verdict(() => compile(pypto.gather({ ...args, level: "head" })))).toBe("accepted");
  });

  it("says that PyPTO contradicts itself on i8 and u8 of gather, which head takes (PG1)", () => {
    const said = (dtype: DType) =>
      compile(pypto.gather({ input: [dtype, [4, 4]], index: ["i32", [4, 4]], dim: 0 }), { profile: "head" })
        .diagnostics.filter(({ code }) => code === "TC911")
        .map(({ message, notes }) => `${message} ${String(notes?.join(" "))}`);
    for (const dtype of ["i8", "u8"] as const) {
      expect(said(dtype)).toHaveLength(1);
      expect(said(dtype)[0]).toMatch(
        new RegExp(
          `${dtype} of pypto.gather.*GatherElement_st_test_cases.csv at 883e7df.*indexing.cpp at 883e7df`,
        ),
      );
    }
    for (const dtype of ["i16", "u16", "f32"] as const) expect(said(dtype)).toEqual([]);
    const rows = pypto.indexSelect({ input: ["i8", [4, 4]], index: ["i32", [4]], dim: 0 });
    expect(compile(rows, { profile: "head" }).diagnostics.map(({ code }) => code)).not.toContain("TC911");
  });

  it("is judged where verdicts of strict stand beside those of pages: a type that the pages lack turns them", () => {
    const paged = pypto.gatherInUb({
      param: ["bf16", [256, 64]],
      indices: ["i32", [1, 8]],
      blockTable: ["i32", [1, 2]],
      blockSize: 128,
      axis: -2,
    });
    const target = targets.ascendA2;
    expect(explain(paged, { target, tile: [8, 64] })).toMatchObject({
      legal: true,
      pages: { profile: "pages", legal: false, turns: true, nearest: [] },
    });
    expect(legalTiles(paged, { target })).toMatchObject({
      count: 512,
      pages: { profile: "pages", count: 0, possible: 512 },
    });
    // A tile that does not fit stays refused, and no line offers what the pages refuse.
    expect(explain(paged, { target, tile: [8, 64], ubBytes: 64 }).pages).toMatchObject({
      legal: false,
      turns: false,
      nearest: [],
    });
    const narrow = pypto.gatherInUb({
      ...{ param: ["f16", [256, 64]], indices: ["i32", [1, 8]] },
      ...{ blockTable: ["i32", [1, 2]], blockSize: 128, axis: -2 },
    });
    expect(explain(narrow, { target, tile: [8, 64] }).pages).toMatchObject({ legal: true, turns: false });
  });

  it("a refusal names the profile that takes the type or the rank", () => {
    const of = (dtype: DType, rank: number) =>
      refusal(() => compile(pypto.gather({ input: [dtype, twos(rank)], index: ["i32", twos(rank)], dim: 0 })))
        ?.hint;
    expect(of("u16", 2)).toBe(
      "use f32, f16, bf16, i16 or i32; --profile pages takes it (PyPTO's documentation since 2026-04-02)",
    );
    expect(of("i8", 2)).toContain("--profile head takes it");
    expect(of("f64", 2)).not.toContain("--profile");
    expect(of("f32", 5)).toBe("--profile pages takes it (PyPTO's documentation since 2026-04-02)");
  });

  it("a refusal names the level where the program states one, in the words of the program", async () => {
    const ask = async (...args: readonly string[]) => (await runHere(["explain", ...args])).stderr;
    const types = ["--op", "pypto.gather", "--data", "i8[8,8]", "--indices", "i32[8,8]", "--axis", "0"];
    for (const level of ["specification", "documented"]) {
      const told = await ask(...types, "--level", level, "--profile", "head");
      expect(told).toContain("; --level head takes it (PyPTO's code at 883e7df (2026-08-22))");
      expect(told).not.toContain("--profile");
    }
    expect((await runHere(["explain", ...types, "--level", "head"])).status).toBe(0);
    const paged = ["--op", "pypto.gather_in_ub", "--data", "i8[256,64]", "--indices", "i32[1,8]"];
    const tables = ["--indices", "i32[1,2]", "--block-size", "128", "--level", "documented"];
    expect(await ask(...paged, ...tables)).toContain("--level head takes it");
    const folder = mkdtempSync(join(tmpdir(), "tilec-level-"));
    const file = join(folder, "g.tir");
    const text = (level: string) =>
      "func @g(%x: tensor<8x8xu16>, %i: tensor<8x8xi32>) -> tensor<8x8xu16> {\n" +
      `  %y = pypto.gather %x, %i {dim = 0, level = ${level}}\n  return %y\n}\n`;
    writeFileSync(file, text("specification"));
    expect(await ask(file)).toContain("; level = documented takes it");
    writeFileSync(file, text("documented"));
    expect((await runHere(["explain", file])).status).toBe(0);
  });

  it("is an attribute of the text form, which prints and parses back", () => {
    const text = (level: string) =>
      `func @g(%x: tensor<4xu8>, %i: tensor<4xi32>) -> tensor<4xu8> {\n` +
      `  %y = pypto.gather %x, %i {dim = 0, level = "${level}"}\n  return %y\n}\n`;
    const { module, diagnostics } = parseModule(text("head"), "level.tir");
    expect(diagnostics).toEqual([]);
    expect(printModule(module)).toBe(text("head"));
    expect(verdict(() => compile(parsed(text("documented"))))).toBe("TC104");
    expect(refusal(() => compile(parsed(text("newest"))))).toMatchObject({
      code: "TC105",
      hint: "one of specification, documented, head",
    });
  });

  it("is an attribute of case files", () => {
    const tensor = { shape: [1], fill: { seed: 1, min: 0, max: 1 } };
    const test = (op: string, level: string) => {
      const [read] = readCases(
        JSON.stringify([
          {
            ...{ id: "level", dialect: "pypto", op, attributes: { axis: 0, level }, expect: "ok" },
            data: { dtype: "u8", ...tensor },
            indices: { dtype: "i32", ...tensor },
          },
        ]),
        "level.json",
      );
      return verdict(() => program(read!.program!));
    };
    expect([test("gather_elements", "head"), test("gather_elements", "documented")]).toEqual([
      "accepted",
      "TC104",
    ]);
    // index_select's page and code take the same.
    expect([test("gather", "head"), test("gather", "documented")]).toEqual(["accepted", "accepted"]);
  });

  it("is the flag --level", () => {
    const explain = (...flags: string[]) =>
      spawnSync(
        process.execPath,
        [
          ...[`${root}dist/src/cli/main.js`, "explain", "--op", "pypto.gather", "--axis", "0"],
          ...["--data", "u8[4]", "--indices", "i32[4]", ...flags],
        ],
        { encoding: "utf8" },
      );
    expect(explain("--level", "head").status).toBe(0);
    expect(explain("--profile", "head").status).toBe(0);
    const refused = explain("--level", "documented");
    expect(refused.stderr).toContain("error[TC104]: pypto.gather at level documented (PG1)");
    expect(refused.status).toBe(1);
    expect(explain("--level", "newest").stderr).toContain("TC105");
  });

  it("quotes numbers that docs/specifications.md has", () => {
    for (const number of [1, 2, 3, 6, 7, 8, 13, 14]) expect(specifications).toContain(`- **PG${number}** `);
    for (const number of [1, 2, 3, 6, 7, 8]) expect(specifications).toContain(`- **PS${number}** `);
    for (const number of [1, 2, 3, 4, 5, 6, 7]) expect(specifications).toContain(`- **PU${number}** `);
  });
});

describe("residency", () => {
  it("index_select and gather_in_ub leave their data in global memory on Ascend (PS18)", () => {
    const paged = pypto.gatherInUb({
      param: ["f32", [4, 8]],
      indices: ["i32", [1, 3]],
      blockTable: ["i32", [1, 2]],
      blockSize: 2,
      axis: -2,
    });
    const chosen = (func: SourceFunc, target: Target, schedule: Schedule = {}) =>
      compile(func, { ...schedule, target }).tile.schedule.residency;
    for (const func of [indexSelect([4, 8], [3]), paged]) {
      expect(chosen(func, targets.ascendA2)).toBe("gm");
      expect(chosen(func, targets.ascend950)).toBe("gm");
      expect(chosen(func, targets.ascendA2, { residency: "ub" })).toBe("ub");
    }
    // Elements that lie apart are gathered in UB where that is faster, and other dialects say nothing of where data is.
    expect(chosen(indexSelect([64, 1000], [4096], 1), targets.ascendA2)).toBe("ub");
    expect(chosen(indexSelect([8, 100_000], [128], 1), targets.ascendA2)).toBe("gm");
    const rows = onnx.gather({ data: ["f32", [4, 8]], indices: ["i32", [3]] });
    expect(chosen(rows, targets.ascendA2)).toBe("ub");
  });
});

describe("index values", () => {
  it("below 0 and from the extent on are out of range in both operators (PG10, PS14, D14)", () => {
    for (const func of [gather([3], [1]), indexSelect([3], [1])]) {
      expect(gathered(func, [7, 8, 9], [2])).toEqual([9]);
      for (const bad of [3, -1]) {
        expect(refusal(() => gathered(func, [7, 8, 9], [bad]))).toMatchObject({
          code: "TC601",
          data: { value: String(bad), extent: 3 },
        });
      }
    }
  });

  it("D7: out of range mean what the policy says, which each dialect has its own default of", () => {
    const policy = (oob?: "error" | "clamp" | "zero" | "wrap") => {
      const args = { input: ["f32", [3]], index: ["i32", [2]], dim: 0, level: "head" } as const;
      return pypto.gather(oob === undefined ? args : { ...args, oob });
    };
    const read = (func: SourceFunc) => gathered(func, [7, 8, 9], [4, 1]);
    expect(read(policy("clamp"))).toEqual([9, 8]);
    expect(read(policy("zero"))).toEqual([0, 8]);
    expect(read(policy("wrap"))).toEqual([8, 8]);
    expect(verdict(() => read(policy("error")))).toBe("TC601");
    expect(verdict(() => read(policy()))).toBe("TC601");
    expect(verdict(() => read(onnx.gather({ data: ["f32", [3]], indices: ["i32", [2]] })))).toBe("TC601");
    const tensors = {
      InputTensor: { DataType: "FLOAT32", Sizes: [3] },
      IndicesTensor: { DataType: "INT32", Sizes: [2] },
    } as const;
    expect(read(directml.gather({ ...tensors, Axis: 0, IndexDimensions: 1 }))).toEqual([9, 8]);
  });
});

describe("the tiling rules", () => {
  const ascend = (func: SourceFunc, schedule: Schedule, target: Target = targets.ascendA2) =>
    verdict(() => compile(func, { target, ...schedule }));

  it("the view along dim covers the longer of input and index (PG15)", () => {
    const longer = gather([3, 8], [5, 8]);
    expect(ascend(longer, { view: [5, 8] })).toBe("accepted");
    expect(ascend(longer, { view: [4, 8], tile: [4, 8] })).toBe("TC301");
    const shorter = gather([5, 8], [3, 8]);
    expect(ascend(shorter, { view: [5, 8] })).toBe("accepted");
    expect(ascend(shorter, { view: [4, 8], tile: [4, 8] })).toBe("TC301");
  });

  it("the other dims of the view are free (PG16, PS12)", () => {
    for (const width of [1, 3, 8]) {
      expect(ascend(gather([4, 8], [4, 8]), { view: [4, width] })).toBe("accepted");
      expect(ascend(indexSelect([4, 8], [6]), { view: [width, width] })).toBe("accepted");
    }
  });

  it("D17: a typed tile is judged by the profile on every target, and none by default says that full load is not in force", () => {
    const func = gather([16, 80], [16, 64]);
    for (const target of [targets.ascendA2, targets.webgpu, targets.cpu]) {
      expect(ascend(func, { tile: [4, 16] }, target)).toBe("TC301");
      expect(ascend(func, { view: [8, 64] }, target)).toBe("TC301");
      expect(ascend(func, { tile: [4, 16], profile: "pages" }, target)).toBe("accepted");
      expect(ascend(func, { tile: [16, 16] }, target)).toBe("accepted");
    }
    const kernel = compile(func, { tile: [4, 16], residency: "gm", target: targets.webgpu });
    expect(kernel.text("tile")).not.toContain("profile");
    expect(compile(func, { tile: [16, 16], target: targets.webgpu }).text("tile")).toContain(
      "profile = strict",
    );
    // Too long for a workgroup's memory: in global memory by default, without a profile.
    const long = compile(gather([5000, 8], [5000, 8]), { target: targets.webgpu });
    expect(long.tile.schedule).toMatchObject({ residency: "gm" });
    expect(long.text("tile")).not.toContain("profile");
    expect(
      explain(gather([5000, 8], [5000, 8]), { target: targets.webgpu }).schedule.profile,
    ).toBeUndefined();
  });

  it("PyPTO cuts the data by the tile where the index ends earlier, and loads it so", () => {
    const func = gather([4096, 1024], [8, 8], 1);
    const over = explain(func, { target: targets.ascendA2, tile: [64, 1024] });
    expect(over.legal).toBe(false);
    expect(over.footprint.parts[0]).toMatchObject({ part: "data", tile: [64, 1024], counted: 262_144 });
    // A view bounds the data, too.
    const viewed = explain(func, { target: targets.ascendA2, tile: [64, 1024], view: [16, 1024] });
    expect([viewed.legal, viewed.footprint.parts[0]?.tile]).toEqual([true, [16, 1024]]);
    expect(viewed.judgedTile).toEqual([16, 1024]);
    // Three tiles of 4 rows, the last one with 2 rows of the index.
    const tail = compile(gather([4096, 128], [10, 8], 1), { target: targets.ascendA2, tile: [4, 128] });
    expect(tail.text("tile")).toMatch(/load %data\[%t0, 0\]\[4, 128\] to %data_ub/);
    expect(
      explain(tail.source!, { target: targets.ascendA2, tile: [4, 128] }).traffic.operands[0],
    ).toMatchObject({
      operand: "data",
      bytes: 3 * 4 * 128 * 4,
      compulsory: 10 * 128 * 4,
    });
    // Other dialects end with the output, and a dump keeps the verdict of its framework.
    const other = onnx.gatherElements({ data: ["f32", [4096, 1024]], indices: ["i32", [8, 8]], axis: 1 });
    expect(explain(other, { target: targets.ascendA2, tile: [64, 1024] })).toMatchObject({
      legal: true,
      judgedTile: [8, 1024],
    });
    const dumped = compile(func, { target: targets.ascendA2, tile: [8, 1024] }).text("access");
    expect(dumped).toContain("framework = pypto");
    const [access] = parseModule(
      dumped.replace("tile = [8, 1024]", "tile = [64, 1024]").replace(/, \w+_tile = \[[^\]]*\]/g, ""),
      "dump.tir",
    ).module.funcs;
    expect(verdict(() => compile(access!))).toMatch(/^TC40[12]$/);
  });

  it("a dump of the access level keeps the verdict on types and ranks, under every profile and on every target", () => {
    const paged = (dtype: DType) =>
      pypto.gatherInUb({
        ...{ param: [dtype, [256, 64]], indices: ["i32", [1, 8]] },
        ...{ blockTable: ["i32", [1, 2]], blockSize: 128, axis: -2 },
      });
    const of = (dtype: DType, level?: PyptoLevel) =>
      pypto.gather({
        ...{ input: [dtype, [8, 8]], index: ["i32", [8, 8]], dim: 0 },
        ...(level === undefined ? {} : { level }),
      });
    const rows = (dtype: DType) =>
      pypto.indexSelect({ input: [dtype, [8, 64]], index: ["i32", [4]], dim: 0 });
    const programs = [
      ...[
        of("f32"),
        of("u16"),
        of("i8"),
        of("i8", "head"),
        of("u16", "documented"),
        of("f32", "specification"),
      ],
      ...[paged("f16"), paged("bf16"), rows("f32"), rows("bool")],
      pypto.gather({ input: ["f32", [8]], index: ["i32", [8]], dim: 0 }),
    ];
    const judged = (func: Func, options: CompileOptions): readonly string[] => {
      const result = tryCompile(func, options);
      const { diagnostics } = result.ok ? result.kernel : result;
      return [String(result.ok), ...diagnostics.map(({ code, message }) => `${code} ${message}`)];
    };
    const seen = { TC104: 0, TC102: 0, TC911: 0, true: 0 };
    for (const func of programs) {
      // Whatever takes it prints it.
      const text = compile(func, { target: targets.cpu, profile: "head" })
        .text("access")
        .replace(/ target\(.*?\) schedule \{.*?\}/, "")
        .replace(/, \w+_tile = \[[^\]]*\]/g, "");
      const dump = parsed(text);
      expect(printModule({ funcs: [dump] })).toBe(text);
      for (const profile of profiles)
        for (const target of [targets.ascendA2, targets.ascend950, targets.webgpu]) {
          const options = { profile, target };
          const told = judged(func, options);
          expect(judged(dump, options), `${text}${profile}, ${target.name}`).toEqual(told);
          if (profile === "strict" && target === targets.ascendA2)
            expect(
              verdict(() => explain(dump, options)),
              text,
            ).toBe(verdict(() => explain(func, options)));
          for (const code of Object.keys(seen))
            if (told.some((one) => one.startsWith(code))) seen[code as keyof typeof seen]++;
        }
    }
    for (const [code, count] of Object.entries(seen)) expect([code, count > 0]).toEqual([code, true]);
  });

  it("a tile is judged as it was typed: nothing is widened, and what is clipped is told", () => {
    const func = pypto.gather({ input: ["f16", [2048, 512]], index: ["i32", [2048, 256]], dim: 1 });
    for (const tile of [
      [64, 256],
      [64, 300],
      [64, 511],
    ]) {
      expect(refusal(() => compile(func, { target: targets.ascendA2, tile }))).toMatchObject({
        code: "TC301",
        hint: "--tile 64,512",
        notes: expect.arrayContaining([
          "in a program of PyPTO: pypto.set_vec_tile_shapes(64, 512)",
        ]) as string[],
        data: { nearestTile: [64, 512] },
      });
    }
    expect(explain(func, { target: targets.ascendA2, tile: [64, 512] }).judgedTile).toBeUndefined();
    expect(explain(func, { target: targets.ascendA2, tile: [64, 600] })).toMatchObject({
      legal: true,
      judgedTile: [64, 512],
    });
    const small = gather([6, 20], [6, 20]);
    expect(explain(small, { target: targets.ascendA2, tile: [8, 32] }).judgedTile).toEqual([6, 20]);
  });

  it("a verdict of strict that the pages turn around says so", () => {
    const func = pypto.gather({ input: ["f16", [2048, 512]], index: ["i32", [2048, 256]], dim: 1 });
    const { pages } = explain(func, { target: targets.ascendA2, tile: [64, 256] });
    expect(pages).toMatchObject({ profile: "pages", legal: true, turns: true });
    expect(explain(func, { target: targets.ascendA2, tile: [64, 512] }).pages).toMatchObject({
      legal: true,
      turns: false,
    });
    expect(
      explain(func, { target: targets.ascendA2, tile: [64, 256], profile: "head" }).pages,
    ).toBeUndefined();
    const refused = refusal(() => compile(func, { target: targets.ascendA2, tile: [64, 256] }));
    expect(refused?.notes?.join()).toContain(
      "under profile pages (PyPTO's documentation since 2026-04-02) this tile is legal",
    );
    const { count, possible, pages: counted } = legalTiles(func, { target: targets.ascendA2 });
    expect([count, possible]).toEqual([76, 2048]);
    expect(counted).toMatchObject({ profile: "pages", count: 29_176, possible: 524_288 });
  });

  it("rows stay below the buffer under pages and head, and may meet it under strict", () => {
    // 64 rows of 8 f32: 2048 B. Its 256 B of indices stay in global memory where there is no room for them.
    const func = indexSelect([100, 8], [64]);
    const fits = (profile: "strict" | "pages" | "head", ubBytes: number) =>
      ascend(func, { tile: [64, 8], buffers: 1, profile, ubBytes });
    expect(profiles.map((profile) => fits(profile, 2047) === "accepted")).toEqual([false, false, false]);
    expect(profiles.map((profile) => fits(profile, 2048) === "accepted")).toEqual([true, false, false]);
    expect(profiles.map((profile) => fits(profile, 2049) === "accepted")).toEqual([true, true, true]);
    // What is staged beside the result takes all that there is, and no more.
    const residencies = [2304, 2303].map(
      (ubBytes) =>
        compile(func, { target: targets.ascendA2, tile: [64, 8], buffers: 1, ubBytes }).tile.schedule
          .residency,
    );
    expect(residencies).toEqual(["gm", { data: "gm", indices: "gm" }]);
  });

  it("a tile has one entry for each dim of the result (PG17, PS13)", () => {
    expect(ascend(gather([4, 8], [4, 8]), { tile: [4, 8] })).toBe("accepted");
    expect(ascend(gather([4, 8], [4, 8]), { tile: [4] })).toBe("TC302");
    expect(ascend(indexSelect([4, 8], [2, 3]), { tile: [2, 3, 8] })).toBe("accepted");
    expect(ascend(indexSelect([4, 8], [2, 3]), { tile: [2, 8] })).toBe("TC302");
  });

  it("a tile of more entries is taken by its first ones under profile head, as TileShapeVerifier and the Tiled operations have it (PG17, PS13)", () => {
    const paged = pypto.gatherInUb({
      param: ["f32", [4, 8]],
      indices: ["i32", [1, 3]],
      blockTable: ["i32", [1, 2]],
      blockSize: 2,
      axis: -2,
    });
    for (const func of [gather([4, 8], [4, 8]), indexSelect([4, 8], [3]), paged]) {
      const [short, long] = [[2, 8] as const, [2, 8, 16, 1] as const];
      expect(profiles.map((profile) => ascend(func, { tile: long, profile }))).toEqual([
        ...["TC302", "TC302", "accepted"],
      ]);
      for (const target of [targets.ascendA2, targets.ascend950, targets.webgpu]) {
        const kernel = compile(func, { tile: long, profile: "head", target });
        expect(kernel.tile).toEqual(compile(func, { tile: short, profile: "head", target }).tile);
        const told = kernel.diagnostics.find(({ code }) => code === "TC906");
        expect(told?.message).toBe(
          "tile 2,8,16,1 has 4 entries; the first 2 count, one for each dim of the output",
        );
        expect(told?.notes?.join()).toContain("tile_shape_verifier.h at 883e7df");
      }
      const { legal, judgedTile, schedule } = explain(func, { tile: long, profile: "head" });
      expect({ legal, judgedTile, tile: schedule.tile }).toEqual({
        legal: true,
        judgedTile: short,
        tile: short,
      });
      expect(refusal(() => compile(func, { tile: long, target: targets.ascendA2 }))?.hint).toContain(
        "--profile head, which takes the first 2",
      );
      // Each entry is above 0, the others too.
      expect(ascend(func, { tile: [2, 8, 0], profile: "head" })).toBe("TC302");
      expect(ascend(func, { tile: [2], profile: "head" })).toBe("TC302");
    }
    // Other frameworks set a tile for one operator.
    const rows = onnx.gather({ data: ["f32", [4, 8]], indices: ["i32", [3]] });
    expect(ascend(rows, { tile: [3, 8, 1], profile: "head" })).toBe("TC302");
  });

  it("D1: along dim the tile is the view under profile strict, and free under pages and head (PG18)", () => {
    const func = gather([16, 8], [16, 8]);
    expect(ascend(func, { tile: [16, 2] })).toBe("accepted");
    expect(ascend(func, { tile: [15, 2] })).toBe("TC301");
    for (const profile of ["pages", "head"] as const)
      expect(ascend(func, { tile: [15, 2], profile })).toBe("accepted");
    // Pages hold the view, and the code has none.
    const cut = { view: [15, 8], tile: [15, 2] };
    const verdicts = profiles.map((profile) => ascend(func, { ...cut, profile }));
    expect(verdicts).toEqual(["TC301", "TC301", "accepted"]);
  });

  it("D1: tile and view are compared as they are typed, beyond the tensors too", () => {
    // GatherElement_test_35: 16 of an index of 15 along dim.
    const test = pypto.gather({ input: ["bf16", [10, 10]], index: ["i32", [9, 15]], dim: 1 });
    for (const view of [15, 18])
      for (const tile of [14, 15, 16, 18, 20])
        expect(ascend(test, { view: [10, view], tile: [3, tile] }), `view ${view}, tile ${tile}`).toBe(
          tile === view ? "accepted" : "TC301",
        );
    expect(ascend(test, { view: [10, 15], tile: [3, 16], profile: "pages" })).toBe("accepted");
    expect(ascend(test, { view: [10, 14], tile: [3, 14] })).toBe("TC301");
  });

  it("D6: the tiles of input, index and result fit together, with scratch and buffers (PG19)", () => {
    // 1024 rows of 8 of 16 f32: three tiles of 32768 B; scratch of two rows of 8 i32, 64 B.
    const func = gather([1024, 16], [1024, 16]);
    const tile = [1024, 8];
    expect(ascend(func, { tile, ubBytes: 98304 + 64 })).toBe("accepted");
    expect(ascend(func, { tile, ubBytes: 98304 + 63 })).toMatch(/^TC40[12]$/);
    expect(ascend(func, { tile, buffers: 2, ubBytes: 196608 + 64 })).toBe("accepted");
    expect(ascend(func, { tile, buffers: 2 })).toMatch(/^TC40[12]$/);
    // The written sum alone: no scratch.
    expect(ascend(func, { tile, budgetRule: "spec", ubBytes: 98303 })).toMatch(/^TC40[12]$/);
  });

  it("D5: the budget is the target's, 196608 B on A2 and A3 and 253952 B on the 950, with a warning above 184 KiB", () => {
    // n rows of 8 f32 by i32 take 96 n + 64 B.
    const rows = (n: number) => gather([n, 8], [n, 8]);
    for (const [target, most] of [
      [targets.ascendA2, 2047],
      [targets.ascendA3, 2047],
      [targets.ascend950, 2644],
    ] as const) {
      expect(ascend(rows(most), { tile: [most, 8] }, target)).toBe("accepted");
      expect(ascend(rows(most + 1), { tile: [most + 1, 8] }, target)).not.toBe("accepted");
    }
    // Without the scratch of PyPTO's kernel, the scalar unit's takes 96 n.
    const warned = (n: number) =>
      compile(rows(n), { target: targets.ascendA2, tile: [n, 8], lowering: "scalar" }).diagnostics.some(
        ({ code }) => code === "TC905",
      );
    expect([warned(1962), warned(1963)]).toEqual([false, true]);
  });

  it("the compiler chooses a tile where none is set, one that it takes when given (PG20)", () => {
    const func = gather([64, 80], [32, 64]);
    const chosen = compile(func, { target: targets.ascendA2 }).access?.schedule.tile;
    expect(chosen).toHaveLength(2);
    expect(ascend(func, { tile: chosen! })).toBe("accepted");
  });

  it("an attribute for the NZ format does not exist (PG21)", () => {
    const attrs = { dim: 0, format: "nz" };
    const types = {
      data: { dtype: "f32", shape: [2, 2] },
      indices: { dtype: "i32", shape: [2, 2] },
    } as const;
    expect(verdict(() => program({ op: "pypto.gather", attrs, ...types }))).toBe("TC105");
  });

  it("every supported chip has a target (PG22, PS16)", () => {
    for (const target of [targets.ascendA2, targets.ascendA3, targets.ascend950]) {
      expect(ascend(gather([3, 5], [3, 4]), {}, target)).toBe("accepted");
      expect(ascend(indexSelect([3, 4], [2]), {}, target)).toBe("accepted");
    }
  });

  it("D15: index_select loads its data whole along dim, or fetches rows and counts result and index alone", () => {
    // Tile of 64 rows of 8 f32: 2048 B of result and 256 B of index; the data would be 100 rows of 32 B.
    const func = indexSelect([100, 8], [64]);
    const tile = [64, 8];
    expect(ascend(func, { tile, residency: "gm", ubBytes: 2304 })).toBe("accepted");
    expect(ascend(func, { tile, residency: "gm", ubBytes: 2303 })).toMatch(/^TC40[12]$/);
    expect(ascend(func, { tile, residency: "ub", ubBytes: 2304 })).toMatch(/^TC40[12]$/);
    expect(ascend(func, { tile, residency: "ub", ubBytes: 3200 + 2304 + 512 })).toBe("accepted");
    for (const profile of ["strict", "pages", "head"] as const) {
      // Where nothing is said of the residency, the result alone decides; `gm` means the same under every profile.
      expect(ascend(func, { tile, ubBytes: 2049, profile })).toBe("accepted");
      expect(ascend(func, { tile, ubBytes: 2047, profile })).toMatch(/^TC40[12]$/);
      expect(ascend(func, { tile, ubBytes: 2305, profile, residency: "gm" })).toBe("accepted");
      expect(ascend(func, { tile, ubBytes: 2303, profile, residency: "gm" })).toMatch(/^TC40[12]$/);
      const placed = { data: "gm", indices: "gm" } as const;
      expect(ascend(func, { tile, ubBytes: 2049, profile, residency: placed })).toBe("accepted");
    }
  });

  it("the data of index_select is whole along dim whatever the view and the tile (PS11)", () => {
    const func = indexSelect([5, 8], [6]);
    const kernel = compile(func, { target: targets.ascendA2, residency: "ub", view: [2, 4], tile: [1, 4] });
    expect(kernel.text("tile")).toMatch(/load %data\[[^\]]*\]\[5, 4\]/);
  });

  it("index_select gives the page's two results (PS15)", () => {
    const data = [
      0.1427, 0.0231, -0.5414, -1.0009, -0.4664, 0.2647, -0.1228, -1.1068, -1.1734, -0.6571, 0.723,
    ];
    const input = Float32Array.of(...data, -0.6004);
    const rows = gathered(indexSelect([3, 4], [2], 0), [...input], [0, 2]);
    expect(rows).toEqual([...input.subarray(0, 4), ...input.subarray(8, 12)]);
    const columns = gathered(indexSelect([3, 4], [2], 1), [...input], [0, 2]);
    expect(columns).toEqual([0, 2, 4, 6, 8, 10].map((k) => input[k]));
  });

  it("a tile entry is at least 1 (PT1)", () => {
    expect(ascend(gather([4, 8], [4, 8]), { tile: [4, 0] })).toBe("TC302");
    expect(ascend(gather([4, 8], [4, 8]), { tile: [4, -8] })).toBe("TC302");
  });

  it("a tile may have five entries, one for each dim (PT2)", () => {
    expect(ascend(gather(twos(5), twos(5)), { tile: twos(5) })).toBe("accepted");
  });

  it("the last tile entry need not be a multiple of 32 B: rows are padded, and counted padded (PT3)", () => {
    // Rows of one f32 take 32 B each: three tiles of 16 rows, 64 B of scratch.
    const func = gather([16, 8], [16, 8]);
    expect(ascend(func, { tile: [16, 1], ubBytes: 3 * 16 * 32 + 64 })).toBe("accepted");
    // The smallest tile of all: what refuses it is the count, not the plan of addresses.
    expect(ascend(func, { tile: [16, 1], ubBytes: 3 * 16 * 32 + 63 })).toBe("TC402");
  });

  it("a tile beyond the buffer is refused before anything is lowered (PT4)", () => {
    const found = refusal(() =>
      compile(gather([1024, 64], [1024, 64]), { target: targets.ascendA2, tile: [1024, 64] }),
    );
    expect(found).toMatchObject({ code: "TC401" });
    expect(found?.message).toContain("786944 B");
  });

  it("a program may have more than 18000 tiles (PT5)", () => {
    expect(ascend(gather([4, 60000], [4, 60000]), { tile: [4, 1] })).toBe("accepted");
  });
});
