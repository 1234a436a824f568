/** What docs/pto.md shows of the classes of gathers on an Ascend core is what the compiler and its clock make of them. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cyclesOf, type GatherClass, type GatherLowering, type Schedule } from "../../ir/index.js";
import { workOfSteps } from "../../ir/tiling/gather-work.js";
import { cyclesOfWork } from "../../ir/clock/price.js";
import { noWork } from "../../ir/clock/work.js";
import { compile, onnx, pypto, targets, type SourceFunc } from "../../src/index.js";

const page = readFileSync(new URL("../../docs/pto.md", import.meta.url), "utf8").replaceAll(/ +/g, " ");
const target = targets.ascendA2;

const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;

const loweringOf = (func: SourceFunc, schedule: Schedule): GatherLowering => {
  const { tile } = compile(func, { ...schedule, target });
  return cyclesOf(tile, target).lowering!;
};

const added = ({ adds }: GatherLowering): string =>
  adds.length === 0 ? "nothing" : adds.map(({ name, bytes }) => `\`${name}\` ${bytes} B`).join(", ");

describe("a tile in each class", () => {
  const columns = pypto.gather({
    input: ["f32", [1024, 4096]],
    index: ["i32", [1024, 4096]],
    dim: 0,
    oob: "clamp",
  });
  const inUb = pypto.indexSelect({ input: ["f32", [64, 256]], index: ["i32", [4096]], dim: 0, oob: "clamp" });
  const inGm = pypto.indexSelect({
    input: ["f32", [50257, 768]],
    index: ["i32", [4096]],
    dim: 0,
    oob: "clamp",
  });
  const shapes: readonly (readonly [string, SourceFunc, Schedule, readonly GatherClass[]])[] = [
    ["columns, f32 `[1024, 8]`", columns, { tile: [1024, 8] }, ["flat", "scalar"]],
    ["rows, f32 `[64, 256]`", inUb, { tile: [64, 256], residency: "ub" }, ["flat", "row-copy", "scalar"]],
    ["rows, f32 `[16, 768]`", inGm, { tile: [16, 768], residency: "gm" }, ["row-fetch", "mgather", "scalar"]],
  ];
  const rows = shapes.flatMap(([tile, func, schedule, classes]) =>
    classes.map((lowering) => ({ tile, lowering, func, schedule: { ...schedule, lowering } })),
  );

  it.each(rows)("is shown as computed: $lowering of $tile", ({ tile, lowering, func, schedule }) => {
    const own = loweringOf(func, schedule);
    expect(own.class).toBe(lowering);
    expect(page).toContain(row(`\`${lowering}\``, tile, own.cycles, own.setup, added(own)));
  });
});

describe("W5, line by line", () => {
  const func = onnx.gatherElements({ data: ["f32", [1024, 4096]], indices: ["i32", [1024, 4096]], axis: 0 });
  const own = loweringOf(func, { tile: [1024, 8] });
  const strip = own.flat!.full;
  const [rows, words] = [1024, 8];

  it("shows the instructions of flat with the cycles of each", () => {
    const took = strip.steps.map((step) => {
      const { steps, stepRepeats } = workOfSteps([step], target);
      return `${step.op === "see" ? "TOR" : step.op} ${cyclesOfWork({ ...noWork, steps, stepRepeats }, "V", target, 1, 0)}`;
    });
    const [shrs, muls, add, maxs, mins, sub, or, scaled, placed] = took;
    expect(took).toHaveLength(9);
    for (const cell of [
      [shrs, muls, add].join(", "),
      [maxs, mins].join(", "),
      [sub, or].join(", "),
      scaled,
      placed,
    ])
      expect(page).toContain(` | ${cell!} |`);
    // The address strip is read once more.
    expect(page).toContain(` | TGATHER of ${strip.length} words ${own.cycles - sumOf(took)} |`);
  });

  const sumOf = (took: readonly string[]): number =>
    took.reduce((sum, text) => sum + Number(text.split(" ")[1]), 0);

  it("shows what the other two take, by the same figures", () => {
    const { scalarCycles, gatherRowCycles, stepCycles, stepRepeatCycles, syncCycles } = target;
    // Each address is read and written by the scalar unit; V waits for it, and it for V.
    const pypto = rows * (2 * words * scalarCycles + gatherRowCycles + 2 * syncCycles);
    // Nine steps on one tile of 8 words and five on two.
    const before = rows * (14 * stepCycles + (9 + 2 * 5) * stepRepeatCycles + gatherRowCycles);
    expect(page).toContain(row("cycles", Math.round(pypto), Math.round(before), own.cycles));
    expect(page).toContain(row("UB beside the buffers", "two rows of 32 B", "four rows of 32 B", added(own)));
  });

  it("shows what its best schedule takes beside its bytes", () => {
    const { cycles } = cyclesOf(compile(func, { target }).tile, target);
    const floor = Math.floor((3 * 4 * 1024 * 4096) / target.gmReadBytesPerCycle);
    expect(page).toContain(
      `its default schedule takes ${cycles} cycles, ${(cycles / floor).toFixed(2)} times`,
    );
    expect(page).toContain(`which take ${floor}`);
  });
});
