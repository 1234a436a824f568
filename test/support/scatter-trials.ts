/** A random scatter on every backend, under random schedules, against the oracle; throws an Error for what must not be. */
import { deepStrictEqual } from "node:assert";
import type { HostInputs } from "../../backends/index.js";
import { referenceOfMap } from "../../backends/reference/index.js";
import { FastExecutor, simulateBytes, simulateChecked } from "../../backends/sim/index.js";
import { hasScatterCode } from "../../backends/wasm/scatter-plan.js";
import type { Runner } from "../../backends/webgpu/index.js";
import { elementCount, type Schedule } from "../../ir/index.js";
import { compile, tryCompile } from "../../src/index.js";
import type { Draw } from "../fuzz/mutate.js";
import { breaksOrder, outcomeOf, textOf, type OracleScatter, type Outcome } from "../oracle/scatter.js";
import { bytesOf, bytesOfElement, hostInputs } from "./scatter-inputs.js";
import { ended, type Ran } from "./scatter-outcome.js";
import { parsedAccess } from "./parsed.js";

/** A schedule on a target. */
export interface ScheduledScatter {
  readonly target: string;
  readonly schedule: Schedule;
}

/** Result of a trial: its outcome, and the numbers of runs under schedules, of runs of WebAssembly code, and of schedules that break the order of points. */
export interface ScatterTrial {
  readonly outcome: Outcome;
  readonly ran: number;
  readonly compiledRuns: number;
  readonly outOfOrder: number;
}

/** Draws a schedule, which may break a rule of tiling. */
export function randomSchedule(scatter: OracleScatter, draw: Draw): ScheduledScatter {
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

/** True if a scatter promises unique elements that it does not have: it has no program. */
export const isImpossible = ({ domain, duplicates, indices, shape, update }: OracleScatter): boolean =>
  duplicates === "unique" &&
  elementCount(domain) > elementCount(shape) &&
  !indices.some(
    ({ excluded, name, policy }) =>
      name !== update.along?.index && (policy === "skip" || excluded !== undefined),
  );

/** Refusals of a device: more operands than it binds, and tiles beyond its workgroup memory. */
const ofDevice = new Set(["TC401", "TC402", "TC502"]);

/** Runs one scatter under some schedules, and on a device where one is given. */
export async function judgeScatter(
  scatter: OracleScatter,
  schedules: readonly ScheduledScatter[],
  runner?: Runner,
): Promise<ScatterTrial> {
  const text = textOf(scatter);
  const func = parsedAccess(text);
  const outcome = outcomeOf(scatter);
  const size = bytesOfElement(scatter.type);
  const check = async (
    where: string,
    run: (inputs: HostInputs) => Uint8Array | Promise<Uint8Array>,
    promised: boolean,
  ): Promise<void> => {
    const inputs = hostInputs(scatter, func);
    const before = hostInputs(scatter, func);
    let result: Ran;
    try {
      result = { bytes: Uint8Array.from(await run(inputs)) };
    } catch (thrown) {
      result = ended(thrown);
    }
    // Where a promise is broken, only the checked executor says so.
    if (!(promised && outcome.kind === "duplicate")) {
      const expected = outcome.kind === "bits" ? { bytes: bytesOf(outcome.bits, size) } : outcome;
      deepStrictEqual(result, expected, `${where}: ${JSON.stringify([result, expected], shown)}\n${text}`);
    }
    for (const [name, tensor] of Object.entries(inputs)) {
      const left = name === "x" && scatter.inout && "bytes" in result ? result.bytes : before[name]?.bytes;
      deepStrictEqual(Uint8Array.from(tensor.bytes), left, `${where}: ${name} is changed\n${text}`);
    }
  };
  const isPromised = scatter.duplicates === "unique";
  await check("reference", (inputs) => referenceOfMap(func.map, func.operands, inputs), isPromised);
  if (runner !== undefined) {
    const kernel = compile(func, { target: runner.target });
    await check("webgpu", (inputs) => runner.runBytes(kernel, inputs), isPromised);
  }
  let [ran, outOfOrder, compiledRuns] = [0, 0, 0];
  for (const { target, schedule } of schedules) {
    const where = `${target}, ${JSON.stringify(schedule)}`;
    const compiled = tryCompile({ ...func, schedule }, { target });
    const gm = schedule.residency === "gm" && target.startsWith("ascend");
    // No tile has more points along a dim than its view.
    const { tile: entries = scatter.domain, view } = schedule;
    const points = entries.map((entry, d) => Math.min(entry, view?.[d] ?? entry));
    if (!compiled.ok) {
      const first = compiled.diagnostics.find(({ severity }) => severity === "error");
      if (first?.code === "TC403" && gm && scatter.combine !== "set") continue;
      if (target === "webgpu" && ofDevice.has(first?.code ?? "")) continue;
      if (first?.code !== "TC301" || !breaksOrder(scatter, points))
        throw new Error(`${where}: ${first?.code} ${first?.message}\n${text}`);
      outOfOrder++;
      continue;
    }
    const { tile, target: on } = compiled.kernel;
    if (schedule.tile !== undefined && breaksOrder(scatter, points))
      throw new Error(`${where} breaks the order of points, and is legal\n${text}`);
    await check(`sim, ${where}`, (inputs) => simulateChecked(tile, inputs, on).output, false);
    if (hasScatterCode(func.map, tile)) {
      const executor = FastExecutor.create(tile);
      await check(`WebAssembly, ${where}`, (inputs) => executor.run(inputs).output, isPromised);
      compiledRuns++;
    }
    const fast = (inputs: HostInputs): Uint8Array =>
      simulateBytes({ tile, target: on }, inputs, { executor: "fast" }).output;
    await check(`sim, fast, ${where}`, fast, isPromised);
    ran++;
  }
  return { outcome, ran, compiledRuns, outOfOrder };
}

const shown = (_: string, value: unknown): unknown => (value instanceof Uint8Array ? String(value) : value);
