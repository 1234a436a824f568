/** The entries that a search chooses, as tables of schedules show them. */
import { formatEntry, formatShape, type ResolvedSchedule, type SearchedEntry } from "../../ir/index.js";

type Cells = { readonly [K in SearchedEntry]: (value: ResolvedSchedule[K]) => string };

const cells: Cells = {
  tile: formatShape,
  residency: formatEntry,
  view: formatShape,
  order: formatShape,
  buffers: formatEntry,
};

/** Heads of the columns. */
export const searchedColumns = Object.keys(cells) as readonly SearchedEntry[];

/** One column of one schedule. */
export const searchedCell = <K extends SearchedEntry>(key: K, schedule: Pick<ResolvedSchedule, K>): string =>
  cells[key](schedule[key]);

/** Every column of one schedule. */
export const searchedCells = (schedule: Pick<ResolvedSchedule, SearchedEntry>): readonly string[] =>
  searchedColumns.map((key) => searchedCell(key, schedule));
