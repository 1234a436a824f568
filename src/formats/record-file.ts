/** Files of records: read whole, written a line at a time, so that whoever is killed loses the line in flight at most. */
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

/** Throws a CompileError (TC010, TC016), also for a file without a record. */
export const readRecords = (file: string): ParsedRecords =>
  withRecords(file, parseRecords(readText(file), file));

/** Returns the same with the line of each record. */
export const readPlacedRecords = (file: string): PlacedRecords =>
  withRecords(file, placedRecords(readText(file), file));

function withRecords<T extends ParsedRecords>(file: string, records: T): T {
  if (records.records.length > 0) return records;
  const hint = "records are lines that `tilec tune --records` wrote, or that `tilec records` printed";
  throw new CompileError([error("TC016", `${file} holds no record`, { hint })]);
}

/** A file of records that a command goes on with. */
export interface RecordLog extends ParsedRecords {
  /** Appends a record. Throws a CompileError (TC010). */
  readonly append: (record: TuneRecord) => void;
  readonly close: Appender["close"];
}

/** Opens a file for more records, and reads those that it holds. Throws a RefusedOutput for one that holds something else. */
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
