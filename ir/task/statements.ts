/** Every statement of a tile program with what stands around it. */
import type { TileFunc } from "../func.js";
import { sizesAround } from "../symbols/symbols.js";
import type { ForStmt, GatherStmt, Stmt } from "../tile.js";

/**
 * Statement of a tile program with the enclosing loops and the position in the enclosing list of statements.
 */
export interface Located<S extends Stmt = Stmt> {
  readonly stmt: S;
  /** Enclosing loops, outermost first: the loops over the sizes of symbols, then the program's own loops. */
  readonly loops: readonly ForStmt[];
  /** Body (list of statements) that contains the statement, and the statement's position in it, from 0. */
  readonly body: readonly Stmt[];
  readonly place: number;
}

/** True if a statement is a gather. A tile program has at most one gather. */
export const isGather = (located: Located): located is Located<GatherStmt> => located.stmt.op === "gather";

/**
 * Returns every statement of a tile program with the enclosing loops, in program order. A loop precedes the
 * statements of the loop's body.
 */
export function statementsOf(func: TileFunc): readonly Located[] {
  const located: Located[] = [];
  locate(func.body, sizesAround(func), located);
  return located;
}

function locate(body: readonly Stmt[], loops: readonly ForStmt[], located: Located[]): void {
  body.forEach((stmt, place) => {
    located.push({ stmt, loops, body, place });
    if (stmt.op === "for") locate(stmt.body, [...loops, stmt], located);
  });
}
