/** One command line in this process: what it prints, and the exit code that it leaves. */
import { runCommandLine } from "../../src/cli/command-line.js";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runHere(args: readonly string[]): Promise<Ran> {
  const written = { stdout: "", stderr: "" };
  const restore = (["stdout", "stderr"] as const).map((name) => {
    const stream = process[name];
    const write = stream.write.bind(stream);
    stream.write = (chunk: Uint8Array | string) => {
      written[name] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
      return true;
    };
    return () => {
      stream.write = write;
    };
  });
  process.exitCode = undefined;
  try {
    await runCommandLine(args);
    return { ...written, code: process.exitCode ?? 0 };
  } finally {
    for (const undo of restore) undo();
    process.exitCode = undefined;
  }
}

/** Commands whose answer may be no: 1 without an error. */
const verdicts = ["check", "explain", "legal", "fmt", "run"];

/** Throws an Error for what no command line may come to: a bug of ours, a stack, silence, or a document that is none. */
export function judge(args: readonly string[], { code, stdout, stderr }: Ran): "accepted" | "refused" {
  const fault = (what: string): Error =>
    new Error(
      `${what}: exit ${code} of tilec ${args.join(" ")}\n${stdout.slice(-2000)}\n${stderr.slice(-4000)}`,
    );
  if (![0, 1, 2].includes(code)) throw fault("no exit code of ours");
  if (/^\s+at .*[:(]/m.test(stderr) || /a bug in tilec/.test(stdout + stderr)) throw fault("a stack");
  const errors = stderr.match(/^error\[TC\d+\]/gm) ?? [];
  if (code === 0 && errors.length > 0) throw fault("an error and no exit code");
  const answersNo = verdicts.some((command) => args.includes(command));
  if (code === 1 && errors.length === 0 && !(answersNo && stdout !== "")) throw fault("no reason");
  if (code === 2 && errors.length !== 1 && !stderr.startsWith("Usage:")) throw fault("not one reason");
  const helps = ["--help", "-h", "--version", "-V", "help"].some((word) => args.includes(word));
  if (args.includes("--json") && !helps && !stderr.startsWith("Usage:")) {
    const document: unknown = parsed(stdout);
    if (typeof document !== "object" || document === null || !("schema" in document))
      throw fault("no document");
  }
  return code === 0 ? "accepted" : "refused";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
