/**
 * Files that a command writes beside what it prints. One that cannot be written costs itself: the rest of the
 * command goes on.
 */
import { join } from "node:path";
import type { Command } from "commander";
import { CompileError, type Diagnostic } from "../../ir/diagnostic.js";
import { isBug } from "../../ir/faults.js";
import { noteUse } from "../formats/files.js";
import type { OutputFormat } from "../output/mark.js";
import { checkOutput, makeFolder, RefusedOutput, startOutput, writeOutput } from "../output/write-file.js";
import { ofProgram } from "./loaded-program.js";
import { printDiagnostics } from "./terminal.js";

/** Value of the flag `--force`, which allows a command to overwrite files that tilec did not write. */
export interface OutputFlags {
  readonly force?: boolean;
}

/**
 * Adds the flag `--force`, which allows overwriting files that tilec did not write, to a command. Returns the
 * command.
 */
export const addForce = (command: Command): Command =>
  command.optionsGroup("Output:").option("--force", "write over files that tilec did not write");

/** Writer of output files into one folder. The folder is created with the first file. */
export interface OutputFolder {
  /**
   * Writes a file and returns its path; undefined if the file is not written. After a failure of the folder
   * or its disk, no other file is written.
   */
  readonly write: (name: string, contents: Uint8Array | string, format: OutputFormat) => string | undefined;
}

/**
 * Writer of all output files of one command. If a file cannot be written, the writer records a diagnostic and
 * throws no error.
 */
export class Outputs {
  /** Diagnostics about files that were not written and programs that have no output file. */
  readonly diagnostics: Diagnostic[] = [];

  /** `by`: name of the command, which the mark in a written file states. */
  constructor(
    private readonly by: string,
    private readonly flags: OutputFlags,
  ) {}

  /** Throws a CompileError (TC010) for a file that would be refused, so that no work is done first. */
  check(file: string | undefined, format: OutputFormat): void {
    if (file !== undefined) checkOutput(file, { ...this.flags, format });
  }

  /** Returns true for a file that is written. One that is not is told, as an error. */
  write(file: string, contents: Uint8Array | string, format: OutputFormat): boolean {
    return this.attempt(() => {
      this.put(file, contents, format);
    });
  }

  private put(file: string, contents: Uint8Array | string, format: OutputFormat): void {
    writeOutput(file, contents, { ...this.flags, format, by: this.by });
    noteUse(file, "has written");
  }

  /** Begins a file that grows. Throws a CompileError (TC010). */
  start(file: string, contents: string, format: OutputFormat): void {
    startOutput(file, contents, { ...this.flags, format, by: this.by });
    noteUse(file, "has written");
  }

  /** Returns a folder's files; the folder, in one that is there, is made with the first. */
  folder(path: string): OutputFolder {
    let usable: boolean | undefined;
    return {
      write: (name, contents, format) => {
        usable ??= this.attempt(() => {
          makeFolder(path);
        });
        if (!usable) return undefined;
        const file = join(path, name);
        const written = this.attempt(
          () => {
            this.put(file, contents, format);
          },
          (thrown) => {
            usable = thrown instanceof RefusedOutput;
          },
        );
        return written ? file : undefined;
      },
    };
  }

  /** Runs an action on a file; what it throws of the file is told. */
  attempt(action: () => void, onFailure?: (thrown: CompileError) => void): boolean {
    try {
      action();
      return true;
    } catch (thrown) {
      if (!(thrown instanceof CompileError)) throw thrown;
      this.refuse(thrown.diagnostics);
      onFailure?.(thrown);
      return false;
    }
  }

  /**
   * Returns what is made of each of some programs. One that is refused is told and costs no other; where
   * nothing is made, rejects with a CompileError of why.
   */
  async each<Program extends { readonly name: string }, Made>(
    programs: readonly Program[],
    make: (program: Program) => Promise<Made>,
  ): Promise<readonly Made[]> {
    const made: Made[] = [];
    const refused: Diagnostic[] = [];
    for (const program of programs) {
      try {
        made.push(await make(program));
      } catch (thrown) {
        if (!(thrown instanceof CompileError)) throw thrown;
        refused.push(
          ...(programs.length > 1 ? ofProgram(program.name, thrown.diagnostics) : thrown.diagnostics),
        );
      }
    }
    if (made.length === 0 && refused.length > 0) throw new CompileError(refused);
    this.refuse(refused);
    return made;
  }

  /** Tells of what is not written, as errors; the rest of the command goes on. */
  refuse(diagnostics: readonly Diagnostic[]): void {
    printDiagnostics(diagnostics);
    this.diagnostics.push(...diagnostics);
  }

  /** Returns what a JSON document says of what is not written. */
  refusals(): { readonly diagnostics?: readonly Diagnostic[] } {
    return this.diagnostics.length === 0 ? {} : { diagnostics: this.diagnostics };
  }

  /** Returns an exit code: 1 in the place of 0 where something is not written, and 3 where a bug is why. */
  status(code: number): number {
    if (code !== 0 || this.diagnostics.length === 0) return code;
    return this.diagnostics.some(isBug) ? 3 : 1;
  }
}
