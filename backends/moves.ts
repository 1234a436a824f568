/**
 * A plan of moves: how the machine that runs a tile program moves its bytes, decided before any text is
 * written. A code generator keeps its own typed plan and writes nothing that is not in it; this is the form
 * in which both are printed.
 */
import { hint, type Diagnostic } from "../ir/diagnostic.js";
import type { TileFunc } from "../ir/func.js";
import { ubBuffers } from "../ir/regions.js";

/**
 * Name of the method by which a kernel carries out a statement, in a printed plan. `elided` moves no bytes.
 * `copy`, `rows`, `across`, `groups`, `words` and `packed` name the unit in which bytes are moved; `computed`
 * computes elements. `table` and `sites` look up index values, and `barrier` makes lanes wait.
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

/** Numbers and texts of a report, by name. Values whose name contains `bytes` are in bytes. */
export type Figures = Readonly<Record<string, number | string>>;

/**
 * Plan for one statement of a tile program: the method by which a kernel moves bytes, and numbers for the
 * report.
 */
export interface Move {
  /** The statement, as its program prints it. */
  readonly stmt: string;
  readonly how: How;
  /** Reason why the kernel moves no bytes for the statement. */
  readonly why?: string;
  readonly figures: Figures;
}

/**
 * Plan of a kernel in printable form: for each statement of the tile program, the method by which bytes move.
 */
export interface MovePlan {
  readonly backend: "wgsl" | "wasm";
  /** Figures of the whole kernel: grid, lanes, memory. */
  readonly figures: Figures;
  /** Plans of the statements, in program order. */
  readonly moves: readonly Move[];
  /** Diagnostics for features that the program states and the machine does not have. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Returns the text of a kernel's plan: one line for the kernel, then two lines for each statement. */
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
 * Returns a list with a hint (TC908) that the second copies of a program's double-buffered tiles are never
 * used; an empty list if no tile is double-buffered. For backends on which loads never overlap gathers.
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
