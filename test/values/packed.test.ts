/** Elements of 4 and 2 bits: where they may stand, what they take, how they are cut, and how a host passes them. */
import { describe, expect, it } from "vitest";
import { defined, parseModule, targets, verifyStructure, type Func } from "../../ir/index.js";
import { compile, explain, legalTiles, run, tryCompile } from "../../src/index.js";
import { simulate } from "../../backends/sim/index.js";

function parsed(text: string): { readonly func: Func | undefined; readonly told: readonly string[] } {
  const { module, diagnostics } = parseModule(text, "packed.tir");
  return { func: module.funcs[0], told: diagnostics.map(({ code, message }) => `${code} ${message}`) };
}

/** What is said against a text. */
function refusal(text: string): string {
  const { func, told } = parsed(text);
  if (func === undefined || told.length > 0) return told.join("\n");
  const result = tryCompile(func, { target: targets.ascendA2 });
  return result.ok ? "" : result.diagnostics.map(({ code, message }) => `${code} ${message}`).join("\n");
}

const rows = (q: string, value = "f32(%q[t, d1]) * %s[t]", output = "3x8xf32"): string =>
  `func @f(%q: tensor<${q}>, %s: tensor<6xf32>, %i: tensor<3xi32>) -> tensor<${output}> {
  %y = access.gather %q, %s, %i (d0, d1) let t = error(%i[d0] in 6) yield ${value} {oob = error}
  return %y
}
`;

function access(text: string): Func {
  const { func, told } = parsed(text);
  if (func === undefined) throw new Error(told.join("\n"));
  return func;
}

describe("packed elements", () => {
  it("are cast, and neither moved nor an output", () => {
    expect(refusal(rows("6x8xu4"))).toBe("");
    expect(refusal(rows("6x8xu4", "%q[t, d1]"))).toMatch(/^TC104 B9: u4 elements share bytes/);
    expect(refusal(rows("6x8xu4", "%q[t, d1]", "3x8xu4"))).toMatch(/^TC104 B9/);
    expect(refusal(rows("6x8xu4", "f32(u4(%s[t])) * f32(%q[t, d1])"))).toMatch(/^TC104 B3/);
    expect(refusal(rows("6x8xu2", "%q[t, d1] + %q[t, d1]", "3x8xi32"))).toMatch(/^TC104 B2/);
  });

  it("are no indices", () => {
    const text = `func @f(%x: tensor<6x8xf32>, %i: tensor<4xu4>) -> tensor<4x8xf32> {
  %y = access.gather %x, %i (d0, d1) -> (%i[d0], d1) {oob = error}
  return %y
}
`;
    expect(refusal(text)).toMatch(/^TC104 A7: indices %i are u4/);
  });

  it("are cut at bytes: a tile that starts inside one is refused, with both nearest entries", () => {
    const text = `func @f(%q: tensor<64x80xu4>, %s: tensor<64xf32>, %i: tensor<12xi32>) -> tensor<12x80xf32> {
  %y = access.gather %q, %s, %i (d0, d1) let t = error(%i[d0] in 64) yield f32(%q[t, d1]) * %s[t] {oob = error}
  return %y
}
`;
    const told = (tile: readonly number[], view?: readonly number[]) =>
      explain(access(text), { target: targets.ascendA2, tile, ...defined({ view }) });
    const refused = told([2, 33]);
    expect(refused.legal).toBe(false);
    expect(refused.rules.find(({ rule, pass }) => rule === "packed-tile" && !pass)?.detail).toBe(
      "tile[1] = 33 of u4 starts inside a byte; nearest 32, 34",
    );
    expect(refused.nearest[0]?.tile).toEqual([2, 32]);
    expect(refused.diagnostics.map(({ code, hint }) => [code, hint])).toEqual([["TC304", "--tile 2,32"]]);
    expect(told([2, 34]).legal).toBe(true);
    // All that there is.
    expect(told([2, 99]).legal).toBe(true);
    expect(told([2, 20], [12, 41]).rules.find(({ pass }) => !pass)?.detail).toBe(
      "view[1] = 41 of u4 starts inside a byte; nearest 40, 42",
    );
    expect(told([3, 80]).legal).toBe(true);
  });

  it("have as many legal tiles as there are ones that compile", () => {
    for (const [type, step] of [
      ["u4", 2],
      ["u2", 4],
    ] as const) {
      const text = `func @f(%q: tensor<6x12x${type}>, %s: tensor<6xf32>, %i: tensor<5xi32>) -> tensor<5x12xf32> {
  %y = access.gather %q, %s, %i (d0, d1) let t = error(%i[d0] in 6) yield f32(%q[t, d1]) * %s[t] {oob = error}
  return %y
}
`;
      const options = { target: targets.ascendA2, ubBytes: 1100, residency: "ub" } as const;
      let count = 0;
      for (let a = 1; a <= 5; a++)
        for (let b = 1; b <= 12; b++) {
          const { ok } = tryCompile(access(text), { ...options, tile: [a, b] });
          if (ok) expect(b % step === 0 || b === 12).toBe(true);
          if (ok) count++;
        }
      expect(count).toBeGreaterThan(3);
      expect(legalTiles(access(text), options).count).toBe(count);
    }
  });

  it("take 4 and 2 bits each in footprint and traffic", () => {
    for (const [type, bytes] of [
      ["u4", 40],
      ["u2", 20],
    ] as const) {
      const text = `func @f(%q: tensor<64x80x${type}>, %s: tensor<64xf32>, %i: tensor<12xi32>) -> tensor<12x80xf32> {
  %y = access.gather %q, %s, %i (d0, d1) let t = error(%i[d0] in 64) yield f32(%q[t, d1]) * %s[t] {oob = error}
  return %y
}
`;
      const staged = explain(access(text), { target: targets.ascendA2, tile: [12, 80], residency: "ub" });
      const part = staged.footprint.parts.find((own) => own.part === "q");
      expect(part).toMatchObject({ bytes: 64 * bytes, padded: 64 * 32 * Math.ceil(bytes / 32) });
      expect(staged.traffic.operands[0]?.bytes).toBe(64 * bytes);
      const fetched = explain(access(text), { target: targets.ascendA2, tile: [12, 80], residency: "gm" });
      expect(fetched.traffic.operands[0]?.bytes).toBe(12 * bytes);
    }
  });

  it("are counted alike by explain, the checked and the fast executor", () => {
    const text = `func @f(%q: tensor<9x24xu2>, %z: tensor<9x4xu4>, %s: tensor<9xf32>, %i: tensor<7xi32>) -> tensor<7x24xf32> {
  %y = access.gather %q, %z, %s, %i (d0, d1) let t = error(%i[d0] in 9) yield f32(i32(%q[t, d1]) - i32(%z[t, d1 div 8])) * %s[t] {oob = error}
  return %y
}
`;
    for (const residency of ["ub", "gm"] as const)
      for (const tile of [
        [7, 24],
        [2, 8],
        [3, 12],
      ]) {
        const kernel = compile(access(text), { target: targets.ascendA2, tile, residency });
        const given = {
          q: Uint8Array.from({ length: 54 }, (_, k) => 37 * k),
          z: Uint8Array.from({ length: 18 }, (_, k) => 91 * k),
          s: Float32Array.from({ length: 9 }, (_, k) => k - 4),
          i: Int32Array.from([8, 0, 3, 3, 5, 1, 7]),
        };
        const checked = simulate(kernel, given, { executor: "checked" });
        const fast = simulate(kernel, given, { executor: "fast" });
        expect(fast.outputs).toEqual(checked.outputs);
        expect(fast.report.operands).toEqual(checked.report.operands);
        expect(checked.report.operands["q"]?.bytes).toBe(explainedBytes(text, tile, residency));
      }
    function explainedBytes(own: string, tile: readonly number[], residency: "ub" | "gm"): number {
      const { traffic } = explain(access(own), { target: targets.ascendA2, tile, residency });
      return traffic.operands.find(({ operand }) => operand === "q")?.bytes ?? -1;
    }
  });

  it("are passed packed, or one number each", async () => {
    const numbers = {
      u4: Uint8Array.from({ length: 48 }, (_, k) => (7 * k) % 16),
      i4: Int8Array.from({ length: 48 }, (_, k) => ((7 * k) % 16) - 8),
      u2: Uint8Array.from({ length: 48 }, (_, k) => (3 * k) % 4),
    } as const;
    for (const [type, list] of Object.entries(numbers)) {
      const width = Number(type[1]);
      const packed = new Uint8Array((48 * width) / 8);
      list.forEach((value, k) => {
        packed[Math.floor((k * width) / 8)]! |= (value & (2 ** width - 1)) << ((k * width) % 8);
      });
      const kernel = compile(access(rows(`6x8x${type}`)), { target: targets.cpu });
      const [s, i] = [Float32Array.from([1, 2, 4, 8, 16, 32]), Int32Array.from([5, 0, 2])];
      const wanted = Float32Array.from({ length: 24 }, (_, k) => {
        const row = i[Math.floor(k / 8)]!;
        return list[row * 8 + (k % 8)]! * s[row]!;
      });
      for (const q of [list, packed]) {
        const { outputs } = await run(kernel, { q, s, i });
        expect(outputs.output).toEqual(wanted);
      }
    }
    const kernel = compile(access(rows("6x8xu2")), { target: targets.cpu });
    const beyond = { q: new Uint8Array(48).fill(4), s: new Float32Array(6), i: new Int32Array(3) };
    expect(() => simulate(kernel, beyond)).toThrow(/TC702|4 as element 0/);
  });

  it("have regions that start at bytes in a tile program", () => {
    const text = (
      row: number,
      step: number,
    ): string => `func @f(%q: gm<6x${row}xu4>, %i: gm<3xi32>, %y: gm<3x${row}xf32>) target("cpu") {
  for %t1 = 0 to ${row} step ${step} parallel {
    gather %q[0, %t1][6, ${step}], %i[0][3] to %y[0, %t1][3, ${step}] (d0, d1) let t = error(%i[d0] in 6) yield f32(%q[t, d1]) {oob = error, origin = [0]}
  }
}
`;
    const told = (row: number, step: number) =>
      verifyStructure(access(text(row, step))).map(({ code, message }) => `${code} ${message}`);
    expect(told(8, 4)).toEqual([]);
    expect(told(8, 1).join()).toMatch(/^TC304 T3: %q\[0, %t1\]\[6, 1\] starts inside a byte/);
    // No region of these begins at bytes in every row.
    expect(told(9, 3)).toEqual([]);
  });
});
