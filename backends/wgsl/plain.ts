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

/** Statement whose WGSL code is emitted without a plan; at present only `sync`. */
export type PlainStmt = Exclude<
  Stmt,
  ForStmt | AllocStmt | LoadStmt | GatherStmt | StoreStmt | ScatterStmt | FillStmt
>;

/** Names that `compile --emit moves` prints for statements that need no plan, keyed by the statement's op. */
export const howOfPlain: Readonly<Record<PlainStmt["op"], How>> = { sync: "barrier" };

/** Emits the WGSL code of a statement that needs no plan: a workgroup barrier for `sync`. */
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
