/** A program on the standard input, for every command that takes a program. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runHere } from "../support/run-here.js";

const pathOf = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url));
const main = pathOf("../dist/src/cli/main.js");
const text = pathOf("text/tail.tir");
const model = pathOf("conformance/onnx-node-tests/test_gather_0/model.onnx");
const cases = pathOf("conformance/cases/bits.json");
const mlir = `module {
  func.func @main(%x: tensor<4x8xf32>, %i: tensor<2x1xi32>) -> tensor<2x8xf32> {
    %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<2x1xi32>) -> tensor<2x8xf32>
    return %y : tensor<2x8xf32>
  }
}
`;

function piped(input: string | Uint8Array, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    input,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  return { status, stdout, stderr };
}

describe("the standard input is the program of", () => {
  it.each([
    ["explain", text, []],
    ["legal", text, []],
    ["compile", text, []],
    ["compile", model, ["--emit", "pto"]],
    ["opt", text, ["--pass", "canonicalize-access"]],
    ["run", text, ["--seed", "1", "--json"]],
    ["tune", text, ["--budget", "3", "--json"]],
    ["plan", model, []],
    ["fmt", text, []],
    ["explain", cases, []],
  ] as const)("%s: %s", async (command, file, flags) => {
    const given = piped(readFileSync(file), command, "-", "--no-config", ...flags);
    const { status, stdout } = await runHere([command, file, "--no-config", ...flags]);
    // The place of a diagnostic names the file.
    const named = stdout.replaceAll(JSON.stringify(file), '"-"');
    expect(given).toEqual({ status, stdout: named, stderr: given.stderr });
    expect(stdout).not.toBe("");
    expect(status).toBe(0);
  });

  it("diff, both sides of it", () => {
    expect(piped(readFileSync(text), "diff", "-", text)).toMatchObject({ status: 0, stdout: "" });
    expect(piped(readFileSync(text), "diff", "-", "-")).toMatchObject({ status: 0, stdout: "" });
  });

  it.each([
    ["a text test, RUN lines too", readFileSync(text), "1 passed, 0 failed"],
    ["cases", readFileSync(cases), "2 passed, 0 failed"],
    ["a model", readFileSync(model), "2 passed, 0 failed"],
  ])("check: %s", (_, input, counts) => {
    expect(piped(input, "check", "-")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(counts) as string,
    });
  });

  it("explain: an MLIR text", () => {
    expect(piped(mlir, "explain", "-")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(": legal") as string,
    });
  });
});

describe("what stands on the standard input wrong", () => {
  it("is told at its line", () => {
    const { status, stderr } = piped("func @g(\n", "explain", "-");
    expect([status, stderr]).toEqual([1, expect.stringContaining("  --> -:2:1\n")]);
    expect(piped("", "explain", "-").stderr).toContain("error[TC002]: the text holds no function");
  });

  it.each([
    [["check", "--update", "-"], "--update needs files, and - reads the standard input"],
    [["check", "--watch", "-"], "--watch needs files, and - reads the standard input"],
    [["fmt", "--write", "-"], "--write needs files, and - is the standard input"],
  ])("is rewritten by nobody: %j", (args, message) => {
    expect(piped(readFileSync(text), ...args)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(message) as string,
    });
  });
});
