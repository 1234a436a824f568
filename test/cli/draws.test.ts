/** What comparisons run on: four draws of inputs, or those that are stated. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeNpy } from "../../src/formats/npy.js";
import { readNpy } from "../../src/formats/npy.js";
import { named, node, input, model, onnxTypes, text } from "../support/onnx-bytes.js";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("draws");
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

interface Document {
  readonly ok: boolean;
  readonly inputs: string;
  readonly output: { readonly bytes: number };
  readonly backends: readonly { readonly backend: string; readonly agrees: boolean }[];
  readonly draws: readonly { readonly inputs: string; readonly outcome: string }[];
  readonly report?: { readonly bytesRead: number };
  readonly diagnostics: readonly { readonly code: string; readonly message: string }[];
}
const run = async (...args: readonly string[]) => {
  const ran = await runHere(["run", ...args, "--json"]);
  return { ...ran, document: JSON.parse(ran.stdout) as Document };
};

const gather = ["--op", "gather", "--dialect", "onnx", "--data", "f32[9,4]", "--indices", "i32[12]"];
const indices = (...values: readonly number[]) =>
  file(
    `${values.join()}.npy`,
    writeNpy({
      type: { dtype: "i32", shape: [values.length] },
      bytes: new Uint8Array(Int32Array.from(values).buffer),
    }),
  );

describe("run with several backends", () => {
  it("draws inputs four times, two of them with indices out of range", async () => {
    const { document, status } = await run(...gather, "--seed", "1", "--backend", "reference,sim");
    expect(status).toBe(0);
    expect(document.draws.map((draw) => draw.inputs)).toEqual([
      "data at random, seed 1 and indices at random, seed 1: indices in range",
      "data at random, seed 1 and indices at random, seed 1: indices in range, first and last among them",
      "data at random, seed 1 and indices at random, seed 1: one index out of range",
      "data at random, seed 1 and indices at random, seed 1: many indices out of range",
    ]);
    expect(document.draws.map(({ outcome }) => outcome.replace(/:.*/, ""))).toEqual([
      "the same bits",
      "the same bits",
      "the same TC601",
      "the same TC601",
    ]);
    expect(document).toMatchObject({
      ok: true,
      backends: [
        { backend: "reference", agrees: true },
        { backend: "sim", agrees: true },
      ],
      diagnostics: [],
    });
  });

  it("writes the output of the first draw, which is that of one backend", async () => {
    const out = (name: string) => `output=${join(folder, name)}`;
    const one = await run(...gather, "--seed", "3", "--out", out("one.npy"));
    const several = await run(
      ...[...gather, "--seed", "3", "--backend", "sim,reference", "--out", out("several.npy")],
    );
    const [alone, first] = ["one.npy", "several.npy"].map((name) => readFileSync(join(folder, name)));
    expect(first).toEqual(alone);
    expect(readNpy(first!, "several.npy").bytes).toHaveLength(several.document.output.bytes);
    expect(several.document.report).toEqual(one.document.report);
    expect(one.document.draws).toEqual([
      { inputs: "data at random, seed 3 and indices at random, seed 3", outcome: "done" },
    ]);
  });

  it("runs stated indices alone; the same index out of range everywhere agrees", async () => {
    const stated = ["--input", `indices=${indices(1, 2, 99, 4, 5, 6, 7, 8, 0, 1, 2, 3)}`, "--seed", "1"];
    const { document, status } = await run(...gather, ...stated, "--backend", "reference,sim");
    expect(status).toBe(0);
    expect(document.draws).toHaveLength(1);
    expect(document.draws[0]!.outcome).toContain("the same TC601: index 99 at indices[2]");
    expect(document.backends.map(({ agrees }) => agrees)).toEqual([true, true]);
    const alone = await runHere(["run", ...gather, ...stated]);
    expect(alone.status).toBe(1);
    expect(alone.stderr).toContain("TC601");
  });

  it("tells a program by hand whose policy is another one from its operator", async () => {
    const hand = (oob: string): string =>
      file(
        `${oob}.tir`,
        `func @hand(%x: gm<8x8xf32>, %i: gm<8x8xi32>, %y: gm<8x8xf32>) target("cpu") {
  for %t = 0 to 8 step 2 parallel {
    gather %x[0, 0][8, 8], %i[%t, 0][2, 8] to %y[%t, 0][2, 8] (d0, d1) -> (%i[d0, d1], d1) {oob = ${oob}, origin = [%t, 0]}
  }
}
`,
      );
    const source = file(
      "source.tir",
      `func @source(%x: tensor<8x8xf32>, %i: tensor<8x8xi32>) -> tensor<8x8xf32> {
  %y = access.gather %x, %i (d0, d1) -> (%i[d0, d1], d1) {oob = error}
  return %y
}
`,
    );
    const against = ["--against", source, "--seed", "1"];
    expect((await run(hand("error"), ...against)).status).toBe(0);
    const { status, document } = await run(hand("clamp"), ...against);
    expect(status).toBe(1);
    expect(document.backends).toEqual([{ backend: "sim", agrees: false }]);
    expect(document.draws.map(({ outcome }) => outcome)).toEqual([
      "the same bits",
      "the same bits",
      "DIFFERENT bits",
      "DIFFERENT bits",
    ]);
    expect(document.diagnostics[0]).toMatchObject({
      code: "TC610",
      message: expect.stringMatching(
        /^its definition rejects an index, and sim gives an output: .* with one index out of range$/,
      ) as unknown,
    });
  });
});

describe("check of a model whose inputs are not known", () => {
  it("runs its gathers on drawn inputs, on every backend", async () => {
    const path = file(
      "m.onnx",
      new Uint8Array(
        model([
          ...node("Gather", ["table", "ids"], ["e"], named("embed")),
          ...text(2, "g"),
          ...input("table", onnxTypes.f32, [50, 8]),
          ...input("ids", onnxTypes.i64, [6]),
        ]),
      ),
    );
    const { status, stdout } = await runHere(["check", path, "--json"]);
    expect(status).toBe(0);
    const { results } = JSON.parse(stdout) as {
      results: readonly { readonly backend: string; readonly status: string }[];
    };
    expect(results.map(({ backend, status: own }) => [backend, own])).toEqual([
      ["reference", "pass"],
      ["sim", "pass"],
    ]);
  });
});
