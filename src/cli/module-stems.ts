/** Files of the modules of several programs in a folder. */
import { at } from "../../ir/index.js";
import { fileNames } from "../formats/file-names.js";

/**
 * Returns a function from a program's name to the stem (file name without extension) of the program's module
 * file. The order of `programs` does not matter.
 */
export function moduleStems(programs: readonly string[]): (program: string) => string {
  const names = [...new Set(programs)].sort();
  const [, ...stems] = fileNames(["index", ...names]);
  return (program) => at(stems, names.indexOf(program));
}
