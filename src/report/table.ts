/** Tables on a terminal. */
import { getBorderCharacters, table as drawn } from "table";

type Rows = readonly (readonly (string | number)[])[];

/** Columns of text are not folded further. */
const narrowest = 8;
const gap = 2;

/**
 * Returns a table as plain text without borders; columns of numbers are right-aligned. `width`: maximum width
 * in characters, for which text columns are wrapped.
 */
export function table(head: readonly string[], rows: Rows, width?: number): string {
  const shown = (cell: string | number): string =>
    // Control characters, which no cell may hold, come with the names of files.
    typeof cell === "number" ? cell.toLocaleString("en") : cell.replaceAll(/\p{Cc}/gu, " ");
  const cells = [[...head], ...rows.map((row) => row.map(shown))];
  const isNumeric = head.map(
    (_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number"),
  );
  const widths = width === undefined ? undefined : foldedWidths(cells, isNumeric, width);
  const text = drawn(cells, {
    border: getBorderCharacters("void"),
    columnDefault: { paddingLeft: 0, paddingRight: gap },
    columns: isNumeric.map((numeric, column) => ({
      alignment: numeric ? "right" : "left",
      ...(widths === undefined ? {} : { width: widths[column] ?? 1, wrapWord: true }),
    })),
    drawHorizontalLine: () => false,
  });
  return text.replaceAll(/ +$/gm, "").trimEnd();
}

/**
 * Returns the width of each column in characters, reduced to a total of `width` characters if possible. Text
 * columns become no narrower than 8 characters; number columns are not reduced.
 */
function foldedWidths(
  cells: readonly (readonly string[])[],
  isNumeric: readonly boolean[],
  width: number,
): readonly number[] {
  const widths = isNumeric.map((_, column) => Math.max(1, ...cells.map((row) => row[column]?.length ?? 0)));
  let over = widths.reduce((sum, one) => sum + one + gap, -gap) - width;
  for (; over > 0; over--) {
    const text = widths.flatMap((textWidth, column) =>
      isNumeric[column] === true ? [] : [{ textWidth, column }],
    );
    const widest = text.reduce((max, one) => (one.textWidth > max.textWidth ? one : max), {
      textWidth: narrowest,
      column: -1,
    });
    if (widest.column === -1) break;
    widths[widest.column] = widest.textWidth - 1;
  }
  return widths;
}
