import { counted } from "../../ir/index.js";
import { note } from "./terminal.js";

/**
 * Prints a note that incomplete lines of a file of records are skipped. `torn` is the number of these lines;
 * no note for 0.
 */
export function tellTorn(file: string, torn: number): void {
  const [were, are] = torn === 1 ? ["was", "is"] : ["were", "are"];
  if (torn > 0) note(`${file}: ${counted(torn, "line")} that ${were} torn ${are} skipped`);
}
