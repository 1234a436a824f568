import { describe, expect, it } from "vitest";
import type { Backend, BackendKernel } from "../../backends/index.js";
import { referenceBackend } from "../../backends/reference/index.js";
import { checkedBackend, fastBackend, simulate, simulateBytes } from "../../backends/sim/index.js";
import { RunError, targets } from "../../ir/index.js";
import { compile, onnx, run } from "../../src/index.js";
import { operandOf } from "../support/operands.js";
import { parsed, parsedTile } from "../support/parsed.js";

const kernel = compile(onnx.gather({ data: ["u8", [5, 4]], indices: ["i32", [6]], axis: 0 }), {
  target: targets.cpu,
  tile: [2, 4],
});
const data = Uint8Array.from({ length: 20 }, (_, k) => k + 1);
const indices = Int32Array.from([4, 0, -1, 2, 3, 1]);
const rows = (...list: number[]): Uint8Array =>
  Uint8Array.from(list.flatMap((row) => [0, 1, 2, 3].map((k) => 4 * row + k + 1)));
const inputs = (values: Int32Array) => ({
  data: { type: operandOf(kernel.tile, "data").type, bytes: data },
  indices: { type: operandOf(kernel.tile, "indices").type, bytes: new Uint8Array(values.buffer) },
});

/** The same program without its operator. */
function written(): BackendKernel {
  const tile = parsedTile(kernel.text("tile"));
  return { tile, target: kernel.target };
}

const backends: readonly (readonly [string, Backend])[] = [
  ["reference", referenceBackend],
  ["checked", checkedBackend],
  ["fast", fastBackend()],
];

describe.each(backends)("the %s backend", (name, backend) => {
  it.each([
    ["compiled", kernel],
    ["written by hand", written()],
  ])("prepares a kernel once and runs it many times: %s", async (_, own) => {
    const prepared = await backend.prepare(own);
    const first = await prepared.run(inputs(indices));
    const second = await prepared.run(inputs(indices.toReversed()));
    expect(first.output).toEqual(rows(4, 0, 4, 2, 3, 1));
    expect(second.output).toEqual(rows(1, 3, 2, 4, 0, 4));
    prepared.release();
  });

  it("runs what is asked for at once one after the other", async () => {
    const prepared = await backend.prepare(kernel);
    const [a, b] = await Promise.all([
      prepared.run(inputs(indices)),
      prepared.run(inputs(indices.toReversed())),
    ]);
    expect([a.output, b.output]).toEqual([rows(4, 0, 4, 2, 3, 1), rows(1, 3, 2, 4, 0, 4)]);
    prepared.release();
  });

  it("rejects the first output element whose index is out of range, and runs on", async () => {
    const prepared = await backend.prepare(kernel);
    const bad = indices.slice();
    [bad[5], bad[3], bad[4]] = [-6, 5, 99];
    const thrown: unknown = await prepared.run(inputs(bad)).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(RunError);
    expect((thrown as RunError).diagnostics[0]).toMatchObject({
      code: "TC601",
      message: "index 5 at indices[3] is out of range for dim 0 of data, which takes [-5, 4]",
      data: { position: 3, value: "5", axis: 0, extent: 5, point: [3, 0], site: 0 },
    });
    expect((await prepared.run(inputs(indices))).output).toEqual(rows(4, 0, 4, 2, 3, 1));
    prepared.release();
  });

  it("stops for a signal, with its reason", async () => {
    const prepared = await backend.prepare(kernel);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(prepared.run(inputs(indices), { signal })).rejects.toThrow("enough");
    prepared.release();
  });

  it("gives a report where it counts and is asked", async () => {
    const prepared = await backend.prepare(kernel);
    expect(await prepared.run(inputs(indices))).not.toHaveProperty("report");
    const { report } = await prepared.run(inputs(indices), { report: true });
    if (name === "reference") expect(report).toBeUndefined();
    else expect(report).toMatchObject({ executor: name, bytesWritten: 24 });
    prepared.release();
  });
});

describe("the report of a fast run", () => {
  const expected = (values: Int32Array) => simulateBytes(kernel, inputs(values)).report.locality;

  it("speaks of the run, whatever becomes of the caller's arrays", () => {
    const mine = indices.slice();
    const run = simulate(kernel, { data, indices: mine }, { executor: "fast" });
    mine.fill(0);
    expect(run.report.locality).toEqual(expected(indices));
    expect(run.report).toBe(run.report);
  });

  it("speaks of its own run when others follow before it is read", async () => {
    const same = indices.slice().fill(2);
    const first = simulate(kernel, { data, indices }, { executor: "fast" });
    const second = simulate(kernel, { data, indices: same }, { executor: "fast" });
    expect(first.report.locality).toEqual(expected(indices));
    expect(second.report.locality).toEqual(expected(same));
    const prepared = await fastBackend().prepare(kernel);
    const asked = await prepared.run(inputs(indices), { report: true });
    await prepared.run(inputs(same), { report: true });
    expect(asked.report?.locality).toEqual(expected(indices));
    prepared.release();
  });

  it("of many indices says so when another run followed before it was read", () => {
    const many = compile(onnx.gather({ data: ["f32", [5, 1]], indices: ["i32", [2 ** 16 + 1]], axis: 0 }), {
      target: targets.cpu,
    });
    const run = () =>
      simulate(
        many,
        { data: new Float32Array(5), indices: new Int32Array(2 ** 16 + 1) },
        { executor: "fast" },
      );
    const [unread, last] = [run(), run()];
    expect(last.report.bytesWritten).toBe(4 * (2 ** 16 + 1));
    expect(() => unread.report).toThrow(
      expect.objectContaining({
        diagnostics: [
          expect.objectContaining({ code: "TC702", hint: "read the report before the next run" }),
        ],
      }),
    );
  });

  it("is not derived until it is read", () => {
    // Counting alone asks for the burst of a target.
    let asked = 0;
    const target = {
      ...kernel.target,
      get burstBytes() {
        asked++;
        return kernel.target.burstBytes;
      },
    };
    const run = simulateBytes({ tile: kernel.tile, target }, inputs(indices), { executor: "fast" });
    expect(asked).toBe(0);
    expect(run.report.bytesWritten).toBe(24);
    expect(asked).toBeGreaterThan(0);
  });
});

describe("an index that is read a constant further on", () => {
  it.each(["reference", "sim"] as const)(
    "is read there by %s, not where its tile starts",
    async (backend) => {
      const func = parsed(`func @p(%x: tensor<8xf32>, %i: tensor<5xi32>) -> tensor<2xf32> {
  %y = access.gather %x, %i (d0) -> (%i[d0 + 3]) {oob = error}
  return %y
}
`);
      const inputs = {
        data: Float32Array.of(0, 1, 2, 3, 4, 5, 6, 7),
        indices: Int32Array.of(7, 6, 5, 4, 3),
      };
      const { outputs } = await run(compile(func), inputs, { backend });
      expect(outputs.output).toEqual(Float32Array.of(4, 3));
    },
  );
});
