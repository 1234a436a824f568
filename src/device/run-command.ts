/** A command of the user's that is given a folder, and ended when it takes too long. */
import { spawn } from "node:child_process";
import { once } from "node:events";

/** Result of a shell command: exit code, output, and whether the command was stopped at the time limit. */
export interface CommandResult {
  /** Exit code; null if a signal ended the command. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** True if the command was ended at its time limit. */
  readonly late: boolean;
}

/** Handle of a running shell command: a promise of the result, and a function that ends the command. */
export interface RunningCommand {
  readonly result: Promise<CommandResult>;
  /** Ends the command and all processes that it started. */
  readonly end: () => void;
}

/**
 * Starts a shell command with `folder` as the last argument and returns a handle. All processes that the
 * command started are killed when the command exits or after `limitMs` milliseconds. `onStderr` receives the
 * command's stderr.
 */
export function runCommand(
  command: string,
  folder: string,
  limitMs: number,
  onStderr?: (text: string) => void,
): RunningCommand {
  const child = spawn("/bin/sh", ["-c", `${command} "$1"`, "sh", folder], {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const end = (): void => {
    if (child.pid !== undefined && !hasEnded()) endGroup(child.pid);
  };
  // What it leaves running would hold its pipes open.
  child.once("exit", () => {
    if (child.pid !== undefined) endGroup(child.pid);
  });
  const result = async (): Promise<CommandResult> => {
    let [stdout, stderr, late] = ["", "", false];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
      onStderr?.(chunk.toString());
    });
    const timer = setTimeout(() => {
      late = !hasEnded();
      end();
      // A process that left the group holds them, and is not waited for.
      child.stdout.destroy();
      child.stderr.destroy();
    }, limitMs);
    const [code] = (await once(child, "close")) as [number | null];
    clearTimeout(timer);
    return { code, stdout, stderr, late };
  };
  return { result: result(), end };
}

/** Kills all processes of a process group with SIGKILL. Does nothing if the group has already ended. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (thrown) {
    if (!(thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH")) throw thrown;
  }
}

/** Returns the first line of a text without leading and trailing white space; "" for an empty text. */
export const firstLine = (text: string): string => text.trim().split("\n")[0] ?? "";
