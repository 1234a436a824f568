/** A side in a process of its own. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { ownFile } from "../src/device/own-package.js";
import type { Side } from "./side.js";

/** What it measures: the fast executor, or kernels on Dawn. */
export type SideKind = "sim" | "webgpu";

interface Answer {
  readonly value?: unknown;
  readonly error?: string;
}

/** Starts a process that has loaded the build in the folder. Rejects where there is none. */
export async function forkSide(kind: SideKind, folder: string): Promise<Side> {
  const child = fork(ownFile("dist/bench/side-process.js"), [kind, folder], { serialization: "advanced" });
  const exited = once(child, "exit").then(([code]): never => {
    throw new Error(`the process with the build in ${folder} ended with ${String(code)}`);
  });
  exited.catch(() => undefined);
  const answer = async (): Promise<unknown> => {
    const [message] = await Promise.race([once(child, "message"), exited]);
    const { value, error } = message as Answer;
    if (error !== undefined) throw new Error(`the build in ${folder}: ${error}`);
    return value;
  };
  const ask = async <T>(method: keyof Side, ...args: readonly unknown[]): Promise<T> => {
    const answered = answer();
    child.send({ method, args });
    return (await answered) as T;
  };
  await answer();
  return {
    open: (key) => ask("open", key),
    turn: (calls) => ask("turn", calls),
    async close() {
      await ask("close");
      child.disconnect();
      await once(child, "exit");
    },
  };
}
