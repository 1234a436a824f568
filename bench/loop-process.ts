/** Loops in other languages, each in a process that runs one when told. */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { packageFile } from "../src/device/package-files.js";
import type { Subject } from "./rows.js";

/** A folder of its own for a benchmark's files. */
const newFolder = (): string => mkdtempSync(join(tmpdir(), "tilec-bench-"));

/** A compiled file of bench/. */
export interface Compiled {
  readonly binary: string;
  remove(): void;
}

/** Compiles a file of bench/ for this machine. Undefined, with a line on stderr, where no C compiler takes it. */
export function compileC(file: string): Compiled | undefined {
  const folder = newFolder();
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  const binary = join(folder, "loops");
  // Each operation rounds by itself, as it does in every other subject.
  const flags = ["-O3", "-march=native", "-ffp-contract=off", "-pthread"];
  try {
    execFileSync("cc", [...flags, "-o", binary, packageFile(`bench/${file}`)], { stdio: "ignore" });
    return { binary, remove };
  } catch {
    remove();
    console.error(`no C compiler on the path takes bench/${file}: the loops in C are left out`);
    return undefined;
  }
}

/** Inputs as files in a folder, for processes. */
export interface InputFiles {
  /** In the order of the inputs. */
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

/** A subject, and the loop that its process is asked for. */
export interface Asked extends Pick<Subject, "subject" | "threads"> {
  readonly what: string;
  readonly hasOutput: boolean;
}

/** Subjects of one process. It answers each request with nanoseconds, and writes its output to `out`. Closing the first subject ends it. */
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
