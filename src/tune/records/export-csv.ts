/** Records as comma-separated values: a line for each candidate and each refused tile. */
import { defined } from "../../../ir/index.js";
import { csvTable } from "../../report/csv.js";
import {
  costKeys,
  entryKeys,
  figureCells,
  inTableOrder,
  type ScheduleFigures,
} from "../../report/figures.js";
import { millisecondsOf } from "./best.js";
import type { TuneRecord } from "./record.js";

const listed = inTableOrder([...entryKeys, ...costKeys, "ms"]);

const columns = ["task", "candidate", "status", "code", "reason", "default", ...listed, "devices"] as const;

type Row = Readonly<Partial<Record<(typeof columns)[number], string | number>>>;

/** Formats tuning records as CSV, with one line for each candidate and each refused tile. */
export function csvOf(records: readonly TuneRecord[]): string {
  return csvTable(columns, records.flatMap(rowOf));
}

/** Cells of a record's figures; empty in records of before. */
const cellsOf = (of: ScheduleFigures): Row => figureCells(listed, of);

/**
 * Returns the CSV rows of a tuning record: one row for a candidate or a refused tile, and an empty list for
 * other tuning records.
 */
function rowOf(record: TuneRecord): Row[] {
  const about = (code: string | undefined, reason: string | undefined): Row => ({
    ...defined({ code, reason }),
  });
  if (record.record === "refused") {
    const { task, code, reason, ubBytes } = record;
    return [
      {
        task,
        status: "refused",
        ...cellsOf({ schedule: record, ubBytes }),
        ...about(code, reason),
      },
    ];
  }
  if (record.record !== "candidate") return [];
  const { task, candidate, status, runs, code, reason } = record;
  const ms = millisecondsOf(record);
  return [
    {
      task,
      candidate,
      status,
      ...about(code, reason),
      default: record.default ? 1 : 0,
      ...cellsOf({ ...record, ...defined({ ms }) }),
      devices: [...new Set(runs.map(({ device }) => device))].join("; "),
    },
  ];
}
