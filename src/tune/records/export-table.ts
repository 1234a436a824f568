/** A table of ranges for a kernel library: a JSON array, or a C header with the same fields. */
import { defined, formatEntry, type EntryValue } from "../../../ir/index.js";
import type { Piece, TableRecord } from "../../api/pieces.js";

const entriesOf = ({ from, to, schedule }: Piece) => {
  const { tile, view, order, buffers, residency, lowering } = schedule;
  return { from, to, tile, view, order, buffers, residency, ...defined({ lowering }) };
};

/**
 * Formats a table of schedules as JSON, with one object for each range of the dynamic size: `[{from, to,
 * tile, view, order, buffers, residency, lowering?}]`. Sizes and extents are in elements.
 */
export const tableJson = ({ pieces }: TableRecord): string => JSON.stringify(pieces.map(entriesOf), null, 2);

/**
 * Returns a C header with a constant array of schedules, one for each range of the dynamic size. `lowering`
 * is "" if the compiler chooses the lowering. `name` is the name of the program.
 */
export function tableHeader({ pieces, symbol, target, clock }: TableRecord, name: string): string {
  const rows = pieces.map(entriesOf);
  const list = (values: readonly number[]): string => `{${values.join(", ")}}`;
  const text = (value: EntryValue | undefined): string =>
    `"${value === undefined ? "" : formatEntry(value)}"`;
  const [tiles, views, orders] = (["tile", "view", "order"] as const).map(
    (key) => rows[0]?.[key].length ?? 0,
  );
  const guard = `TILEC_TABLE_${name}_H`;
  return [
    `/* @${name} on ${target}, by cycles of clock ${clock}: a schedule for each range of ${symbol}, in elements. */`,
    `#ifndef ${guard}`,
    `#define ${guard}`,
    "",
    `static const struct {`,
    `  long from, to;`,
    `  long tile[${tiles}], view[${views}], order[${orders}];`,
    `  const char *buffers, *residency, *lowering;`,
    `} tilec_table_${name}[] = {`,
    ...rows.map(({ from, to, tile, view, order, buffers, residency, lowering }) => {
      const words = [buffers, residency, lowering].map(text).join(", ");
      return `  {${from}, ${to}, ${list(tile)}, ${list(view)}, ${list(order)}, ${words}},`;
    }),
    `};`,
    "",
    `#endif`,
  ].join("\n");
}
