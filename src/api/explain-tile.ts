/** A tile program explained: what its buffers take, where they lie, and how long it runs. */
import { CompileError, cyclesOf, error, ubBuffers, ubBytes, type Func } from "../../ir/index.js";
import { compile, type CompileOptions } from "./compile.js";

/**
 * Byte range of one copy of a buffer in the unified buffer (UB). `from`: first byte; `to`: the byte after the
 * last; `copy`: 0-based index of the copy.
 */
export interface PlacedBuffer {
  readonly buffer: string;
  readonly copy: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Explanation of a tile program: unified buffer (UB) addresses of buffers, number of tasks, and estimated
 * cycles.
 */
export interface TileExplanation {
  readonly name: string;
  readonly target: string;
  readonly plan: readonly PlacedBuffer[];
  /** Bytes of UB in use at the peak; `budget`: bytes available. */
  readonly peak: number;
  readonly budget: number;
  readonly tasks: number;
  readonly cycles: number;
}

/**
 * Returns the unified buffer (UB) addresses, number of tasks and estimated cycles of a tile program. Throws a
 * CompileError if the program breaks a rule or is not a tile program (TC702).
 */
export function explainTile(program: Func, options: CompileOptions = {}): TileExplanation {
  if (program.level !== "tile") {
    const hint = "explain takes source and access programs";
    throw new CompileError([error("TC702", `@${program.name} is not a tile program`, { hint })]);
  }
  const { tile, target, name } = compile(program, options);
  const plan = [...ubBuffers(tile).values()].flatMap((buffer) =>
    (buffer.addresses ?? []).map((from, copy) => ({
      buffer: buffer.name,
      copy,
      from,
      to: from + ubBytes(buffer),
    })),
  );
  const { tasks, cycles } = cyclesOf(tile, target);
  return {
    name,
    target: target.name,
    plan,
    peak: Math.max(0, ...plan.map((placed) => placed.to)),
    budget: tile.schedule.ubBytes ?? target.ubBytes,
    tasks,
    cycles,
  };
}
