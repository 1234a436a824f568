import { describe, expect, it } from "vitest";
import { reference } from "../../backends/reference/index.js";
import { simulate, simulateChecked } from "../../backends/sim/index.js";
import { CompileError, inputOf } from "../../ir/index.js";
import { compile, fromHost, onnx, targets, toHost } from "../../src/index.js";
import { refusals } from "../support/refusal.js";

const refusal = (call: () => unknown): string => new CompileError(refusals(call)).message;

/** 16 GB of output from a row of 8 MB: every tensor is one that tilec takes. */
const wide = compile(onnx.gather({ data: ["f64", [1, 2 ** 20]], indices: ["i32", [2047]] }), {
  target: targets.webgpu,
});
const inputs = {
  data: toHost("data", inputOf(wide.tile, 0).type, new Float64Array(2 ** 20)),
  indices: toHost("indices", inputOf(wide.tile, 1).type, new Int32Array(2047)),
};

describe("memory that the machine does not have is a diagnostic", () => {
  it("for the output of the checked executor", () => {
    expect(refusal(() => simulateChecked(wide.tile, inputs, wide.target))).toContain(
      "error[TC502]: the output takes 17171480576 B",
    );
  });

  it("for the output of the reference", () => {
    const { resolved } = wide;
    expect(resolved).toBeDefined();
    expect(refusal(() => reference(resolved!, inputs))).toContain(
      "error[TC502]: the output takes 17171480576 B",
    );
  });

  it("for an output of strings", () => {
    const handles = new Uint8Array(4 * (2 ** 24 + 1));
    expect(refusal(() => fromHost({ dtype: "string", shape: [2 ** 24 + 1] }, handles))).toContain(
      "error[TC502]: 16777217xstring is 16777217 strings; one array holds at most 16777216",
    );
  });

  it("for buffers in a unified buffer that is larger than memory", () => {
    const row = 2 ** 40;
    const target = { ...targets.ascendA2, blockBytes: row, ubBytes: 2 ** 50, ubSafeBytes: 2 ** 50 };
    const small = compile(onnx.gather({ data: ["f32", [4]], indices: ["i32", [2]] }), { target });
    expect(
      refusal(() => simulate(small, { data: new Float32Array(4), indices: new Int32Array(2) })),
    ).toContain("error[TC502]: the unified buffer takes");
  });
});

describe("the checked executor's arena", () => {
  it("is as large as the program's buffers, whatever the budget", () => {
    const op = onnx.gather({ data: ["f32", [4]], indices: ["i32", [2]] });
    const kernel = compile(op, { target: targets.ascendA2, ubBytes: 1e11 });
    const { outputs, report } = simulate(kernel, {
      data: Float32Array.of(1, 2, 3, 4),
      indices: Int32Array.of(3, 0),
    });
    expect([...outputs.output]).toEqual([4, 1]);
    expect([report.ubPeak < 1000, report.ubBudget]).toEqual([true, 1e11]);
  });
});
