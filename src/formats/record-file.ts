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
 * Returns the records of a file. Throws a CompileError: TC010 if it cannot be read, TC016 for JSON that is no
 * record or a file without a record.
 */
export const readRecords = (file: string): ParsedRecords =>
  withRecords(file, parseRecords(readText(file), file));

/**
 * Returns the records of a file with the line of each. Throws a CompileError: TC010 if it cannot be read,
 * TC016 for JSON that is no record or a file without a record.
 */
export const readPlacedRecords = (file: string): PlacedRecords =>
  withRecords(file, placedRecords(readText(file), file));

function withRecords<T extends ParsedRecords>(file: string, records: T): T {
  if (records.records.length > 0) return records;
  const hint = "records are lines that `tilec tune --records` wrote, or that `tilec records` printed";
  throw new CompileError([error("TC016", `${file} holds no record`, { hint })]);
}

/** Records of a file with a function that appends further ones. */
export interface RecordLog extends ParsedRecords {
  /** Appends a record. Throws a CompileError (TC010). */
  readonly append: (record: TuneRecord) => void;
  readonly close: Appender["close"];
}

/**
 * Opens a file to append records, and returns the records that it has. The list is empty for a new file.
 * Throws a RefusedOutput for a file that holds something other than records.
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
