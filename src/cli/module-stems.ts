/** Files of the modules of several programs in a folder. */
import { at } from "../../ir/index.js";
import { fileNames } from "../formats/file-names.js";

/**
 * Returns a function from the name of a program to the stem of its file. The stem `index` is reserved for the
 * file of the folder. Stems depend on the set of names and not on their order.
 */
export function moduleStems(programs: readonly string[]): (program: string) => string {
  const names = [...new Set(programs)].sort();
  const [, ...stems] = fileNames(["index", ...names]);
  return (program) => at(stems, names.indexOf(program));
}
