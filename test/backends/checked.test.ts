import { describe, expect, it } from "vitest";
import { simulateChecked } from "../../backends/sim/index.js";
import { parseModule, targets, verify } from "../../ir/index.js";
import { compile, pypto } from "../../src/index.js";
import { operandOf } from "../support/operands.js";
import { refusal } from "../support/refusal.js";
import { parsedTile } from "../support/parsed.js";

/** Two tiles along dim 1, so that every wait and every address matters. */
const kernel = compile(pypto.gather({ input: ["f32", [3, 16]], index: ["i32", [3, 16]], dim: 0 }), {
  target: targets.ascendA2,
  tile: [3, 8],
  buffers: 1,
  cores: 1,
});
const program = kernel.text("tile");
const data = Float32Array.from({ length: 48 }, (_, k) => k);
const indices = Int32Array.from({ length: 48 }, (_, k) => (k * 5) % 3);

function run(text: string): Float32Array {
  const func = parsedTile(text);
  const inputs = {
    data: { type: operandOf(func, "data").type, bytes: new Uint8Array(data.buffer) },
    indices: { type: operandOf(func, "indices").type, bytes: new Uint8Array(indices.buffer) },
  };
  return new Float32Array(simulateChecked(func, inputs, targets.ascendA2).output.buffer);
}

function trap(text: string): { code: string; message: string; statement: string } {
  expect(text).not.toBe(program);
  const { code, message, notes } = refusal(() => run(text))!;
  return { code, message, statement: notes?.[0] ?? "" };
}

describe("the checked executor", () => {
  it("runs the program as compiled", () => {
    const expected = indices.map((index, k) => index * 16 + (k % 16));
    expect([...run(program)]).toEqual([...expected]);
  });

  it.each(["sync MTE2 -> V\n", "sync V -> MTE3\n", "sync MTE3 -> V\n", "sync V -> MTE2\n"])(
    "traps the race when %s is left out, and so does the verifier",
    (sync) => {
      const text = program.replaceAll(sync, "");
      expect(trap(text)).toMatchObject({
        code: "TC604",
        message: expect.stringContaining("nothing orders them"),
      });
      expect(verify(parsedTile(text), "synchronized", targets.ascendA2)[0]).toMatchObject({ code: "TC203" });
    },
  );

  it("traps a result placed on its own source, and so does the verifier", () => {
    const address = /%output_ub = alloc : .* at \[(\d+)\]/.exec(program)![1]!;
    const text = program.replace(`at [${address}]`, "at [0]");
    expect(trap(text)).toMatchObject({ code: "TC605", statement: expect.stringContaining("gather") });
    expect(verify(parsedTile(text), "allocated", targets.ascendA2)[0]).toMatchObject({ code: "TC202" });
  });

  it("traps an address off by a block that runs into the next buffer", () => {
    const text = program.replace("at [96]", "at [64]");
    // The second load overwrites the end of the slab, which the gather then cannot read.
    expect(trap(text)).toMatchObject({ code: "TC602", message: expect.stringContaining("%data_ub") });
  });

  it("traps a read of bytes that no load wrote, naming the gather", () => {
    const text = program.replace(/ +load %data.*\n/, "");
    expect(trap(text)).toMatchObject({ code: "TC602", statement: expect.stringContaining("gather") });
  });

  it("traps a slab cut by one: the last row was never loaded", () => {
    const text = program.replace("load %data[0, %t1][3, 8]", "load %data[0, %t1][2, 8]");
    expect(trap(text).code).toBe("TC602");
  });

  it("traps a tail that is not masked", () => {
    const text = program.replaceAll("for %t1 = 0 to 16 step 8", "for %t1 = 0 to 16 step 9");
    expect(trap(text)).toMatchObject({
      code: "TC603",
      message: expect.stringContaining("leave an extent of 16"),
    });
    expect(verify(parsedTile(text), "tile", targets.ascendA2)).toEqual([]);
  });

  it("traps an output element that nothing writes, and one written twice", () => {
    expect(trap(program.replace("0 to 16 step 8", "0 to 8 step 8"))).toMatchObject({ code: "TC606" });
    expect(trap(program.replaceAll("step 8", "step 4").replace("0 to 16", "0 to 12"))).toMatchObject({
      code: "TC606",
    });
  });

  it("traps a buffer beyond the unified buffer", () => {
    expect(trap(program.replace("ub_bytes = 196608", "ub_bytes = 128")).code).toBe("TC603");
  });
});

describe("double buffering", () => {
  const double = compile(pypto.gather({ input: ["f32", [3, 32]], index: ["i32", [3, 32]], dim: 0 }), {
    target: targets.ascendA2,
    tile: [3, 8],
    cores: 1,
    buffers: 2,
  });

  it("waits for the user before last: the lag is 1", () => {
    const text = double.text("tile");
    expect(text).toContain("sync V -> MTE2 lag 1");
    expect(text).toContain("sync MTE3 -> V lag 1");
  });

  it("is a race with one buffer's lag, and the verifier says so", () => {
    const { module } = parseModule(
      kernel.text("tile").replaceAll("sync V -> MTE2", "sync V -> MTE2 lag 1"),
      "lag.tir",
    );
    expect(verify(module.funcs[0]!, "synchronized", targets.ascendA2)[0]).toMatchObject({ code: "TC203" });
  });
});

describe("a loop that runs once, as the tail of a view does", () => {
  /** Seven columns in views of five: two tiles, then one. Its only order is that of two tiles in turns. */
  const text = `func @tail(%x: gm<5x5xu64>, %i: gm<4x7xi64>, %y: gm<4x7xu64>) target("ascend-a2") {
  %a = alloc : ub<2x5xu64, row 64, buffers 2> at [0, 128]
  %b = alloc : ub<2x4xi64, row 32, buffers 2> at [256, 320]
  %c = alloc : ub<2x4xu64, row 32, buffers 2> at [384, 448]
  for %v1 = 0 to 7 step 5 parallel {
    for %t0 = 0 to 4 step 2 parallel {
      load %x[%t0, 0][2, 5] to %a
      sync MTE2 -> S
      for %t1 = %v1 to min(%v1 + 5, 7) step 4 serial {
        sync S -> MTE2 lag 1
        load %i[%t0, %t1][2, min(4, min(%v1 + 5, 7) - %t1)] to %b
        sync MTE3 -> S lag 1
        sync MTE2 -> S
        gather %a[0, 0][2, 5], %b[0, 0][2, min(4, min(%v1 + 5, 7) - %t1)] to %c[0, 0][2, min(4, min(%v1 + 5, 7) - %t1)] (d0, d1) -> (d0, %b[d0, d1]) {oob = clamp, origin = [%t0, %t1]}
        sync S -> MTE3
        store %c to %y[%t0, %t1][2, min(4, min(%v1 + 5, 7) - %t1)]
      }
    }
  }
}`;

  it("leaves a race that more turns would hide, and the verifier says so", () => {
    const func = parsedTile(text);
    expect(verify(func, "tile", targets.ascendA2)).toEqual([]);
    expect(verify(func, "synchronized", targets.ascendA2)).toMatchObject([{ code: "TC203" }]);
    const inputs = {
      data: { type: func.operands[0]!.type, bytes: new Uint8Array(200) },
      indices: { type: func.operands[1]!.type, bytes: new Uint8Array(224) },
    };
    expect(() => simulateChecked(func, inputs, targets.ascendA2)).toThrow("TC604");
  });
});
