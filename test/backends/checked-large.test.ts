/** The checked executor on one large tile. */
import { describe, expect, it } from "vitest";
import { simulate, simulateLong } from "../../backends/sim/index.js";
import { compile, onnx, targets } from "../../src/index.js";

const gatherOf = (count: number) =>
  compile(onnx.gather({ data: ["u8", [3]], indices: ["i32", [count]], axis: 0 }), {
    target: targets.cpu,
    tile: [count],
  });

describe("one tile on the checked executor", () => {
  it("may have more than 2^24 indices, each read once", { timeout: 180_000 }, () => {
    const count = 2 ** 24 + 3;
    const indices = new Int32Array(count);
    [indices[0], indices[2 ** 24], indices[count - 1]] = [2, 1, -1];
    const { outputs, report } = simulate(gatherOf(count), { data: Uint8Array.of(7, 8, 9), indices });
    const output = outputs.output as Uint8Array;
    expect([output[0], output[1], output[2 ** 24], output[count - 1]]).toEqual([9, 7, 8, 9]);
    expect(report.operands["indices"]).toMatchObject({ bytes: 4 * count, transfers: 1, bursts: 1 });
  });

  it("tells how much of it is done, and never less than before", async () => {
    const count = 600_000;
    const seen: number[] = [];
    await simulateLong(
      gatherOf(count),
      { data: Uint8Array.of(7, 8, 9), indices: new Int32Array(count) },
      {
        onProgress(done, tasks) {
          expect(tasks).toBe(1);
          seen.push(done);
        },
      },
    );
    expect(seen.some((done) => done > 0 && done < 1)).toBe(true);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });
});
