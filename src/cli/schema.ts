/** tilec schema: prints the JSON Schema of a command's documents, or of case files. */
import { readdirSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { packageFile } from "../device/package-files.js";
import { printFile } from "./terminal.js";
import { UsageError } from "./usage-error.js";

export function schemaCommand(program: Command): void {
  program
    .command("schema")
    .argument("<name>", "a command with --json, or case: of case files")
    .action((name: string) => {
      const names = schemaNames();
      if (!names.includes(name)) throw new UsageError(`there is no schema ${name}`, names.join(", "));
      printFile(readFileSync(packageFile(`schema/${name}.json`), "utf8"));
    });
}

const schemaNames = (): readonly string[] =>
  readdirSync(packageFile("schema/"))
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length))
    .sort();
