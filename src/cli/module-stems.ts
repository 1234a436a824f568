/** Files of the modules of several programs in a folder. */
import { at } from "../../ir/index.js";
import { fileNames } from "../formats/file-names.js";

/**
 * Returns a function from a program's name to the stem (name without extension) of its module file. The stem
 * `index` is reserved for the index file. Stems depend on the set of names, not on their order.
 */
export function moduleStems(programs: readonly string[]): (program: string) => string {
  const names = [...new Set(programs)].sort();
  const [, ...stems] = fileNames(["index", ...names]);
  return (program) => at(stems, names.indexOf(program));
}
