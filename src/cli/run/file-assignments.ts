/** Values of flags of the form `name=file`. */
import { UsageError } from "../usage-error.js";

/**
 * Parses a list of `name=file` pairs into a map from name to file. Throws a UsageError for a malformed pair,
 * an unknown name, or a repeated name.
 */
export function fileAssignments(
  list: readonly string[],
  flag: "input" | "out",
  names: readonly string[],
): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const entry of list) {
    const split = entry.indexOf("=");
    const name = entry.slice(0, Math.max(0, split));
    if (!names.includes(name) || split === entry.length - 1) {
      const pair = name !== "" && split < entry.length - 1;
      const what = pair
        ? `names no ${flag === "input" ? "input" : "output"} of the program`
        : "is not name=file";
      throw new UsageError(
        `--${flag} ${entry} ${what}`,
        names.map((n) => `--${flag} ${n}=file.npy`).join(" "),
      );
    }
    if (files.has(name)) throw new UsageError(`--${flag} ${name} is given twice`);
    files.set(name, entry.slice(split + 1));
  }
  return files;
}
