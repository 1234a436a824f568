/** A command of the user's that is given a folder, and ended when it takes too long. */
import { spawn } from "node:child_process";
import { once } from "node:events";

/** The result of a command that has ended. */
export interface CommandResult {
  /** Null for one that a signal ended. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** True if it was ended for its time. */
  readonly late: boolean;
}

/** A command under way. */
export interface RunningCommand {
  readonly result: Promise<CommandResult>;
  /** Ends it, and what it started. */
  readonly end: () => void;
}

/**
 * Starts a command, as the shell reads it, with the folder as its last argument. It has a process group of its own, so that what it
 * starts ends with it. `limitMs`: milliseconds until it is ended. `onStderr`: called with what it writes there, as it comes.
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

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (thrown) {
    if (!(thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH")) throw thrown;
  }
}

/** Returns the first line of what a command printed. */
export const firstLine = (text: string): string => text.trim().split("\n")[0] ?? "";
