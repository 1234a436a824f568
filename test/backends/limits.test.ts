/** Limits of WebGPU devices: what a kernel takes of each is known to the compiler, to texts for any limits and to the runner. */
import { describe, expect, it } from "vitest";
import { createRunner, defaultLimits, raisedLimits, targetOf } from "../../backends/webgpu/index.js";
import { neededLimits } from "../../backends/wgsl/index.js";
import { deviceLimits, limitNames, targets, type Func, type WgslLimits } from "../../ir/index.js";
import { runtimeOf } from "../../src/module/runtime-of.js";
import { emitModule } from "../../src/module/emit-module.js";
import { compile, explain, gather, tryCompile } from "../../src/index.js";
import { requireGpu } from "../support/gpu.js";
import { loadModule } from "../support/modules.js";
import { refusals } from "../support/refusal.js";
import { parsed } from "../support/parsed.js";

/** A sum of so many tables, each by indices of its own: two buffers a table, one for the output, and under `error` one for the status. */
function sumOf(tables: number, oob: "clamp" | "error" = "clamp"): Func {
  const numbers = Array.from({ length: tables }, (_, k) => k);
  const list = (of: (k: number) => string): string => numbers.map(of).join(", ");
  const types = `${list((k) => `%w${k}: tensor<7x4xf32>`)}, ${list((k) => `%i${k}: tensor<5xi32>`)}`;
  const text = `func @f(${types}) -> tensor<5x4xf32> {
  %y = access.gather ${list((k) => `%w${k}`)}, ${list((k) => `%i${k}`)} (d0, d1) yield ${numbers.map((k) => `%w${k}[%i${k}[d0], d1]`).join(" + ")} {oob = ${oob}}
  return %y
}
`;
  return parsed(text);
}

const onWebgpu = { target: targets.webgpu };
/** A target for devices that have other limits than every device. */
const withBuffers = (count: number) => targetOf({ ...defaultLimits, maxStorageBuffersPerShaderStage: count });

describe("the storage buffers of a stage", () => {
  it("are counted with their parts: tables, indices, the output, and the status of index errors", () => {
    for (const [tables, oob, count] of [
      [3, "clamp", 7],
      [3, "error", 8],
      [4, "clamp", 9],
      [6, "error", 14],
    ] as const) {
      const found = tryCompile(sumOf(tables, oob), onWebgpu);
      const fits = count <= 8;
      expect(found.ok, `${tables} tables under ${oob}`).toBe(fits);
      const { legal, rules } = explain(sumOf(tables, oob), onWebgpu);
      expect(legal).toBe(fits);
      expect(rules.find(({ rule }) => rule === "storage-buffers")).toMatchObject({
        pass: fits,
        detail: expect.stringContaining(
          `: ${count} ${fits ? "<=" : ">"} 8 (maxStorageBuffersPerShaderStage)`,
        ),
      });
      if (found.ok) expect(neededLimits(found.kernel.wgsl()).maxStorageBuffersPerShaderStage).toBe(count);
      else
        expect(found.diagnostics).toMatchObject([
          { code: "TC502", data: { count, limit: 8 }, severity: "error" },
        ]);
    }
  });

  it("are refused by the count, the limit and the way out, which works", () => {
    const text = (count: number) => () =>
      compile(sumOf(6), { target: withBuffers(13) }).wgsl({
        ...defaultLimits,
        maxStorageBuffersPerShaderStage: count,
      });
    const [refused, ...others] = refusals(text(12));
    expect(others).toEqual([]);
    expect(refused).toMatchObject({
      code: "TC502",
      message:
        "the kernel binds 13 storage buffers (12 inputs, the output), over the device's maxStorageBuffersPerShaderStage of 12",
      hint: expect.stringContaining("--limits maxStorageBuffersPerShaderStage=13"),
    });
    expect(refusals(text(13))).toEqual([]);
    expect(raisedLimits(text(13)())).toEqual({ maxStorageBuffersPerShaderStage: 13 });
  });

  it("of a kernel for another machine are judged by the limits that its text is asked for", () => {
    const kernel = compile(sumOf(4), { target: targets.cpu });
    expect(refusals(() => kernel.wgsl())).toMatchObject([{ code: "TC502", data: { count: 9, limit: 8 } }]);
    const limits = { ...defaultLimits, maxStorageBuffersPerShaderStage: 9 };
    expect(kernel.wgsl(limits).bindings).toHaveLength(9);
  });

  it("of a module are refused when it is written, and else asked of the device", () => {
    const kernel = compile(sumOf(4), { target: targets.cpu });
    expect(refusals(() => emitModule(kernel, "module", runtimeOf))).toMatchObject([
      { code: "TC502", data: { count: 9, limit: 8 } },
    ]);
    const { code } = emitModule(kernel, "module", runtimeOf, withBuffers(9));
    expect(code).toContain("maxStorageBuffersPerShaderStage:9");
  });

  it("are no limit where nothing is bound: other machines, and the kernel of a machine of one's own", () => {
    for (const target of [targets.cpu, targets.ascendA2, withBuffers(13)])
      expect(tryCompile(sumOf(6), { target }).ok, target.name).toBe(true);
  });
});

describe("on a device with the limits that every device has", () => {
  it.for([1, 2, 3, 4, 5])(
    "a sum of %i tables is created if it compiles, and refused by TC502 if not",
    async (tables, context) => {
      const gpu = await requireGpu({ limits: "default" });
      if (gpu === undefined) context.skip();
      const runner = await createRunner(gpu!.device);
      expect(runner.limits).toEqual(defaultLimits);
      for (const oob of ["clamp", "error"] as const) {
        const func = sumOf(tables, oob);
        const compiled = tryCompile(func, onWebgpu);
        // A kernel for another machine is compiled again for the device.
        const ascend = compile(func, { target: targets.cpu });
        if (compiled.ok) {
          await runner.prepare(compiled.kernel);
          await (await loadModule(compiled.kernel)).create(gpu!.device);
        } else
          await expect(runner.prepare(ascend)).rejects.toMatchObject({ diagnostics: compiled.diagnostics });
      }
    },
  );
});

describe("every limit that kernels meet", () => {
  const kernel = compile(gather({ data: ["f32", [64, 80]], indices: ["i32", [32, 64]], axis: 1 }), {
    ...onWebgpu,
    residency: "ub",
  });
  const needed = neededLimits(kernel.wgsl());

  it("is held by the target webgpu, with buffers as large as 32 bits address", () => {
    expect(deviceLimits(targets.webgpu)).toEqual({
      ...defaultLimits,
      maxBufferSize: 2 ** 32 - 4,
      maxStorageBufferBindingSize: 2 ** 32 - 4,
    });
    expect(targets.webgpu.ubBytes).toBe(defaultLimits.maxComputeWorkgroupStorageSize);
  });

  /** Lanes fit themselves to these. */
  const fitted: readonly string[] = [
    "maxComputeInvocationsPerWorkgroup",
    "maxComputeWorkgroupSizeX",
    "maxComputeWorkgroupSizeY",
  ];
  // Workgroups along a dim are numbered through where they are too many: test/backends/wgsl.test.ts.
  const taken = limitNames.filter((name) => needed[name] > 1 && name !== "maxComputeWorkgroupsPerDimension");

  it.for(taken)("is kept one below what a kernel takes: %s", (name) => {
    expect(refusals(() => kernel.wgsl({ ...defaultLimits, [name]: needed[name] }))).toEqual([]);
    const below: WgslLimits = { ...defaultLimits, [name]: needed[name] - 1 };
    if (fitted.includes(name)) {
      expect(neededLimits(kernel.wgsl(below))[name]).toBeLessThan(needed[name]);
      return;
    }
    const refused = refusals(() => kernel.wgsl(below));
    expect(refused).not.toEqual([]);
    for (const { code, message, data } of refused) {
      expect(code).toBe("TC502");
      expect(message).toContain(String(needed[name] - 1));
      expect(data?.["limit"]).toBe(needed[name] - 1);
    }
  });

  it("of memory is named with its way out: bindings and buffers", () => {
    const large = compile(gather({ data: ["f32", [50257, 768]], indices: ["i32", [8]], axis: 0 }), onWebgpu);
    const bytes = 50257 * 768 * 4;
    expect(refusals(() => large.wgsl())).toMatchObject([
      {
        message: `%data takes ${bytes} B, over the device's maxStorageBufferBindingSize of 134217728 B`,
        hint: expect.stringContaining(`--limits maxStorageBufferBindingSize=${bytes}`),
      },
    ]);
    const small = { ...defaultLimits, maxBufferSize: 2 ** 27 };
    expect(refusals(() => large.wgsl(small))).toMatchObject([
      {
        message: expect.stringContaining("maxBufferSize of 134217728 B"),
        hint: expect.stringContaining(`maxBufferSize=${bytes},maxStorageBufferBindingSize=${bytes}`),
        data: { bytes },
      },
    ]);
    expect(
      explain(gather({ data: ["f32", [50257, 768]], indices: ["i32", [8]], axis: 0 }), onWebgpu).rules,
    ).toContainEqual(
      expect.objectContaining({
        rule: "buffer-bytes",
        pass: true,
        detail: expect.stringContaining("every device has 134217728 B"),
      }),
    );
  });
});
