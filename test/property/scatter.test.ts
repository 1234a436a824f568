/** Random scatters on every backend that has them, under random schedules, against the oracle. */
import { describe, expect, it } from "vitest";
import { referenceOfMap } from "../../backends/reference/index.js";
import type { HostInputs } from "../../backends/index.js";
import { FastExecutor, simulateBytes, simulateChecked } from "../../backends/sim/index.js";
import { hasScatterCode } from "../../backends/wasm/scatter-plan.js";
import { parseModule, type Schedule } from "../../ir/index.js";
import { tryCompile } from "../../src/index.js";
import { drawer, type Draw } from "../fuzz/mutate.js";
import { breaksOrder, outcomeOf, textOf, type Outcome, type OracleScatter } from "../oracle/scatter.js";
import { bytesOf, bytesOfElement, hostInputs } from "../support/scatter-inputs.js";
import { randomScatter } from "../support/random-scatter.js";
import { ended, type Ran } from "../support/scatter-outcome.js";

/** Outcome of a run, in the oracle's terms. */
function ran(action: () => Uint8Array): Ran {
  try {
    return { bytes: action() };
  } catch (thrown) {
    return ended(thrown);
  }
}

/** A schedule on a target. */
interface Scheduled {
  readonly target: string;
  readonly schedule: Schedule;
}

function randomSchedule(scatter: OracleScatter, draw: Draw): Scheduled {
  const target = (["ascend-a2", "ascend-950", "webgpu", "cpu"] as const)[draw(4)]!;
  const residency = ([undefined, "ub", "gm"] as const)[draw(3)];
  const entries = (): number[] =>
    scatter.domain.map((extent) => (draw(3) === 0 ? Math.max(1, extent) : 1 + draw(Math.max(1, extent))));
  const [tile, view] = [entries(), entries()];
  return {
    target,
    schedule: {
      ...(draw(5) === 0 ? {} : { tile }),
      ...(draw(2) === 0 ? {} : { view }),
      ...(draw(4) === 0 ? { order: scatter.domain.map((_, d) => scatter.domain.length - 1 - d) } : {}),
      ...(residency === undefined ? {} : { residency }),
    },
  };
}

/** Runs of code of WebAssembly so far. */
let compiledRuns = 0;

/** Runs one scatter under some schedules; returns how many ran, and how many were refused by the rule of the order of points. */
function judge(
  scatter: OracleScatter,
  schedules: readonly Scheduled[],
): { readonly ran: number; readonly outOfOrder: number; readonly outcome: Outcome } {
  const text = textOf(scatter);
  const { module, diagnostics } = parseModule(text, "scatter.tir");
  const [func] = module.funcs;
  if (diagnostics.length > 0 || func?.level !== "access")
    throw new Error(`${JSON.stringify(diagnostics)}\n${text}`);
  const outcome = outcomeOf(scatter);
  const size = bytesOfElement(scatter.type);
  const check = (run: (inputs: HostInputs) => Uint8Array, promised: boolean): void => {
    const inputs = hostInputs(scatter, func);
    const before = hostInputs(scatter, func);
    const result = ran(() => run(inputs));
    // Where a promise is broken, only the checked executor says so.
    if (!(promised && outcome.kind === "duplicate")) {
      if (outcome.kind === "bits") expect(result, text).toEqual({ bytes: bytesOf(outcome.bits, size) });
      else expect(result, text).toEqual(outcome);
    }
    for (const [name, tensor] of Object.entries(inputs)) {
      const isWritten = name === "x" && scatter.inout && "bytes" in result;
      expect(tensor.bytes, name).toEqual(isWritten ? result.bytes : before[name]?.bytes);
    }
  };
  const isPromised = scatter.duplicates === "unique";
  check((inputs) => referenceOfMap(func.map, func.operands, inputs), isPromised);
  let [runs, outOfOrder] = [0, 0];
  for (const { target, schedule } of schedules) {
    const compiled = tryCompile({ ...func, schedule }, { target });
    const gm = schedule.residency === "gm" && target.startsWith("ascend");
    // No tile has more points along a dim than its view.
    const { tile: entries = scatter.domain, view } = schedule;
    const points = entries.map((entry, d) => Math.min(entry, view?.[d] ?? entry));
    if (!compiled.ok) {
      const first = compiled.diagnostics.find(({ severity }) => severity === "error");
      if (first?.code === "TC403" && gm && scatter.combine !== "set") continue;
      expect(first?.code, `${JSON.stringify(schedule)} ${first?.message}\n${text}`).toBe("TC301");
      expect(breaksOrder(scatter, points), text).toBe(true);
      outOfOrder++;
      continue;
    }
    const { tile, target: on } = compiled.kernel;
    if (schedule.tile !== undefined) expect(breaksOrder(scatter, points), text).toBe(false);
    check((inputs) => simulateChecked(tile, inputs, on).output, false);
    if (hasScatterCode(func.map, tile)) {
      const executor = FastExecutor.create(tile);
      check((inputs) => executor.run(inputs).output, isPromised);
      compiledRuns++;
    }
    check((inputs) => simulateBytes({ tile, target: on }, inputs, { executor: "fast" }).output, isPromised);
    runs++;
  }
  return { ran: runs, outOfOrder, outcome };
}

describe("random scatters", () => {
  it("give the oracle's bits, or its first point that ends the run, whatever the schedule", () => {
    const counts = { bits: 0, index: 0, duplicate: 0, refused: 0, ran: 0, outOfOrder: 0 };
    for (let seed = 0; seed < 250; seed++) {
      const draw = drawer(seed * 19 + 11);
      const scatter = randomScatter(draw);
      const points = scatter.domain.reduce((n, extent) => n * extent, 1);
      const elements = scatter.shape.reduce((n, extent) => n * extent, 1);
      const skips = scatter.indices.some(
        ({ policy, excluded }) => policy === "skip" || excluded !== undefined,
      );
      if (scatter.duplicates === "unique" && points > elements && !skips) {
        counts.refused++;
        continue;
      }
      const {
        ran: runs,
        outOfOrder,
        outcome,
      } = judge(
        scatter,
        Array.from({ length: 3 }, () => randomSchedule(scatter, draw)),
      );
      counts[outcome.kind]++;
      counts.ran += runs;
      counts.outOfOrder += outOfOrder;
    }
    expect(counts.bits).toBeGreaterThan(100);
    expect(counts.index).toBeGreaterThan(9);
    expect(counts.duplicate).toBeGreaterThan(10);
    expect(counts.ran).toBeGreaterThan(400);
    expect(compiledRuns).toBeGreaterThan(300);
    expect(counts.outOfOrder).toBeGreaterThan(7);
  }, 120_000);

  it("take the points of one element in order, under every tile that the rule allows", () => {
    const draw = drawer(5);
    const domain = [3, 2, 4];
    const tiles = [1, 2, 3].flatMap((a) => [1, 2].flatMap((b) => [1, 2, 3, 4].map((c) => [a, b, c])));
    const counts = { ran: 0, outOfOrder: 0 };
    for (const combine of ["set", "add"] as const) {
      const values = Array.from({ length: 24 }, () => BigInt(draw(3)));
      const table = { name: "i0", dtype: "i32", values } as const;
      const scatter: OracleScatter = {
        type: "f32",
        domain,
        shape: [3],
        indices: [{ name: "s0", table, dims: [0, 1, 2], policy: "error", extent: 3, fromEnd: false }],
        written: [{ kind: "index", index: "s0", by: 1, part: "all" }],
        // Sums of these round otherwise in any other order.
        update: { shape: domain, bits: Array.from({ length: 24 }, () => BigInt(0x3f800000 + draw(2 ** 27))) },
        combine,
        ...(combine === "set" ? { duplicates: "last" } : {}),
        base: [0n, 0n, 0n],
        inout: false,
        fill: 0n,
      };
      const schedules = tiles.map((tile) => ({
        target: "ascend-a2",
        schedule: { tile, residency: "ub" as const },
      }));
      const { ran, outOfOrder } = judge(scatter, schedules);
      counts.ran += ran;
      counts.outOfOrder += outOfOrder;
    }
    // Of 24 tiles, those with a cut dim inside of more than one point are refused.
    expect(counts).toEqual({ ran: 14, outOfOrder: 34 });
  });
});
