/** Loads of programs find in L2 what other loads have brought there: by operand, in every reader of the table of work. */
import { describe, expect, it } from "vitest";
import { clocked } from "../../ir/clock/clock.js";
import { transferredBy } from "../../ir/clock/closed.js";
import { planOf } from "../../ir/clock/plan.js";
import { transferredByWalk } from "../../ir/clock/walk.js";
import { cyclesOf, estimatesOfTile, noWork, programLowerBound, walkOf, type Target } from "../../ir/index.js";
import { withDefaults } from "../../passes/index.js";
import { accessOf } from "../../src/api/access.js";
import { compile, onnx, targets } from "../../src/index.js";

const { ascendA2 } = targets;
const slow: Target = { ...ascendA2, l2LoadBytesPerCycle: ascendA2.loadBytesPerCycle };

/** Each core loads all rows of a slab that the others load too. */
const shared = {
  func: onnx.gather({ data: ["f32", [512, 64]], indices: ["i32", [480]], axis: 0 }),
  residency: "ub",
  tile: [10, 64],
  view: [10, 64],
} as const;
/** Rows of 4 KiB, each wanted eight times. */
const rows = {
  func: onnx.gather({ data: ["f32", [64, 1024]], indices: ["i32", [512]], axis: 0 }),
  residency: "gm",
  tile: [1, 1024],
  view: [512, 1024],
} as const;
/** Rows that are each wanted once, by index values of whole sectors. */
const distinct = {
  ...rows,
  func: onnx.gather({ data: ["f32", [512, 1024]], indices: ["i32", [512]], axis: 0 }),
  tile: [32, 256],
} as const;

function readers(
  { func, residency, tile, view }: typeof shared | typeof rows | typeof distinct,
  target: Target,
) {
  const kernel = compile(func, { target, residency, tile, view, buffers: 1 }).tile;
  const tiling = withDefaults(accessOf(func, { target })!, residency, target).with({
    tile: [...tile],
    view: [...view],
  });
  return {
    estimate: estimatesOfTile()(tiling),
    clock: cyclesOf(kernel, target).cycles,
    timeline: walkOf(kernel, target).cycles,
  };
}

describe("loads of a program", () => {
  it.each([
    ["slabs that cores share", shared],
    ["rows in global memory", rows],
  ] as const)("take less time where the rate of L2 is higher: %s", (_, gather) => {
    const [own, without] = [readers(gather, ascendA2), readers(gather, slow)];
    for (const reader of ["estimate", "clock", "timeline"] as const)
      expect(own[reader], reader).toBeLessThan(without[reader]);
    expect(own.timeline).toBe(own.clock);
  });

  it("take as long whatever that rate is, where each byte is read once, or where the operand does not fit L2", () => {
    expect(readers(distinct, ascendA2)).toEqual(readers(distinct, slow));
    const small = { l2Bytes: 32 * 1024 };
    expect(readers(shared, { ...ascendA2, ...small })).toEqual(readers(shared, { ...slow, ...small }));
  });

  it("have the part of their own operand: seven of eight reads, by the bytes of all cores", () => {
    const { func, residency, tile } = rows;
    const kernel = compile(func, { target: ascendA2, residency, tile, buffers: 1 }).tile;
    const { lowering } = cyclesOf(kernel, ascendA2);
    const program = clocked(kernel, ascendA2, 512, lowering);
    const transferred = transferredBy(program, planOf(kernel)!);
    expect(transferred).toEqual(transferredByWalk(program));
    expect(transferred[0]).toBe(512 * 4096);
    const cycles = program.pricing(transferred);
    const work = { ...noWork, instructions: 1, bursts: 1, padded: 4096, bytes: 4096, touched: 4096 };
    expect(cycles({ pipe: "MTE2", operand: 0, work })).toBe(
      Math.ceil(4096 / 8 / ascendA2.loadBytesPerCycle + (4096 * 7) / 8 / ascendA2.l2LoadBytesPerCycle),
    );
  });

  it("keep the lower bound below the clock, whose loads it takes from L2 where they fit", () => {
    for (const gather of [shared, rows, distinct]) {
      const tiling = withDefaults(accessOf(gather.func, { target: ascendA2 })!, gather.residency, ascendA2);
      expect(programLowerBound(tiling).cycles).toBeLessThanOrEqual(readers(gather, ascendA2).clock);
    }
  });
});
