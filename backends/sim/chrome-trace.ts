/** The simulated timeline in Chrome's trace format. */
import type { Walked } from "../../ir/clock/index.js";
import { pipes } from "../../ir/tile.js";

/**
 * Returns a timeline in Chrome's trace format, for Perfetto. A core is a process, and a hardware pipe
 * (instruction queue) is a thread. One cycle is shown as one microsecond.
 */
export function chromeTrace(timing: Walked): { readonly traceEvents: readonly object[] } {
  const names = [...new Set(timing.events.map((event) => event.core))].flatMap((core) => [
    { ph: "M", name: "process_name", pid: core, tid: 0, args: { name: `core ${core}` } },
    ...pipes.map((pipe, tid) => ({ ph: "M", name: "thread_name", pid: core, tid, args: { name: pipe } })),
  ]);
  const events = [...timing.events]
    .sort((a, b) => a.core - b.core || pipes.indexOf(a.pipe) - pipes.indexOf(b.pipe) || a.start - b.start)
    .map(({ core, pipe, name, start, cycles, bytes }) => ({
      ph: "X",
      name,
      cat: pipe,
      pid: core,
      tid: pipes.indexOf(pipe),
      ts: start,
      dur: cycles,
      args: { bytes },
    }));
  const counter = timing.occupancy.map(({ cycle, bytes }) => ({
    ph: "C",
    name: "unified buffer",
    pid: 0,
    tid: 0,
    ts: cycle,
    args: { bytes },
  }));
  return { traceEvents: [...names, ...events, ...counter] };
}
