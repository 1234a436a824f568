/** A random gather with a value on every backend, against exact arithmetic. */
import { referenceOfMap } from "../../backends/reference/index.js";
import { countTraffic } from "../../backends/sim/count.js";
import { simulateChecked } from "../../backends/sim/index.js";
import { summarize } from "../../backends/sim/summary.js";
import type { Runner } from "../../backends/webgpu/index.js";
import {
  inputsOf,
  keyOf,
  parseModule,
  printModule,
  targets,
  type AccessFunc,
  type Target,
} from "../../ir/index.js";
import { deviceLimits } from "../../ir/target.js";
import type { HostInputs } from "../../backends/memory.js";
import { RunError, tryCompile, type Kernel } from "../../src/index.js";
import type { Draw } from "../fuzz/mutate.js";
import { fastOutput } from "./fast.js";
import type { RandomValue } from "./random-value.js";
import { parsedAccess } from "./parsed.js";

function parsed(text: string): AccessFunc {
  const func = parsedAccess(text);
  const printed = printModule({ funcs: [func] });
  const again = printModule(parseModule(printed, "again.tir").module);
  if (again !== printed) throw new Error(`printed as\n${printed}\nand read again as\n${again}`);
  return func;
}

const shown = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** Output bits, or the point of the first bad index. */
async function outcomeOf(run: () => Uint8Array | Promise<Uint8Array>): Promise<string> {
  try {
    return shown(await run());
  } catch (thrown) {
    if (!(thrown instanceof RunError)) throw thrown;
    return JSON.stringify(thrown.diagnostics[0]?.data?.["point"]);
  }
}

/** A device that binds more buffers than every device does: a random value may read eight inputs. */
const manyBuffers: Target = {
  ...targets.webgpu,
  limits: { ...deviceLimits(targets.webgpu), maxStorageBuffersPerShaderStage: 10 },
};

/** Whoever runs a kernel beside the executors. */
export interface OtherRunners {
  /** WebGPU. */
  readonly runner?: Runner | undefined;
  /** Returns further runs of a kernel. */
  readonly others?: (kernel: Kernel, inputs: HostInputs) => readonly (() => Promise<Uint8Array>)[];
}

/** Throws an Error for the first backend whose bits, error or report differ. The schedule is drawn. */
export async function judgeValue(
  { text, inputs: bytes, bad, output, tileColumns, packed = { step: 1, columns: 1 } }: RandomValue,
  draw: Draw,
  { runner, others }: OtherRunners = {},
): Promise<"right bits" | "error"> {
  const func = parsed(text);
  const inputs = Object.fromEntries(
    inputsOf(func).map((operand) => [
      keyOf(operand),
      { type: operand.type, bytes: bytes[operand.name] ?? new Uint8Array() },
    ]),
  );
  const target = runner === undefined ? [targets.ascendA2, targets.cpu, manyBuffers][draw(3)]! : manyBuffers;
  const [rows = 1, any = 1] = (func.operands.at(-1)?.type.shape ?? []).map((extent) => 1 + draw(extent));
  const wide = tileColumns ?? any;
  const terms = func.map.reduced === undefined || draw(3) === 0 ? [] : [1 + draw(func.map.reduced.max)];
  const schedule = { target, residency: (["ub", "gm", "auto"] as const)[draw(3)]! };
  const drawn = tryCompile(func, { ...schedule, tile: [rows, wide, ...terms] });
  const { step, columns } = packed;
  const insideByte = wide < columns && wide % step !== 0;
  const told = !drawn.ok && drawn.diagnostics.every(({ code }) => code === "TC304");
  if (told !== insideByte)
    throw new Error(
      `tile [${rows}, ${wide}] of steps of ${step}: ${JSON.stringify(drawn.ok ? "legal" : drawn.diagnostics)}`,
    );
  const nearest = step * Math.max(1, Math.floor(wide / step));
  const result = insideByte ? tryCompile(func, { ...schedule, tile: [rows, nearest, ...terms] }) : drawn;
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  const { kernel } = result;
  const want = bad === undefined ? shown(output) : JSON.stringify(bad);
  const agree = (who: string, found: string): void => {
    if (found !== want) throw new Error(`${who} gives ${found}, not ${want}`);
  };
  agree("reference", await outcomeOf(() => referenceOfMap(func.map, func.operands, inputs)));
  let report = "";
  const checked = await outcomeOf(() => {
    const found = simulateChecked(kernel.tile, inputs, target);
    report = JSON.stringify(found.report);
    return found.output;
  });
  agree("sim, checked", checked);
  agree("sim, fast", await outcomeOf(() => fastOutput(kernel, inputs)));
  for (const other of others?.(kernel, inputs) ?? []) agree("another executor", await outcomeOf(other));
  if (runner !== undefined) agree("webgpu", await outcomeOf(() => runner.runBytes(kernel, inputs)));
  if (bad !== undefined) return "error";
  const counts = countTraffic(kernel.tile, inputs, target);
  const counted = summarize(kernel.tile, target, inputs, counts, { executor: "checked", copiedBytes: 0 });
  if (JSON.stringify(counted) !== report)
    throw new Error(`counted ${JSON.stringify(counted)}, ran ${report}`);
  return "right bits";
}
