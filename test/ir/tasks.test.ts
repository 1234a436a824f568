import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulateBytes } from "../../backends/sim/index.js";
import {
  iterations,
  nestAt,
  symbol,
  targets,
  taskOfTile,
  type ForStmt,
  type TileFunc,
  gatherOver,
  readData,
} from "../../ir/index.js";
import { openRows } from "../support/open-programs.js";
import { someLoops } from "../support/loops.js";
import { compile } from "../../src/index.js";
import { parsed, parsedTile } from "../support/parsed.js";

/** Rows of data picked in a view of some length, by tiles of two. */
function viewOf(length: number): TileFunc {
  const text = `func @g(%x: gm<4x2xu8>, %i: gm<6xi32>, %y: gm<6x2xu8>) target("cpu") {
    for %v = 0 to 6 step ${length} parallel {
      for %t = %v to min(%v + ${length}, 6) step 2 parallel {
        gather %x[0, 0][4, 2], %i[%t][2] to %y[%t, 0][2, 2] (d0, d1) -> (%i[d0], d1) {oob = clamp, origin = [%t]}
      }
    }
  }`;
  return parsedTile(text);
}

const nested = (loops: readonly ForStmt[]): ForStmt | undefined =>
  loops.reduceRight<ForStmt | undefined>(
    (inner, loop) => ({ ...loop, mode: "parallel", body: inner === undefined ? [] : [inner] }),
    undefined,
  );

describe("the tasks of a program", () => {
  it.each([2, 4, 6, 8, 2 ** 30])("end with the tensor, however long its view is: %i", (length) => {
    const func = viewOf(length);
    const { tasks } = taskOfTile(func).nest;
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
        const { tasks, loops: found } = taskOfTile({ ...viewOf(2), body: [nest] }).nest;
        if (found.length < loops.length) return;
        known++;
        expect(tasks).toBeGreaterThanOrEqual([...iterations(loops)].length);
      }),
    );
    expect(known).toBeGreaterThan(20);
  });
});

const gather =
  "gather %xu[0, 0][4, 2], %iu[0][2] to %yu[0, 0][2, 2] (d0, d1) -> (%iu[d0], d1) {oob = clamp, origin = [%t]}";
const [loadX, loadI] = ["load %x[0, 0][4, 2] to %xu", "load %i[%t][2] to %iu"];
const store = "store %yu to %y[%t, 0][2, 2]";

/** Loads and a store in UB tiles; `before`, `inside` and `behind` a serial loop around the gather. */
const programOf = (
  before: readonly string[],
  inside: readonly string[],
  behind: readonly string[],
): TileFunc =>
  parsedTile(`func @g(%x: gm<4x2xu8>, %i: gm<6xi32>, %y: gm<6x2xu8>) target("ascend-a2") {
    %xu = alloc : ub<4x2xu8, row 32> at [0]
    %iu = alloc : ub<2xi32, row 32> at [128]
    %yu = alloc : ub<2x2xu8, row 32> at [160]
    for %t = 0 to 6 step 2 parallel {
      ${before.join("\n")}
      for %s = 0 to 1 step 1 serial {
        ${inside.join("\n")}
      }
      ${behind.join("\n")}
    }
  }`);

const noMap = gatherOver([], 2, { indices: [], ...readData([]) });

describe("a task", () => {
  const parts = (func: TileFunc): unknown => {
    const { loads, store: found, gather: around } = taskOfTile(func);
    return { loads: [...loads.keys()], store: found?.place, around: around?.loops.map(({ iv }) => iv) };
  };

  it("is the gather with its loops, the loads before it and the store behind it", () => {
    const func = programOf([loadX], [loadI, gather, store], []);
    expect(parts(func)).toEqual({ loads: ["xu", "iu"], store: 2, around: ["t", "s"] });
    expect(taskOfTile(func).nest).toMatchObject({ tasks: 3, loops: [{ trips: 3 }] });
    expect(taskOfTile(func).loads.get("xu")).toMatchObject({ place: 0, loops: [{ iv: "t" }] });
  });

  it.each([
    ["a tile that two loads fill", programOf([loadX], [loadX, loadI, gather, store], []), ["iu"], 3],
    ["a load behind the gather", programOf([loadX], [gather, loadI, store], []), ["xu"], 2],
    ["a load behind the gather's loop", programOf([loadI], [gather, store], [loadX]), ["iu"], 1],
    ["a store in another body", programOf([loadX, loadI], [gather], [store]), ["xu", "iu"], undefined],
    ["two stores", programOf([loadX, loadI], [gather, store, store], []), ["xu", "iu"], undefined],
    ["a store before the gather", programOf([loadX, loadI], [store, gather], []), ["xu", "iu"], undefined],
  ])("leaves out %s", (_, func, loads, place) => {
    expect(parts(func)).toEqual({ loads, store: place, around: ["t", "s"] });
  });

  it("gathers nothing where the output is empty", () => {
    const { tile } = compile(parsed(openRows("u8", 2)), { bind: { V: 4, N: 0 } });
    expect(taskOfTile(tile)).toEqual({ nest: { loops: [], body: [], tasks: 1 }, loads: new Map() });
  });

  it("of open sizes has the loops over them outermost and the trips of the most, and those of a size when asked", () => {
    const { gather: alone } = taskOfTile(viewOf(2));
    const tiles: ForStmt = { ...alone!.loops[0]!, iv: "t", upper: symbol("N"), step: 4, body: [alone!.stmt] };
    const symbolic = {
      symbols: [{ name: "N", most: 48 }],
      outermost: [null, "N", "N"],
      map: { ...noMap, indices: [] },
    };
    const { nest, gather: around } = taskOfTile({ ...viewOf(2), body: [tiles], symbolic });
    expect(around?.loops.map(({ iv }) => iv)).toEqual(["N", "t"]);
    expect(nest.tasks).toBe(12);
    const sizes = new Map([["N", 10]]);
    expect(nestAt(nest, sizes)).toMatchObject({ tasks: 3, body: nest.body });
  });

  it("is one value for one program", () => {
    const func = viewOf(2);
    expect(taskOfTile(func)).toBe(taskOfTile(func));
    expect(taskOfTile({ ...func, body: [] }).gather).toBeUndefined();
  });
});
