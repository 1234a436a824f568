/** Tiles that cut a reduction: what they print, hold and cost, what refuses a slip, and that no bit hangs on them. */
import { describe, expect, it } from "vitest";
import { referenceOfMap } from "../../backends/reference/index.js";
import { simulateChecked } from "../../backends/sim/index.js";
import {
  inputsOf,
  keyOf,
  parseModule,
  printModule,
  targets,
  verify,
  tileFaults,
  type Diagnostic,
  type Func,
  type Schedule,
  type Target,
} from "../../ir/index.js";
import { compile, explain, tryCompile } from "../../src/index.js";
import { drawer } from "../fuzz/mutate.js";
import { fastOutput } from "../support/fast.js";
import { verdict } from "../support/refusal.js";
import { parsed, parsedAccess } from "../support/parsed.js";

const text = `func @sum(%x: tensor<12x3xf32>, %w: tensor<4x10xf32>, %i: tensor<4x10xi32>) -> tensor<4x3xf32> {
  %y = access.gather %x, %w, %i (d0, d1; r < 10) let t = fill(%i[d0, r] in 12 but 5) yield mean(%x[t, d1] * %w[d0, r]) * 3 {oob = fill}
  return %y
}
`;
const func = parsedAccess(text);

/** Sums whose bits are others in any other order: of all exponents and both signs. */
function inputsOfSum() {
  const draw = drawer(31);
  const floats = (count: number): Uint8Array =>
    new Uint8Array(
      Float32Array.from(
        { length: count },
        () => (draw(2) === 0 ? 1 : -1) * (1 + draw(2 ** 20)) * 2 ** (draw(60) - 30),
      ).buffer,
    );
  const bytes = {
    x: floats(36),
    w: floats(40),
    i: new Uint8Array(Int32Array.from({ length: 40 }, () => draw(14) - 1).buffer),
  };
  return Object.fromEntries(
    inputsOf(func).map((operand) => [
      keyOf(operand),
      { type: operand.type, bytes: bytes[operand.name as keyof typeof bytes] },
    ]),
  );
}

const inputs = inputsOfSum();
const want = Buffer.from(referenceOfMap(func.map, func.operands, inputs)).toString("hex");
const scheduled = (schedule: Schedule, target: Target = targets.ascendA2) =>
  compile(func, { target, ...schedule });

it("no tile and no order changes a bit", () => {
  let programs = 0;
  for (const target of [targets.ascendA2, targets.cpu, targets.webgpu])
    for (const terms of [1, 3, 4, 10])
      for (const tile of [
        [1, 1],
        [2, 3],
        [3, 2],
        [4, 3],
      ])
        for (const order of [
          [0, 1],
          [1, 0],
        ])
          for (const residency of ["gm", "ub"] as const) {
            const { tile: program } = scheduled({ tile: [...tile, terms], order, residency }, target);
            const found = simulateChecked(program, inputs, target).output;
            expect(Buffer.from(found).toString("hex")).toBe(want);
            programs++;
          }
  expect(programs).toBe(192);
});

it("the fast executor joins the parts of a program, and gives the same bits", () => {
  for (const terms of [1, 4, 7]) {
    const kernel = scheduled({ tile: [3, 2, terms], residency: "gm" }, targets.cpu);
    expect(Buffer.from(fastOutput(kernel, inputs)).toString("hex")).toBe(want);
  }
});

const program = (): string => printModule({ funcs: [scheduled({ tile: [2, 3, 4], residency: "gm" }).tile] });

it("prints the tile that a sum is carried in, and reads it again", () => {
  const printed = program();
  expect(printed).toContain("for %r = 0 to 10 step 4 serial {");
  expect(printed).toContain("into %sum_ub, %terms_ub part %r to min(%r + 4, 10) of 10 (d0, d1; r < 4)");
  const { module, diagnostics } = parseModule(printed, "tile.tir");
  expect(diagnostics).toEqual([]);
  expect(printModule(module)).toBe(printed);
  expect(verify(module.funcs[0]!, "synchronized", targets.ascendA2)).toEqual([]);
});

function faultsOf(own: Func): readonly Diagnostic[] {
  if (own.level !== "tile") throw new Error("a tile program");
  return tileFaults(own, targets.ascendA2);
}

describe("a program is refused", () => {
  const faults = (from: string, to: string): readonly (string | undefined)[] => {
    const changed = program().replace(from, to);
    expect(changed).not.toBe(program());
    const { module, diagnostics } = parseModule(changed, "tile.tir");
    expect(diagnostics).toEqual([]);
    return faultsOf(module.funcs[0]!).map(
      ({ code, message }) => `${code} ${/^T\d+/.exec(message)?.[0] ?? ""}`,
    );
  };

  it("that parts a sum among tasks, by TC301", () => {
    const changed = program().replace("step 4 serial", "step 4 parallel");
    const found = faultsOf(parsed(changed));
    expect(found.map(({ code, message }) => `${code} ${message}`)).toEqual([
      "TC301 T15: part %r to min(%r + 4, 10) of 10 splits the reduction elements of an output element among tasks, by loop %r",
    ]);
  });

  it.each([
    ["whose parts begin at 1", "part %r to", "part %r + 1 to", "T15"],
    ["that leaves out the first part", "for %r = 0 to 10", "for %r = 4 to 10", "T15"],
    ["that leaves out the last part", "for %r = 0 to 10", "for %r = 0 to 8", "T15"],
    ["that rounds in each part", "part %r to min(%r + 4, 10) of 10", "part 0 to 4 of 4", "T11", "T13"],
    ["that ends too early", "min(%r + 4, 10) of 10", "min(%r + 4, 8) of 8", "T15"],
    ["that takes the terms of a part from the last", "%i_ub[d0, r]", "%i_ub[d0, 3 - r]", "T15"],
    ["that reads at a loop variable of no loop", "%i_ub[d0, r]", "%i_ub[d0, %sum_ub]", "T1"],
    ["whose number of terms has no place", "into %sum_ub, %terms_ub", "into %sum_ub", "T2"],
  ])("%s", (_, from, to, ...rules) => {
    expect([...new Set(faults(from, to))]).toEqual(rules.map((rule) => `TC201 ${rule}`));
  });
});

it("the checked executor traps where another term is next", () => {
  const { tile } = scheduled({ tile: [4, 3, 5], residency: "gm" });
  const other = parseModule(
    printModule({ funcs: [tile] }).replace("for %r = 0 to 10 step 5", "for %r = 5 to 10 step 5"),
    "tile.tir",
  ).module.funcs[0];
  if (other?.level !== "tile") throw new Error("a tile program");
  expect(verdict(() => simulateChecked(other, inputs, targets.ascendA2))).toBe("TC606");
});

describe("explain", () => {
  const said = (tile: readonly number[], target: Target = targets.ascendA2) =>
    explain(func, { target, tile, residency: "gm" });

  it("says how the terms are taken in", () => {
    const reduced = (tile: readonly number[]) =>
      said(tile).rules.flatMap(({ rule, pass, detail }) => (rule === "reduced" ? [[pass, detail]] : []));
    expect(reduced([2, 3, 10])).toEqual([[true, "tile[r] = 10 = all reduction elements: one chunk"]]);
    expect(reduced([2, 3])).toEqual([[true, "tile[r] = 10 = all reduction elements: one chunk"]]);
    expect(reduced([2, 3, 4])).toEqual([[true, "tile[r] = 4: 3 chunks in a serial loop"]]);
  });

  it("counts what a part holds, and what carries the sum", () => {
    const parts = (tile: readonly number[], target?: Target) =>
      said(tile, target).footprint.parts.map(({ part, tile: own }) => [part, own]);
    expect(parts([2, 3, 4])).toEqual([
      ["w", [2, 4]],
      ["i", [2, 4]],
      ["output", [2, 3]],
      ["gathered x", [3]],
      ["gathered w", [3]],
      ["value 1", [3]],
      ["sum", [2, 3]],
      ["terms", [2, 3]],
    ]);
    expect(parts([2, 3, 4], targets.cpu)).toEqual([
      ["sum", [2, 3]],
      ["terms", [2, 3]],
    ]);
    expect(parts([2, 3], targets.cpu)).toEqual([]);
  });
});

it("a tile has an entry for r or none, and one that is larger than all terms counts as those", () => {
  const { diagnostics } = scheduled({ tile: [2, 3, 11], residency: "gm" });
  expect(diagnostics.map(({ code, message }) => `${code} ${message}`)).toContain(
    "TC906 tile[r] = 11 covers at most 10 reduction elements, and is judged as 10",
  );
  const refused = (schedule: Schedule): readonly string[] => {
    const result = tryCompile(func, { target: targets.ascendA2, ...schedule });
    return result.ok ? [] : result.diagnostics.map(({ code }) => code);
  };
  expect(refused({ tile: [2, 3, 4, 5] })).toEqual(["TC302"]);
  expect(refused({ tile: [2, 3, 0] })).toEqual(["TC302"]);
  expect(refused({ view: [4, 3, 10] })).toEqual(["TC303"]);
});

it("parts of packed elements start at bytes, by TC304", () => {
  const packed = `func @f(%q: tensor<5x8xu4>, %i: tensor<4xi32>) -> tensor<4xf32> {
  %y = access.gather %q, %i (d0; r < 8) yield fold(f32(%q[error(%i[d0] in 5), r])) {oob = error}
  return %y
}
`;
  const own = parsedAccess(packed);
  const result = (terms: number) =>
    tryCompile(own, { target: targets.ascendA2, tile: [2, terms], residency: "gm" });
  const refused = result(3);
  expect(refused.ok ? [] : refused.diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
    expect.stringMatching(/^TC304 .*tile\[r\] = 3 of u4 starts inside a byte; nearest 2, 4/),
  ]);
  const bytes = {
    q: Uint8Array.from({ length: 20 }, (_, k) => 13 * k + 7),
    i: new Uint8Array(Int32Array.of(4, 0, 2, 2).buffer),
  };
  const given = Object.fromEntries(
    inputsOf(own).map((operand) => [
      keyOf(operand),
      { type: operand.type, bytes: bytes[operand.name as keyof typeof bytes] },
    ]),
  );
  const sums = [4, 0, 2, 2].map((row) =>
    [0, 1, 2, 3].reduce((sum, k) => sum + (bytes.q[4 * row + k]! & 15) + (bytes.q[4 * row + k]! >> 4), 0),
  );
  for (const terms of [2, 4, 8]) {
    const found = result(terms);
    if (!found.ok) throw new Error(JSON.stringify(found.diagnostics));
    const { output } = simulateChecked(found.kernel.tile, given, targets.ascendA2);
    expect([...new Float32Array(output.slice().buffer)]).toEqual(sums);
  }
});
