/** Identifiers of generated code for the names of a program. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Identifiers } from "../../backends/names.js";
import { emitWgsl } from "../../backends/webgpu/index.js";
import { targets } from "../../ir/index.js";
import { compile } from "../../src/index.js";
import { runnerOr } from "../support/gpu.js";
import { identifiersIn, languageWords } from "../support/words.js";
import { parsed, parsedTile } from "../support/parsed.js";

/** The words that identifiers of names begin with. */
const ofNames = /^(?:gm|ub|turn|iv|view|tilec|dim)_/;

const reviewed = ["goldens/", "pto/goldens/", "pypto/goldens/"].flatMap((folder) => {
  const place = new URL(folder, import.meta.url);
  return readdirSync(place).map((file) => readFileSync(new URL(file, place), "utf8"));
});

/** What the reviewed texts call their operands, buffers, loop variables, symbols and functions. */
const named =
  /^(?:(?:gm|ub|turn|view)_(?:data|indices|output|kv|topk|bt|param|input|index|block_table|src|source|values|indices\d|x|e|i|off|y|q|s|pages|tokens)|ub_(?:gathered_\w+|sum|value_\d)|iv_[tv]\d|dim_[VN]|tilec_\w+)$/;

describe("an identifier of a name", () => {
  it.each(Object.entries(languageWords))("begins as no word of a language: %s", (_, words) => {
    expect(words.length).toBeGreaterThan(20);
    expect(words.filter((word) => ofNames.test(word))).toEqual([]);
  });

  it("begins as nothing else that kernels declare or call", () => {
    const all = new Set(reviewed.flatMap((text) => identifiersIn(text.replaceAll(/"[^"]*"/g, ""))));
    const others = [...all].filter((word) => !named.test(word));
    expect(others.length).toBeGreaterThan(100);
    expect(others.filter((word) => ofNames.test(word))).toEqual([]);
  });

  it("is readable, and one of its own where names come to the same", () => {
    const identifiers = new Identifiers();
    const next = (name: string): string => identifiers.next("gm", name);
    expect(["data", "a__b", "a_b", "_a_b_", "a_b_2", "9", "_", "__", "x_ub"].map(next)).toEqual([
      ...[
        "gm_data",
        "gm_a_b",
        "gm_a_b_2",
        "gm_a_b_3",
        "gm_a_b_2_2",
        "gm_9",
        "gm_unnamed",
        "gm_unnamed_2",
        "gm_x_ub",
      ],
    ]);
    expect(["data_ub", "data", "_ub"].map((name) => identifiers.next("ub", name))).toEqual([
      ...["ub_data", "ub_data_2", "ub_unnamed"],
    ]);
    const long = [1, 2].map((k) => next(`${"x".repeat(5000)}${k}`));
    expect(new Set(long).size).toBe(2);
    expect(Math.max(...long.map((name) => name.length))).toBeLessThan(110);
  });
});

describe("a kernel of a program", () => {
  it.for([
    ["words of the kernel", ["max", "position", "mask", "lane"]],
    ["words of the language", ["if", "array", "select", "fn"]],
    ["numbers and underscores", ["9", "_", "__x", "0x"]],
    ["names of identifiers", ["x", "gm_x", "gm_gm_x", "x"]],
    ["a loop called as an operand", ["data", "indices", "output", "data"]],
  ] as const)("may be named after %s", async ([, [data, indices, output, iv]], context) => {
    const func =
      parsedTile(`func @n(%${data}: gm<4x3xu8>, %${indices}: gm<4x3xi64>, %${output}: gm<4x3xu8>) target("webgpu") {
  for %${iv} = 0 to 4 step 1 parallel {
    gather %${data}[%${iv}, 0][1, 3], %${indices}[%${iv}, 0][1, 3] to %${output}[%${iv}, 0][1, 3] (d0, d1) -> (d0, %${indices}[d0, d1]) {oob = error, origin = [%${iv}, 0]}
  }
}`);
    const { bindings, code } = emitWgsl(func);
    const names = [...bindings.map((binding) => binding.name), /let (\w+) = group/.exec(code)![1]!];
    expect(new Set(names).size).toBe(5);
    const runner = await runnerOr(context);
    const { messages } = await runner.device.createShaderModule({ code }).getCompilationInfo();
    expect(messages.map((message) => message.message)).toEqual([]);
  });

  it("says what each buffer is: keys that nobody else has, and roles that no name changes", () => {
    const text = `func @f(%status: tensor<7x4xf32>, %output: tensor<5xi32>, %sizes: tensor<7xf32>) -> tensor<5x4xf32> {
  %y = access.gather %status, %output, %sizes (d0, d1) let s = error(%output[d0] in 7) yield %status[s, d1] + %sizes[s] {oob = error}
  return %y
}
`;
    const func = parsed(text);
    const { bindings } = compile(func, { target: targets.webgpu }).wgsl();
    expect(bindings.map(({ role, key, name }) => [role, key, name])).toEqual([
      ["data", "status", "gm_status"],
      ["indices", "output", "gm_output"],
      ["indices", "sizes", "gm_sizes"],
      ["output", "y", "gm_y"],
      ["status", "status_2", "status"],
    ]);
  });
});
