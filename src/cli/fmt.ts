/** tilec fmt: prints .tir files canonically. */
import type { Command } from "commander";
import { CompileError, formatText } from "../../ir/index.js";
import { standardInput } from "../formats/standard-input.js";
import { UsageError } from "./usage-error.js";
import { readProgramText } from "../formats/files.js";
import { rewriteInput } from "../output/write-file.js";
import { Outputs } from "./outputs.js";
import { print, printFile, printJson } from "./terminal.js";

interface FmtFlags {
  readonly write?: boolean;
  readonly check?: boolean;
  readonly json?: boolean;
}

/** Adds the command `tilec fmt` and the command's flags to the command line. */
export function fmtCommand(program: Command): void {
  program
    .command("fmt")
    .argument("<files...>", ".tir files")
    .option("--write", "rewrite the files")
    .option("--check", "exit 1 when a file is not canonical")
    .option("--json", "print one JSON document")
    .action((files: string[], flags: FmtFlags) => {
      if (flags.write === true && files.includes(standardInput))
        throw new UsageError("--write needs files, and - is the standard input", "tilec fmt - prints it");
      const outputs = new Outputs("fmt", {});
      const results = files.map((file) => {
        const before = readProgramText(file);
        const formatted = formatText(before, file);
        if (!formatted.ok) throw new CompileError(formatted.diagnostics);
        const { text } = formatted;
        if (flags.write === true && text !== before)
          outputs.attempt(() => {
            rewriteInput(file, text);
          });
        return { file, canonical: text === before, text };
      });
      if (flags.json === true) printJson({ command: "fmt", files: results });
      else if (flags.write !== true && flags.check !== true)
        results.forEach(({ text }) => {
          printFile(text);
        });
      else
        results
          .filter((r) => !r.canonical)
          .forEach(({ file }) => {
            print(file);
          });
      process.exitCode = outputs.status(flags.check === true && results.some((r) => !r.canonical) ? 1 : 0);
    });
}
