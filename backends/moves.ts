/**
 * A plan of moves: how the machine that runs a tile program moves its bytes, decided before any text is written. A code
 * generator keeps its own typed plan and writes nothing that is not in it; this is the form in which both are printed.
 */
import { hint, type Diagnostic } from "../ir/diagnostic.js";
import type { TileFunc } from "../ir/func.js";
import { ubBuffers } from "../ir/regions.js";

/**
 * What becomes of a statement. `elided`: nothing moves, the bytes are used where they lie. `copy`: runs of bytes that lie
 * together. `rows`: runs that one index serves. `groups`: several elements at a time, each by its own index. `words`: an
 * element at a time. `packed`: elements that share 32-bit words. `computed`: elements whose values are computed, by neighbours
 * together where a kernel does so. `table`: indices resolved into a table before anything moves. `barrier`: lanes wait for one
 * another.
 */
export type How =
  "elided" | "copy" | "rows" | "groups" | "words" | "packed" | "computed" | "table" | "sites" | "barrier";

/** Figures by name; a number of bytes has `bytes` in its name. */
export type Figures = Readonly<Record<string, number | string>>;

export interface Move {
  /** The statement, as its program prints it. */
  readonly stmt: string;
  readonly how: How;
  /** Why nothing moves. */
  readonly why?: string;
  readonly figures: Figures;
}

export interface MovePlan {
  readonly backend: "wgsl" | "wasm";
  /** Of the kernel as a whole: grid, lanes, memory. */
  readonly figures: Figures;
  /** In program order. */
  readonly moves: readonly Move[];
  /** What the program states and the machine does not have. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A line for each statement, and below it what becomes of it. */
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
 * TC908 for a double-buffered program on a machine whose lanes or thread both load and gather. Loads never overlap gathers there, so the
 * second copy is dropped.
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
