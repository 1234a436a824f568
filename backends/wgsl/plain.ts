/** Statements whose lines need no plan: the one place of this backend that knows each of them. */
import type {
  AllocStmt,
  FillStmt,
  ForStmt,
  GatherStmt,
  LoadStmt,
  ScatterStmt,
  Stmt,
  StoreStmt,
} from "../../ir/tile.js";
import { assertNever } from "../../ir/types.js";
import type { Lines } from "../lines.js";
import type { How } from "../moves.js";

/** Statement that is emitted without a plan. */
export type PlainStmt = Exclude<
  Stmt,
  ForStmt | AllocStmt | LoadStmt | GatherStmt | StoreStmt | ScatterStmt | FillStmt
>;

/** Names of the printed moves of plain statements, by op. */
export const howOfPlain: Readonly<Record<PlainStmt["op"], How>> = { sync: "barrier" };

/** Emits the WGSL lines of a plain statement. */
export function emitPlain(out: Lines, stmt: PlainStmt): void {
  const { op } = stmt;
  switch (op) {
    case "sync":
      out.line("workgroupBarrier();");
      break;
    default:
      assertNever(op);
  }
}
