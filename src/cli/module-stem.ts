/** The name of a program's module in a folder, without an ending: `index` is the folder's own. */
export const moduleStem = (program: string): string => (program === "index" ? "index_" : program);
