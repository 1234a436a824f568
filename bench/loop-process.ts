/** Loops in other languages, each in a process that runs one when told. */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ownFile } from "../src/device/own-package.js";
import type { Subject } from "./rows.js";

/** A folder of its own for a benchmark's files. */
const newFolder = (): string => mkdtempSync(join(tmpdir(), "tilec-bench-"));

/** A file of bench/ compiled for this machine, in a folder that the caller removes; undefined without a C compiler. */
export function compileC(file: string): { readonly binary: string; readonly folder: string } | undefined {
  const folder = newFolder();
  const binary = join(folder, "loops");
  // Each operation rounds by itself, as it does in every other subject.
  const flags = ["-O3", "-march=native", "-ffp-contract=off", "-pthread"];
  try {
    execFileSync("cc", [...flags, "-o", binary, ownFile(`bench/${file}`)], { stdio: "ignore" });
    return { binary, folder };
  } catch {
    rmSync(folder, { recursive: true });
    console.error(`no C compiler on the path takes bench/${file}: the loops in C are left out`);
    return undefined;
  }
}

/** Inputs as files in a folder, for processes. */
export interface InputFiles {
  /** In the order that they were given in. */
  readonly paths: readonly string[];
  readonly out: string;
  remove(): void;
}

export function inputFiles(inputs: readonly NodeJS.ArrayBufferView[]): InputFiles {
  const folder = newFolder();
  return {
    paths: inputs.map((input, k) => {
      const path = join(folder, String(k));
      writeFileSync(path, input);
      return path;
    }),
    out: join(folder, "out"),
    remove() {
      rmSync(folder, { recursive: true });
    },
  };
}

/** What is asked of a process: `what`, on so many threads. */
export interface Asked extends Pick<Subject, "subject" | "threads"> {
  readonly what: string;
  readonly hasOutput: boolean;
}

/** The loops of one process, which answers with nanoseconds, and writes its output to `out`. The first ends it. */
export function loopSubjects(
  command: string,
  args: readonly string[],
  out: string,
  asked: readonly Asked[],
): Subject[] {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (line: string): Promise<number> => {
    child.stdin.write(`${line}\n`);
    const answer = await answers.next();
    if (answer.done === true) throw new Error(`${command} stopped at ${line}`);
    return Number(answer.value);
  };
  return asked.map(({ subject, threads, what, hasOutput }, k) => ({
    subject,
    threads,
    run: async () => (await ask(`${what} ${threads}`)) / 1e6,
    ...(hasOutput
      ? {
          async output() {
            await ask(`dump ${out}`);
            return readFileSync(out);
          },
        }
      : {}),
    ...(k === 0
      ? {
          close() {
            child.kill();
          },
        }
      : {}),
  }));
}
