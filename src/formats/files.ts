/**
 * Files read with a diagnostic (TC010) instead of an exception of the platform. {@link useOf} knows those of
 * the running command.
 */
import { constants, isUtf8 } from "node:buffer";
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
  type BigIntStats,
} from "node:fs";
import { join } from "node:path";
import { CompileError, error } from "../../ir/diagnostic.js";
import { readStandardInput, standardInput } from "./standard-input.js";
import { fileFault } from "./file-fault.js";

/** The most that Node reads into one buffer. */
const maxFileBytes = 2 ** 31 - 1;
/** Maximum number of bytes read from a pipe or device, which does not state its length and may never end. */
const maxStreamBytes = 2 ** 30;
const chunkBytes = 2 ** 20;

/** Verb phrase that says whether the running command reads a file or has written it, for error messages. */
export type FileUse = "reads" | "has written";

/** The files of the running command, by identity. */
const uses = new Map<string, FileUse>();

/** Returns the device and inode number of a file, which are the same under all of its names. */
const identityOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

/**
 * Clears the list of files that the present command has read or written. Must be called before another
 * command starts in the process.
 */
export function forgetUses(): void {
  uses.clear();
}

/**
 * Records that the running command reads or has written a file. Pipes, devices and missing files are ignored.
 */
export function noteUse(file: string, use: FileUse): void {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (stat?.isFile() === true) uses.set(identityOf(stat), use);
}

/**
 * Returns the use that the present command has made of a file; undefined if the command has not used the
 * file. `stat`: identifies the file by device and inode number.
 */
export const useOf = (stat: BigIntStats): FileUse | undefined => uses.get(identityOf(stat));

/**
 * Returns the bytes of a file, pipe or device; `-` is the standard input. Throws a CompileError (TC010) if
 * the file cannot be read.
 */
export function readBytes(file: string): Uint8Array {
  try {
    if (file === standardInput) {
      noteUse("/dev/stdin", "reads");
      return readStandardInput();
    }
    const stat = statSync(file, { bigint: true });
    if (!stat.isFile()) return readStream(file);
    uses.set(identityOf(stat), "reads");
    if (stat.size > maxFileBytes) throw tooLong(stat.size, maxFileBytes);
    return new Uint8Array(readFileSync(file));
  } catch (thrown) {
    throw fileFault(file, "read", thrown);
  }
}

/**
 * Returns the text of a file. Bytes that are not valid UTF-8 become U+FFFD. Throws a CompileError (TC010) if
 * the file cannot be read.
 */
export const readText = (file: string): string => textOf(file, readBytes(file));

/**
 * Returns the text of a program file. Throws a CompileError: TC010 if the file cannot be read, TC001 if the
 * contents are binary or not valid UTF-8.
 */
export function readProgramText(file: string): string {
  const bytes = readBytes(file);
  const text = textOf(file, bytes);
  const place = isUtf8(bytes) ? text.indexOf("\0") : text.search(/[\0\ufffd]/);
  if (place === -1) return text;
  const before = text.slice(0, place).split("\n");
  const span = { file, line: before.length, column: (before.at(-1) ?? "").length + 1, length: 1 };
  throw new CompileError([
    error("TC001", "the file is not UTF-8 text", { span, hint: "name a text file, such as x.tir" }),
  ]);
}

function textOf(file: string, bytes: Uint8Array): string {
  const limit = constants.MAX_STRING_LENGTH;
  if (bytes.byteLength > limit) throw fileFault(file, "read", tooLong(bytes.byteLength, limit));
  return new TextDecoder().decode(bytes);
}

/** Returns all bytes of a pipe or device. Throws an error if there are more than 2^30 bytes. */
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

const tooLong = (bytes: number | bigint, limit: number): Error =>
  new Error(`${bytes} bytes are more than the ${limit} that can be read`);

/** Contents of a folder: the real path, and the paths of all entries, sorted by name. */
export interface Folder {
  /** Path with all symbolic links resolved. Two paths to one folder have the same real path. */
  readonly realPath: string;
  /** Paths of the entries, sorted by name. */
  readonly entries: readonly string[];
}

/**
 * Returns the contents of the folder at a path; undefined if the path leads to something other than a folder.
 * Throws a CompileError (TC010) if the path does not exist or cannot be read.
 */
export function readFolder(path: string): Folder | undefined {
  try {
    if (!statSync(path).isDirectory()) return undefined;
    const entries = readdirSync(path)
      .sort()
      .map((name) => join(path, name));
    return { realPath: realpathSync(path), entries };
  } catch (thrown) {
    throw fileFault(path, "read", thrown);
  }
}

/**
 * True if a path leads to a pipe, a socket or a device, where reading may wait for a writer. False if nothing
 * exists at the path.
 */
export function isStream(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && !stat.isFile() && !stat.isDirectory();
}

/** True if a file, folder or device exists at a path. */
export const isThere = (path: string): boolean => existsSync(path);
