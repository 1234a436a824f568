#!/usr/bin/env node
/**
 * tilec on the command line. Exit codes: 0 fine, 1 the program or a check is wrong, 2 usage, 3 a bug in
 * tilec.
 */
import { error } from "../../ir/diagnostic.js";
import { reasonOf } from "../formats/file-fault.js";
import { runCommandLine } from "./command-line.js";
import { printDiagnostics } from "./terminal.js";

process.stdout.on("error", (thrown: NodeJS.ErrnoException) => {
  // A reader that stops early (head, a closed pager) is no error.
  if (thrown.code === "EPIPE") process.exit(0);
  printDiagnostics([error("TC010", `cannot write the standard output: ${reasonOf(thrown)}`)]);
  process.exit(1);
});
// Nothing is left to say it on; the exit code does.
process.stderr.on("error", () => undefined);

await runCommandLine(process.argv.slice(2));
