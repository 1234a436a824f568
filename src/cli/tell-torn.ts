import { counted } from "../../ir/index.js";
import { note } from "./terminal.js";

/**
 * Prints a note that incomplete lines of a records file are skipped. `torn`: number of incomplete lines;
 * nothing is printed for 0.
 */
export function tellTorn(file: string, torn: number): void {
  const [were, are] = torn === 1 ? ["was", "is"] : ["were", "are"];
  if (torn > 0) note(`${file}: ${counted(torn, "line")} that ${were} torn ${are} skipped`);
}
