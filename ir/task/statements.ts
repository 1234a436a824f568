/** Every statement of a tile program with what stands around it. */
import type { TileFunc } from "../func.js";
import { sizesAround } from "../symbols/symbols.js";
import type { ForStmt, Stmt } from "../tile.js";

/** A statement with what stands around it. */
export interface Located<S extends Stmt = Stmt> {
  readonly stmt: S;
  /** Loops around it, outermost first: those over the sizes of symbols, then the program's own. */
  readonly loops: readonly ForStmt[];
  /** The body it stands in, and its place there. */
  readonly body: readonly Stmt[];
  readonly place: number;
}

/** Every statement of a program, in program order, those inside a loop after it. */
export const statementsOf = (func: TileFunc): readonly Located[] => locate(func.body, sizesAround(func));

function locate(body: readonly Stmt[], loops: readonly ForStmt[]): Located[] {
  return body.flatMap((stmt, place) => [
    { stmt, loops, body, place },
    ...(stmt.op === "for" ? locate(stmt.body, [...loops, stmt]) : []),
  ]);
}
