/** Schemas of what commands print with `--json`: derived from their types, and kept by what they print for the cases. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import type { Command } from "commander";
import { beforeAll, describe, expect, it } from "vitest";
import { commandFiles, outputSchemas, rowSchema, type SchemaName } from "../support/output-schemas.js";
import { everyCommand } from "../../src/cli/command-line.js";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const names = Object.keys(commandFiles) as SchemaName[];
const fileOf = (name: string): string => resolve(`schema/${name}.json`);
const schemas = outputSchemas();
const ajv = new Ajv({ strict: false, allErrors: false });
const folder = scratchFolder("schema");

/** The cases of a file, every n-th. */
const casesOf = (file: string, every: number): readonly string[] => {
  const cases = JSON.parse(readFileSync(`test/conformance/cases/${file}`, "utf8")) as readonly {
    id: string;
  }[];
  return cases.filter((_, k) => k % every === 0).map(({ id }) => id);
};

const op = ["--op", "gather_elements", "--data", "f32[64,80]", "--indices", "i32[64,80]", "--axis", "0"];
const open = `dim N <= 64
func @rows(%e: tensor<512x64xf32>, %i: tensor<Nxi32>) -> tensor<Nx64xf32> {
  %y = access.gather %e, %i (d0, d1) -> (%i[d0], d1) {oob = error}
  return %y
}
`;
const commands: readonly (readonly [SchemaName, ...string[]])[] = [
  ...(["seed.json", "pypto.json", "values.json", "errors.json"] as const).flatMap((file) =>
    casesOf(file, file === "errors.json" ? 8 : 12).flatMap((id) => {
      const chosen = [`test/conformance/cases/${file}`, "--case", id];
      return [["explain", ...chosen] as const, ["run", ...chosen, "--backend", "reference,sim"] as const];
    }),
  ),
  ["explain", "TC301"],
  ["explain", ...op, "--tile", "32,8"],
  ["explain", ...op, "--compare", "default", "--sensitivity", "--indices-like", "uniform"],
  ["explain", "--spatter", "bench/lists/spatter.json", "--case", "0"],
  ["legal", ...op],
  ["legal", ...op, "--ub-bytes", "32"],
  ["tune", ...op, "--budget", "4"],
  ["tune", "--op", "gather", "--data", "f32[50257,64]", "--indices", "i32[16]", "--budget", "2"],
  ["tune", ...op, "--budget", "2", "--sweep", "cores=24,48"],
  ["tune", join(folder, "rows.tir"), "--budget", "2", "--sizes", "N=1,64"],
  ["tune", ...op, "--budget", "4", "--records", join(folder, "r.jsonl")],
  ["records", "best", join(folder, "r.jsonl")],
  ["plan", "examples/embedding.onnx"],
  ["plan", "test/cli/inputs/status.onnx"],
  ["run", "examples/embedding.onnx", "--seed", "1"],
  ["run", ...op, "--seed", "1"],
  ["targets"],
  ["targets", "ascend-a2"],
  ["targets", "none"],
  ["validate"],
  ["compile", ...op],
  ["compile", ...op, "--emit", "plan"],
  ["compile", ...op, "--emit", "all", "--dump-dir", join(folder, "dump")],
  ["compile", ...op, "--tile", "32,8"],
  ["compile", "examples/embedding.onnx", "--emit", "tile"],
  ["opt", "examples/sort-columns.tir"],
  ["opt", "examples/sort-columns.tir", "--pipeline", "default"],
  ["diff", "examples/sort-columns.tir", "examples/sort-columns.tir"],
  ["diff", "examples/sort-columns.tir", "examples/foreign/rows.tir"],
  ["fmt", "examples/sort-columns.tir", "--check"],
  ["fmt", "package.json"],
  ["devices"],
  ["check", "test/conformance/cases/seed.json"],
  ["check", "test/conformance/cases/seed.json", "--bail", "--filter", "none"],
  ["check", "examples/foreign/rows.tir", "--command", "false", "--bail"],
];

beforeAll(() => {
  writeFileSync(join(folder, "rows.tir"), open);
});

describe("schema/", () => {
  it("has a file for every command with --json", async () => {
    const program = await everyCommand();
    const hasJson = ({ options }: Command): boolean => options.some(({ long }) => long === "--json");
    const printing = program.commands.filter((one) => hasJson(one) || one.commands.some(hasJson));
    expect(printing.map((one) => one.name()).sort()).toEqual([...names].sort());
    const files = readdirSync("schema").map((file) => file.replace(".json", ""));
    expect(files.sort()).toEqual([...names, "case", "row"].sort());
  });

  it("row.json is the columns of --list, and takes what it prints", async () => {
    await expect(`${JSON.stringify(rowSchema(), null, 2)}\n`).toMatchFileSnapshot(fileOf("row"));
    const validate = ajv.compile(rowSchema());
    for (const command of [["explain"], ["tune", "--budget", "2"], ["run", "--seed", "1"]]) {
      const list = ["--list", "test/conformance/cases/seed.json", "--json"];
      const rows = (await runHere([...command, ...list])).stdout.trimEnd().split("\n");
      expect(rows.length).toBeGreaterThan(5);
      for (const row of rows)
        expect([validate(JSON.parse(row)), row, validate.errors]).toEqual([true, row, null]);
    }
    expect(validate({ schema: 1, command: "legal", id: "a", verdict: "legal" })).toBe(false);
    expect(validate({ schema: 1, command: "run", id: "a", verdict: "same", more: 1 })).toBe(false);
  });

  it.each(names)("%s.json is what the types say (npm run docs:schema writes it)", async (name) => {
    await expect(`${JSON.stringify(schemas[name], null, 2)}\n`).toMatchFileSnapshot(fileOf(name));
  });

  it.each(names)("%s.json refuses other documents", (name) => {
    const validate = ajv.compile(schemas[name]);
    expect(validate({ schema: 1, command: name })).toBe(false);
    expect(validate({ schema: 2, ok: false, diagnostics: [] })).toBe(false);
    expect(validate({ schema: 1, ok: false, diagnostics: [], more: 1 })).toBe(false);
    expect(validate({ schema: 1, ok: false, diagnostics: [] })).toBe(true);
  });

  it.each(commands.map((command) => [command.join(" "), command] as const))("%s", async (_, command) => {
    const [name] = command;
    const { stdout, stderr } = await runHere([...command, "--json"]);
    expect(stdout, stderr).not.toBe("");
    const validate = ajv.compile(schemas[name]);
    expect([validate(JSON.parse(stdout)), validate.errors?.slice(0, 3) ?? []]).toEqual([true, []]);
  });

  it("is printed by tilec schema", async () => {
    for (const name of [...names, "row", "case"]) {
      const { stdout, status } = await runHere(["schema", name]);
      expect([status, stdout]).toEqual([0, readFileSync(fileOf(name), "utf8")]);
    }
    expect((await runHere(["schema", "none"])).status).toBe(2);
  });
});
