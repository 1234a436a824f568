/** An operator of one's own, handed to the parser and to `program`, from text to bits. */
import { describe, expect, it } from "vitest";
import {
  CompileError,
  defineOperator,
  dim,
  operatorsWith,
  parseModule,
  printModule,
  readData,
  type OpDef,
} from "../../ir/index.js";
import { compile, explain, program, run, tryCompile } from "../../src/index.js";
import { roll } from "../support/roll.js";

const operators = operatorsWith([roll]);
const text = `func @main(%data: tensor<3x4xf32>, %shifts: tensor<3xi32>) -> tensor<3x4xf32> {
  %output = mine.roll %data, %shifts {turns = 1}
  return %output
}
`;
const parsed = (source: string, among?: readonly OpDef[]) => {
  const [func] = parseModule(source, "roll.tir", among).module.funcs;
  if (func === undefined) throw new Error("no program");
  return func;
};
const refusal = (source: string, among?: readonly OpDef[]): readonly (readonly unknown[])[] => {
  const result = tryCompile(parsed(source, among));
  return result.ok ? [] : result.diagnostics.map(({ code, message, hint }) => [code, message, hint]);
};

describe("an operator of one's own", () => {
  it("parses, prints and runs on reference and sim with the bits of a plain loop", async () => {
    const func = parsed(text, operators);
    expect(printModule({ funcs: [func] })).toBe(text);
    const data = Float32Array.from({ length: 12 }, (_, k) => k);
    const shifts = Int32Array.of(0, 3, 1);
    const wanted = Array.from(data, (_, k) => {
      const [row, column] = [Math.floor(k / 4), k % 4];
      return row * 4 + ((column + (shifts[row] ?? 0) + 1) % 4);
    });
    for (const target of ["webgpu", "ascend-a2"]) {
      const kernel = compile(func, { target });
      for (const backend of ["reference", "sim"] as const) {
        const { outputs } = await run(kernel, { data, indices: shifts }, { backend });
        expect([...(outputs["output"] as Float32Array)]).toEqual(wanted);
      }
    }
    expect(compile(func).wgsl().code).toContain("fn main");
    expect(explain(func).legal).toBe(true);
  });

  it("is built by program, whose output type its rules give", () => {
    const func = program({
      op: "mine.roll",
      operators,
      attrs: { turns: 1 },
      data: { dtype: "f32", shape: [3, 4] },
      indices: { dtype: "i32", shape: [3] },
      name: "main",
    });
    expect(printModule({ funcs: [func] }).replaceAll("%indices", "%shifts")).toBe(text);
  });

  it("is refused by its own rules, and unknown to whoever does not hand it in", () => {
    expect(refusal(text.replace("3xi32", "2xi32"), operators)).toEqual([
      ["TC103", "mine.roll takes a shift for each of 3 rows", "shifts of shape [3]"],
    ]);
    expect(refusal(text.replace("turns = 1", "turn = 1"), operators)).toEqual([
      ["TC105", "mine.roll has no attribute turn", "mine.roll has the attributes turns, oob"],
    ]);
    expect(refusal(text)).toEqual([["TC003", "unknown operator mine.roll", expect.any(String)]]);
    expect(refusal(text.replace("mine.roll", "mine.rol"), operators)).toEqual([
      ["TC003", "unknown operator mine.rol", expect.stringContaining("mine.roll")],
    ]);
  });

  it("is refused where its map leaves its operand, and where it crashes", () => {
    const beyond = defineOperator({
      ...roll,
      resolve: (inputs) => {
        const resolved = roll.resolve(inputs);
        const { operator } = resolved;
        if (operator.op !== "mapped") throw new Error("roll is mapped");
        const map = { ...operator.map, ...readData([dim(1), dim(1)]), indices: [] };
        return { ...resolved, operator: { ...operator, map } };
      },
    });
    expect(refusal(text, operatorsWith([beyond]))).toEqual([
      [
        "TC204",
        "the map of mine.roll: V1: a coordinate is 0 to 3, outside dim 0 of %data, which has 3 elements",
        undefined,
      ],
    ]);
    const crashes: OpDef = {
      ...roll,
      resolve: () => {
        throw new TypeError("x is undefined");
      },
    };
    expect(refusal(text, operatorsWith([crashes]))).toEqual([
      ["TC201", "mine.roll crashed: TypeError: x is undefined", undefined],
    ]);
  });

  it("has a name of its own", () => {
    expect(() => operatorsWith([roll, { ...roll }])).toThrow(CompileError);
    expect(() => operatorsWith([roll, { ...roll }])).toThrow(
      "operators[1] is named mine.roll, the name of operators[0]",
    );
    expect(() => operatorsWith([{ ...roll, name: "onnx.gather" }])).toThrow(
      "operators[0] is named onnx.gather, the name of a built-in operator",
    );
  });
});
