/**
 * The one module that writes files. A whole file goes to a temporary neighbour, which then takes its place: a
 * reader sees the old file or the new one, and a write that fails changes nothing. Links are followed, modes
 * stay, pipes and devices are written through.
 */
import { isUtf8 } from "node:buffer";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
  type BigIntStats,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { CompileError } from "../../ir/diagnostic.js";
import { codeOf, faultOf, fileFault, withoutFolder } from "../formats/file-fault.js";
import { noteUse, useOf } from "../formats/files.js";
import { headBytes, isRecordLine, latin1, mayReplace, withMark, type OutputFormat } from "./mark.js";
import { uninterrupted } from "./uninterrupted.js";

/** Options for writing an output file as a whole. */
export interface OutputOptions {
  readonly format: OutputFormat;
  /**
   * Command that writes the file, as tilec's mark in the file states it, for example `tune` or `emit wgsl`.
   */
  readonly by: string;
  /** True to replace a file that does not have tilec's mark. */
  readonly force?: boolean;
}

/**
 * Error (TC010) for a file that tilec refuses to write, for example a file that the command reads or that
 * tilec did not create.
 */
export class RefusedOutput extends CompileError {}

/**
 * Throws a {@link RefusedOutput} if {@link writeOutput} would refuse to replace the file. Does not test
 * whether the file can be written.
 */
export function checkOutput(file: string, { format, force }: Pick<OutputOptions, "format" | "force">): void {
  refuse(
    file,
    orNone(() => placeOf(file)),
    format,
    force === true,
  );
}

/**
 * Writes a file as a whole. Throws a {@link RefusedOutput} if an existing file may not be replaced, and a
 * CompileError (TC010) if the file cannot be written.
 */
export function writeOutput(file: string, contents: Uint8Array | string, options: OutputOptions): void {
  const { format, by, force } = options;
  orFault(file, () => {
    const place = placeOf(file);
    refuse(file, place, format, force === true);
    put(place, withMark(contents, format, by));
  });
}

/**
 * Creates or replaces a file to which a {@link lineAppender} will append lines. Throws like {@link
 * writeOutput}.
 */
export function startOutput(file: string, contents: string, options: OutputOptions): void {
  if (contents !== "") writeOutput(file, contents, options);
  else
    orFault(file, () => {
      const place = placeOf(file);
      refuse(file, place, options.format, options.force === true);
      put(place, "");
    });
}

/**
 * Replaces the contents of a file that the command has read. Throws a CompileError (TC010) if the file is not
 * UTF-8 or cannot be written.
 */
export function rewriteInput(file: string, contents: string): void {
  orFault(file, () => {
    const place = placeOf(file);
    if (place.kind === "file" && !isUtf8(readFileSync(place.path)))
      throw new RefusedOutput([
        faultOf(file, "write", "bytes of it are no text in UTF-8", "save it in UTF-8 first"),
      ]);
    put(place, contents);
  });
}

/**
 * Destination of a path: a file, which may not exist yet; a pipe or device; or an open descriptor of this
 * process.
 */
type Place =
  | { readonly kind: "file"; readonly path: string; readonly old: BigIntStats | undefined }
  | { readonly kind: "stream"; readonly path: string }
  | { readonly kind: "descriptor"; readonly descriptor: number };

/** As many as Linux follows. */
const maxLinks = 40;

/**
 * Returns the destination of an output path: a file, a stream or an open descriptor. Symbolic links are
 * followed. Throws the platform's error for a folder, a missing folder or a cycle of links.
 */
function placeOf(file: string): Place {
  // The platform's functions on paths drop it.
  if (file === "" || file.endsWith("/")) throw platformError("EISDIR");
  let path = resolve(file);
  for (let links = 0; links < maxLinks; links++) {
    if (!existsSync(dirname(path))) throw missingFolder(file, path, links);
    path = join(realpathSync(dirname(path)), basename(path));
    const descriptor = descriptorAt(path);
    if (descriptor !== undefined) return { kind: "descriptor", descriptor };
    const old = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (old?.isSymbolicLink() === true) {
      path = resolve(dirname(path), readlinkSync(path));
      continue;
    }
    if (old?.isDirectory() === true) throw platformError("EISDIR");
    const isStream = old?.isFIFO() === true || old?.isCharacterDevice() === true || old?.isSocket() === true;
    return isStream ? { kind: "stream", path } : { kind: "file", path, old };
  }
  throw platformError("ELOOP");
}

/**
 * Returns the descriptor of this process that a path such as `/dev/fd/1` names; undefined for any other path.
 * The command writes to the descriptor at its present position.
 */
function descriptorAt(path: string): number | undefined {
  const [, owner, number] = /^(?:\/proc\/(\d+)|\/dev)\/fd\/(\d+)$/.exec(path) ?? [];
  return number === undefined || (owner !== undefined && Number(owner) !== process.pid)
    ? undefined
    : Number(number);
}

const platformError = (code: string): Error => Object.assign(new Error(code), { code });

/**
 * Returns the error for an output path whose folder does not exist. `file`: path that the user gave. `path`:
 * path after `links` symbolic links were followed. The error names the folder of `path`; if `links` is 0, the
 * folder of `file`.
 */
function missingFolder(file: string, path: string, links: number): Error {
  const folder = links === 0 ? dirname(file) : dirname(path);
  try {
    statSync(folder);
  } catch (thrown) {
    if (codeOf(thrown) !== "ENOENT") return thrown as Error;
  }
  return withoutFolder(file, "write", folder);
}

/** Returns the result of an action on a file. Throws a CompileError (TC010) in place of a platform error. */
function orFault<T>(file: string, action: () => T): T {
  try {
    return action();
  } catch (thrown) {
    // A folder that is no longer there, or of a file system that makes no files.
    if (codeOf(thrown) === "ENOENT")
      throw new CompileError([
        faultOf(file, "write", `its folder takes no new files`, "name a file in another folder"),
      ]);
    throw fileFault(file, "write", thrown);
  }
}

/** Returns the result of an action; undefined if the action throws. */
function orNone<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/**
 * Throws a {@link RefusedOutput} if an existing file must not be replaced: the command uses the file, the
 * file is not regular, or tilec's mark is missing. With `force`, the mark is not required.
 */
function refuse(file: string, place: Place | undefined, format: OutputFormat, force: boolean): void {
  if (place?.kind !== "file" || place.old === undefined) return;
  const { path, old } = place;
  const refused = (verb: string, reason: string, hint: string): RefusedOutput =>
    new RefusedOutput([faultOf(file, verb, reason, hint)]);
  const use = useOf(old);
  if (use !== undefined) throw refused("write", `this command ${use} it`, "name another file");
  if (!old.isFile()) throw refused("write", "it is no file", "name a file");
  if (force || old.size === 0n || mayReplace(format, headOf(path))) return;
  throw refused("write over", "tilec did not write it", "name another file, or give --force");
}

/** Returns the first {@link headBytes} bytes of a file as a string of one character for each byte. */
function headOf(path: string): string {
  const descriptor = openSync(path, "r");
  try {
    const head = new Uint8Array(headBytes);
    return latin1(head.subarray(0, readSync(descriptor, head, 0, headBytes, 0)));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes contents to the destination of an output path. A file is replaced as a whole; a stream or descriptor
 * is written directly.
 */
function put(place: Place, contents: Uint8Array | string): void {
  switch (place.kind) {
    case "descriptor":
      writeThrough(place.descriptor, contents);
      return;
    case "stream": {
      const descriptor = openSync(place.path, constants.O_WRONLY);
      try {
        writeThrough(descriptor, contents);
      } finally {
        closeSync(descriptor);
      }
      return;
    }
    case "file":
      uninterrupted(() => {
        replace(place.path, place.old, contents);
      });
  }
}

/**
 * Replaces a file atomically through a temporary file and a rename. Owner and mode of the old file are
 * preserved. Throws the platform's error.
 */
function replace(path: string, old: BigIntStats | undefined, contents: Uint8Array | string): void {
  // A neighbour could take the place of a file that may not be written.
  if (old !== undefined) accessSync(path, constants.W_OK);
  const random = Math.random().toString(36).slice(2);
  const temporary = join(dirname(path), `.tilec-${process.pid}-${random}`);
  const descriptor = openSync(temporary, "wx", old === undefined ? 0o666 : 0o600);
  try {
    try {
      writeFileSync(descriptor, contents);
      if (old !== undefined) restoreOwner(descriptor, old);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
  } catch (thrown) {
    rmSync(temporary, { force: true });
    throw thrown;
  }
}

/**
 * Gives a new file the owner and mode of the replaced file. The owner stays unchanged if the process may not
 * set the owner.
 */
function restoreOwner(descriptor: number, { uid, gid, mode }: BigIntStats): void {
  const fresh = fstatSync(descriptor, { bigint: true });
  if (fresh.uid !== uid || fresh.gid !== gid) {
    try {
      fchownSync(descriptor, Number(uid), Number(gid));
    } catch (thrown) {
      // Only root gives files away.
      if (codeOf(thrown) !== "EPERM") throw thrown;
    }
  }
  fchmodSync(descriptor, Number(mode & 0o7777n));
}

const writeThrough = (descriptor: number, contents: Uint8Array | string): void => {
  const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
  for (let written = 0; written < bytes.byteLength;) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (thrown) {
      // A reader that stops early is no error; one that is slow is waited for.
      if (codeOf(thrown) === "EPIPE") return;
      if (codeOf(thrown) !== "EAGAIN") throw thrown;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
};

/** Open file to which several processes may append lines at once. */
export interface Appender {
  /**
   * Appends a line, which ends in "\n", in one piece. Throws a CompileError (TC010) if the line cannot be
   * written.
   */
  readonly append: (line: string) => void;
  readonly close: () => void;
}

/**
 * Returns an appender for a JSON Lines file of tuning records, which is opened with the first line. Throws a
 * {@link RefusedOutput} if the file has contents other than records.
 */
export function recordAppender(file: string): Appender {
  const place = orNone(() => placeOf(file));
  if (place?.kind === "file" && place.old !== undefined && !holdsRecords(place.path, place.old))
    throw new RefusedOutput([
      faultOf(file, "append to", "it has no records", "name another file, such as tune.jsonl"),
    ]);
  return lineAppender(file);
}

/**
 * Returns an appender of lines to a file that the same command has created. The file is opened with the first
 * line.
 */
export function lineAppender(file: string): Appender {
  let opened: Appender | undefined;
  return {
    append(line) {
      orFault(file, () => {
        opened ??= openAppender(placeOf(file));
        opened.append(line);
      });
    },
    close() {
      opened?.close();
    },
  };
}

const holdsRecords = (path: string, old: BigIntStats): boolean =>
  old.isFile() && (old.size === 0n || isRecordLine(headOf(path)));

/**
 * Returns an appender of lines to the destination of an output path: a file, a stream or a descriptor. The
 * destination is opened at once.
 */
function openAppender(place: Place): Appender {
  const ofStream = (descriptor: number): Appender["append"] => {
    return (line) => {
      writeThrough(descriptor, line);
    };
  };
  if (place.kind === "descriptor") return { append: ofStream(place.descriptor), close: () => undefined };
  const isFile = place.kind === "file";
  const descriptor = openSync(place.path, isFile ? "a+" : constants.O_WRONLY);
  if (isFile) noteUse(place.path, "has written");
  const toFile = (line: string): void => {
    appendLine(descriptor, line);
  };
  return {
    append: isFile ? toFile : ofStream(descriptor),
    close() {
      closeSync(descriptor);
    },
  };
}

/**
 * Appends a line in a single write, which is not mixed with writes of other processes. If the file ends in an
 * incomplete line, a line end is written first.
 */
function appendLine(descriptor: number, line: string): void {
  const { size } = fstatSync(descriptor);
  const last = Buffer.alloc(1);
  const torn = size > 0 && readSync(descriptor, last, 0, 1, size - 1) === 1 && last.toString() !== "\n";
  let bytes = Buffer.from(torn ? `\n${line}` : line);
  while (writeSync(descriptor, bytes) < bytes.byteLength) bytes = Buffer.from(`\n${line}`);
}

/**
 * Makes a folder in an existing folder; does nothing if the folder exists. Throws a CompileError (TC010) if
 * the folder cannot be made.
 */
export function makeFolder(path: string): void {
  const isFolder = (): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  try {
    if (!isFolder()) mkdirSync(path);
  } catch (thrown) {
    // Another process may have been first.
    if (codeOf(thrown) === "EEXIST" && isFolder()) return;
    const above = dirname(resolve(path));
    if (codeOf(thrown) !== "ENOENT") throw fileFault(path, "make", thrown);
    if (!existsSync(above)) throw withoutFolder(path, "make", dirname(path));
    const hint = "name a folder elsewhere";
    throw new CompileError([faultOf(path, "make", `${dirname(path)} takes no new folders`, hint)]);
  }
}

/**
 * Creates a new folder in the system's folder for temporary files, and returns the path. `prefix`: start of
 * the folder's name.
 */
export const makeTemporaryFolder = (prefix: string): string => mkdtempSync(join(tmpdir(), prefix));

/** Removes a folder and all contents. A missing folder is no error. */
export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

/** A file of {@link makeFilledFolder}: its name in the folder, its bytes, and whether it is a program. */
export interface FileContent {
  readonly name: string;
  readonly data: Uint8Array;
  readonly executable?: boolean;
}

/**
 * Makes a folder with the given files, in one atomic step. Does nothing if another process has made the
 * folder. Throws the platform's errors.
 */
export function makeFilledFolder(path: string, files: readonly FileContent[]): void {
  makeFolder(dirname(path));
  uninterrupted(() => {
    const fresh = mkdtempSync(`${path}-`);
    try {
      for (const { name, data, executable = false } of files)
        writeFileSync(join(fresh, name), data, { mode: executable ? 0o755 : 0o644 });
      renameSync(fresh, path);
    } catch (thrown) {
      removeFolder(fresh);
      if (!existsSync(path)) throw thrown;
    }
  });
}
