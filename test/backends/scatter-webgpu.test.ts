/** Kernels of scatters on a device: memory of the caller, broken promises, shared words, order, limits. */
import { describe, expect, it } from "vitest";
import { referenceOfMap } from "../../backends/reference/index.js";
import { bufferUsage } from "../../backends/webgpu/buffers.js";
import { defaultLimits, type GpuBuffers, type Runner } from "../../backends/webgpu/index.js";
import type { HostInputs } from "../../backends/index.js";
import { byteCount, inputsOf, keyOf, type AccessFunc } from "../../ir/index.js";
import { compile, type Kernel } from "../../src/index.js";
import { drawer } from "../fuzz/mutate.js";
import { runnerOr } from "../support/gpu.js";
import { rejections } from "../support/refusal.js";
import { parsedAccess } from "../support/parsed.js";

const kernelOf = (text: string): Kernel => compile(parsedAccess(text), { target: "webgpu" });

/** Bytes at random, but for inputs that are given as numbers of i32. */
function drawn(func: AccessFunc, given: Readonly<Record<string, readonly number[]>>, seed = 5): HostInputs {
  const draw = drawer(seed);
  return Object.fromEntries(
    inputsOf(func).map((operand) => {
      const numbers = given[operand.name];
      const bytes =
        numbers === undefined
          ? Uint8Array.from({ length: byteCount(operand.type) }, () => draw(256))
          : new Uint8Array(Int32Array.from(numbers).buffer);
      return [keyOf(operand), { type: operand.type, bytes }];
    }),
  );
}

const copied = (inputs: HostInputs): HostInputs =>
  Object.fromEntries(
    Object.entries(inputs).map(([key, { type, bytes }]) => [key, { type, bytes: Uint8Array.from(bytes) }]),
  );

/** Runs a program on the device and expects the bits of the reference. */
async function agrees(runner: Runner, text: string, inputs: (func: AccessFunc) => HostInputs): Promise<void> {
  const func = parsedAccess(text);
  const given = inputs(func);
  const expected = referenceOfMap(func.map, func.operands, copied(given));
  const actual = await runner.runBytes(compile(func, { target: runner.target }), copied(given));
  expect(Buffer.compare(actual, expected), text).toBe(0);
}

/** Codes of the errors that an action throws or rejects with, and the data of the first. */
async function thrownBy(action: () => unknown): Promise<readonly [code: string | undefined, data: unknown]> {
  const [first] = await rejections(action);
  return [first?.code, first?.data];
}

/** Buffers of a kernel on the device, by key, with their contents. */
function buffersOf(runner: Runner, kernel: Kernel, inputs: HostInputs): GpuBuffers {
  const { device } = runner;
  const usage = bufferUsage.STORAGE | bufferUsage.COPY_SRC | bufferUsage.COPY_DST;
  const { bindings } = runner.wgsl(kernel);
  const buffers = Object.fromEntries(
    bindings.map(({ key, role, bytes }) => {
      const buffer = device.createBuffer({ size: bytes, usage });
      const contents = role === "status" ? new Uint8Array(bytes).fill(0xff) : inputs[key]?.bytes;
      const padded = new Uint8Array(bytes);
      padded.set(contents ?? []);
      device.queue.writeBuffer(buffer, 0, padded);
      return [key, buffer];
    }),
  );
  return buffers;
}

async function contentsOf({ device }: Runner, buffer: GPUBuffer): Promise<Uint8Array> {
  const host = device.createBuffer({ size: buffer.size, usage: bufferUsage.COPY_DST | bufferUsage.MAP_READ });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, host, 0, buffer.size);
  device.queue.submit([encoder.finish()]);
  await host.mapAsync(1);
  const bytes = new Uint8Array(host.getMappedRange().slice(0));
  host.destroy();
  return bytes;
}

function launch(runner: Runner, kernel: Kernel, buffers: GpuBuffers): void {
  const encoder = runner.device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  runner.encode(pass, kernel, buffers);
  pass.end();
  runner.device.queue.submit([encoder.finish()]);
}

const cache = (dtype: string, rows: number, width: number, points: number, rest: string): string =>
  `func @kv(%cache: inout tensor<${rows}x${width}x${dtype}>, %slot: tensor<${points}xi32>, %rows: tensor<${points}x${width}x${dtype}>) -> tensor<${rows}x${width}x${dtype}> {
  %y = access.scatter %cache, %slot, %rows (d0 < ${points}, d1 < ${width}) let t = ${rest.includes("oob = skip") ? "skip" : "error"}(%slot[d0] in ${rows}) -> (t, d1) yield %rows[d0, d1] {oob = error, ${rest.replace("oob = skip, ", "")}}
  return %y
}
`;

describe("a scatter in the caller's buffers", () => {
  it("is written in place, and its output has no buffer", async (context) => {
    const runner = await runnerOr(context);
    const func = parsedAccess(cache("f16", 64, 32, 8, "duplicates = last"));
    const kernel = compile(func, { target: runner.target });
    const inputs = drawn(func, { slot: [3, 9, 3, 63, 0, 9, 9, 1] });
    const expected = referenceOfMap(func.map, func.operands, copied(inputs));
    expect(runner.wgsl(kernel).bindings.map(({ role }) => role)).toEqual([
      "data",
      "indices",
      "indices",
      "status",
      "owner",
    ]);
    const buffers = buffersOf(runner, kernel, inputs);
    launch(runner, kernel, buffers);
    await runner.checkStatus(kernel, buffers);
    expect(Buffer.compare(await contentsOf(runner, buffers["cache"]!), expected)).toBe(0);
    // Owners of the launch before are not taken for its own: a row is named by an earlier point than before.
    const slot = Int32Array.of(1, 63, 0, 0, 5, 6, 7, 8);
    runner.device.queue.writeBuffer(buffers["slot"]!, 0, slot);
    launch(runner, kernel, buffers);
    const { cache: was, rows } = inputs;
    const again = {
      cache: { type: was!.type, bytes: Uint8Array.from(expected) },
      slot: { type: inputs["slot"]!.type, bytes: new Uint8Array(slot.buffer) },
      rows: rows!,
    };
    const next = referenceOfMap(func.map, func.operands, again);
    expect(Buffer.compare(await contentsOf(runner, buffers["cache"]!), next)).toBe(0);
    expect((await runner.time(kernel, buffers, 1)).launches).toBeGreaterThan(0);
  });

  it.for([
    ["an index out of range", [3, 9, 3, 64, 0, 9, 9, 1], "duplicates = last", "TC601", { point: [3, 0] }],
    [
      "an index out of range, without owners",
      [1, 2, 3, -1, 4, 5, 6, 7],
      "duplicates = unique",
      "TC601",
      { point: [3, 0] },
    ],
    [
      "a duplicate",
      [3, 9, 4, 5, 9, 3, 9, 1],
      "duplicates = error",
      "TC607",
      { point: [4, 0], earlier: [1, 0] },
    ],
    [
      "a bad index behind a duplicate",
      [3, 3, 4, 5, 9, 7, 99, 1],
      "duplicates = error",
      "TC601",
      { point: [6, 0] },
    ],
  ] as const)("has not changed after %s", async ([, slot, rest, code, data], context) => {
    const runner = await runnerOr(context);
    const func = parsedAccess(cache("f16", 64, 32, 8, rest));
    const kernel = compile(func, { target: runner.target });
    const inputs = drawn(func, { slot });
    const buffers = buffersOf(runner, kernel, inputs);
    launch(runner, kernel, buffers);
    const thrown = await thrownBy(() => runner.checkStatus(kernel, buffers));
    expect(thrown).toEqual([code, expect.objectContaining(data)]);
    expect(Buffer.compare(await contentsOf(runner, buffers["cache"]!), inputs["cache"]!.bytes)).toBe(0);
    const given = copied(inputs);
    expect(await thrownBy(() => runner.runBytes(kernel, given))).toEqual(thrown);
    expect(given).toEqual(inputs);
  });

  it("is asked for, with what it is for", async (context) => {
    const runner = await runnerOr(context);
    const func = parsedAccess(cache("f16", 64, 32, 8, "duplicates = last"));
    const kernel = compile(func, { target: runner.target });
    const buffers = buffersOf(runner, kernel, drawn(func, { slot: [0, 1, 2, 3, 4, 5, 6, 7] }));
    const { owner: _, ...others } = buffers;
    expect(
      (
        await thrownBy(() => {
          launch(runner, kernel, others);
        })
      )[0],
    ).toBe("TC702");
  });
});

describe("the kernel of a scatter", () => {
  it("takes rows of a unique promise in one dispatch, by 16 bytes", () => {
    const { code, before, bindings } = kernelOf(
      cache("f16", 1024, 512, 8, "oob = skip, duplicates = unique"),
    ).wgsl();
    expect(before).toBe(undefined);
    expect(code).toContain("gm_cache: array<vec4u, 65536>");
    expect(bindings.map(({ key }) => key)).toEqual(["cache", "slot", "rows"]);
  });

  it("has owners under a unique promise where an element is more than a word, which two lanes could tear", () => {
    for (const [dtype, isOwned] of [
      ["f32", false],
      ["i64", true],
      ["c128", true],
    ] as const) {
      const { bindings } = kernelOf(cache(dtype, 64, 8, 8, "oob = skip, duplicates = unique")).wgsl();
      expect(bindings.some(({ role }) => role === "owner")).toBe(isOwned);
    }
  });

  it("has an owner for each row, and touches no row that no point names", () => {
    const {
      code,
      before = [],
      bindings,
    } = kernelOf(cache("f32", 65536, 512, 8, "oob = skip, duplicates = last")).wgsl();
    expect(bindings.find(({ role }) => role === "owner")?.bytes).toBe(4 * 65536);
    expect(before.map(({ entryPoint, dispatch }) => [entryPoint, dispatch])).toEqual([
      ["clear_points", [1, 1, 1]],
      ["own_points", [1, 1, 1]],
    ]);
    expect(code).toContain("gm_cache: array<vec4u");
  });

  it.for(["i8", "f16", "bf16", "u16", "bool"])(
    "keeps elements of %s apart that share words",
    async (dtype, context) => {
      const runner = await runnerOr(context);
      const draw = drawer(9);
      const indices = Array.from({ length: 3000 }, () => draw(1001));
      const text = (inout: string, duplicates: string): string =>
        `func @f(%x: ${inout}tensor<1001x${dtype}>, %i: tensor<3000xi32>, %u: tensor<3000x${dtype}>) -> tensor<1001x${dtype}> {
  %y = access.scatter %x, %i, %u (d0 < 3000) -> (%i[d0]) yield %u[d0] {oob = error, duplicates = ${duplicates}}
  return %y
}
`;
      for (const inout of ["", "inout "])
        await agrees(runner, text(inout, "last"), (func) => drawn(func, { i: indices }));
    },
  );

  it.for(["u8", "f16"])(
    "takes rows of %s that start within a word of the updates, backwards, and where they lack an element",
    async (dtype, context) => {
      const runner = await runnerOr(context);
      for (const inout of ["", "inout "])
        for (const from of ["d1", "d1 + 1", "7 - d1"])
          for (const [row, fill] of [
            ["d0", ""],
            ["fill(%j[d0] in 4)", ", fill = 171"],
          ] as const) {
            const text = `func @f(%x: ${inout}tensor<6x8x${dtype}>, %i: tensor<4xi32>, %j: tensor<4xi32>, %u: tensor<4x9x${dtype}>) -> tensor<6x8x${dtype}> {
  %y = access.scatter %x, %i, %j, %u (d0 < 4, d1 < 8) -> (skip(%i[d0] in 6), d1) yield %u[${row}, ${from}] {oob = error${fill}}
  return %y
}
`;
            expect(runner.wgsl(kernelOf(text)).code, "words are written whole").not.toContain("atomicOr");
            await agrees(runner, text, (func) => drawn(func, { i: [5, 0, 2, 9], j: [3, 1, 7, 0] }));
          }
    },
  );

  it.for(["i8", "u16", "i32", "u32", "f16", "bf16", "f32"])(
    "combines %s from many points at once",
    async (dtype, context) => {
      const runner = await runnerOr(context);
      const draw = drawer(3);
      const indices = Array.from({ length: 500 }, () => draw(7));
      for (const combine of ["add", "mul", "min", "max"])
        for (const width of [3, 4]) {
          const text = `func @f(%x: inout tensor<7x${width}x${dtype}>, %i: tensor<500xi32>, %u: tensor<500x${width}x${dtype}>) -> tensor<7x${width}x${dtype}> {
  %y = access.scatter %x, %i, %u (d0 < 500, d1 < ${width}) -> (%i[d0], d1) yield %u[d0, d1] {oob = error, combine = ${combine}}
  return %y
}
`;
          await agrees(runner, text, (func) => drawn(func, { i: indices }));
        }
    },
  );

  it.for(["i8", "f16", "f32", "i64", "c128"])(
    "leaves one update of %s where a promise is broken, and nothing else",
    async (dtype, context) => {
      const runner = await runnerOr(context);
      const func =
        parsedAccess(`func @f(%x: tensor<37x${dtype}>, %i: tensor<2048xi32>, %u: tensor<2048x${dtype}>) -> tensor<37x${dtype}> {
  %y = access.scatter %x, %i, %u (d0 < 2048) -> (skip(%i[d0] in 37)) yield %u[d0] {oob = error, duplicates = unique}
  return %y
}
`);
      const named = (k: number): number => (k % 9 === 0 ? 40 : (k % 12) * 3);
      const inputs = drawn(func, { i: Array.from({ length: 2048 }, (_, k) => named(k)) });
      const output = await runner.runBytes(compile(func, { target: runner.target }), inputs);
      const size = output.length / 37;
      const element = (bytes: Uint8Array, k: number): string =>
        bytes.subarray(k * size, (k + 1) * size).join();
      for (let k = 0; k < 37; k++) {
        const updates = Array.from({ length: 2048 }, (_, point) => point).filter(
          (point) => named(point) === k,
        );
        const allowed =
          updates.length === 0
            ? [element(inputs["x"]!.bytes, k)]
            : updates.map((point) => element(inputs["u"]!.bytes, point));
        expect(allowed).toContain(element(output, k));
      }
    },
  );

  it("writes nothing outside its operand where an unchecked index is out of range", async (context) => {
    const runner = await runnerOr(context);
    const func =
      parsedAccess(`func @f(%x: inout tensor<5x2xi32>, %i: tensor<4xi32>, %u: tensor<4x2xi32>) -> tensor<5x2xi32> {
  %y = access.scatter %x, %i, %u (d0 < 4, d1 < 2) -> (unchecked(%i[d0] in 5), d1) yield %u[d0, d1] {oob = error, duplicates = last}
  return %y
}
`);
    const inputs = drawn(func, { i: [2, 5, 2_000_000, -1] });
    const before = copied(inputs);
    await runner.runBytes(compile(func, { target: runner.target }), inputs);
    const [now, was, updates] = [inputs["x"]!.bytes, before["x"]!.bytes, before["u"]!.bytes];
    expect([...now.subarray(16, 24)]).toEqual([...updates.subarray(0, 8)]);
    expect([...now.subarray(0, 16), ...now.subarray(24)]).toEqual([
      ...was.subarray(0, 16),
      ...was.subarray(24),
    ]);
  });

  it("fills what it reads by an index value without an element, and reads by none after it", async (context) => {
    const runner = await runnerOr(context);
    const text = `func @f(%x: tensor<6xi32>, %i: tensor<6xi32>, %j: tensor<6xi32>, %k: tensor<4xi32>, %u: tensor<3xi32>) -> tensor<6xi32> {
  %y = access.scatter %x, %i, %j, %k, %u (d0 < 6) let t = skip(%i[d0] in 6) let a = fill(%j[d0] in 4) let b = fill(%k[a] in 3) -> (t) yield %u[b] {oob = error, duplicates = last, fill = 77}
  return %y
}
`;
    await agrees(runner, text, (func) =>
      drawn(func, { i: [0, 1, 7, 3, 4, 5], j: [0, 9, 1, 2, -1, 3], k: [2, 0, 8, 1] }),
    );
    // The value of %k that no index value names is out of range, and is no error.
    await agrees(runner, text.replace("fill(%k[a] in 3)", "error(%k[a] in 3)"), (func) =>
      drawn(func, { i: [0, 1, 7, 3, 4, 5], j: [0, 9, 1, 2, -1, 2], k: [2, 0, 1, 99] }),
    );
  });

  it("lies in more workgroups than a grid has along a dim", async (context) => {
    const runner = await runnerOr(context);
    const text = `func @f(%x: tensor<4200000xi32>, %i: tensor<2xi32>, %u: tensor<2xi32>) -> tensor<4200000xi32> {
  %y = access.scatter %x, %i, %u (d0 < 2) -> (%i[d0]) yield %u[d0] {oob = error, duplicates = last}
  return %y
}
`;
    expect(runner.wgsl(kernelOf(text)).before?.[0]?.dispatch[1]).toBe(2);
    await agrees(runner, text, (func) => drawn(func, { i: [4_199_999, 65536 * 64] }));
  });

  it("takes sums of floats in order up to 2^20 points a lane, and refuses more with the way out", () => {
    const sum = (points: number, duplicates: string): string =>
      `func @f(%x: tensor<9xf32>, %i: tensor<${points}xi32>, %u: tensor<${points}xf32>) -> tensor<9xf32> {
  %y = access.scatter %x, %i, %u (d0 < ${points}) -> (skip(%i[d0] in 9)) yield %u[d0] {oob = error, combine = add${duplicates}}
  return %y
}
`;
    expect(kernelOf(sum(2 ** 20, "")).wgsl().code).toContain("turn < 1048576u");
    expect(() => kernelOf(sum(2 ** 20 + 1, "")).wgsl()).toThrow("TC505");
    expect(kernelOf(sum(2 ** 20 + 1, ", duplicates = unique")).wgsl().code).not.toContain("turn <");
  });

  it("counts owners against the device's limits", () => {
    const inputs = Array.from({ length: 6 }, (_, k) => `%i${k}: tensor<4xi32>`).join(", ");
    const names = Array.from({ length: 6 }, (_, k) => `%i${k}`).join(", ");
    const sum = Array.from({ length: 6 }, (_, k) => `%i${k}[d0]`).join(" + ");
    const text = `func @f(%x: inout tensor<4xi32>, ${inputs}) -> tensor<4xi32> {
  %y = access.scatter %x, ${names} (d0 < 4) -> (skip(%i0[d0] in 4)) yield ${sum} {oob = error, duplicates = last}
  return %y
}
`;
    const { bindings } = kernelOf(text).wgsl(defaultLimits);
    expect(bindings.filter(({ access }) => access !== "uniform").length).toBe(8);
    const more = text.replace("skip(%i0[d0] in 4)", "%i0[d0]");
    expect(() => kernelOf(more)).toThrow(
      "the kernel binds 9 storage buffers (7 inputs, the status of index errors, the owners of elements)",
    );
  });
});
