/** Tables on a terminal. */
import { getBorderCharacters, table as drawn } from "table";

/** A plain table without borders; columns of numbers line up on the right. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const shown = (cell: string | number): string =>
    // Control characters, which no cell may hold, come with the names of files.
    typeof cell === "number" ? cell.toLocaleString("en") : cell.replaceAll(/\p{Cc}/gu, " ");
  const text = drawn([[...head], ...rows.map((row) => row.map(shown))], {
    border: getBorderCharacters("void"),
    columnDefault: { paddingLeft: 0, paddingRight: 2 },
    columns: head.map((_, column) => ({
      alignment: rows.every((row) => typeof row[column] === "number") ? "right" : "left",
    })),
    drawHorizontalLine: () => false,
  });
  return text.replaceAll(/ +$/gm, "").trimEnd();
}
