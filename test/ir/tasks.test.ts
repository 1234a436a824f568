import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulateBytes } from "../../backends/sim/index.js";
import {
  iterations,
  parallelNest,
  parseModule,
  targets,
  type ForStmt,
  type TileFunc,
} from "../../ir/index.js";
import { someLoops } from "../support/loops.js";

/** Rows of data picked in a view of some length, by tiles of two. */
function viewOf(length: number): TileFunc {
  const text = `func @g(%x: gm<4x2xu8>, %i: gm<6xi32>, %y: gm<6x2xu8>) target("cpu") {
    for %v = 0 to 6 step ${length} parallel {
      for %t = %v to min(%v + ${length}, 6) step 2 parallel {
        gather %x[0, 0][4, 2], %i[%t][2] to %y[%t, 0][2, 2] (d0, d1) -> (%i[d0], d1) {oob = clamp, origin = [%t]}
      }
    }
  }`;
  const [func] = parseModule(text, "view.tir").module.funcs;
  if (func?.level !== "tile") throw new Error("a tile program");
  return func;
}

const nested = (loops: readonly ForStmt[]): ForStmt | undefined =>
  loops.reduceRight<ForStmt | undefined>(
    (inner, loop) => ({ ...loop, mode: "parallel", body: inner === undefined ? [] : [inner] }),
    undefined,
  );

describe("the tasks of a program", () => {
  it.each([2, 4, 6, 8, 2 ** 30])("end with the tensor, however long its view is: %i", (length) => {
    const func = viewOf(length);
    const { tasks } = parallelNest(func.body);
    expect(tasks).toBe(length === 4 ? 4 : 3);
    const data = Uint8Array.from({ length: 8 }, (_, k) => k + 1);
    const indices = Int32Array.from([3, 0, 1, 1, 2, 9]);
    const inputs = {
      data: { type: func.operands[0]!.type, bytes: data },
      indices: { type: func.operands[1]!.type, bytes: new Uint8Array(indices.buffer) },
    };
    for (const executor of ["checked", "fast"] as const) {
      const { output } = simulateBytes({ tile: func, target: targets.cpu }, inputs, { executor });
      expect([...output]).toEqual([7, 8, 1, 2, 3, 4, 3, 4, 5, 6, 7, 8]);
    }
  });

  it("are at least the iterations of its parallel loops, whatever their bounds", () => {
    let known = 0;
    fc.assert(
      fc.property(someLoops, (loops) => {
        const nest = nested(loops);
        if (nest === undefined) return;
        const { tasks, loops: found } = parallelNest([nest]);
        if (found.length < loops.length) return;
        known++;
        expect(tasks).toBeGreaterThanOrEqual([...iterations(loops)].length);
      }),
    );
    expect(known).toBeGreaterThan(20);
  });
});
