/** A tile program explained: what its buffers take, where they lie, and how long it runs. */
import { CompileError, cyclesOf, error, ubBuffers, ubBytes, type Func } from "../../ir/index.js";
import { compile, type CompileOptions } from "./compile.js";

/** One copy of a buffer in UB, with its first byte and the byte after its last one. */
export interface PlacedBuffer {
  readonly buffer: string;
  readonly copy: number;
  readonly from: number;
  readonly to: number;
}

/** Explanation of a tile program: UB addresses of its buffers, tasks and cycles. */
export interface TileExplanation {
  readonly name: string;
  readonly target: string;
  readonly plan: readonly PlacedBuffer[];
  /** Highest UB byte in use, and what there is. */
  readonly peak: number;
  readonly budget: number;
  readonly tasks: number;
  readonly cycles: number;
}

/**
 * Explains a tile program: UB addresses, tasks and cycles. Throws a CompileError if the program breaks a
 * rule, and TC702 for a source or access program, which `explain` takes.
 */
export function explainTile(program: Func, options: CompileOptions = {}): TileExplanation {
  if (program.level !== "tile") {
    const hint = "explain takes source and access programs";
    throw new CompileError([error("TC702", `@${program.name} is no tile program`, { hint })]);
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
