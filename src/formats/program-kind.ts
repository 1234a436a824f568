/** Kinds of files that hold programs. */
import { readBytes } from "./files.js";
import { standardInput } from "./standard-input.js";

/** Kind of a file that holds programs. */
export type ProgramKind = "tir" | "json" | "onnx" | "mlir";

const endings = ["json", "onnx", "mlir"] as const satisfies readonly ProgramKind[];

/**
 * Returns the kind of program in a file: by the file name's extension, or for standard input by its contents.
 * The kind is `tir` unless another one is recognized. Throws a CompileError (TC010) if standard input cannot
 * be read.
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
