/** Tables on a terminal. */
import Table from "cli-table3";

/** A plain table without borders; columns of numbers line up on the right. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const blank = {
    mid: "",
    "left-mid": "",
    "mid-mid": "",
    "right-mid": "",
    left: "",
    right: "",
    middle: "  ",
  };
  const edges = { top: "", "top-mid": "", "top-left": "", "top-right": "" };
  const bottom = { bottom: "", "bottom-mid": "", "bottom-left": "", "bottom-right": "" };
  const numeric = head.map((_, column) => rows.every((row) => typeof row[column] === "number"));
  const drawn = new Table({
    head: [...head],
    chars: { ...edges, ...bottom, ...blank },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colAligns: numeric.map((right) => (right ? "right" : "left")),
  });
  drawn.push(
    ...rows.map((row) => row.map((cell) => (typeof cell === "number" ? cell.toLocaleString("en") : cell))),
  );
  return drawn.toString();
}
