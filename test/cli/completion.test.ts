/** Scripts that complete the command line: each command and flag that the help names is in them, and bash completes by them. */
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { codes, opDefs, targets } from "../../ir/index.js";
import { runHere } from "../support/run-here.js";

const script = async (shell: string): Promise<string> => (await runHere(["completion", shell])).stdout;

/** Completions of bash for the words of a line, the last of which is being typed. */
async function completed(...words: readonly string[]): Promise<string[]> {
  const line = words.map((word) => `"${word}"`).join(" ");
  const run = `${await script("bash")}\nCOMP_WORDS=(tilec ${line})\nCOMP_CWORD=${words.length}\n_tilec\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync("bash", ["-c", run], { encoding: "utf8", cwd: "test/text" });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout.split("\n").filter((word) => word !== "");
}

describe("tilec completion", () => {
  it.each(["bash", "zsh", "fish"])("%s has every command, and the flags that help shows", async (shell) => {
    const text = await script(shell);
    const commands = [...(await runHere(["--help"])).stdout.matchAll(/^ {2}(\w+) .*\S/gm)].map(
      ([, name]) => name,
    );
    expect(commands.length).toBeGreaterThan(12);
    for (const name of commands) expect(text, name).toMatch(new RegExp(`\\b${name}\\b`));
    const flags = [...(await runHere(["tune", "--help"])).stdout.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm)];
    expect(flags.length).toBeGreaterThan(40);
    const attributes = [
      ...(await runHere(["help", "op", "torch.embedding_bag"])).stdout.matchAll(/^--([\w-]+)/gm),
    ];
    expect(attributes.length).toBeGreaterThan(4);
    for (const [, flag = ""] of [...flags, ...attributes])
      expect(text, flag).toMatch(new RegExp(`[ -]${flag}\\b`));
  });

  it("bash completes commands, their flags, choices of a flag, subcommands and files", async () => {
    expect(await completed("expl")).toEqual(["explain"]);
    expect(await completed("explain", "--indices-l")).toEqual(["--indices-like"]);
    expect(await completed("run", "--executor", "")).toEqual(["checked", "fast"]);
    expect(await completed("records", "p")).toEqual(["pin"]);
    expect(await completed("records", "export", "--to", "c")).toEqual(["csv", "c-header"]);
    expect(await completed("compile", "allocate-ub-d")).toEqual(["allocate-ub-double.tir"]);
  });

  it("bash completes operators, targets and target files, schemas, shells and codes", async () => {
    expect(await completed("explain", "--op", "onnx.gather_e")).toEqual(["onnx.gather_elements"]);
    expect(await completed("tune", "--target", "ascend-9")).toEqual(["ascend-950"]);
    expect(await completed("tune", "--target", "allocate-ub-d")).toEqual(["allocate-ub-double.tir"]);
    expect(await completed("targets", "ascend-9")).toEqual(["ascend-950"]);
    expect(await completed("schema", "exp")).toEqual(["explain"]);
    expect(await completed("completion", "z")).toEqual(["zsh"]);
    expect(await completed("explain", "TC30")).toEqual(
      Object.keys(codes).filter((code) => code.startsWith("TC30")),
    );
    expect(await completed("check", "--backend", "web")).toEqual(["webgpu"]);
  });

  it.each(["zsh", "fish"])("%s has every operator and target", async (shell) => {
    const text = await script(shell);
    for (const { name } of opDefs) expect(text).toContain(name);
    for (const { name } of Object.values(targets)) expect(text).toContain(name);
  });
});
