/** A file that reproduces an internal error: the program before the failing pass, and how to run it. */
import { createHash } from "node:crypto";
import { printFunc } from "../../ir/index.js";
import type { PassError } from "../../passes/index.js";

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
