/** Files of the modules of several programs in a folder. */
import { at } from "../../ir/index.js";
import { fileNames } from "../formats/file-names.js";

/** Returns the name of each program's file, without an ending. `index` is the folder's own; which names there are decides, not their order. */
export function moduleStems(programs: readonly string[]): ReadonlyMap<string, string> {
  const names = [...new Set(programs)].sort();
  const [, ...stems] = fileNames(["index", ...names]);
  return new Map(names.map((name, k) => [name, at(stems, k)]));
}
