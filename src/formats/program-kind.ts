/** Kinds of files that hold programs. */
import { readBytes } from "./files.js";
import { standardInput } from "./standard-input.js";

/** Format of a file that contains programs: tile IR text, JSON, ONNX or MLIR. */
export type ProgramKind = "tir" | "json" | "onnx" | "mlir";

const endings = ["json", "onnx", "mlir"] as const satisfies readonly ProgramKind[];

/**
 * Returns the format of a program file from the file name's extension, or from the contents for the standard
 * input. The default is `tir`. Throws a CompileError (TC010) if the standard input cannot be read.
 */
export function programKind(file: string): ProgramKind {
  if (file !== standardInput) return endings.find((ending) => file.endsWith(`.${ending}`)) ?? "tir";
  const bytes = readBytes(file);
  // A model begins with the field of a version, and has bytes that no text has.
  if (bytes.subarray(0, 65_536).some((byte) => byte < 9 || (byte > 13 && byte < 32))) return "onnx";
  const text = new TextDecoder().decode(bytes);
  if (/^\s*[{[]/.test(text)) return "json";
  return /^\s*(?:module\b|func\.func\b)|\bstablehlo\./m.test(text) ? "mlir" : "tir";
}
