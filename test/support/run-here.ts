/** A command line in this process, which spares the start of another. */
import { runCommandLine } from "../../src/cli/command-line.js";

export interface Ran {
  /** The exit code. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What `tilec …args` prints, and the exit code that it leaves; in a folder, where one is given. */
export async function runHere(args: readonly string[], folder = process.cwd()): Promise<Ran> {
  const before = process.cwd();
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
  process.chdir(folder);
  try {
    await runCommandLine(args);
    return { ...written, status: process.exitCode ?? 0 };
  } finally {
    process.chdir(before);
    for (const undo of restore) undo();
    process.exitCode = undefined;
  }
}
