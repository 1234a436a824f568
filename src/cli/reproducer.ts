/** A file that reproduces an internal error: the program before the failing pass, and how to run it. */
import { createHash } from "node:crypto";
import { printFunc } from "../../ir/index.js";
import type { PassError } from "../../passes/index.js";
import { outputFormats } from "../output/mark.js";
import { Outputs } from "./outputs.js";
import { note } from "./terminal.js";

/**
 * Writes a `.tir` file into the working folder, by which the failure of a compiler pass can be reproduced,
 * and prints a note. `command`: command line that led to the error.
 */
export function writeReproducer(thrown: PassError, command: string): void {
  const { file, text } = reproducer(thrown, command);
  if (new Outputs("reproducer", {}).write(file, text, outputFormats.code))
    note(`wrote ${file}: please attach it to the report`);
}

/**
 * Returns the name and text of a `.tir` file that reproduces the failure of a compiler pass. The text is the
 * program before the pass, after comments with the error message, the command line that failed (`command`),
 * and the command that repeats the failure.
 */
export function reproducer(
  thrown: PassError,
  command: string,
): { readonly file: string; readonly text: string } {
  const program = printFunc(thrown.input);
  const hash = createHash("sha256").update(program).digest("hex").slice(0, 8);
  const file = `tilec-reproducer-${hash}.tir`;
  const message = thrown.message.replaceAll("\n", " ");
  const text = `// ${message}\n// from: ${command}\n// reproduce: tilec opt --pass ${thrown.pass} ${file}\n${program}`;
  return { file, text };
}
