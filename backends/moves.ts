/**
 * A plan of moves: how the machine that runs a tile program moves its bytes, decided before any text is
 * written. A code generator keeps its own typed plan and writes nothing that is not in it; this is the form
 * in which both are printed.
 */
import { hint, type Diagnostic } from "../ir/diagnostic.js";
import type { TileFunc } from "../ir/func.js";
import { ubBuffers } from "../ir/regions.js";

/**
 * Treatment of a statement. `elided`: nothing moves, and the bytes are used in place. `copy`: contiguous runs
 * of bytes. `rows`: runs that share one index value. `groups`: several elements at a time, each with its own
 * index. `words`: one element at a time. `packed`: elements that share 32-bit words. `computed`: elements
 * whose values are computed, neighbours together if the kernel supports it. `table`: indices are resolved
 * into a table before anything moves. `sites`: index values are read inside the loops over output dims.
 * `barrier`: lanes wait for each other.
 */
export type How =
  "elided" | "copy" | "rows" | "groups" | "words" | "packed" | "computed" | "table" | "sites" | "barrier";

/** Numbers and texts of a report, by name. The name of a number of bytes contains `bytes`. */
export type Figures = Readonly<Record<string, number | string>>;

/** Plan for one statement: how the machine moves its bytes. */
export interface Move {
  /** The statement, as its program prints it. */
  readonly stmt: string;
  readonly how: How;
  /** Reason that nothing moves. */
  readonly why?: string;
  readonly figures: Figures;
}

/** Plan for a kernel: how the machine moves the bytes of each statement. */
export interface MovePlan {
  readonly backend: "wgsl" | "wasm";
  /** Figures of the whole kernel: grid, lanes, memory. */
  readonly figures: Figures;
  /** In program order. */
  readonly moves: readonly Move[];
  /** Diagnostics for features that the program states and the machine does not have. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Returns the text of a plan: a line for each statement, followed by a line about how its bytes move. */
export const printMoves = ({ backend, figures, moves }: MovePlan): string =>
  [
    `${backend}: ${printFigures(figures)}`,
    ...moves.flatMap(({ stmt, how, why = "", figures: figures }) => {
      const said = [why, printFigures(figures)].filter((text) => text !== "").join(", ");
      return [stmt, `  ${how}${said === "" ? "" : `: ${said}`}`];
    }),
    "",
  ].join("\n");

const printFigures = (figures: Figures): string =>
  Object.entries(figures)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");

/**
 * Returns TC908 for a double-buffered program on a machine whose lanes or thread both load and gather. Loads
 * never overlap gathers there, so the second copy is dropped.
 */
export function singleCopies(func: TileFunc): Diagnostic[] {
  const double = [...ubBuffers(func).values()].filter((buffer) => buffer.buffers === 2);
  if (double.length === 0) return [];
  const names = double.map((buffer) => `%${buffer.name}`).join(", ");
  return [
    hint(
      "TC908",
      `${names}: double-buffered, but loads and gathers never overlap here, so the second copy is not used`,
      {
        span: func.span,
        hint: "leave out double buffering: the second copy counts against the budget",
      },
    ),
  ];
}
