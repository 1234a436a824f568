import { describe, expect, it } from "vitest";
import { CompileError, error, ParseError, RunError, type Diagnostic } from "../../ir/index.js";
import { RuleError } from "../../ir/ops/op-def.js";
import { lowerToTile, PassError } from "../../passes/index.js";
import { compile, onnx, program } from "../../src/index.js";
import { ConfigError } from "../../src/config/config-error.js";
import { UsageError } from "../../src/cli/usage-error.js";

const span = { file: "a.tir", line: 3, column: 7, length: 2 };
const diagnostics = [
  error("TC301", "the first is wrong", { span, notes: ["12 = 3 x 4"], hint: "--tile 3,4" }),
  error("TC401", "so is the second", { hint: "--ub-bytes 4096" }),
] as const satisfies readonly Diagnostic[];
const func = compile(onnx.gather({ data: ["f32", [4]], indices: ["i32", [2]] })).source!;

const thrown = (call: () => unknown): CompileError => {
  try {
    call();
  } catch (caught) {
    if (caught instanceof CompileError) return caught;
    throw caught;
  }
  throw new Error("nothing was thrown");
};

describe("the message of an error has", () => {
  it.each([
    ["CompileError", new CompileError(diagnostics), ""],
    ["RunError", new RunError(diagnostics), ""],
    ["RuleError", new RuleError(diagnostics), ""],
    ["PassError", new PassError(lowerToTile, func, diagnostics), "after lower-to-tile: "],
  ])("the code, the place, the notes and the hint of each diagnostic of a %s", (_, { message }, where) => {
    expect(message).toBe(
      [
        `error[TC301]: ${where}the first is wrong`,
        "  --> a.tir:3:7",
        "   = note: 12 = 3 x 4",
        "   = hint: --tile 3,4",
        `error[TC401]: ${where}so is the second`,
        "   = hint: --ub-bytes 4096",
      ].join("\n"),
    );
  });

  it.each([
    ["ParseError", new ParseError(diagnostics[0])],
    ["ConfigError", new ConfigError("tilec.config.json", diagnostics) as Error],
    ["UsageError", new UsageError("the first is wrong", "--tile 3,4")],
  ])("the hint of a %s", (_, { message }) => {
    expect(message).toMatch(/^error\[TC\d+\]: .*the first is wrong\n[^]* {3}= hint: --tile 3,4/);
  });

  it("the hint of what the library refuses", () => {
    const type = { dtype: "f32", shape: [4] } as const;
    const found = thrown(() => program({ op: "Gather", attrs: {}, data: type, indices: type }));
    const [first] = found.diagnostics;
    expect(first?.hint).toMatch(/onnx\.gather/);
    expect(found.message).toContain(first?.hint);
  });
});
