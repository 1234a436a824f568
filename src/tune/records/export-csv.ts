/** Records as comma-separated values: a line for each candidate and each refused tile. */
import { stringify } from "csv-stringify/sync";
import { formatResidency } from "../../../ir/index.js";
import { millisecondsOf } from "./best.js";
import type { TuneRecord } from "./record.js";

const columns = [
  "task",
  "candidate",
  "status",
  "code",
  "reason",
  "default",
  "residency",
  "tile",
  "view",
  "order",
  "buffers",
  "cycles",
  "bytes",
  "ub_bytes",
  "tasks",
  "ms",
  "devices",
] as const;

type Row = Readonly<Partial<Record<(typeof columns)[number], string | number>>>;

/** Shapes as the flags take them, without commas. */
const joined = (shape: readonly number[]): string => shape.join("x");

export function csvOf(records: readonly TuneRecord[]): string {
  return stringify(records.flatMap(rowOf), { header: true, columns: [...columns] });
}

function rowOf(record: TuneRecord): Row[] {
  const about = (code: string | undefined, reason: string | undefined): Row => ({
    ...(code === undefined ? {} : { code }),
    ...(reason === undefined ? {} : { reason }),
  });
  if (record.record === "refused") {
    const { task, residency, tile, view, buffers, code, reason, ubBytes } = record;
    const shapes = { tile: joined(tile), view: joined(view), buffers: JSON.stringify(buffers) };
    return [
      {
        task,
        status: "refused",
        residency: formatResidency(residency),
        ...shapes,
        ub_bytes: ubBytes,
        ...about(code, reason),
      },
    ];
  }
  if (record.record !== "candidate") return [];
  const { task, candidate, status, schedule, cycles, bytes, ubBytes, tasks, runs, code, reason } = record;
  const { residency, tile, view, order, buffers } = schedule;
  const ms = millisecondsOf(record);
  return [
    {
      task,
      candidate,
      status,
      ...about(code, reason),
      default: record.default ? 1 : 0,
      residency: formatResidency(residency),
      tile: joined(tile),
      view: joined(view),
      order: joined(order),
      buffers: JSON.stringify(buffers),
      cycles,
      bytes,
      ub_bytes: ubBytes,
      tasks,
      ...(ms === undefined ? {} : { ms }),
      devices: [...new Set(runs.map(({ device }) => device))].join("; "),
    },
  ];
}
