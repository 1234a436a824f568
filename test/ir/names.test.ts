/** Names of programs: those that nothing else has, keys of operands, and entries of records by words that users chose. */
import { describe, expect, it } from "vitest";
import {
  defineOperator,
  dim,
  entryCalled,
  entryOf,
  equalModule,
  givenFor,
  inputOf,
  inputsOf,
  keyOf,
  oobSpec,
  operandsOf,
  operatorsWith,
  printModule,
  gatherOver,
  readData,
  index,
  UniqueNames,
  type Buffers,
  type Residencies,
  type TensorType,
} from "../../ir/index.js";
import { compile, program, run } from "../../src/index.js";
import { parsed } from "../support/parsed.js";

const type: TensorType = { dtype: "f32", shape: [2] };
const keys = (...names: readonly string[]): readonly string[] =>
  operandsOf(names.map((name) => ({ name, type }))).map(keyOf);

describe("keys of operands", () => {
  it("are roles beside two inputs, and names beside others", () => {
    expect(keys("a", "b", "c")).toEqual(["data", "indices", "output"]);
    expect(keys("indices", "output", "data")).toEqual(["data", "indices", "output"]);
    expect(keys("a", "y")).toEqual(["a", "output"]);
    expect(keys("a", "data", "b", "y")).toEqual(["a", "data", "b", "output"]);
  });

  it("differ: the output gives way to an input of its key", () => {
    expect(keys("a", "output", "b", "y")).toEqual(["a", "output", "b", "y"]);
    expect(keys("output", "y")).toEqual(["output", "y"]);
  });
});

describe("what a caller gives for an input", () => {
  const func = (...names: readonly string[]) => ({
    operands: operandsOf(names.map((name) => ({ name, type }))),
  });

  it("is found by its key, then by its name, unless that is the key of another", () => {
    const plain = func("x", "i", "y");
    expect(givenFor(plain, inputOf(plain, 0), { x: 1, data: 2 })).toBe(2);
    expect(givenFor(plain, inputOf(plain, 1), { x: 1, i: 3 })).toBe(3);
    const swapped = func("indices", "data", "y");
    expect([0, 1].map((k) => givenFor(swapped, inputOf(swapped, k), { data: 1, indices: 2 }))).toEqual([
      1, 2,
    ]);
    expect([0, 1].map((k) => givenFor(swapped, inputOf(swapped, k), { indices: 2 }))).toEqual([undefined, 2]);
  });

  it("is none of the members that every object has", () => {
    const names = ["constructor", "toString", "__proto__", "valueOf"];
    expect(names.map((name) => entryOf({}, name))).toEqual(names.map(() => undefined));
    expect(names.map((name) => entryOf(Object.fromEntries([[name, 1]]), name))).toEqual(names.map(() => 1));
    expect(entryCalled({ b: 1 }, { key: "a", name: "b" }, [{ key: "a" }, { key: "c" }])).toBe(1);
    expect(entryCalled({ b: 1 }, { key: "a", name: "b" }, [{ key: "a" }, { key: "b" }])).toBe(undefined);
  });
});

describe("unique names", () => {
  it("are those that were wanted, as far as letters and digits go, with a number where they are taken", () => {
    const names = new UniqueNames(["taken"]);
    const wanted = ["a/b", "a.b", "a b", "_a_b_", "é", "", "taken", "x".repeat(200), `${"x".repeat(150)}y`];
    expect(wanted.map((name) => names.next(name))).toEqual([
      ...["a_b", "a_b_2", "a_b_3", "a_b_4", "unnamed", "unnamed_2", "taken_2"],
      ...["x".repeat(100), `${"x".repeat(100)}_2`],
    ]);
    expect(names.next("", "-", "second")).toBe("second");
  });
});

describe("the text of a program", () => {
  const of = (
    t: string,
    i: string,
    o: string,
  ): string => `func @f(%${t}: tensor<7x4xf32>, %${i}: tensor<5xi32>, %${o}: tensor<7xf32>) -> tensor<5x4xf32> {
  %y = access.gather %${t}, %${i}, %${o} (d0, d1) let s = error(%${i}[d0] in 7) yield %${t}[s, d1] + %${o}[s] {oob = error}
  return %y
}
`;
  it.each([
    ["digits", "0", "1e3", "2x4xf32"],
    ["words of schedules", "ub", "gm", "auto"],
    ["tiles", "a_tile", "a", "oob"],
    ["objects", "__proto__", "constructor", "toString"],
  ])("parses back with schedules by operand: %s", (_, t, i, o) => {
    const func = parsed(of(t, i, o));
    const residency: Residencies = Object.fromEntries(
      inputsOf(func).map((own, k) => [keyOf(own), k === 1 ? "ub" : "gm"]),
    );
    const buffers: Buffers = Object.fromEntries(func.operands.map((own) => [keyOf(own), 1]));
    const schedule = { residency, buffers, tile: [5, 4] };
    const { access, tile } = compile(func, { target: "ascend-a2", ...schedule });
    for (const own of [access!, tile]) {
      // What a table has anyway is not said.
      expect(Object.entries(own.schedule.residency!).sort()).toEqual(
        [
          [t, "gm"],
          [o, "gm"],
        ].sort(),
      );
      expect(Object.keys(own.schedule.buffers!).sort()).toEqual(func.operands.map(keyOf).sort());
      const printed = printModule({ funcs: [own] });
      expect(equalModule({ funcs: [parsed(printed)] }, { funcs: [own] }), printed).toBe(true);
    }
  });
});

describe("an operator of one's own", () => {
  it("may call its inputs as tilec calls outputs", async () => {
    const picks = defineOperator({
      name: "mine.picks",
      inputs: ["w", "output", "status"],
      attrs: { oob: oobSpec("error") },
      resolve(inputs) {
        const shapes = inputs.inputs.map(({ shape }) => shape);
        const output = shapes[1]!;
        const first = { value: { table: 1, at: [dim(0)] }, outOfRange: "error", extent: 3 } as const;
        const second = { value: { table: 2, at: [index(0)] }, outOfRange: "error", extent: 3 } as const;
        const map = gatherOver(output, 3, { indices: [first, second], ...readData([index(1)]) });
        return {
          operator: { op: "mapped", map, inputs: shapes },
          output,
          negative: "illegal",
          oob: "error",
        };
      },
    });
    const i32 = { dtype: "i32", shape: [3] } as const;
    const func = program({
      op: "mine.picks",
      operators: operatorsWith([picks]),
      attrs: {},
      data: { dtype: "f32", shape: [3] },
      indices: i32,
      others: [i32],
    });
    expect(func.operands.map((own) => [own.name, keyOf(own)])).toEqual([
      ["w", "w"],
      ["output", "output"],
      ["status", "status"],
      ["output_2", "output_2"],
    ]);
    const inputs = {
      w: Float32Array.of(10, 20, 30),
      output: Int32Array.of(2, 0, 1),
      status: Int32Array.of(1, 2, 0),
    };
    const { outputs } = await run(compile(func), inputs);
    expect([...(outputs.output as Float32Array)]).toEqual([10, 20, 30]);
  });
});
