/** Files of the modules of several programs in a folder. */
import { at } from "../../ir/index.js";
import { fileNames } from "../formats/file-names.js";

/**
 * Returns the file of each program, without an ending, as a function of its name. `index` is the folder's own file. The files depend on the
 * set of names and not on their order.
 */
export function moduleStems(programs: readonly string[]): (program: string) => string {
  const names = [...new Set(programs)].sort();
  const [, ...stems] = fileNames(["index", ...names]);
  return (program) => at(stems, names.indexOf(program));
}
