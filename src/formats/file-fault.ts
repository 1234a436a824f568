/** Errors of the platform over files as diagnostics (TC010): the reason in words, and a hint that fits it. */
import { CompileError, error, type Diagnostic } from "../../ir/diagnostic.js";
import { shellWord } from "./shell-word.js";

interface Fault {
  readonly reason: string;
  readonly hint: string;
}

/** Hint for a path at which there is no file. */
export const checkPath = "check the path; a relative path starts at the current folder";
const permission = "check the permissions of the file and of its folder";

/** Reasons and hints by the platform's name of the error. */
const faults: ReadonlyMap<string, Fault> = new Map([
  ["ENOENT", { reason: "no such file", hint: checkPath }],
  ["EISDIR", { reason: "it is a folder", hint: "name a file" }],
  [
    "ENOTDIR",
    { reason: "a part of its path is a file", hint: "check the path: a file cannot contain other files" },
  ],
  ["EEXIST", { reason: "a file of that name is there", hint: "name a folder, or remove the file" }],
  ["EACCES", { reason: "permission denied", hint: permission }],
  ["EPERM", { reason: "operation not permitted", hint: permission }],
  [
    "EROFS",
    { reason: "its file system is read-only", hint: "name a file on a file system that can be written" },
  ],
  [
    "ENOSPC",
    { reason: "no space left on the device", hint: "free space on it, or name a file on another device" },
  ],
  ["EDQUOT", { reason: "the disk quota is used up", hint: "free space, or name a file on another device" }],
  [
    "EFBIG",
    { reason: "it would be longer than a file may be", hint: "raise the limit: ulimit -f unlimited" },
  ],
  ["ELOOP", { reason: "its symbolic links go round in circles", hint: "remove one of the links" }],
  ["ENAMETOOLONG", { reason: "its name is too long", hint: "give it a shorter name" }],
  ["EBUSY", { reason: "it is in use", hint: "name another file" }],
]);

/**
 * Returns the error code of a thrown platform error, for example `ENOENT`; "" if the thrown value has no
 * code.
 */
export const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";

/**
 * Returns a phrase that says why the platform could not read or write a file. `thrown`: the platform's error.
 */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  // The rest of a message of the platform names the call and its paths.
  return faults.get(codeOf(thrown))?.reason ?? thrown.message.replace(/^(E\w+: [^,]+),.*$/s, "$1");
}

/** Returns what to do where the platform could not read or write a file. `thrown`: the platform's error. */
export const hintOf = (thrown: unknown): string => faults.get(codeOf(thrown))?.hint ?? checkPath;

/**
 * Returns an error (TC010) for a file that could not be read or written, or a folder that could not be
 * created (`make`). `thrown`: the platform's error; a CompileError is returned unchanged.
 */
export function fileFault(file: string, verb: "read" | "write" | "make", thrown: unknown): CompileError {
  if (thrown instanceof CompileError) return thrown;
  return new CompileError([faultOf(file, verb, reasonOf(thrown), hintOf(thrown))]);
}

/**
 * Returns an error (TC010) with the message `cannot VERB FILE: REASON`. `verb`: the failed action. An empty
 * file name, as from a shell variable without a value, is the reason itself.
 */
export const faultOf = (file: string, verb: string, reason: string, hint: string): Diagnostic =>
  file === ""
    ? error("TC010", `cannot ${verb} "": the name is empty`, { hint: "name a file" })
    : error("TC010", `cannot ${verb} ${file}: ${reason}`, { hint });

/**
 * Returns an error (TC010) for a file that cannot be written, or a folder that cannot be created (`make`),
 * because the parent `folder` does not exist.
 */
export const withoutFolder = (file: string, verb: "write" | "make", folder: string): CompileError =>
  new CompileError([faultOf(file, verb, `there is no folder ${folder}`, `mkdir -p ${shellWord(folder)}`)]);
