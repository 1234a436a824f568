/** Which gathers take vectors, and the text and size of their code. */
import { describe, expect, it } from "vitest";
import wabt from "wabt";
import { printMoves } from "../../backends/moves.js";
import { wasmMoves, watOf } from "../../backends/sim/index.js";
import { emitWasm, encodeModule, planWasm } from "../../backends/wasm/index.js";
import { parseModule, targets } from "../../ir/index.js";
import { compile, run, tryCompile, type Kernel } from "../../src/index.js";
import { drawer } from "../fuzz/mutate.js";
import { longRows, randomValue } from "../support/random-value.js";
import { randomSum } from "../support/random-sum.js";
import { parsed } from "../support/parsed.js";

interface Program {
  readonly value: string;
  readonly columns?: number;
  /** Columns of a tile. */
  readonly tile?: number;
  readonly q?: string;
  /** Shape and type of a second table. */
  readonly s?: string;
  readonly index?: string;
}

/** Rows of `q`, each value made from an element of one and maybe of `s`. */
function kernelOf({ value, columns = 96, tile = columns, q = "f32", s, index = "%i[d0]" }: Program): Kernel {
  const isWide = index !== "%i[d0]";
  const { module, diagnostics } = parseModule(
    `func @f(%q: tensor<8x${columns}x${q}>${s === undefined ? "" : `, %s: tensor<${s}>`}, %i: tensor<4${isWide ? `x${columns}` : ""}xi32>) -> tensor<4x${columns}xf32> {
  %y = access.gather %q${s === undefined ? "" : ", %s"}, %i (d0, d1) let t = error(${index} in 8) yield ${value} {oob = error}
  return %y
}
`,
    "rows.tir",
  );
  expect(diagnostics).toEqual([]);
  return compile(module.funcs[0]!, { target: targets.cpu, residency: "gm", tile: [4, tile] });
}

const stepOf = (program: Program): number | undefined =>
  planWasm(kernelOf(program).tile).gather?.unrolled?.elements;

describe("unrolled steps", () => {
  const plain = { value: "%q[t, d1] * 2.0" };
  const blocks = (by: number) => ({ value: `%q[t, d1] * %s[t, d1 div ${by}]`, s: "8x64xf32" });
  const rest = (by: number) => ({ value: `%q[t, d1] * %s[t, d1 mod ${by}]`, s: "8x64xf32" });
  it.each<readonly [string, Program, number | undefined]>([
    ["of 32 elements", plain, 32],
    ["of 16, where 32 leave half a step", { ...plain, columns: 80 }, 16],
    ["of 16, where a row has no more", { ...plain, columns: 31 }, 16],
    ["of none, where a row has fewer", { ...plain, columns: 15 }, undefined],
    ["over blocks of 32", blocks(32), 32],
    ["over blocks of 64", blocks(64), 32],
    ["over blocks of 16", blocks(16), 16],
    ["not over blocks that a step straddles", blocks(24), undefined],
    ["over blocks where tiles begin at multiples of a step", { ...blocks(32), tile: 32 }, 32],
    ["of 16 over blocks where tiles begin at multiples of 16 alone", { ...blocks(32), tile: 48 }, 16],
    ["not over blocks where tiles begin elsewhere", { ...blocks(32), tile: 40 }, undefined],
    ["along remainders by whole steps", rest(64), 32],
    ["not along remainders by other numbers", rest(24), undefined],
    ["not along remainders where tiles begin elsewhere", { ...rest(64), tile: 40 }, undefined],
    ["not with an index of each element", { ...plain, index: "%i[d0, d1]" }, undefined],
    ["with an index of each block", { ...plain, index: "%i[d0, d1 div 32]" }, 32],
    ["not down a column", { value: "%q[d0, t] * 2.0" }, undefined],
    ["not along every other element", { value: "%q[t, 95 - d1] * 2.0" }, undefined],
    ["of packed elements in rows that fill their bytes", { value: "f32(%q[t, d1])", q: "u4" }, 32],
    [
      "not of packed elements in rows that begin inside a byte",
      { value: "f32(%q[t, d1])", q: "u4", columns: 97 },
      undefined,
    ],
  ])("%s", (_, program, elements) => {
    expect(stepOf(program)).toBe(elements);
  });

  it("are said in the plan of moves", () => {
    expect(printMoves(wasmMoves(kernelOf(plain).tile))).toContain(
      "  computed: bytes 4, elements 32, steps 3",
    );
    expect(printMoves(wasmMoves(kernelOf({ ...plain, columns: 15 }).tile))).toContain("elements 1, steps 3");
  });

  it("give NaN its one form, wherever in a step it stands", async () => {
    const kernel = kernelOf({ value: "%q[t, d1] * 1.0" });
    const words = Uint32Array.from({ length: 8 * 96 }, (_, k) =>
      k % 41 === 7 ? 0xffc12345 : 0x3f800000 + k,
    );
    // Infinities of both signs are no NaN.
    words.set([0x7f800000, 0xff800000, 0x80000000], 2);
    const i = Int32Array.of(0, 7, 3, 0);
    const { outputs } = await run(kernel, { q: new Float32Array(words.buffer), i }, { executor: "fast" });
    const output = outputs.output as Float32Array;
    const expected = [...i].flatMap((t) =>
      [...words.subarray(96 * t, 96 * (t + 1))].map((word) => (word === 0xffc12345 ? 0x7fc00000 : word)),
    );
    expect([...new Uint32Array(output.buffer, output.byteOffset, output.length)]).toEqual(expected);
  });
});

describe("the code of unrolled steps", () => {
  const kernels = Array.from({ length: 60 }, (_, seed): Kernel | undefined => {
    const draw = drawer(seed);
    const { text } = seed % 2 === 0 ? randomValue(draw, longRows) : randomSum(draw, undefined, longRows);
    const result = tryCompile(parsed(text), { target: targets.cpu });
    return result.ok && planWasm(result.kernel.tile).gather?.unrolled !== undefined
      ? result.kernel
      : undefined;
  }).filter((kernel) => kernel !== undefined);

  it("is text that assembles to the bytes that run", async () => {
    const assembler = await wabt();
    expect(kernels.length).toBeGreaterThan(30);
    for (const { tile } of kernels) {
      const assembled = assembler.parseWat("kernel.wat", watOf(tile));
      assembled.validate();
      const { buffer } = assembled.toBinary({ canonicalize_lebs: true });
      const own = encodeModule(emitWasm(planWasm(tile)).module);
      expect(Buffer.from(own).equals(Buffer.from(buffer))).toBe(true);
      assembled.destroy();
    }
  });
});
