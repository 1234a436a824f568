/** PyPTO programs, run on the stand-in of test/pypto by Python. */
import { execFileSync } from "node:child_process";
import { outputOf } from "../../ir/index.js";
import type { Kernel } from "../../src/index.js";

const folder = new URL("../pypto/", import.meta.url);

/** Undefined, with a word, where there is no Python; an error where CI=true, since CI must not skip. */
export function python(): string | undefined {
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" });
    return "python3";
  } catch {
    if (process.env["CI"] === "true") throw new Error("no python3 in CI");
    console.warn("SKIPPED, python3 is not on the path");
    return undefined;
  }
}

export type Nested = number | readonly Nested[];

/** Numbers in order, as nested lists of a shape. */
export function nested(shape: readonly number[], value: (k: number) => number): Nested {
  let next = 0;
  const within = (depth: number): Nested =>
    depth === shape.length ? value(next++) : Array.from({ length: shape[depth]! }, () => within(depth + 1));
  return within(0);
}

export const flat = (value: Nested): number[] => (typeof value === "number" ? [value] : value.flatMap(flat));

export interface Result {
  readonly tiles: readonly (readonly number[])[];
  readonly output: Nested;
  readonly writes: readonly number[];
  readonly written: number;
}

export interface Job {
  readonly kernel: Kernel;
  readonly inputs: readonly Nested[];
}

/** What each program leaves in its output, and how it wrote it. */
export function runPrograms(given: readonly Job[]): readonly Result[] {
  const jobs = given.map(({ kernel, inputs }) => ({
    program: kernel.pypto(),
    inputs,
    inPlace: kernel.tile.operands.some(({ inout }) => inout === true),
    output: nested(outputOf(kernel.tile).type.shape, () => -1),
  }));
  const text = execFileSync("python3", [new URL("run.py", folder).pathname], {
    // JSON has no -0.
    input: JSON.stringify(jobs, (_, value: unknown) => (Object.is(value, -0) ? "-0" : value)),
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
  });
  return JSON.parse(text) as readonly Result[];
}
