/**
 * A plan of moves: how the machine that runs a tile program moves its bytes, decided before any text is
 * written. A code generator keeps its own typed plan and writes nothing that is not in it; this is the form
 * in which both are printed.
 */
import { hint, type Diagnostic } from "../ir/diagnostic.js";
import type { TileFunc } from "../ir/func.js";
import { ubBuffers } from "../ir/regions.js";

/**
 * Method by which a kernel carries out a statement.
 *
 * `elided`: nothing moves, and the bytes are used in place. `copy`: contiguous ranges of bytes. `rows`: contiguous ranges, each selected by one index value. `across`: ranges as in `rows`, but one access may write the end of a range and the start of the next.
 *
 * `groups`: several elements at a time, each with a separate index. `words`: one element at a time. `packed`: elements that share 32-bit words. `computed`: elements that arithmetic computes, several neighbours at a time if the kernel supports it.
 *
 * `table`: indices are resolved into a table before anything moves. `sites`: index values are read inside the loops over output dims. `barrier`: lanes wait for each other.
 */
export type How =
  | "elided"
  | "copy"
  | "rows"
  | "across"
  | "groups"
  | "words"
  | "packed"
  | "computed"
  | "table"
  | "sites"
  | "barrier";

/** Numbers and texts of a report, by name. A name that contains `bytes` stands for a number of bytes. */
export type Figures = Readonly<Record<string, number | string>>;

/**
 * Plan for one statement of a tile program: the method by which a kernel moves its bytes, with numbers for
 * the report.
 */
export interface Move {
  /** The statement, as its program prints it. */
  readonly stmt: string;
  readonly how: How;
  /** Reason that nothing moves. */
  readonly why?: string;
  readonly figures: Figures;
}

/**
 * Plan of a kernel in printable form: the method by which it moves the bytes of each statement of the tile
 * program.
 */
export interface MovePlan {
  readonly backend: "wgsl" | "wasm";
  /** Figures of the whole kernel: grid, lanes, memory. */
  readonly figures: Figures;
  /** In program order. */
  readonly moves: readonly Move[];
  /** Diagnostics for features that the program states and the machine does not have. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Returns the text of a kernel's plan: one line for the kernel, then for each statement its text and a line
 * about how its bytes move.
 */
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
 * Returns a list with a hint (TC908) that the second copies of double-buffered tiles are never used. Returns
 * an empty list if no tile is double-buffered. Callers use it for machines on which loads never overlap
 * gathers, because the same lanes or thread do both.
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
