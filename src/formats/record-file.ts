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
 * Returns the tuning records in a file. Throws a CompileError: TC010 if the file cannot be read, TC016 if a
 * line is JSON but not a record, or if the file has no record.
 */
export const readRecords = (file: string): ParsedRecords =>
  withRecords(file, parseRecords(readText(file), file));

/**
 * Returns the tuning records in a file, each with its line number. Throws a CompileError: TC010 if the file
 * cannot be read, TC016 if a line is JSON but not a record, or if the file has no record.
 */
export const readPlacedRecords = (file: string): PlacedRecords =>
  withRecords(file, placedRecords(readText(file), file));

function withRecords<T extends ParsedRecords>(file: string, records: T): T {
  if (records.records.length > 0) return records;
  const hint = "write records with: tilec tune --records FILE";
  throw new CompileError([error("TC016", `${file} has no record`, { hint })]);
}

/**
 * Open file of tuning records: the records that it already contained, and a function that appends records.
 */
export interface RecordLog extends ParsedRecords {
  /** Appends a record. Throws a CompileError (TC010). */
  readonly append: (record: TuneRecord) => void;
  readonly close: Appender["close"];
}

/**
 * Opens a file to append tuning records. The result has the records that the file already contains; none for
 * a new file. Throws a RefusedOutput if the file contains anything else.
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
