/**
 * What must hold of a tile program with one statement changed: refused with a reason, or the same bits, or the same first bad
 * index, on every executor; and never taken for the operator that it no longer is.
 */
import { simulateBytes } from "../../backends/sim/index.js";
import type { HostInputs } from "../../backends/index.js";
import type { Runner } from "../../backends/webgpu/index.js";
import {
  outputOf,
  CompileError,
  RunError,
  policyOf,
  equalFunc,
  printFunc,
  targetFacts,
  taskOfTile,
  tileFaults,
  type Func,
  type Target,
  type TileFunc,
} from "../../ir/index.js";
import { definedOutput, differenceFrom } from "../../src/api/against.js";
import { mutateTile } from "./mutate-tile.js";
import { fastOutput } from "./fast.js";

export type Verdict = "unchanged" | "refused" | "same bits" | "other bits, told" | "bad index";

type Outcome = Uint8Array | string;

/** The output, or the code and data of the error that ended the run. */
async function outcome(run: () => Uint8Array | Promise<Uint8Array>): Promise<Outcome> {
  try {
    return await run();
  } catch (thrown) {
    if (thrown instanceof RunError || thrown instanceof CompileError) {
      const [first] = thrown.diagnostics;
      return `${String(first?.code)} ${JSON.stringify(first?.data)}`;
    }
    throw thrown;
  }
}

const sameOutcome = (a: Outcome, b: Outcome): boolean =>
  typeof a === "string" || typeof b === "string" ? a === b : Buffer.compare(a, b) === 0;

const shown = (value: Outcome): string =>
  typeof value === "string" ? value : Buffer.from(value).toString("hex").slice(0, 200);

/** Judges a program with one statement changed; throws as {@link judge} does. */
export const judgeMutant = (
  original: TileFunc,
  source: Func,
  target: Target,
  inputs: HostInputs,
  draw: (limit: number) => number,
  runner?: Runner,
): Promise<Verdict> => judge(mutateTile(original, draw), original, source, target, inputs, runner);

/** Throws an Error that names the mutant when executors disagree, or when a wrong program passes for the operator. */
export async function judge(
  mutant: TileFunc,
  original: TileFunc,
  source: Func,
  target: Target,
  inputs: HostInputs,
  runner?: Runner,
): Promise<Verdict> {
  if (equalFunc(mutant, original)) return "unchanged";
  const faults = tileFaults(mutant, target);
  if (faults.length > 0) {
    if (faults.some((fault) => fault.message === "")) throw new Error("a refusal without a reason");
    return "refused";
  }
  const kernel = { tile: mutant, target };
  const checked = await outcome(() => simulateBytes(kernel, inputs).output);
  const fast = await outcome(() => fastOutput(kernel, inputs));
  const map = taskOfTile(mutant).gather?.stmt.map;
  const unchecked = map !== undefined && policyOf(map) === "unchecked";
  const disagree = (name: string, other: Outcome): Error =>
    new Error(`checked ${shown(checked)}\n${name} ${shown(other)}\n${printFunc(mutant)}`);
  if (!sameOutcome(checked, fast)) throw disagree("fast", fast);
  if (
    runner !== undefined &&
    targetFacts[target.kind].runsOnWebgpu &&
    !(unchecked && typeof checked === "string")
  ) {
    const device = await outcome(() => runner.runBytes(kernel, inputs));
    // A kernel may be too odd for a device, and says so.
    const declined = typeof device === "string" && device.startsWith("TC502");
    if (!declined && !sameOutcome(checked, device)) throw disagree("webgpu", device);
  }
  if (typeof checked === "string") return "bad index";
  const want = await outcome(() => definedOutput(source, mutant, inputs));
  if (typeof want === "string") return "bad index";
  const { type } = outputOf(mutant);
  const told = (bytes: Uint8Array) => ({ type, bytes });
  const difference = differenceFrom(
    { tile: mutant, target, inputs, backend: "sim" },
    told(want),
    told(checked),
    "sim",
  );
  if (Buffer.compare(want, checked) === 0) {
    if (difference !== undefined) throw new Error(`equal bits are told as different\n${printFunc(mutant)}`);
    return "same bits";
  }
  if (difference?.notes?.some((note) => note.startsWith("written by gather ")) !== true)
    throw new Error(`a difference that names no statement\n${printFunc(mutant)}`);
  return "other bits, told";
}
