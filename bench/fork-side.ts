/** A side in a process of its own. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { packageFile } from "../src/device/package-files.js";
import type { CompileSide } from "./compile-side.js";
import type { Side } from "./side.js";

/**
 * Types of the measuring objects, by the part of a tilec build that an object measures. `sim`: the fast
 * executor. `webgpu`: the WebGPU kernels on Dawn. `compile`: the compiler.
 */
export interface Sides {
  readonly sim: Side;
  readonly webgpu: Side;
  readonly compile: CompileSide;
}

/** Kind of measurement of a tilec build: `sim` (WebAssembly executor), `webgpu` or `compile`. */
export type SideKind = keyof Sides;

/** Methods of a side that can be requested, apart from `close`. */
const methods: { readonly [K in SideKind]: readonly Exclude<keyof Sides[K], "close">[] } = {
  sim: ["open", "turn"],
  webgpu: ["open", "turn"],
  compile: ["load", "pass"],
};

interface Answer {
  readonly value?: unknown;
  readonly error?: string;
}

/**
 * Starts a process that loads the tilec build in a folder. Resolves to an object that measures the build in
 * the process; `kind` selects the type of the object ({@link Sides}). Rejects if the process ends early.
 */
export async function forkSide<K extends SideKind>(kind: K, folder: string): Promise<Sides[K]> {
  const child = fork(packageFile("dist/bench/side-process.js"), [kind, folder], {
    serialization: "advanced",
  });
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
  const ask = (method: string, args: readonly unknown[]): Promise<unknown> => {
    if (!child.connected) return exited;
    const answered = answer();
    child.send({ method, args });
    return answered;
  };
  await answer();
  const close = async (): Promise<void> => {
    if (!child.connected) return;
    await ask("close", []);
    child.disconnect();
    await once(child, "exit");
  };
  const asked = methods[kind].map((method) => {
    const name = String(method);
    return [name, (...args: readonly unknown[]) => ask(name, args)] as const;
  });
  return { ...Object.fromEntries(asked), close } as unknown as Sides[K];
}
