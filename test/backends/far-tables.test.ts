/** Tables of 2^31 elements and more: rows and elements on both sides of that position, on every executor that can address them. */
import { describe, expect, it } from "vitest";
import { RunError } from "../../ir/index.js";
import { compile, explain, numpy, onnx, pypto, run, targets, torch } from "../../src/index.js";
import { refusals } from "../support/refusal.js";

const columns = 1000;
const rows = 2_200_000;
/** The first and the last row, one that 2^31 lies in, and one before. */
const named = [0, rows - 1, 2_147_483, 1_073_742];
const table = new Uint8Array(rows * columns);
for (const row of named)
  for (let c = 0; c < columns; c++) table[row * columns + c] = (row % 251) + (c % 5) + 1;
const value = (row: number, c: number): number => (row % 251) + (c % 5) + 1;

const onEach = [
  ["reference", {}],
  ["sim", { executor: "checked" }],
  ["sim", { executor: "fast" }],
] as const;

describe("a table of 2.2e9 elements", () => {
  it.each([targets.cpu, targets.ascendA2, targets.ascend950])(
    "has its rows gathered on $name",
    async (target) => {
      const op = onnx.gather({ data: ["u8", [rows, columns]], indices: ["i64", [4]], axis: 0 });
      const kernel = compile(op, { target, residency: "gm" });
      const indices = BigInt64Array.from([0n, -1n, 2_147_483n, 1_073_742n]);
      const expected = named.flatMap((row) => Array.from({ length: columns }, (_, c) => value(row, c)));
      for (const [backend, options] of onEach) {
        const { outputs } = await run(kernel, { data: table, indices }, { backend, ...options });
        expect([backend, [...(outputs.output as Uint8Array)]]).toEqual([backend, expected]);
        const beyond = { data: table, indices: BigInt64Array.of(0n, 1n, BigInt(rows), 2n) };
        await expect(run(kernel, beyond, { backend, ...options })).rejects.toThrow(RunError);
      }
    },
  );

  it("has its elements gathered along either dim on cpu", async () => {
    const axes = [0, 1] as const;
    for (const axis of axes) {
      const shape = axis === 0 ? [2, columns] : [rows, 1];
      const op = numpy.takeAlongAxis({ arr: ["u8", [rows, columns]], indices: ["i32", shape], axis });
      const kernel = compile(op, { target: targets.cpu, residency: "gm" });
      const indices = new Int32Array(shape[0]! * shape[1]!).fill(axis === 0 ? rows - 1 : 7);
      for (const [backend, options] of [onEach[0], onEach[2]]) {
        const { outputs } = await run(kernel, { data: table, indices }, { backend, ...options });
        const output = outputs.output as Uint8Array;
        const found = axis === 0 ? [output[0], output[1999]] : named.map((row) => output[row]);
        const expected =
          axis === 0 ? [value(rows - 1, 0), value(rows - 1, 999)] : named.map((row) => value(row, 7));
        expect([backend, axis, found]).toEqual([backend, axis, expected]);
      }
    }
  });
});

describe("where positions have 32 bits", () => {
  const codesOf = (action: () => unknown): readonly string[] =>
    refusals(action).map(({ code, hint }) => `${code} ${hint ?? ""}`);
  const op = torch.indexSelect({ input: ["u8", [rows, columns]], index: ["i64", [4]], dim: 0 });

  it("WebGPU refuses it, with two targets that take it", () => {
    const hint = "--target cpu, or --target ascend-a2 --residency gm";
    expect(codesOf(() => compile(op, { target: targets.webgpu }))).toEqual([`TC106 ${hint}`]);
    expect(explain(op, { target: targets.webgpu }).legal).toBe(false);
    expect(explain(op, { target: targets.cpu }).legal).toBe(true);
    expect(explain(op, { target: targets.ascendA2, residency: "gm" }).legal).toBe(true);
  });

  it("so does PyPTO by its pages, PTO-ISA, and every dialect for an output, indices or an extent", () => {
    const big: [number, number] = [rows, columns];
    expect(codesOf(() => pypto.indexSelect({ input: ["u8", big], index: ["i32", [4]], dim: 0 }))[0]).toMatch(
      /^TC106/,
    );
    const kernel = compile(op, { target: targets.ascendA2, residency: "gm" });
    expect(codesOf(() => kernel.pto())[0]).toMatch(/^TC505/);
    expect(codesOf(() => onnx.gather({ data: ["u8", [2, 2]], indices: ["i32", big], axis: 0 }))[0]).toMatch(
      /^TC106/,
    );
    expect(
      codesOf(() => onnx.gather({ data: ["u8", [2, 70_000]], indices: ["i32", [40_000]], axis: 0 }))[0],
    ).toMatch(/^TC106/);
    expect(
      codesOf(() => onnx.gather({ data: ["u8", [2 ** 31]], indices: ["i32", [4]], axis: 0 }))[0],
    ).toMatch(/^TC106/);
  });
});
