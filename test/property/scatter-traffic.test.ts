/** Closed forms of a scatter beside what the checked simulator counts, and the clock beside its walk, its bound and its estimate. */
import { describe, expect, it } from "vitest";
import type { HostInputs } from "../../backends/index.js";
import { simulateChecked } from "../../backends/sim/index.js";
import { cyclesOf, lowerBoundsOf, programLowerBound, walkOf } from "../../ir/clock/index.js";
import {
  inputsOf,
  parseModule,
  RunError,
  type AccessFunc,
  type Residencies,
  type Schedule,
} from "../../ir/index.js";
import { taskDims, type ScatterTiling } from "../../ir/tiling/scatter-tiling.js";
import { compileTiled } from "../../src/api/compile.js";
import { drawer, type Draw } from "../fuzz/mutate.js";
import { outcomeOf, textOf, type OracleScatter } from "../oracle/scatter.js";
import { hostInputs } from "../support/scatter-inputs.js";
import { randomScatter } from "../support/random-scatter.js";

const targets = ["ascend-a2", "ascend-950", "cpu", "webgpu"] as const;

function randomSchedule(func: AccessFunc, { domain }: OracleScatter, draw: Draw): Schedule {
  const entries = (): number[] =>
    domain.map((extent) => (draw(3) === 0 ? Math.max(1, extent) : 1 + draw(Math.max(1, extent))));
  const residency = (["ub", "gm"] as const)[draw(2)]!;
  const [first, ...tables] = inputsOf(func).map(({ name }) => name);
  const byOperand: Residencies = Object.fromEntries([
    [first!, residency],
    ...tables.filter(() => draw(3) === 0).map((name) => [name, "gm"] as const),
  ]);
  // After these dims elements of the base are copied: more of their views are such as do not divide them.
  const longer = [...taskDims(func)].flatMap(([d, { rest }]) => (rest > 0 ? [d] : []));
  const view = entries().map((entry, d) =>
    longer.includes(d) && domain[d]! % entry === 0 ? 1 + draw(domain[d]!) : entry,
  );
  return {
    tile: entries(),
    ...(longer.length > 0 || draw(3) === 0 ? { view } : {}),
    ...(draw(8) === 0 ? {} : { residency: draw(3) === 0 ? byOperand : residency }),
    ...(draw(5) === 0 ? { order: domain.map((_, d) => domain.length - 1 - d) } : {}),
    ...(draw(6) === 0 ? { ubBytes: 512 + 32 * draw(64) } : {}),
    ...(draw(5) === 0 ? { cores: 1 + draw(8) } : {}),
  };
}

/** Points that an index value under `skip`, or one that is left out, keeps from writing. */
const maySkip = ({ indices }: OracleScatter): boolean =>
  indices.some(({ policy, excluded }) => policy === "skip" || excluded !== undefined);

const count = {
  schedules: 0,
  duplicates: 0,
  skips: 0,
  combines: 0,
  inPlace: 0,
  unique: 0,
  byOperand: 0,
  copies: 0,
  views: 0,
  unevenViews: 0,
  exact: 0,
};

function compare(
  scatter: OracleScatter,
  func: AccessFunc,
  schedule: Schedule,
  target: string,
  inputs: () => HostInputs,
): void {
  const compiled = compileTiled({ ...func, schedule }, { target });
  if (!compiled.ok || compiled.tiling === undefined) return;
  const { kernel, tiling } = compiled;
  const label = `${target} ${JSON.stringify(schedule)}\n${kernel.text("access")}\n${kernel.text("tile")}`;
  let result;
  try {
    result = simulateChecked(kernel.tile, inputs(), kernel.target);
  } catch (thrown) {
    // A promise that is broken ends the checked run.
    if (thrown instanceof RunError && scatter.duplicates === "unique") return;
    throw thrown;
  }
  const { report } = result;
  const { traffic, footprint, scatter: parts } = tiling;
  expect(report.ubPeak, label).toBe(footprint.planned);
  expect(report.tasks, label).toBe(traffic.tasks);
  expect(report.timing.cycles, label).toBe(cyclesOf(kernel.tile, kernel.target).cycles);
  const writesGm = parts?.isLoaded === false;
  for (const [k, operand] of traffic.operands.entries()) {
    const counted = report.operands[operand.operand]!;
    expect(operand.compulsory, `${operand.operand}: ${label}`).toBe(counted.compulsory);
    expect(operand.transfers, `${operand.operand}: ${label}`).toBe(counted.transfers);
    const readsGm = operand.role !== "output" && parts?.tiles.every((tile) => tile.operand !== k) === true;
    const isCounted =
      (operand.role === "output" && writesGm && maySkip(scatter)) ||
      (readsGm && (maySkip(scatter) || scatter.update.along !== undefined));
    if (isCounted) expect(counted.bytes, `${operand.operand}: ${label}`).toBeLessThanOrEqual(operand.bytes);
    else {
      expect(counted.bytes, `${operand.operand}: ${label}`).toBe(operand.bytes);
      count.exact++;
    }
  }
  const { cycles } = cyclesOf(kernel.tile, kernel.target);
  expect(walkOf(kernel.tile, kernel.target).cycles, label).toBe(cycles);
  expect(lowerBoundsOf(tiling).any(), label).toBeLessThanOrEqual(cycles);
  expect(programLowerBound(tiling).cycles, label).toBeLessThanOrEqual(cycles);
  count.schedules++;
  count.skips += Number(maySkip(scatter));
  count.combines += Number(scatter.combine !== "set");
  count.inPlace += Number(scatter.inout);
  count.unique += Number(scatter.duplicates === "unique");
  count.byOperand += Number(typeof schedule.residency === "object");
  count.copies += Number(parts?.copies.some(({ after }) => after.length > 0) === true);
  count.views += Number(schedule.view !== undefined);
  count.unevenViews += Number(parts !== undefined && hasUnevenViews(parts));
  count.duplicates += Number(writesTwice(scatter));
}

/** True if views do not divide a dim of the domain after which elements of the base are copied. */
const hasUnevenViews = ({ scatter, schedule, tasks }: ScatterTiling): boolean =>
  [...tasks].some(([d, { rest }]) => rest > 0 && scatter.map.domain[d]! % schedule.view[d]! !== 0);

/** True if two points write one element, by the oracle: under `error` it would end the run. */
const writesTwice = (scatter: OracleScatter): boolean => {
  const { duplicates: _, combine: __, ...plain } = scatter;
  return outcomeOf({ ...plain, combine: "set", duplicates: "error" }).kind === "duplicate";
};

describe("closed forms of random scatters under random schedules", () => {
  it("are the counts of the checked simulator", () => {
    for (let seed = 0; count.schedules < 1000; seed++) {
      const draw = drawer(seed * 23 + 7);
      const scatter = randomScatter(draw);
      if (outcomeOf(scatter).kind !== "bits") continue;
      // Half of them write some element twice.
      if (2 * count.duplicates <= count.schedules && !writesTwice(scatter)) continue;
      const { module, diagnostics } = parseModule(textOf(scatter), "scatter.tir");
      const [func] = module.funcs;
      if (diagnostics.length > 0 || func?.level !== "access") continue;
      for (let k = 0; k < 3; k++)
        compare(scatter, func, randomSchedule(func, scatter, draw), targets[draw(4)]!, () =>
          hostInputs(scatter, func),
        );
    }
    for (const [kind, times] of Object.entries(count)) expect([kind, times > 50]).toEqual([kind, true]);
    expect(count.duplicates).toBeGreaterThan(490);
  }, 240_000);
});
