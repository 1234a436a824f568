/** Records as comma-separated values: a line for each candidate and each refused tile. */
import { stringify } from "csv-stringify/sync";
import { defined, formatEntry, type ResolvedSchedule, type SearchedEntry } from "../../../ir/index.js";
import { millisecondsOf } from "./best.js";
import type { CandidateRecord, TuneRecord } from "./record.js";

/** Shapes as the flags take them, without commas. */
const joined = (shape: readonly number[]): string => shape.join("x");

type EntryCells = { readonly [K in SearchedEntry]: (value: ResolvedSchedule[K]) => string };

const entryCells: EntryCells = {
  residency: formatEntry,
  tile: joined,
  view: joined,
  order: joined,
  buffers: (buffers) => JSON.stringify(buffers),
};
const entries = Object.keys(entryCells) as readonly SearchedEntry[];

const columns = [
  "task",
  "candidate",
  "status",
  "code",
  "reason",
  "default",
  ...entries,
  "cycles",
  "floor",
  "floor_limit",
  "over_floor",
  "us",
  "gb_per_s",
  "busiest",
  "busy_share",
  "clock",
  "bytes",
  "ub_bytes",
  "tasks",
  "ms",
  "devices",
] as const;

type Row = Readonly<Partial<Record<(typeof columns)[number], string | number>>>;

export function csvOf(records: readonly TuneRecord[]): string {
  // A spreadsheet runs a cell that begins with "=".
  return stringify(records.flatMap(rowOf), { header: true, columns: [...columns], escape_formulas: true });
}

const cellsOf = (schedule: Partial<ResolvedSchedule>): Row =>
  Object.fromEntries(entries.map((key) => [key, cellOf(key, schedule[key])]));

const cellOf = <K extends SearchedEntry>(key: K, value: ResolvedSchedule[K] | undefined): string =>
  value === undefined ? "" : entryCells[key](value);

/** Empty cells in records of before. */
const standsOf = ({ floor, microseconds, gigabytesPerSecond, bottleneck, clock }: CandidateRecord): Row => ({
  ...defined({
    floor: floor?.cycles,
    floor_limit: floor?.limit,
    over_floor: floor?.ratio,
    us: microseconds,
    gb_per_s: gigabytesPerSecond,
    busiest: bottleneck?.pipe,
    busy_share: bottleneck?.share,
  }),
  clock,
});

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
        ...cellsOf(record),
        ub_bytes: ubBytes,
        ...about(code, reason),
      },
    ];
  }
  if (record.record !== "candidate") return [];
  const { task, candidate, status, schedule, cycles, bytes, ubBytes, tasks, runs, code, reason } = record;
  const ms = millisecondsOf(record);
  return [
    {
      task,
      candidate,
      status,
      ...about(code, reason),
      default: record.default ? 1 : 0,
      ...cellsOf(schedule),
      cycles,
      ...standsOf(record),
      bytes,
      ub_bytes: ubBytes,
      tasks,
      ...defined({ ms }),
      devices: [...new Set(runs.map(({ device }) => device))].join("; "),
    },
  ];
}
