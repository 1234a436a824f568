/**
 * `synchronized`: no race in the first iterations of every loop, found by running the statements' accesses, without
 * data, through the hazard tracker. Three iterations show every pattern: two copies alternate with period
 * two. Inner loops may run once, as the tail of a view does, and then order less than they do in turns.
 */
import { error, type Diagnostic } from "../diagnostic.js";
import type { TileFunc } from "../func.js";
import { printStmtHead } from "../text/print.js";
import { targetFacts, type Target } from "../target.js";
import { ubBytes, type ForStmt, type Stmt } from "../tile.js";
import { at, invariant } from "../types.js";
import { accessLookup, pipeOf } from "../regions.js";
import { HazardTracker, type HazardAccess, type Race } from "./hazards.js";

const iterations = 3;

/**
 * Returns a diagnostic (TC203) for each statement that races with an earlier statement; an empty list if
 * there is no race. A race is two unordered accesses to the same bytes; at least one of the accesses is a
 * write.
 */
export function verifySynchronized(func: TileFunc, target: Target): Diagnostic[] {
  for (let depth = Math.max(1, depthOf(func.body)); depth > 0; depth--) {
    const races = racesOf(func, target, depth);
    if (races.length > 0) return races;
  }
  return [];
}

/** True if the body of a loop is only another loop: both repeat the same statements. */
const isNest = ({ body }: ForStmt): boolean => body.length === 1 && body[0]?.op === "for";

/** Returns the depth of nested loops; a perfect nest counts as one loop. */
const depthOf = (body: readonly Stmt[]): number =>
  Math.max(0, ...body.map((stmt) => (stmt.op === "for" ? depthOf(stmt.body) + (isNest(stmt) ? 0 : 1) : 0)));

/**
 * Returns a diagnostic (TC203) for each statement that races with an earlier statement. Loops up to nesting
 * level `depth` are executed for three iterations, and deeper loops for one.
 */
function racesOf(func: TileFunc, target: Target, depth: number): Diagnostic[] {
  const tracker = new HazardTracker();
  const accessesOf = accessedBytes(func);
  const diagnostics = new Map<Stmt, Diagnostic>();
  const issue = (stmt: Stmt): void => {
    const pipe = pipeOf(stmt, func);
    if (pipe === undefined) return;
    const race = tracker.issue(pipe, accessesOf(stmt));
    if (race !== undefined && !diagnostics.has(stmt)) diagnostics.set(stmt, raceError(stmt, race));
  };
  const run = (body: readonly Stmt[], level: number): void => {
    for (const stmt of body) {
      if (stmt.op === "sync") tracker.sync(stmt);
      else if (stmt.op !== "for") issue(stmt);
      else {
        const alone = stmt.mode === "parallel" && targetFacts[target.kind].privateUb;
        const nest = isNest(stmt);
        for (let k = 0; k < (nest || alone || level >= depth ? 1 : iterations); k++) {
          if (alone) tracker.reset();
          run(stmt.body, nest ? level : level + 1);
        }
      }
    }
  };
  run(func.body, 0);
  return [...diagnostics.values()];
}

/**
 * Returns a function that lists the bytes of the unified buffer (UB) that a statement accesses. Statements
 * must be passed in order of execution: each write of a buffer goes to the next copy of the buffer.
 */
function accessedBytes(func: TileFunc): (stmt: Stmt) => HazardAccess[] {
  const touchesOf = accessLookup(func);
  /** Number of the latest write of each buffer, from 0. */
  const latest = new Map<string, number>();
  return (stmt) =>
    touchesOf(stmt).map(({ buffer, write }) => {
      const writes = (latest.get(buffer.name) ?? -1) + (write ? 1 : 0);
      if (write) latest.set(buffer.name, writes);
      const addresses = buffer.addresses;
      invariant(addresses !== undefined, "synchronization is checked after allocation");
      const start = at(addresses, Math.max(0, writes) % buffer.buffers);
      return { name: buffer.name, start, end: start + ubBytes(buffer), write };
    });
}

/** Returns the diagnostic (TC203) for a statement that races with an earlier statement. */
const raceError = (stmt: Stmt, { earlier, later }: Race): Diagnostic =>
  error(
    "TC203",
    `nothing orders ${later.pipe} ${later.write ? "writing" : "reading"} %${later.name} ` +
      `after ${earlier.pipe} ${earlier.write ? "writing" : "reading"} it`,
    { span: stmt.span, notes: [printStmtHead(stmt)], hint: `sync ${earlier.pipe} -> ${later.pipe}` },
  );
