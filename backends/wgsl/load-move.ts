/**
 * Plan of how the data of a full load is copied to workgroup memory, chosen from the addresses of its rows.
 */
import { addressOf, tensorPlace } from "../../ir/addressing.js";
import { elementsOf, operandNamed, type TileFunc } from "../../ir/func.js";
import { constant, dim, loopForm, type Linear } from "../../ir/linear.js";
import { residue } from "../../ir/intervals/range.js";
import type { Located, Task } from "../../ir/task/index.js";
import type { LoadStmt, UbBuffer } from "../../ir/tile.js";
import { at, invariant, meanBytes } from "../../ir/types.js";

/**
 * Plan of the load of a tile into workgroup memory, made by {@link loadMove}. `words`: accesses of `width`
 * words copy rows. `packed`: each word is assembled from single elements.
 */
export interface LoadMove {
  readonly kind: "load";
  readonly how: "words" | "packed";
  readonly stmt: LoadStmt;
  readonly buffer: UbBuffer;
  /**
   * Number of 32-bit words in one access of the tensor. `stagedWidth`: in one access of the workgroup buffer.
   */
  readonly width: 1 | 4;
  readonly stagedWidth: 1 | 4;
  /**
   * Position in the tensor of a row's first element, as an expression in all dims of the region but the
   * innermost.
   */
  readonly row: Linear;
  /**
   * True if lanes wait before the load: the kernel keeps one copy of a double buffer, which other lanes may
   * still read.
   */
  readonly waits: boolean;
}

/**
 * Returns the plan of the load of a tile into the workgroup buffer `staged`. `byWords`: true if the kernel
 * also reads single 32-bit words of the tensor.
 */
export function loadMove(
  func: TileFunc,
  task: Task,
  { stmt, loops }: Located<LoadStmt>,
  staged: UbBuffer,
  byWords: boolean,
): LoadMove {
  const tensor = operandNamed(func, stmt.from.buffer);
  invariant(tensor !== undefined, `%${stmt.from.buffer} is no tensor`);
  const innermost = staged.shape.length - 1;
  const starts = stmt.from.offsets.map((_, k) => (k === innermost ? constant(0) : dim(k)));
  const row = addressOf(starts, tensorPlace(func, task, stmt.from));
  const size = meanBytes(staged.dtype);
  /** True if rows of the tensor consist of whole runs of `bytes` bytes that start at multiples of `bytes`. */
  const inRuns = (bytes: number): boolean => {
    const group = Math.max(1, bytes / size);
    return (
      row.terms.every(({ of, by }) => of.kind !== "dim" || by % group === 0) &&
      residue(loopForm(row), group, loops) === 0 &&
      residue(at(stmt.from.sizes, innermost), group, loops) === 0 &&
      residue(elementsOf(func, tensor), group, loops) === 0
    );
  };
  const vectors = !byWords && inRuns(16);
  return {
    kind: "load",
    how: inRuns(4) ? "words" : "packed",
    stmt,
    buffer: staged,
    width: vectors ? 4 : 1,
    stagedWidth: vectors && staged.rowBytes % 16 === 0 ? 4 : 1,
    row,
    waits: staged.buffers === 2 && loops.some((loop) => loop.mode === "serial"),
  };
}
