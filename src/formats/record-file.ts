/** Files of records: read whole, written a line at a time, so that whoever is killed loses the line in flight at most. */
import type { TuneRecord } from "../tune/records/record.js";
import {
  parseRecords,
  placedRecords,
  recordLine,
  type ParsedRecords,
  type PlacedRecords,
} from "../tune/records/text.js";
import { appendLine, isThere, readText } from "./files.js";

export const readRecords = (file: string): ParsedRecords => parseRecords(readText(file), file);

/** With the line of each. */
export const readPlacedRecords = (file: string): PlacedRecords => placedRecords(readText(file), file);

/** What a file holds; nothing where there is none yet. */
export const readRecordsIfAny = (file: string): ParsedRecords =>
  isThere(file) ? readRecords(file) : { records: [], torn: 0 };

export function appendRecord(file: string, record: TuneRecord): void {
  appendLine(file, recordLine(record));
}
