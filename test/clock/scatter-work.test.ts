/** The clock's terms of a scatter, counted by hand. */
import { describe, expect, it } from "vitest";
import { noWork, scatterWork, sumOfWork, type Work } from "../../ir/clock/index.js";
import { targets } from "../../ir/index.js";
import { parsedAccess } from "../support/parsed.js";

const { ascendA2, cpu } = targets;

function funcOf(type: string, entries: string) {
  const text = `func @f(%x: tensor<100x8x${type}>, %i: tensor<4xi32>, %u: tensor<4x8x${type}>) -> tensor<100x8x${type}> {
  %y = access.scatter %x, %i, %u (d0 < 4, d1 < 8) -> (error(%i[d0] in 100), d1) yield %u[d0, d1] {oob = error, ${entries}}
  return %y
}
`;
  return parsedAccess(text);
}

const inUb = (type: string, entries: string): Work => {
  const func = funcOf(type, entries);
  return scatterWork({ func, map: func.map, writesGm: false, readsGm: () => false }, [4, 8], ascendA2);
};

/** The counts that are not 0. */
const counted = (work: Work): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(work).filter(([name, count]) => count !== noWork[name as keyof Work]));

describe("work of a scatter's points", () => {
  it("is accesses of the scalar unit in UB: 4 index values, 32 updates, 32 elements", () => {
    expect(counted(inUb("f32", "duplicates = last"))).toEqual({ scalars: 4 + 32 + 32 });
  });

  it("has two words for 8 bytes, and one more read and an operation where points combine", () => {
    expect(counted(inUb("i64", "duplicates = last"))).toEqual({ scalars: 4 + 64 + 64 });
    expect(counted(inUb("f32", "combine = add"))).toEqual({ scalars: 4 + 32 + 2 * 32 + 32 });
  });

  it("is a store of each row in global memory, in whole blocks and sectors, with an index value for each", () => {
    const func = funcOf("f32", "duplicates = last");
    const work = scatterWork({ func, map: func.map, writesGm: true, readsGm: () => false }, [4, 8], ascendA2);
    // Rows of 32 B lie in one sector of 128 B each.
    expect(counted(work)).toEqual({
      ...{ instructions: 4, bursts: 4, padded: 4 * 32, bytes: 4 * 32, touched: 4 * 128, rowIndices: 4 },
    });
  });

  it("reads what stays in global memory there, in a run of its own for each table", () => {
    const func = funcOf("f32", "duplicates = last");
    const setting = { func, map: func.map, writesGm: true, readsGm: () => true };
    const read = 4 * 4 + 32 * 4;
    const { instructions, bytes, padded } = scatterWork(setting, [4, 8], cpu);
    expect([instructions, bytes, padded]).toEqual([2 + 4, read + 128, read + 4 * 64]);
  });

  it("is none of no points, and that of its tiles", () => {
    const func = funcOf("f32", "duplicates = last");
    const setting = { func, map: func.map, writesGm: false, readsGm: () => false };
    expect(scatterWork(setting, [0, 8], ascendA2)).toEqual(noWork);
    const half = scatterWork(setting, [2, 8], ascendA2);
    expect(sumOfWork([half, half])).toEqual(scatterWork(setting, [4, 8], ascendA2));
  });
});
