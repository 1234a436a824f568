import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { simulate } from "../../backends/sim/index.js";
import { figureKinds, CompileError } from "../../ir/index.js";
import { compile, gather, gatherElements, onnx, run, targets } from "../../src/index.js";
import { figureNames } from "../../src/api/check-options.js";
import { parseTargetFile, targetFile } from "../../src/formats/target-file.js";
import { testRunner } from "../support/gpu.js";
import { refusal } from "../support/refusal.js";

const op = gatherElements({ data: ["f32", [64, 80]], indices: ["i32", [64, 64]], axis: 0 });
const kernel = compile(op, { target: targets.ascendA2, tile: [64, 32] });
const data = Float32Array.from({ length: 64 * 80 }, (_, k) => Math.sin(k));
const indices = Int32Array.from({ length: 64 * 64 }, (_, k) => ((k * 31) % 128) - 64);
const expected = Float32Array.from(indices, (index, k) => data[((index + 64) % 64) * 80 + (k % 64)]!);

describe("the library, as the README shows it", () => {
  it("simulates on typed arrays", () => {
    const { outputs, report } = simulate(kernel, { data, indices });
    expect(outputs.output).toEqual(expected);
    expect(report.tasks).toBe(2);
    expect(report.timing.cycles).toBeGreaterThan(0);
  });

  it("runs an Ascend kernel on a device, compiled again for it", async (context) => {
    const runner = await testRunner();
    if (runner === undefined) {
      context.skip();
      return;
    }
    const { outputs } = await runner.run(kernel, { data, indices });
    expect(outputs.output).toEqual(expected);
  });

  it("emits WGSL for an Ascend kernel without a device", () => {
    const { code, dispatch } = kernel.wgsl();
    expect(code).toContain("@compute");
    expect(dispatch[0]).toBeGreaterThan(0);
  });

  it("emits PTO-ISA C++ for it, and says what the host passes and launches", () => {
    const { code, entryPoint, blocks, params } = kernel.pto();
    expect(code).toContain(`void ${entryPoint}(__gm__ int32_t* gm_data, `);
    expect(blocks).toBe(2);
    expect(params.map(({ role, word }) => `${role} ${word}`)).toEqual([
      "data int32_t",
      "indices int32_t",
      "output int32_t",
      "status int32_t",
    ]);
  });

  it("moves strings", async () => {
    const words = onnx.gather({ data: ["string", [3]], indices: ["i64", [4]] });
    const { outputs } = await run(compile(words), {
      data: ["a", "b", "a"],
      indices: BigInt64Array.from([2n, -2n, 0n, 1n]),
    });
    expect(outputs.output).toEqual(["a", "b", "a", "b"]);
  });

  it("says what an input of another length should have been", () => {
    expect(() => simulate(kernel, { data: new Float32Array(3), indices })).toThrow(CompileError);
    expect(() => simulate(kernel, { data: new Float32Array(3), indices })).toThrow(
      /64x80xf32, 20480 bytes; got a Float32Array of 12 bytes/,
    );
  });

  it("rejects an index out of range with its position, value, axis and extent", () => {
    const wrong = indices.slice();
    wrong[70] = 64;
    expect(refusal(() => simulate(kernel, { data, indices: wrong }))).toMatchObject({
      code: "TC601",
      data: { position: 70, value: "64", axis: 0, extent: 64, coordinates: [1, 6] },
    });
  });

  it("does not depend on sizes it cannot hold: 2^48 elements are refused, not allocated", () => {
    expect(() => gather({ data: ["f32", [2 ** 16, 2 ** 16, 2 ** 16]], indices: ["i32", [2]] })).toThrow(
      /281474976710656 elements/,
    );
  });
});

describe("a target file", () => {
  it("reads back as the target it was made from", () => {
    for (const target of Object.values(targets)) {
      expect(parseTargetFile(JSON.stringify(targetFile(target)), "t.json")).toEqual(target);
    }
  });

  it("that clock 4 printed loads: kinds are mapped, and figures that it lacks are its machine's", () => {
    const files = JSON.parse(readFileSync("test/library/inputs/targets-of-clock-4.json", "utf8")) as {
      readonly name: keyof typeof byName;
      readonly figures: Readonly<Record<string, { readonly value: number }>>;
    }[];
    const byName = Object.fromEntries(Object.values(targets).map((target) => [target.name, target]));
    expect(files.map(({ name }) => name)).toEqual(["ascend-a2", "ascend-a3", "ascend-950", "webgpu", "cpu"]);
    for (const file of files) {
      const read = parseTargetFile(JSON.stringify(file), "t.json");
      const own = byName[file.name]!;
      expect(read.loadIssueCycles).toBe(
        own.kind === "ascend" ? own.loadIssueCycles : file.figures["loadStartupCycles"]!.value,
      );
      expect([read.launchCycles, read.sources.launchCycles]).toEqual([
        own.launchCycles,
        own.sources.launchCycles,
      ]);
      expect(read.gmReadBytesPerCycle).toBe(file.figures["gmBytesPerCycle"]!.value);
      expect(read.scalarCycles).toBe(file.figures["scalarCycles"]!.value);
      for (const { kind } of Object.values(read.sources)) expect(figureKinds).toContain(kind);
    }
  });

  it("is refused by the names that it has: a figure of another clock, a kind that is none", () => {
    const [file] = JSON.parse(readFileSync("test/library/inputs/targets-of-clock-4.json", "utf8")) as [
      { readonly figures: Readonly<Record<string, object>> },
    ];
    const read = (name: string, changes: object | undefined) => () => {
      const figure = changes === undefined ? null : { ...file.figures[name], ...changes };
      return parseTargetFile(
        JSON.stringify({ ...file, figures: { ...file.figures, [name]: figure } }),
        "t.json",
      );
    };
    expect(read("loadStartupCycles", { value: -1 })).toThrow(
      /figures.loadStartupCycles.value is -1; it takes a number, 0 or more/,
    );
    expect(read("gmBytesPerCycle", { kind: "guess" })).toThrow(
      /figures.gmBytesPerCycle.kind must be one of board/,
    );
    expect(read("cores", { kind: "toString" })).toThrow(/figures.cores.kind must be one of board/);
    expect(read("cores", undefined)).toThrow(/figures.cores must be \{ value, kind, source \}/);
    const { cores: _, ...others } = file.figures;
    expect(() => parseTargetFile(JSON.stringify({ ...file, figures: others }), "t.json")).toThrow(
      /figures.cores.value/,
    );
  });

  it("of an earlier version gives its figures under the names of this one", () => {
    const { figures, ...file } = targetFile(targets.ascendA2);
    const { gmReadBytesPerCycle: _, gmMixedBytesPerCycle: __, loadLatencyCycles: ___, ...others } = figures;
    const figure = (value: number) => ({ value, kind: "assumption", source: "a file" });
    const older = { gmBytesPerCycle: figure(864), loadStartupCycles: figure(250) };
    const read = parseTargetFile(JSON.stringify({ ...file, figures: { ...others, ...older } }), "t.json");
    expect([read.gmReadBytesPerCycle, read.gmMixedBytesPerCycle, read.loadLatencyCycles]).toEqual([
      864, 864, 250,
    ]);
  });

  it("keeps the 950 of 56 cores, with which records were made", () => {
    const name = "examples/targets/ascend-950-56.json";
    const read = parseTargetFile(readFileSync(name, "utf8"), name);
    expect({ ...read, ...{ name: "", title: "", cores: 0, sources: {} } }).toEqual({
      ...targets.ascend950,
      ...{ name: "", title: "", cores: 0, sources: {} },
    });
    expect([read.name, read.cores, targets.ascend950.cores]).toEqual(["ascend-950-56", 56, 64]);
  });

  it("widens a range to a value that was changed beside it", () => {
    const file = targetFile(targets.ascendA2);
    const changed = (value: number) => {
      const loadIssueCycles = { ...file.figures["loadIssueCycles"], value };
      const read = { ...file, figures: { ...file.figures, loadIssueCycles } };
      return parseTargetFile(JSON.stringify(read), "t.json").sources.loadIssueCycles.range;
    };
    const [low = NaN, high = NaN] = targets.ascendA2.sources.loadIssueCycles.range ?? [];
    expect([changed(10), changed(20), changed(264)]).toEqual([
      [10, high],
      [low, high],
      [low, 264],
    ]);
  });

  it("names the figure that is wrong", () => {
    const file = targetFile(targets.ascendA2);
    const broken = { ...file, figures: { ...file.figures, cores: { ...file.figures["cores"], value: 0 } } };
    expect(() => parseTargetFile(JSON.stringify(broken), "t.json")).toThrow(
      /figures.cores.value is 0; it takes a whole number, 1 or more/,
    );
    expect(() => parseTargetFile("{", "t.json")).toThrow(/TC015/);
  });

  it("takes whole numbers alone of cores, bytes and elements", () => {
    const file = targetFile(targets.ascendA2);
    const read = (name: string, value: number) => () => {
      const figures = { ...file.figures, [name]: { ...file.figures[name], value } };
      return parseTargetFile(JSON.stringify({ ...file, figures }), "t.json");
    };
    const whole = figureNames.filter(
      (name) => /Bytes$|cores|Rows$|tasksPerCore|Elements$|lanes/.test(name) && name !== "blockBytes",
    );
    expect(whole).toHaveLength(16);
    for (const name of whole) {
      for (const value of [0, 0.5, 1.5, 100.5, -1])
        expect(read(name, value), name).toThrow(
          `TC015]: t.json: figures.${name}.value is ${value}; it takes a whole number, 1 or more`,
        );
      expect(read(name, 7)()[name]).toBe(7);
    }
    expect(read("clockMhz", 1850.5)().clockMhz).toBe(1850.5);
    expect(read("syncCycles", 0.5)().syncCycles).toBe(0.5);
  });

  it("that is JSON and no object says so, once", () => {
    for (const text of ["null", "[]", "3", '"a"', "true", '{"target": []}']) {
      const read = () => parseTargetFile(text, "t.json");
      expect(read, text).toThrow(/^error\[TC015\]: t\.json: a target must be an object, not (?!.*TC015)/);
      expect(read, text).not.toThrow("not JSON");
    }
  });

  it.each([
    ["ascendA2", "loadStartupCycles", "loadLatencyCycles"],
    ["ascendA2", "storeStartupCycles", "storeLatencyCycles"],
    ["cpu", "loadStartupCycles", "loadIssueCycles"],
    ["webgpu", "storeStartupCycles", "storeIssueCycles"],
    ["ascendA2", "gmBytesPerCycle", "gmReadBytesPerCycle"],
  ] as const)("of %s refuses %s beside %s", (target, earlier, now) => {
    const file = targetFile(targets[target]);
    const figures = { ...file.figures, [earlier]: { value: 250, kind: "assumption", source: "a file" } };
    expect(() => parseTargetFile(JSON.stringify({ ...file, figures }), "t.json")).toThrow(
      `figures.${earlier} and figures.${now} are one figure`,
    );
  });

  it("refuses element sizes of a vector gather that no element has", () => {
    const broken = { ...targetFile(targets.ascendA2), vectorGatherBytes: [2, 3] };
    expect(() => parseTargetFile(JSON.stringify(broken), "t.json")).toThrow(/TC015.*vectorGatherBytes/s);
  });

  it("takes a file without isa, and refuses elements of 1 byte where the 950's header misreads them", () => {
    const { isa, ...older } = targetFile(targets.ascendA2);
    expect(isa).toBe("a2a3");
    expect(parseTargetFile(JSON.stringify(older), "t.json").isa).toBeUndefined();
    const wrong = { ...targetFile(targets.ascend950), vectorGatherBytes: [1, 2, 4] };
    expect(() => parseTargetFile(JSON.stringify(wrong), "t.json")).toThrow(/TC501.*lists 1/s);
    const other = { ...targetFile(targets.ascend950), isa: "a6" };
    expect(() => parseTargetFile(JSON.stringify(other), "t.json")).toThrow(
      /TC015.*isa must be one of a2a3, a5/s,
    );
  });
});
