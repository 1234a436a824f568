/** Files read and written with a diagnostic (TC010) instead of an exception of the platform. */
import { mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CompileError, error } from "../../ir/index.js";

/** Files beyond this are not read into memory: Node's own limit for one buffer. */
const maxFileBytes = 2 ** 32 - 1;

export function readBytes(file: string): Uint8Array {
  try {
    const { size } = statSync(file);
    if (size > maxFileBytes)
      throw new Error(`${size} bytes are more than the ${maxFileBytes} that can be read`);
    return new Uint8Array(readFileSync(file));
  } catch (thrown) {
    throw unreadable(file, "read", thrown);
  }
}

export function readText(file: string): string {
  const bytes = readBytes(file);
  try {
    return new TextDecoder().decode(bytes);
  } catch (thrown) {
    // More than a string can hold.
    throw unreadable(file, "read", thrown);
  }
}

export interface Folder {
  /** Without links: what tells a folder from another. */
  readonly realPath: string;
  /** Paths of what it holds, in the order of their names. */
  readonly entries: readonly string[];
}

/** The folder at a path; undefined where something else is. Throws for a path that leads nowhere. */
export function readFolder(path: string): Folder | undefined {
  try {
    if (!statSync(path).isDirectory()) return undefined;
    const entries = readdirSync(path)
      .sort()
      .map((name) => join(path, name));
    return { realPath: realpathSync(path), entries };
  } catch (thrown) {
    throw unreadable(path, "read", thrown);
  }
}

export function writeBytes(file: string, contents: Uint8Array | string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, contents);
  } catch (thrown) {
    throw unreadable(file, "write", thrown);
  }
}

function unreadable(file: string, verb: string, thrown: unknown): CompileError {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "no such file",
    EISDIR: "it is a folder",
    EACCES: "permission denied",
    ELOOP: "its symbolic links go round in circles",
  };
  const reason = reasons[code] ?? (thrown instanceof Error ? thrown.message : String(thrown));
  return new CompileError([
    error("TC010", `cannot ${verb} ${file}: ${reason}`, {
      hint: "check the path; paths are relative to where you stand",
    }),
  ]);
}
