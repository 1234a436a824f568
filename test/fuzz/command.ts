/** What a command line may come to. */
import type { Ran } from "../support/run-here.js";

/** Commands whose answer may be no: 1 without an error. */
const verdicts = ["check", "explain", "legal", "fmt", "run"];

/** Throws an Error for what no command line may come to: a bug of ours, a stack, silence, or a document that is none. */
export function judge(args: readonly string[], { status, stdout, stderr }: Ran): "accepted" | "refused" {
  const fault = (what: string): Error =>
    new Error(
      `${what}: exit ${status} of tilec ${args.join(" ")}\n${stdout.slice(-2000)}\n${stderr.slice(-4000)}`,
    );
  if (![0, 1, 2].includes(status)) throw fault("no exit code of ours");
  if (/^\s+at .*[:(]/m.test(stderr) || /a bug in tilec/.test(stdout + stderr)) throw fault("a stack");
  const errors = stderr.match(/^error\[TC\d+\]/gm) ?? [];
  if (status === 0 && errors.length > 0) throw fault("an error and no exit code");
  const answersNo = verdicts.some((command) => args.includes(command));
  if (status === 1 && errors.length === 0 && !(answersNo && stdout !== "")) throw fault("no reason");
  if (status === 2 && errors.length !== 1 && !stderr.startsWith("Usage:")) throw fault("not one reason");
  // Words behind `--` name files.
  const flags = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  const helps = ["--help", "-h", "--version", "-V", "help"].some((word) => flags.includes(word));
  if (flags.includes("--json") && !helps && !stderr.startsWith("Usage:")) {
    const document: unknown = parsed(stdout);
    if (typeof document !== "object" || document === null || !("schema" in document))
      throw fault("no document");
  }
  return status === 0 ? "accepted" : "refused";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
