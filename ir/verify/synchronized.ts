/**
 * `synchronized`: no race in the first iterations of every loop, found by running the statements' accesses, without
 * data, through the hazard tracker. Three iterations show every pattern: two copies alternate with period two.
 */
import { error, type Diagnostic } from "../diagnostic.js";
import type { TileFunc } from "../func.js";
import { printStmtHead } from "../text/print.js";
import { targetFacts, type Target } from "../target.js";
import { ubBytes, type Stmt } from "../tile.js";
import { at, invariant } from "../types.js";
import { accessLookup, pipeOf } from "../regions.js";
import { HazardTracker } from "./hazards.js";

const iterations = 3;

export function verifySynchronized(func: TileFunc, target: Target): Diagnostic[] {
  const tracker = new HazardTracker();
  const accessesOf = accessLookup(func);
  const copy = new Map<string, number>();
  const found = new Map<Stmt, Diagnostic>();
  const run = (body: readonly Stmt[]): void => {
    for (const stmt of body) {
      if (stmt.op === "for") {
        const alone = stmt.mode === "parallel" && targetFacts[target.kind].privateUb;
        // A loop around nothing but a loop repeats what that one repeats.
        const nest = stmt.body.length === 1 && stmt.body[0]?.op === "for";
        for (let k = 0; k < (nest || alone ? 1 : iterations); k++) {
          if (alone) tracker.reset();
          run(stmt.body);
        }
        continue;
      }
      if (stmt.op === "sync") {
        tracker.sync(stmt);
        continue;
      }
      const pipe = pipeOf(stmt, func);
      if (pipe === undefined) continue;
      const accesses = accessesOf(stmt).map(({ buffer, write }) => {
        const turn = (copy.get(buffer.name) ?? -1) + (write ? 1 : 0);
        if (write) copy.set(buffer.name, turn);
        const addresses = buffer.addresses;
        invariant(addresses !== undefined, "synchronization is checked after allocation");
        const start = at(addresses, Math.max(0, turn) % buffer.buffers);
        return { name: buffer.name, start, end: start + ubBytes(buffer), write };
      });
      const race = tracker.issue(pipe, accesses);
      if (race !== undefined && !found.has(stmt)) {
        const { earlier, later } = race;
        found.set(
          stmt,
          error(
            "TC203",
            `nothing orders ${later.pipe} ${later.write ? "writing" : "reading"} %${later.name} ` +
              `after ${earlier.pipe} ${earlier.write ? "writing" : "reading"} it`,
            { span: stmt.span, notes: [printStmtHead(stmt)], hint: `sync ${earlier.pipe} -> ${later.pipe}` },
          ),
        );
      }
    }
  };
  run(func.body);
  return [...found.values()];
}
