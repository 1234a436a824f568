/** What a value takes beside its operands: temporaries in UB and vector instructions, on targets that compute in UB. */
import { describe, expect, it } from "vitest";
import { parseModule, printModule, targets, verify, type AccessFunc } from "../../ir/index.js";
import { compile, explain, tryCompile } from "../../src/index.js";
import { parsedAccess } from "../support/parsed.js";

/** The program with those operands alone that its text reads. */
function program(yielded: string, output: string): AccessFunc {
  const heads = { q: "640x512xi8", s: "640xf32", b: "50x512xf32", i: "50xi32" };
  const used = Object.entries(heads).filter(([name]) => name === "i" || yielded.includes(`%${name}[`));
  const text = `func @f(${used.map(([name, type]) => `%${name}: tensor<${type}>`).join(", ")}) -> tensor<50x512x${output}> {
  %y = access.gather ${used.map(([name]) => `%${name}`).join(", ")} (d0, d1) let t = error(%i[d0] in 640) yield ${yielded} {oob = error}
  return %y
}
`;
  return parsedAccess(text);
}

const parts = (func: AccessFunc, target = targets.ascendA2) =>
  explain(func, { target, tile: [5, 60], residency: "gm" }).footprint.parts.flatMap(
    ({ part, tile, counted }) => (/^(gathered|value) /.test(part) ? [[part, tile, counted]] : []),
  );

describe("the unified buffer of a value", () => {
  // A row of 60 B in blocks of 32 B: 64 B; of 60 f32: 240 B, in blocks 256 B.
  const [q, value] = [64, 256];

  it.each([
    // i8 is f32 by way of f16: two results are held. The product goes into the place of its left side.
    [
      "f16(f32(%q[t, d1]) * %s[t])",
      "f16",
      [
        ["gathered q", [60], q],
        ["gathered s", [60], value],
        ["value 1", [60], value],
        ["value 2", [60], value],
      ],
    ],
    // Both sides of the sum are results; what follows the output is where its load put it.
    [
      "f32(%q[t, d1]) * %s[t] + %s[t] * %b[d0, d1]",
      "f32",
      [
        ["gathered q", [60], q],
        ["gathered s", [60], value],
        ["value 1", [60], value],
        ["value 2", [60], value],
      ],
    ],
    // Two elements of one operand have a place each; the second is converted beside the first.
    [
      "f32(%q[t, d1]) - f32(%q[t, 0])",
      "f32",
      [
        ["gathered data", [60], q],
        ["gathered data 2", [60], q],
        ["value 1", [60], value],
        ["value 2", [60], value],
        ["value 3", [60], value],
      ],
    ],
  ] as const)("counts what %s holds at once", (yielded, output, want) => {
    expect(parts(program(yielded, output))).toEqual(want);
    expect(parts(program(yielded, output), targets.cpu)).toEqual([]);
  });

  it("is refused where it does not fit, though the operands do", () => {
    const func = program("f16(f32(%q[t, d1]) * %s[t])", "f16");
    const target = targets.ascendA2;
    const options = { target, tile: [50, 512], residency: "gm" } as const;
    const { footprint } = compile(func, options);
    const room = footprint!.bytes - 1;
    const refused = tryCompile(func, { ...options, ubBytes: room - (room % 32) });
    expect(refused.ok ? [] : refused.diagnostics.map(({ code }) => code)).toContain("TC401");
  });

  it("is allocated, and its program is read again as it was printed", () => {
    const { tile, target } = compile(program("f32(%q[t, d1]) * %s[t] + %s[t] * f32(%i[d0])", "f32"), {
      target: targets.ascendA2,
      residency: "ub",
    });
    const text = printModule({ funcs: [tile] });
    expect(text).toContain("scratch = %gathered_s_ub, %gathered_i_ub, %value_1_ub, %value_2_ub}");
    const { module, diagnostics } = parseModule(text, "tile.tir");
    expect(diagnostics).toEqual([]);
    expect(printModule(module)).toBe(text);
    expect(verify(module.funcs[0]!, "synchronized", target)).toEqual([]);
  });
});

describe("the clock of a value", () => {
  it("charges a vector instruction and its repeats for each cast and operation", () => {
    // Of whole cycles, so that nothing is rounded.
    const target = { ...targets.ascendA2, stepCycles: 25, stepRepeatCycles: 2 };
    const options = {
      target,
      tile: [50, 64],
      residency: "gm",
      cores: 1,
      buffers: 1,
    } as const;
    const cycles = (yielded: string, output: string): number =>
      explain(program(yielded, output), options).lowering?.cycles ?? 0;
    const [cast, product, least] = [
      cycles("f32(%q[t, d1])", "f32"),
      cycles("f32(%q[t, d1]) * 2", "f32"),
      cycles("min(f32(%q[t, d1]) * 2, 100)", "f32"),
    ];
    const { stepCycles, stepRepeatCycles, vectorBytes } = target;
    // Each row is an instruction.
    const repeats = (64 * 4) / vectorBytes;
    expect(least - product).toBe(50 * (stepCycles + repeats * stepRepeatCycles));
    expect(product - cast).toBe(50 * (stepCycles + repeats * stepRepeatCycles));
  });
});
