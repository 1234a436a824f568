/** What any clock of ours must have: no faster than memory, never faster for more work, and double buffering for free. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clocked, cyclesOfCore, type Clocked } from "../../ir/clock/clock.js";
import { closed, tasksOf, transferredBy } from "../../ir/clock/closed.js";
import { countTasks } from "../../ir/clock/execution.js";
import { planOf } from "../../ir/clock/plan.js";
import { noWork, type Work } from "../../ir/clock/work.js";
import { walk } from "../../ir/clock/walk.js";
import {
  type MovingStmt,
  cyclesOf,
  flatten,
  programLowering,
  Tiling,
  type SyncStmt,
  type Target,
  type TileFunc,
  targetFacts,
} from "../../ir/index.js";
import { isResolved } from "../../ir/schedule-entries.js";
import { compile, onnx, targets, tryCompile, type Kernel } from "../../src/index.js";
import { anyScheduledGather } from "../support/arbitrary.js";
import { gatherOfRows } from "../support/tile-programs.js";
import { runs } from "../support/runs.js";

/** Random programs that compile; how many did. */
function compiled(check: (kernel: Kernel) => void, all: number): number {
  let ran = 0;
  fc.assert(
    fc.property(anyScheduledGather, ({ random, schedule, target }) => {
      const result = tryCompile(random.func, { ...schedule, target });
      if (!result.ok) return;
      ran++;
      check(result.kernel);
    }),
    { numRuns: runs(all) },
  );
  return ran;
}

describe("global memory", () => {
  /** Bytes of the elements that all statements move, counted by the closed form of the traffic. */
  function bytesOf({ access, target }: Kernel): number {
    if (access === undefined || !isResolved(access.schedule)) throw new Error("compiled from source");
    return new Tiling(access, access.schedule, target).traffic.bytes;
  }

  /** Of a DMA engine reads come from memory or L2, and writes may stay in L2. */
  const mostBytes = (target: Target): number =>
    targetFacts[target.kind].dmaEngine
      ? target.gmReadBytesPerCycle + target.l2BytesPerCycle + target.cores * target.storeBytesPerCycle
      : target.gmReadBytesPerCycle;

  it("moves no more bytes per cycle than the target says, for random programs of every target", () => {
    const ran = compiled((kernel) => {
      const { cycles } = cyclesOf(kernel.tile, kernel.target);
      expect(bytesOf(kernel)).toBeLessThanOrEqual(cycles * mostBytes(kernel.target));
    }, 1000);
    expect(ran).toBeGreaterThan(runs(500));
  });

  it.each(["ub", "gm"] as const)("takes no time for a table without elements, under %s", (residency) => {
    const func = onnx.gather({ data: ["f32", [0, 4]], indices: ["i32", [3]], axis: 0, oob: "zero" });
    const { tile, target } = compile(func, { target: targets.ascendA2, residency });
    const { cycles, memory } = cyclesOf(tile, target);
    // Three indices, in one sector; the output stays in L2.
    expect(memory).toBe(Math.ceil(128 / target.gmReadBytesPerCycle));
    expect(cycles).toBeGreaterThan(0);
  });

  it("bounds a program that loads and stores at once: 67 MB read, 67 MB that stay in L2", () => {
    const op = onnx.gather({ data: ["bf16", [2048, 16, 8, 128]], indices: ["i32", [64, 32]], axis: 0 });
    const kernel = compile(op, {
      target: targets.ascendA2,
      tile: [1, 2, 16, 8, 128],
      residency: "gm",
      buffers: 2,
    });
    const { cycles, bottleneck, memory, busy } = cyclesOf(kernel.tile, kernel.target);
    expect(bytesOf(kernel)).toBe(2 * 64 * 32 * 16 * 8 * 128 * 2 + 64 * 32 * 4);
    // As much for each core as the busiest one has, 22 tasks: rows, and a sector for two indices. What is more than the tensors hold hits L2.
    const { gmReadBytesPerCycle, l2BytesPerCycle } = targets.ascendA2;
    const [table, list] = [2 ** 26, 64 * 32 * 4];
    const hits = 22 * 48 * (2 ** 16 + 128) - table - list;
    const read = (table + list) / gmReadBytesPerCycle + hits / l2BytesPerCycle;
    expect(memory).toBe(Math.ceil(read));
    // Each pipe alone would be done earlier.
    expect(Math.max(busy.MTE2, busy.MTE3)).toBeLessThan(read);
    expect([bottleneck, memory]).toEqual(["gm", cycles]);
  });
});

describe("a machine whose pipes do not overlap", () => {
  const staged = (target: Target): Kernel =>
    compile(onnx.gather({ data: ["f32", [64, 1024]], indices: ["i32", [4096]], axis: 1 }), {
      ...{ target, residency: "ub", tile: [1, 512] },
    });

  it("is busy as long as all of them together, and starts its tasks one after the other", () => {
    const { tile, target } = staged({ ...targets.cpu, taskCycles: 3 });
    const { cycles, busy, tasks } = cyclesOf(tile, target);
    const work = Object.values(busy).reduce((sum, pipe) => sum + pipe, 0);
    expect(cycles).toBe(work + 3 * tasks);
    const { cycles: beside } = cyclesOf(tile, { ...target, overlaps: true });
    expect(beside).toBeLessThan(cycles);
  });

  it("fetches a slab that its cache holds once, and a larger one as often as it is read", () => {
    const inPlace = (secondLevelBytes: number): number => {
      const target = { ...targets.cpu, secondLevelBytes };
      const { tile } = compile(
        onnx.gather({ data: ["f32", [64, 1024]], indices: ["i32", [4096]], axis: 1 }),
        { target, residency: "gm", tile: [1, 512] },
      );
      return cyclesOf(tile, target).cycles;
    };
    expect(inPlace(4096)).toBe(inPlace(1_000_000));
    expect(inPlace(2048)).toBeGreaterThan(inPlace(4096));
  });
});

const counts = Object.keys(noWork) as (keyof Work)[];

/**
 * The cycles of a program whose statements cost what `changed` says. The share of loads found in L2 is that of
 * the program as it is: more bytes of one statement would otherwise make the loads of all others faster.
 */
function cyclesWith(func: TileFunc, target: Target, changed: (program: Clocked) => Partial<Clocked>): number {
  const plan = planOf(func);
  if (plan === undefined) throw new Error("the closed form applies to what is compiled");
  const program = clocked(func, target, tasksOf(plan), programLowering(func, target));
  const price = program.pricing(transferredBy(program, plan));
  const other = { ...program, pricing: () => price, ...changed(program) };
  return cyclesOfCore(other, closed(other, plan).last);
}

describe("more work", () => {
  it("never takes fewer cycles: DMA instructions, padded bytes, rows, repeats of any one statement", () => {
    const more = fc.record({
      count: fc.constantFrom(...counts),
      by: fc.integer({ min: 1, max: 500 }),
      pick: fc.nat(),
    });
    let grew = 0;
    fc.assert(
      fc.property(anyScheduledGather, more, ({ random, schedule, target }, { count, by, pick }) => {
        const result = tryCompile(random.func, { ...schedule, target });
        if (!result.ok) return;
        const { tile } = result.kernel;
        const moving = flatten(tile.body).filter(
          (stmt): stmt is MovingStmt => stmt.op === "load" || stmt.op === "store" || stmt.op === "gather",
        );
        const grown = moving[pick % Math.max(1, moving.length)];
        if (grown === undefined) return;
        const before = cyclesWith(tile, target, () => ({}));
        const after = cyclesWith(tile, target, (program) => ({
          workOf(stmt, sizes) {
            const entry = program.workOf(stmt, sizes);
            if (stmt !== grown) return entry;
            return { ...entry, work: { ...entry.work, [count]: entry.work[count] + by } };
          },
        }));
        expect(after).toBeGreaterThanOrEqual(before);
        if (after > before) grew++;
      }),
      { numRuns: runs(600) },
    );
    expect(grew).toBeGreaterThan(runs(100));
  });

  it("never takes fewer cycles: a longer wait of any one sync", () => {
    let grew = 0;
    compiled(({ tile, target }) => {
      const syncs = flatten(tile.body).filter((stmt): stmt is SyncStmt => stmt.op === "sync");
      for (const longer of syncs) {
        const before = cyclesWith(tile, target, () => ({}));
        const after = cyclesWith(tile, target, (program) => ({
          waitOf: (sync) => program.waitOf(sync) + (sync === longer ? 7 : 0),
        }));
        expect(after).toBeGreaterThanOrEqual(before);
        if (after > before) grew++;
      }
    }, 300);
    expect(grew).toBeGreaterThan(runs(50));
  });

  it.each([-1, 0, 1])(
    "a pipe waits for one done at 100 until its latency and a sync later, itself free %i cycles around",
    (off) => {
      const func = gatherOfRows(1, 64);
      const body = [
        ...func.body,
        { op: "sync", from: "MTE2", to: "V", lag: 0 } as const,
        ...func.body.filter((stmt) => stmt.op === "gather").map((stmt) => ({ ...stmt })),
      ];
      const [first] = body.filter((stmt) => stmt.op === "gather");
      const { ascendA2 } = targets;
      const whole = { ...func, body };
      const program = clocked(whole, ascendA2, 1, programLowering(whole, ascendA2));
      const cyclesOf = new Map<unknown, number>();
      const { cycles } = walk(
        {
          ...program,
          workOf(stmt, sizes) {
            const entry = program.workOf(stmt, sizes);
            if (stmt.op === "load") cyclesOf.set(entry, 100);
            if (stmt === first) cyclesOf.set(entry, 100 + ascendA2.loadLatencyCycles + off);
            return entry;
          },
          pricing: () => (entry) => cyclesOf.get(entry) ?? 1,
        },
        countTasks(body),
        [],
      );
      expect(cycles).toBe(100 + ascendA2.loadLatencyCycles + ascendA2.syncCycles + 1);
    },
  );
});

describe("two buffers", () => {
  it("cost at most their syncs more than one, for the same tile and the same instructions", () => {
    let compared = 0;
    let faster = 0;
    compiled(({ source, tile, target }) => {
      const [one, two] = ([1, 2] as const).map((buffers) =>
        tryCompile(source!, { ...tile.schedule, buffers, target }),
      );
      // Two copies may not fit, or leave less room for addresses: another class or shorter strips then.
      if (one?.ok !== true || two?.ok !== true) return;
      const [a, b] = [one, two].map((result) => cyclesOf(result.kernel.tile, target));
      if (JSON.stringify(a!.lowering) !== JSON.stringify(b!.lowering)) return;
      compared++;
      const syncs = flatten(two.kernel.tile.body).filter((stmt) => stmt.op === "sync").length;
      expect(b!.cycles).toBeLessThanOrEqual(a!.cycles + syncs * target.syncCycles);
      if (b!.cycles < a!.cycles) faster++;
    }, 600);
    expect(compared).toBeGreaterThan(runs(200));
    expect(faster).toBeGreaterThan(runs(15));
  });

  it("hide loads and stores behind each other: a gather of whole rows takes at most two thirds", () => {
    const op = onnx.gatherElements({
      data: ["f32", [32768, 1024]],
      indices: ["i32", [32768, 1024]],
      axis: 1,
    });
    const cycles = ([1, 2] as const).map((buffers) => {
      const { tile, target } = compile(op, { target: targets.ascendA2, tile: [1, 1024], buffers });
      return cyclesOf(tile, target).cycles;
    });
    expect(cycles[1]!).toBeLessThan((2 / 3) * cycles[0]!);
  });
});
