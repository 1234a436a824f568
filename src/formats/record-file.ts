/**
 * Files of records: read whole, written a line at a time, so that whoever is killed loses the line in flight
 * at most.
 */
import { CompileError, error } from "../../ir/index.js";
import { recordAppender, type Appender } from "../output/write-file.js";
import type { TuneRecord } from "../tune/records/record.js";
import {
  parseRecords,
  placedRecords,
  recordLine,
  type ParsedRecords,
  type PlacedRecords,
} from "../tune/records/text.js";
import { isStream, isThere, readText } from "./files.js";

/**
 * Returns the tuning records in a file. Throws a CompileError: TC010 if the file cannot be read, TC016 for a
 * line that is JSON but not a record, or for a file without records.
 */
export const readRecords = (file: string): ParsedRecords =>
  withRecords(file, parseRecords(readText(file), file));

/**
 * Returns the tuning records in a file with line numbers. Throws a CompileError: TC010 if the file cannot be
 * read, TC016 for a line that is JSON but not a record, or for a file without records.
 */
export const readPlacedRecords = (file: string): PlacedRecords =>
  withRecords(file, placedRecords(readText(file), file));

function withRecords<T extends ParsedRecords>(file: string, records: T): T {
  if (records.records.length > 0) return records;
  const hint = "write records with: tilec tune --records FILE";
  throw new CompileError([error("TC016", `${file} has no record`, { hint })]);
}

/** Open file of tuning records: the records already in the file, and a function that appends records. */
export interface RecordLog extends ParsedRecords {
  /** Appends a record. Throws a CompileError (TC010). */
  readonly append: (record: TuneRecord) => void;
  readonly close: Appender["close"];
}

/**
 * Opens a file for appending tuning records. Returns the functions that append a record and close the file,
 * and the records that the file already has. Throws a RefusedOutput if the file contains anything other than
 * records.
 */
export function openRecords(file: string): RecordLog {
  const { append, close } = recordAppender(file);
  const before =
    isThere(file) && !isStream(file) ? parseRecords(readText(file), file) : { records: [], torn: 0 };
  return {
    ...before,
    append(record) {
      append(recordLine(record));
    },
    close,
  };
}
