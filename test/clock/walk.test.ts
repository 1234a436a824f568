/** What the walk keeps for pictures, against what the program must do. */
import { describe, expect, it } from "vitest";
import { blockPartition, pipes, walkOf } from "../../ir/index.js";
import { compile, onnx, targets, type Schedule } from "../../src/index.js";

const target = targets.ascendA2;
const matrix = onnx.gather({ data: ["f32", [61, 40]], indices: ["i32", [23]], axis: 1 });
const schedules: readonly Schedule[] = [
  { tile: [7, 23], buffers: 1 },
  { tile: [7, 10], view: [30, 20], buffers: 2 },
  { tile: [2, 5], residency: "gm" },
];

describe("the walk", () => {
  for (const schedule of schedules) {
    const kernel = compile(matrix, { target, ...schedule });
    const walked = walkOf(kernel.tile, target);
    const name = JSON.stringify(schedule);

    it(`keeps every element of the output once, on the core that its task is dealt to: ${name}`, () => {
      const written = new Map<string, number>();
      for (const { core, task, offsets, sizes } of walked.outputTiles) {
        const { from, to } = blockPartition(walked.tasks, walked.cores, core);
        expect(task).toBeGreaterThanOrEqual(from);
        expect(task).toBeLessThan(to);
        const [row = 0, column = 0] = offsets;
        for (let r = row; r < row + (sizes[0] ?? 0); r++)
          for (let c = column; c < column + (sizes[1] ?? 0); c++)
            written.set(`${r} ${c}`, (written.get(`${r} ${c}`) ?? 0) + 1);
      }
      expect(written.size).toBe(61 * 23);
      expect([...written.values()].every((times) => times === 1)).toBe(true);
    });

    it(`counts each task on one core, and its work as the events have it: ${name}`, () => {
      expect(walked.dropped).toBe(0);
      expect(walked.coreTotals).toHaveLength(walked.cores);
      expect(walked.coreTotals.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(walked.tasks);
      for (const [core, total] of walked.coreTotals.entries()) {
        const own = walked.events.filter((event) => event.core === core);
        for (const pipe of pipes) {
          const cycles = own.filter((event) => event.pipe === pipe).map((event) => event.cycles);
          expect(cycles.reduce((a, b) => a + b, 0)).toBeCloseTo(total.busy[pipe]);
        }
        expect(total.end).toBeGreaterThanOrEqual(Math.max(...own.map(({ start, cycles }) => start + cycles)));
      }
    });

    it(`has waits where a pipe does nothing, and until the pipe that it waits for is done: ${name}`, () => {
      // Rows from global memory are moved by one pipe alone.
      if (schedule.residency !== "gm") expect(walked.waits.length).toBeGreaterThan(0);
      for (const wait of walked.waits) {
        expect(wait.cycles).toBeGreaterThan(0);
        const end = wait.start + wait.cycles;
        const during = walked.events.filter(
          ({ core, pipe, start, cycles }) =>
            core === wait.core && pipe === wait.pipe && start < end && start + cycles > wait.start,
        );
        expect(during).toEqual([]);
        // The moment that is waited for, less what the flag itself takes: the other pipe was done with something, or had not begun.
        const latency = { MTE2: target.loadLatencyCycles, MTE3: target.storeLatencyCycles, V: 0, S: 0 };
        const moment = end - Math.ceil(target.syncCycles) - latency[wait.for];
        const of = <T extends { readonly core: number; readonly pipe: string }>(list: readonly T[]) =>
          list.filter(({ core, pipe }) => core === wait.core && pipe === wait.for);
        const ends = [...of(walked.events), ...of(walked.waits)].map(({ start, cycles }) => start + cycles);
        const begun = Math.min(...of(walked.events).map(({ start }) => start));
        expect(moment <= begun || ends.includes(moment)).toBe(true);
      }
    });
  }
});
