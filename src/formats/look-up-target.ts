/** Targets by name or file. */
import { findTarget, type Target } from "../../ir/index.js";
import { readText } from "./files.js";
import { parseTargetFile } from "./target-file.js";

/** A target by name, or from a file when the name ends in .json; undefined when nobody knows the name. */
export const lookUpTarget = (name: string): Target | undefined =>
  name.endsWith(".json") ? parseTargetFile(readText(name), name) : findTarget(name);
