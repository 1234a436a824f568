import { describe, expect, it } from "vitest";
import {
  equalModule,
  parseModule,
  printModule,
  verifyStructure,
  type Func,
  type Module,
} from "../../ir/index.js";
import { compile, explain, legalTiles, run, targets, tryCompile } from "../../src/index.js";

const program = (
  map: string,
  {
    dims = "dim V <= 100\ndim N <= 9\n",
    types = ["Vx2xf32", "Nxi32", "Nx2xf32"],
    attributes = "oob = error",
  }: { dims?: string; types?: readonly [string, string, string]; attributes?: string } = {},
): string =>
  `${dims}func @f(%e: tensor<${types[0]}>, %i: tensor<${types[1]}>) -> tensor<${types[2]}> {\n` +
  `  %y = access.gather %e, %i (d0, d1) ${map} {${attributes}}\n  return %y\n}\n`;

const plain = program("-> (%i[d0], d1)");
const beyond = "TC002 a number of this coordinate is beyond 2^53";

function read(text: string): Module {
  const { module, diagnostics } = parseModule(text, "symbols.tir");
  expect(diagnostics, text).toEqual([]);
  return module;
}

/** What refuses a text, by parsing or by the rules of its map. */
const refusals = (text: string): string[] => {
  const { module, diagnostics } = parseModule(text, "symbols.tir");
  return [...diagnostics, ...module.funcs.flatMap(verifyStructure)].map(
    ({ code, message }) => `${code} ${message}`,
  );
};

describe("the text of symbols", () => {
  it.each([
    ["a bare read", plain],
    ["a bound", program("-> (wrap(%i[d0] in V), d1)", { attributes: "oob = wrap" })],
    ["a bound with div", program("let a = error(%i[d0] in V div 2 - 1) -> (2 * a, d1)")],
    ["from the end of a sum", program("-> (error(from_end(%i[d0] of V - 1) in V), d1)")],
    ["from the end", program("-> (from_end(%i[d0]), d1)", { attributes: "oob = clamp" })],
    ["coordinates", program("-> (N - 1 - d0, d1)", { types: ["Nx2xf32", "Nxi32", "Nx2xf32"] })],
    ["a policy without a bound", program("-> (clamp(%i[d0]), d1)", { attributes: "oob = error" })],
    ["fill bits", program("-> (fill(%i[d0] in V), d1)", { attributes: "oob = fill, fill = 7" })],
    ["a product beyond 2^31", program("-> (error(2147483647 * (2097151 * %i[d0]) in V), d1)")],
    ["a declared symbol that nothing names", `dim UNUSED_2 <= 5\n${plain}`],
    ["two functions of one symbol", plain + "\n" + plain.replace(/^dim.*\n/gm, "").replace("@f", "@g")],
  ])("prints and parses again: %s", (_, text) => {
    const module = read(text);
    const printed = printModule(module);
    expect(equalModule(read(printed), module), printed).toBe(true);
    expect(printModule(read(printed))).toBe(printed);
    expect(printed.match(/^dim /gm)).toHaveLength(text.match(/^dim /gm)!.length);
  });

  it.each([
    ["x stands between extents", plain.replaceAll("V", "X"), "TC002 X cannot name a symbol"],
    ["small letters", plain.replace("dim V", "dim v"), "TC002 v cannot name a symbol"],
    ["not declared", plain.replace("dim V <= 100\n", ""), "TC003 no dim V is declared"],
    ["declared twice", `dim V <= 3\n${plain}`, "TC002 dim V is declared twice"],
    [
      "at most nothing",
      plain.replace("<= 100", "<= 0"),
      "TC002 the maximum of a symbol must be 1 or more, not 0",
    ],
    [
      "not outermost",
      program("-> (%i[d0], d1)", { types: ["4xVxf32", "Nxi32", "Nx2xf32"] }),
      "TC204 V is not the outermost extent of 4xVxf32",
    ],
    [
      "not outermost of the output",
      program("-> (%i[d0], d1)", { types: ["4x2xf32", "Nxi32", "NxVxf32"] }),
      "TC204 V is not the outermost extent of NxVxf32",
    ],
    ["a bound of dims", program("-> (error(%i[d0] in d0), d1)"), "TC002 a bound is a number"],
    [
      "a product of symbols",
      program("-> (error(%i[d0] in V * N), d1)"),
      "TC002 one side of a product must be a number",
    ],
    ["a number beyond 2^53", program("-> (9007199254740993 * d0, d1)"), beyond],
    ["a product beyond 2^53", program("-> (-3 * (9007199254740991 * d0), d1)"), beyond],
    ["a sum beyond 2^53", program("-> (9007199254740991 + 2 - 9007199254740991, d1)"), beyond],
    ["the name of an index value", program("let V = %i[d0] -> (V, d1)"), "TC002 V is a reserved word"],
  ])("refuses with its place: %s", (_, text, message) => {
    const { diagnostics } = parseModule(text, "symbols.tir");
    expect(diagnostics.map(({ code, message }) => `${code} ${message}`).join("\n")).toContain(message);
    expect(diagnostics[0]?.span?.line).toBeGreaterThan(0);
  });
});

describe("the rules of a map with symbols", () => {
  const refused = (rule: string): unknown => [expect.stringContaining(`TC204 ${rule}`)];

  it("refuses a coordinate that stays inside at the most alone", () => {
    const types = ["Vx2xf32", "Nxi32", "Nx2xf32"] as const;
    expect(refusals(program("-> (d0, d1)", { types }))).toEqual(refused("V1"));
    expect(refusals(program("-> (0, d1)", { types }))).toEqual(refused("V1"));
    expect(refusals(program("-> (d0, d1)", { types: ["Nx2xf32", "Nxi32", "Nx2xf32"] }))).toEqual([]);
    expect(refusals(program("-> (0, d1)", { types: ["Nx2xf32", "Nxi32", "Nx2xf32"] }))).toEqual([]);
  });

  it("names the upper bound that is not an extent", () => {
    for (const index of [
      "error(%i[d0] in 4503597477789697)",
      "error(from_end(%i[d0] of 4503597477789697) in V)",
    ])
      expect(refusals(program(`-> (${index}, d1)`))).toEqual([
        expect.stringContaining("TC204 A9: index value 0 has the upper bound 4503597477789697"),
      ]);
  });

  it("names sizes at which a coordinate leaves its extent", () => {
    expect(refusals(program("-> (d0, d1)"))[0]).toContain(
      "0 to N - 1, outside dim 0 of %e, which has V elements",
    );
    expect(refusals(program("-> (d0, d1)"))[0]).toContain("where N is 9 and V is 0");
  });

  it("proves pages of a table whose size is no multiple of theirs", () => {
    const paged = (page: number): string => program(`-> (4 * error(%i[d0] in V div ${page}) + d1, d1)`);
    expect(refusals(paged(4))).toEqual([]);
    expect(refusals(paged(3))).toEqual(refused("V1"));
  });

  it("refuses a div of what some size makes negative", () => {
    expect(refusals(program("-> (error((V - 50 + d0) div 2 in V), d1)"))).toEqual(refused("V2"));
    expect(refusals(program("-> (error((N - 1 - d0) div 2 in V), d1)"))).toEqual([]);
  });

  it("bounds a window by the size that is bound, not by the most", async () => {
    const [window] = read(
      program("-> (%i[d0] + d1)", { types: ["Vxf32", "Nxi32", "Nx3xf32"], attributes: "oob = clamp" }),
    ).funcs;
    for (const [V, expected] of [
      [5, [2, 3, 4]],
      [4, [1, 2, 3]],
      [3, [0, 1, 2]],
    ] as const) {
      const kernel = compile(window!, {
        bind: { V, N: 1 },
        target: targets.cpu,
      });
      const data = Float32Array.from({ length: V }, (_, k) => k);
      const { outputs } = await run(kernel, { data, indices: Int32Array.of(90) });
      expect([...(outputs.output as Float32Array)]).toEqual(expected);
    }
    const short = tryCompile(window!, { bind: { V: 2, N: 1 } });
    expect(short.ok ? [] : short.diagnostics.map(({ code }) => code)).toEqual(["TC204"]);
  });

  it("takes 0 as a size: of the output, of the data and of both", async () => {
    const [func] = read(plain).funcs;
    const at = (V: number, N: number) =>
      run(compile(func!, { bind: { V, N } }), { data: new Float32Array(2 * V), indices: new Int32Array(N) });
    expect((await at(4, 0)).outputs.output).toHaveLength(0);
    expect((await at(0, 0)).outputs.output).toHaveLength(0);
    await expect(at(0, 3)).rejects.toMatchObject({ diagnostics: [{ code: "TC601" }] });
  });
});

it("a kernel of open sizes does not run, and names what binds it", async () => {
  const [func] = read(program("-> (%i[d0], d1)", { dims: "dim V <= 3\ndim N <= 2\n" })).funcs;
  const inputs = { data: new Float32Array(6), indices: new Int32Array(2) };
  await expect(run(compile(func!), inputs)).rejects.toMatchObject({
    diagnostics: [
      { code: "TC107", hint: "bind each symbol to a size up to its maximum: --bind V=3,N=2" },
      { code: "TC107" },
    ],
  });
  expect((await run(compile(func!, { bind: { V: 3, N: 2 } }), inputs)).outputs.output).toHaveLength(4);
});

describe("the verdict on open sizes", () => {
  const full = { target: targets.ascendA2, residency: "ub", tile: [4, 2] } as const;
  const legalAt = (func: Func, V: number): boolean => explain(func, { ...full, bind: { V, N: 9 } }).legal;

  it.each([
    ["rows padded to blocks", "Vx2xf32", "32 V + "],
    ["whole blocks", "Vx16xf32", "32 V + "],
    ["a vector, padded at its end", "Vxf32", "round32(4 V) + "],
  ])("is a formula whose threshold is where binding turns from legal to refused: %s", (_, data, formula) => {
    const dims = "dim V <= 1000000\ndim N <= 9\n";
    const text =
      data === "Vxf32"
        ? program("-> (%i[d0, d1])", { dims, types: [data, "Nx2xi32", "Nx2xf32"] })
        : program("-> (%i[d0], d1)", { dims, types: [data, "Nxi32", "Nx2xf32"] });
    const [func] = read(text).funcs;
    const { sizes, legal, symbols } = explain(func!, full);
    expect(legal).toBe(false);
    expect(symbols.map(({ name }) => name)).toEqual(["V", "N"]);
    expect(sizes).toMatchObject([{ symbol: "V", most: 1000000 }]);
    expect(sizes[0]!.formula).toContain(formula);
    const fits = sizes[0]!.fits!;
    expect([legalAt(func!, fits), legalAt(func!, fits + 1)]).toEqual([true, false]);
    expect(
      legalTiles(func!, { target: targets.ascendA2, residency: "ub" }).sizes[0]!.fits,
    ).toBeGreaterThanOrEqual(fits);
    expect(explain(func!, { ...full, bind: { V: 4, N: 9 } }).sizes).toEqual([]);
  });
});
