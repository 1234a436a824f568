/** Help: what fits a terminal, and the attributes of each operator by their flags. */
import { describe, expect, it } from "vitest";
import { opDefs } from "../../ir/index.js";
import { runHere } from "../support/run-here.js";

const help = async (...words: readonly string[]): Promise<string> =>
  (await runHere(["help", ...words])).stdout;

/** Every command of the help. */
const commands = async (): Promise<readonly string[]> =>
  [...(await help()).matchAll(/^ {2}([a-z]+) +\S/gm)].flatMap(([, name = ""]) => name);

describe("the help of a command", () => {
  it("has at most 80 lines of 80 columns", async () => {
    const names = await commands();
    expect(names).toEqual(expect.arrayContaining(["explain", "tune", "run", "compile", "validate", "help"]));
    for (const name of ["", ...names]) {
      const lines = (await help(...(name === "" ? [] : [name]))).trimEnd().split("\n");
      expect(lines.length, name).toBeLessThanOrEqual(80);
      expect(Math.max(...lines.map((line) => line.length)), name).toBeLessThanOrEqual(80);
    }
  });

  it("leaves attributes of operators to the operator that --op names", async () => {
    expect(await help("tune")).not.toContain("--block-size");
    const { stdout } = await runHere(["tune", "--op", "gather_block_quantized", "--help"]);
    expect(stdout).toContain("--tile <shape>");
    expect(stdout).toMatch(/--quantize-axis <n> .*\(default 1\)/);
  });

  it("is named for an option that the operator of --op does not have, and lists its inputs", async () => {
    const op = "onnx.scatter_elements";
    for (const named of [["--op", op], [`--op=${op}`]]) {
      const { status, stderr } = await runHere(["run", ...named, "--updates", "f32[2]"]);
      expect([status, stderr]).toEqual([2, expect.stringContaining(`hint: tilec help op ${op} lists`)]);
    }
    expect(await help("op", op)).toMatch(/updates +--indices, repeated/);
  });

  it("is refused for what is no command or operator, with the names there are", async () => {
    const unknown = await runHere(["help", "tunes"]);
    expect([unknown.status, unknown.stderr]).toEqual([
      2,
      expect.stringMatching(/no command tunes[^]*compile, opt/),
    ]);
    const op = await runHere(["explain", "--op", "torch.gathre", "--help"]);
    expect([op.status, op.stderr]).toEqual([2, expect.stringContaining("hint: --op torch.gather")]);
    expect((await runHere(["help", "op", "gather", "take"])).status).toBe(2);
  });
});

describe("the help of an operator", () => {
  it.each(opDefs.map((def) => [def.name, def] as const))(
    "%s has a row for each attribute",
    async (name, def) => {
      const text = await help("op", name);
      const rows = [...text.matchAll(/^--[\w-]+ </gm)];
      expect(rows.length).toBe(Object.keys(def.attrs).length);
      for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    },
  );
});
