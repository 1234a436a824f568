/** Files read with a diagnostic (TC010) instead of an exception of the platform. {@link useOf} knows those of the running command. */
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
/** Of a pipe or device, which does not say how much it holds and may never end. */
const maxStreamBytes = 2 ** 30;
const chunkBytes = 2 ** 20;

/** Use that the running command has made of a file, as a verb. */
export type FileUse = "reads" | "has written";

/** The files of the running command, by identity. */
const uses = new Map<string, FileUse>();

/** Device and number of a file: the same under each of its names. */
const identityOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

/** Starts a command, which has neither read nor written a file yet. */
export function forgetUses(): void {
  uses.clear();
}

/** Notes a file that the command has written, or that Node reads for it. Pipes and devices are none. */
export function noteUse(file: string, use: FileUse): void {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (stat?.isFile() === true) uses.set(identityOf(stat), use);
}

/** Returns the use that the running command has made of a file, under whatever name; undefined for none. */
export const useOf = (stat: BigIntStats): FileUse | undefined => uses.get(identityOf(stat));

/** Returns the bytes of a file, pipe or device. Throws a CompileError (TC010). */
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

/** Returns the text of a file, with U+FFFD for each byte that is no text. Throws a CompileError (TC010). */
export const readText = (file: string): string => textOf(file, readBytes(file));

/** Returns the text of a program. Throws a CompileError: TC010, and TC001 for a binary file. */
export function readProgramText(file: string): string {
  const bytes = readBytes(file);
  const text = textOf(file, bytes);
  const place = isUtf8(bytes) ? text.indexOf("\0") : text.search(/[\0\ufffd]/);
  if (place === -1) return text;
  const before = text.slice(0, place).split("\n");
  const span = { file, line: before.length, column: (before.at(-1) ?? "").length + 1, length: 1 };
  throw new CompileError([
    error("TC001", "the file is no text in UTF-8", { span, hint: "name a text, such as a .tir file" }),
  ]);
}

function textOf(file: string, bytes: Uint8Array): string {
  const limit = constants.MAX_STRING_LENGTH;
  if (bytes.byteLength > limit) throw fileFault(file, "read", tooLong(bytes.byteLength, limit));
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

const tooLong = (bytes: number | bigint, limit: number): Error =>
  new Error(`${bytes} bytes are more than the ${limit} that can be read`);

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
    throw fileFault(path, "read", thrown);
  }
}

/** Whether a pipe, a socket or a device is there: reading one waits for whoever writes. */
export function isStream(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && !stat.isFile() && !stat.isDirectory();
}

export const isThere = (path: string): boolean => existsSync(path);
