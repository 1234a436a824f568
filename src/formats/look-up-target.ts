/** Targets by name or file. */
import { findTarget, type Target } from "../../ir/index.js";
import { readText } from "./files.js";
import { parseTargetFile } from "./target-file.js";

/**
 * Returns a target by name, or reads a target file if the name ends in .json; undefined if there is no target
 * of that name. Throws a CompileError if the file cannot be read or is invalid.
 */
export const lookUpTarget = (name: string): Target | undefined =>
  name.endsWith(".json") ? parseTargetFile(readText(name), name) : findTarget(name);
