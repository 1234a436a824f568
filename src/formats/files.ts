/** Files read and written with a diagnostic (TC010) instead of an exception of the platform. */
import { constants } from "node:buffer";
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { CompileError, error } from "../../ir/diagnostic.js";
import { readStandardInput, standardInput } from "./standard-input.js";

/** The most that Node reads into one buffer. */
const maxFileBytes = 2 ** 31 - 1;
/** Of a pipe or device, which does not say how much it holds and may never end. */
const maxStreamBytes = 2 ** 30;
const chunkBytes = 2 ** 20;

export function readBytes(file: string): Uint8Array {
  try {
    if (file === standardInput) return readStandardInput();
    const stat = statSync(file);
    if (!stat.isFile()) return readStream(file);
    if (stat.size > maxFileBytes) throw tooLong(stat.size, maxFileBytes);
    return new Uint8Array(readFileSync(file));
  } catch (thrown) {
    throw unreadable(file, "read", thrown);
  }
}

export function readText(file: string): string {
  const bytes = readBytes(file);
  const most = constants.MAX_STRING_LENGTH;
  if (bytes.byteLength > most) throw unreadable(file, "read", tooLong(bytes.byteLength, most));
  return new TextDecoder().decode(bytes);
}

function readStream(file: string): Uint8Array {
  const descriptor = openSync(file, "r");
  try {
    const chunks: Uint8Array[] = [];
    for (let total = 0; ;) {
      const chunk = new Uint8Array(chunkBytes);
      const length = readSync(descriptor, chunk, 0, chunkBytes, null);
      if (length === 0) return new Uint8Array(Buffer.concat(chunks));
      total += length;
      if (total > maxStreamBytes) throw tooLong(total, maxStreamBytes);
      chunks.push(chunk.slice(0, length));
    }
  } finally {
    closeSync(descriptor);
  }
}

const tooLong = (bytes: number, most: number): Error =>
  new Error(`${bytes} bytes are more than the ${most} that can be read`);

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

/** Appends a line in one piece. A last line without an end, whose writer was stopped, is ended first. */
export function appendLine(file: string, line: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const descriptor = openSync(file, "a+");
    try {
      const { size } = fstatSync(descriptor);
      const last = Buffer.alloc(1);
      if (size > 0) readSync(descriptor, last, 0, 1, size - 1);
      const torn = size > 0 && last.toString() !== "\n";
      writeSync(descriptor, `${torn ? "\n" : ""}${line}`);
    } finally {
      closeSync(descriptor);
    }
  } catch (thrown) {
    throw unreadable(file, "write", thrown);
  }
}

/** Whether a pipe, a socket or a device is there: reading one waits for whoever writes. */
export function isStream(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && !stat.isFile() && !stat.isDirectory();
}

export const isThere = (path: string): boolean => existsSync(path);

const reasons: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "no such file"],
  ["EISDIR", "it is a folder"],
  ["EACCES", "permission denied"],
  ["ENOSPC", "no space left on the device"],
  ["ELOOP", "its symbolic links go round in circles"],
]);

/** Why the platform could not read or write. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return reasons.get("code" in thrown ? String(thrown.code) : "") ?? thrown.message;
}

function unreadable(file: string, verb: string, thrown: unknown): CompileError {
  return new CompileError([
    error("TC010", `cannot ${verb} ${file}: ${reasonOf(thrown)}`, {
      hint: "check the path; paths are relative to where you stand",
    }),
  ]);
}
