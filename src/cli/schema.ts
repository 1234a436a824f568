/** tilec schema: prints the JSON Schema of a command's documents, or of case files. */
import { readdirSync, readFileSync } from "node:fs";
import { Argument, type Command } from "commander";
import { packageFile } from "../device/package-files.js";
import { printFile } from "./terminal.js";

/**
 * Adds the command `tilec schema`, which prints the JSON Schema of JSON output or of JSON test cases, to the
 * command line.
 */
export function schemaCommand(program: Command): void {
  program
    .command("schema")
    .addArgument(
      new Argument("<name>", "a command with --json, row: of --list, or case: of case files").choices(
        schemaNames(),
      ),
    )
    .action((name: string) => {
      printFile(readFileSync(packageFile(`schema/${name}.json`), "utf8"));
    });
}

const schemaNames = (): readonly string[] =>
  readdirSync(packageFile("schema/"))
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length))
    .sort();
