/** Loops in other languages, each in a process that runs one when told. */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { packageFile } from "../src/device/package-files.js";
import type { Subject } from "./rows.js";

/** Returns a folder of its own for a benchmark's files. */
const newFolder = (): string => mkdtempSync(join(tmpdir(), "tilec-bench-"));

/** Executable compiled from a C file of `bench/`. `remove` deletes the temporary folder of the executable. */
export interface Compiled {
  readonly binary: string;
  remove(): void;
}

/**
 * Compiles a C file of `bench/` and returns the executable. Returns undefined and prints a line on stderr if
 * `cc` is missing or fails.
 */
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

/**
 * Input tensors written to files in a temporary folder. `out` is the path to which another process writes the
 * output. `remove` deletes the folder.
 */
export interface InputFiles {
  /** Paths of the files, in the order of the inputs. */
  readonly paths: readonly string[];
  readonly out: string;
  remove(): void;
}

/** Writes input tensors to files in a temporary folder and returns the paths. `remove` deletes the folder. */
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

/**
 * Description of a benchmark loop that another process runs: name, threads, and the word that selects the
 * loop in a request to the process (`what`). `hasOutput` is true if the loop has an output to verify.
 */
export interface Asked extends Pick<Subject, "subject" | "threads"> {
  readonly what: string;
  readonly hasOutput: boolean;
}

/**
 * Starts a process that runs benchmark loops, and returns a {@link Subject} (implementation to measure) for
 * each loop in `asked`. `close` of the first subject ends the process.
 */
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
