/** The tiling that the passes of one pipeline share. */
import { expect, it } from "vitest";
import { isResolved, Tiling, Tilings, type AccessFunc, type ResolvedSchedule } from "../../ir/index.js";
import { definePass, defaultPipeline } from "../../passes/index.js";
import { compile, onnx, targets, tryCompile } from "../../src/index.js";

const target = targets.ascendA2;
const func = onnx.gatherElements({ data: ["f32", [64, 96]], indices: ["i32", [64, 96]], axis: 1 });
const { access } = compile(func, { target, tile: [8, 96] });
const gather: AccessFunc = access!;
const schedule = gather.schedule as ResolvedSchedule;

it("is one value for as long as the gather and its schedule are the same", () => {
  const tilings = new Tilings(target);
  const tiling = tilings.of(gather, schedule);
  expect(tiling.footprint).toEqual(new Tiling(gather, schedule, target).footprint);
  expect(tilings.of(gather, schedule)).toBe(tiling);
  // Nothing of a tiling depends on the tiles that a pass writes into the text.
  const untiled = tilings.of({ ...gather, tiles: [] }, schedule);
  expect(untiled.footprint).toBe(tiling.footprint);
});

it("is another one under another schedule, of other tensors and for another target", () => {
  const tilings = new Tilings(target);
  const { bytes } = tilings.of(gather, schedule).footprint;
  expect(tilings.of(gather, { ...schedule, tile: [4, 96] }).footprint.bytes).toBeLessThan(bytes);
  const operands = gather.operands.map((operand) => ({
    ...operand,
    type: { ...operand.type, dtype: "i64" as const },
  }));
  tilings.of(gather, schedule);
  expect(tilings.of({ ...gather, operands }, schedule).footprint.bytes).toBeGreaterThan(bytes);
  tilings.remember(new Tiling(gather, schedule, { ...target, ubBytes: 1 }));
  expect(tilings.of(gather, schedule).target).toBe(target);
});

it("is the chosen one for every pass behind select-tile, and that of the altered schedule behind a pass that alters it", () => {
  const seen: (readonly number[])[] = [];
  const look = (name: string, alter: (schedule: ResolvedSchedule) => ResolvedSchedule) =>
    definePass({
      name,
      summary: "notes the tile",
      requires: ["scheduled"],
      ensures: ["scheduled"],
      run(given, { tilings }) {
        if (given.level !== "access" || !isResolved(given.schedule)) return given;
        const tiling = tilings.of(given, given.schedule);
        expect(tilings.of(given, given.schedule)).toBe(tiling);
        seen.push(tiling.tile);
        return { ...given, schedule: alter(given.schedule) };
      },
    });
  const [canonicalize, select, ...others] = defaultPipeline;
  const passes = [
    canonicalize!,
    select!,
    look("halve", (given) => ({ ...given, tile: [4, 96] })),
    look("look", (given) => given),
    ...others,
  ];
  const result = tryCompile(func, { target, tile: [8, 96], passes });
  expect(seen).toEqual([
    [8, 96],
    [4, 96],
  ]);
  expect(result.ok && result.kernel.tile.schedule.tile).toEqual([4, 96]);
  expect(result.ok && result.kernel.footprint?.bytes).toBe(
    compile(func, { target, tile: [4, 96] }).footprint?.bytes,
  );
});
