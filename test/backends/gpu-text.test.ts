/**
 * What a real GPU needs of a kernel, held by its text and its dispatch: enough workgroups, short lanes, wide accesses, rows read
 * side by side, no division on an element's way, loops whose turns are known, and slabs that lie off the banks.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultLimits, emitWgsl, planWgsl, targetOf, type WgslPlan } from "../../backends/webgpu/index.js";
import { meanBytes, targets, type DType, type Schedule, type SourceFunc } from "../../ir/index.js";
import { ubBytes } from "../../ir/tile.js";
import { compile, onnx, type Kernel } from "../../src/index.js";
import { program } from "../../src/api/program.js";

const target = targets.webgpu;
const device = { limits: { ...defaultLimits, maxStorageBufferBindingSize: 2 ** 31 }, target };
const volume = (shape: readonly number[]): number => shape.reduce((product, extent) => product * extent, 1);

const planned = (func: SourceFunc, schedule: Schedule = {}): { kernel: Kernel; plan: WgslPlan } => {
  const kernel = compile(func, { ...schedule, target });
  return { kernel, plan: planWgsl(kernel.tile, device) };
};

const output = ({ func }: WgslPlan) => func.operands[func.operands.length - 1]!.type;
const workgroups = ({ grid }: WgslPlan): number => volume(grid.dispatch);
const lanes = ({ lanes: { x, y } }: WgslPlan): number => x * y;
/** Elements that a lane moves at once. */
const accessElements = ({ gather }: WgslPlan): number => gather?.unit.group ?? 0;
/** Elements of the longest lane, where all of them have work. */
const each = (plan: WgslPlan): number => volume(output(plan).shape) / workgroups(plan) / lanes(plan);

const elements = (data: DType, rows: number, columns: number, axis: 0 | 1): SourceFunc =>
  onnx.gatherElements({ data: [data, [rows, columns]], indices: ["i32", [rows, columns]], axis });
const rowsOf = (data: DType, columns: number, count: number): SourceFunc =>
  onnx.gather({ data: [data, [1000, columns]], indices: ["i32", [count]], axis: 0 });
const line = (data: number, count: number): SourceFunc =>
  onnx.gather({ data: ["f32", [data]], indices: ["i32", [count]], axis: 0 });

const cubes = (...shape: readonly number[]): Parameters<typeof program>[0] => ({
  op: "onnx.gather_elements",
  attrs: { axis: 0 },
  data: { dtype: "f32", shape },
  indices: { dtype: "i32", shape },
});

/** Gathers of every form, from a few elements to some millions. */
const sizes = fc
  .integer({ min: 0, max: 11 })
  .chain((log) => fc.integer({ min: 2 ** log, max: 2 ** (log + 1) }));
const types = fc.constantFrom<DType>("i8", "f16", "f32", "f64", "c128");
const gathers: fc.Arbitrary<SourceFunc> = fc.oneof(
  fc.tuple(types, sizes, sizes, fc.constantFrom(0 as const, 1 as const)).map((all) => elements(...all)),
  fc.tuple(types, sizes, sizes).map((all) => rowsOf(...all)),
  fc.tuple(sizes, sizes, sizes).map(([data, a, b]) => line(data, a * b)),
);
const runs = { numRuns: 60 };

/** What runs, without comments, and without what runs once a workgroup or only for indices out of range. */
const running = (code: string): string[] =>
  code
    .split("\n")
    .filter((text) => !text.trim().startsWith("//"))
    .filter((text) => !/\btask\b/.test(text));

/** A staged row, which the full-load rule does not split, and nothing beside it: there are as many tasks as there are rows. */
const isLeast = ({ source, tile: { schedule, operands } }: Kernel): boolean =>
  schedule.residency === "ub" &&
  (schedule.tile ?? []).every(
    (entry, d) => entry === (d === source?.attrs["axis"] ? operands.at(-1)?.type.shape[d] : 1),
  );

describe("workgroups and lanes", () => {
  it("give every core four workgroups, or every lane four accesses at most, where a tile may be smaller", () => {
    fc.assert(
      fc.property(gathers, (func) => {
        const { plan, kernel } = planned(func);
        const full = workgroups(plan) >= target.cores * 4;
        expect(full || each(plan) <= 4 * accessElements(plan) || isLeast(kernel)).toBe(true);
      }),
      { ...runs, examples: [[elements("f32", 481, 2497, 1)]] },
    );
  });

  it("give no lane more than 32 elements, or four accesses", () => {
    fc.assert(
      fc.property(gathers, (func) => {
        const { plan, kernel } = planned(func);
        const most = Math.max(32, 4 * accessElements(plan));
        expect(volume(kernel.tile.schedule.tile ?? []) / lanes(plan)).toBeLessThanOrEqual(most);
      }),
      runs,
    );
  });

  it.each([
    ["262144 outputs", line(65536, 262144), 512],
    ["a small table and many indices", line(256, 4194304), 2048],
    ["262144 outputs in rows", elements("f32", 1024, 256, 1), 512],
  ])("follow the size: %s", (_, func, least) => {
    const { plan } = planned(func);
    expect(workgroups(plan)).toBeGreaterThanOrEqual(least);
    expect(lanes(plan)).toBe(128);
    expect(each(plan)).toBeLessThanOrEqual(16);
  });

  it("lie along a row first: neighbours read a whole row, or 512 B of a longer one", () => {
    for (const [columns, bytes] of [
      [64, 256],
      [128, 512],
      [1024, 512],
    ] as const) {
      const { plan } = planned(rowsOf("f32", columns, 65536));
      expect(plan.gather).toMatchObject({ unit: { how: "rows" } });
      expect(plan.lanes.x * 16).toBeGreaterThanOrEqual(bytes);
    }
  });
});

describe("on an adapter in software", () => {
  it("a workgroup has the four lanes that such adapters run at once, and no more", () => {
    const software = targetOf(defaultLimits, true);
    fc.assert(
      fc.property(gathers, (func) => {
        const { tile } = compile(func, { target: software });
        const plan = planWgsl(tile, { limits: device.limits, target: software });
        expect(lanes(plan)).toBeLessThanOrEqual(4);
      }),
      runs,
    );
  });

  it.each([
    ["all rows that share a slab of columns", elements("f32", 1024, 4096, 0), [1024, 256]],
    ["many rows that have slabs of their own", elements("f32", 4096, 1024, 1), [256, 1024]],
  ])("a task takes %s, and each of 16 cores has one", (_, func, tile) => {
    const software = targetOf(defaultLimits, true);
    const kernel = compile(func, { target: software });
    const plan = planWgsl(kernel.tile, { limits: device.limits, target: software });
    expect(kernel.tile.schedule.tile).toEqual(tile);
    expect(workgroups(plan)).toBe(16);
  });
});

describe("accesses", () => {
  it("are 16 bytes wide where rows are whole multiples of 16", () => {
    fc.assert(
      fc.property(
        types,
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 500 }),
        (type, units, count) => {
          const { plan } = planned(rowsOf(type, (units * 16) / meanBytes(type), count));
          expect(plan.gather).toMatchObject({ unit: { how: "rows" } });
          expect(plan.bindings.map(({ role, width }) => [role, width]).slice(0, 3)).toEqual([
            ["data", 4],
            ["indices", 1],
            ["output", 4],
          ]);
        },
      ),
      runs,
    );
  });

  it("take four indices in one where rows of elements are whole multiples of four", () => {
    for (const type of ["i8", "f16", "f32"] as const) {
      const { plan } = planned(elements(type, 30, 64, 1));
      expect(plan.bindings.find(({ role }) => role === "indices")?.width).toBe(4);
    }
  });

  it("load a slab by 16 bytes, from rows that are whole multiples of them, and read single words of it", () => {
    for (const type of ["i8", "f16", "f32", "f64"] as const) {
      const { plan } = planned(elements(type, 64, 64, 1), { residency: "ub", tile: [4, 64] });
      expect(plan.gather).toMatchObject({ staged: { how: "words", width: 4, stagedWidth: 1 } });
    }
    const odd = planned(elements("f32", 64, 63, 1), { residency: "ub", tile: [4, 63] });
    expect(odd.plan.gather).toMatchObject({ staged: { how: "words", width: 1 } });
    const narrow = planned(elements("i8", 64, 63, 1), { residency: "ub", tile: [4, 63] });
    expect(narrow.plan.gather).toMatchObject({ staged: { how: "packed", width: 1 } });
  });
});

describe("an element's way", () => {
  const residencies = fc.constantFrom<Schedule>({ residency: "gm" }, { residency: "auto" });

  it("has no remainder, and one division, by a constant, where lanes number accesses across rows", () => {
    fc.assert(
      fc.property(gathers, residencies, (func, schedule) => {
        const { kernel, plan } = planned(func, schedule);
        const { code } = emitWgsl(kernel.tile, device);
        const divisions = running(code).filter((text) => /\s[/%]\s/.test(text));
        const across = plan.lanes.acrossRows || plan.gather?.unit.how === "across";
        // Full tiles have a branch of their own.
        expect(divisions.length).toBe(across ? (plan.branchesOnFullTiles ? 2 : 1) : 0);
        for (const text of divisions) expect(text).toMatch(/^ *let \w+ = \w+ \/ \d+u;$/);
      }),
      {
        ...runs,
        examples: [
          [rowsOf("f32", 5, 64), {}],
          [elements("f32", 900, 300, 1), { residency: "gm" }],
        ],
      },
    );
  });

  it.each(["i8", "f16", "f32", "c128"] as const)("has none where a slab of %s is staged", (type) => {
    for (const columns of [63, 64]) {
      const func = program({
        op: "onnx.gather_elements",
        attrs: { axis: 1 },
        data: { dtype: type, shape: [3, 5, columns] },
        indices: { dtype: "i32", shape: [3, 5, columns] },
      });
      const { code } = emitWgsl(planned(func, { residency: "ub", tile: [2, 5, 4] }).kernel.tile, device);
      expect(code).toContain("var<workgroup>");
      expect(running(code).filter((text) => /\s[/%]\s/.test(text))).toEqual([]);
    }
  });

  it("adds up where it is in a row, whose start is found once", () => {
    const starts = fc.tuple(types, fc.integer({ min: 1, max: 40 }), sizes);
    fc.assert(
      fc.property(starts, ([type, units, count]) => {
        const { kernel, plan } = planned(rowsOf(type, (units * 16) / meanBytes(type), count));
        const { code } = emitWgsl(kernel.tile, device);
        const { tile, unit } = plan.gather!;
        const copies = running(code).filter((text) => text.includes("= gm_data["));
        // Once for full tiles, and once for those that are cut short, where lanes take turns.
        expect(copies.length).toBe(plan.branchesOnFullTiles ? 2 : 1);
        expect([...new Set(copies.map((text) => text.trim()))]).toEqual([
          tile[1] === unit.group
            ? "gm_output[to] = gm_data[source];"
            : "gm_output[to + unit] = gm_data[source + unit];",
        ]);
      }),
      runs,
    );
  });

  it.each([
    ["indices of each row", elements("f32", 4096, 1024, 1), [4, 1024], 1],
    ["rows of four of them", elements("f32", 4096, 16, 0), [256, 16], 1],
    ["rows of no power of two that the data tells apart", elements("f32", 4096, 1020, 1), [4, 1020], 2],
    [
      "planes, of rows of no power of two that nothing tells apart",
      program(cubes(6, 12, 20)),
      [6, 12, 20],
      2,
    ],
    [
      "planes of rows that the data tells apart",
      program({ ...cubes(8, 16, 32), attrs: { axis: 1 } }),
      [8, 16, 32],
      1,
    ],
    [
      "planes of rows whose numbers count on",
      program({ ...cubes(8, 16, 32), attrs: { axis: 2 } }),
      [8, 16, 32],
      1,
    ],
    ["planes in part", program({ ...cubes(8, 16, 32), attrs: { axis: 1 } }), [4, 8, 32], 2],
    [
      "rows that share indices",
      onnx.gather({ data: ["f32", [64, 64]], indices: ["i32", [64]], axis: 1 }),
      [4, 64],
      2,
    ],
  ] as const)("is one loop over rows that lie end to end: %s", (_, func, shape, loops) => {
    const software = targetOf(defaultLimits, true);
    const { tile } = compile(func, { target: software, tile: shape });
    const { code } = emitWgsl(tile, { limits: device.limits, target: software });
    expect(code.match(/for \(/g)).toHaveLength(loops);
  });

  it("finds what no turn moves before its loop", () => {
    const cube = program({ ...cubes(6, 12, 20), attrs: { axis: 1 } });
    for (const [func, tile] of [
      [elements("f32", 64, 1024, 0), [16, 256]],
      [rowsOf("f32", 64, 4096), [64, 64]],
      [cube, [3, 12, 20]],
    ] as const) {
      const { code } = emitWgsl(planned(func, { residency: "gm", tile }).kernel.tile, device);
      const [, turns = ""] = /(for \((?:(?!for \()[^])*)$/.exec(code) ?? [];
      expect(turns).toMatch(/\bstart\d\b/);
      expect(turns).not.toMatch(/\biv_t\d \*/);
    }
  });

  it("compares indices that are reported in signed numbers on adapters in software alone", () => {
    const software = targetOf(defaultLimits, true);
    for (const type of ["i8", "f32", "f64"] as const) {
      for (const axis of [0, 1] as const) {
        const func = elements(type, 64, 64, axis);
        const { tile } = compile(func, { target: software });
        const { code } = emitWgsl(tile, { limits: device.limits, target: software });
        expect(code).toMatch(/fn resolve_\d\(position: u32\) -> (?:vec4i|i32) \{/);
        expect(code).not.toMatch(/ >=? (?:vec4u\(|\d+u)/);
        const hardware = emitWgsl(planned(func).kernel.tile, device).code;
        expect(hardware).toMatch(/fn resolve_\d\([^)]*\) -> (?:vec4u|u32) \{/);
        expect(hardware).not.toContain("0x80000000u");
      }
    }
  });

  it("counts in accesses where rows are whole multiples of them, and shifts no place into one", () => {
    for (const type of ["i8", "f16", "f32"] as const) {
      for (const axis of [0, 1] as const) {
        const { code } = emitWgsl(
          planned(elements(type, 64, 64, axis), { residency: "gm" }).kernel.tile,
          device,
        );
        const places = running(code).filter((text) => /let (?:to|raw_at\d+_0) = /.test(text));
        expect(places).toHaveLength(2);
        expect(places.filter((text) => text.includes(">>"))).toEqual([]);
      }
    }
  });

  it("turns a known number of times where tiles are whole", () => {
    const cases: readonly (readonly [SourceFunc, Schedule])[] = [
      [elements("f32", 4096, 1024, 1), {}],
      [elements("f32", 4096, 1024, 1), { residency: "ub", tile: [2, 1024] }],
      [elements("f32", 1024, 4096, 0), {}],
      [rowsOf("f32", 768, 4096), {}],
      [rowsOf("f32", 30, 4096), { tile: [64, 30] }],
      [elements("i8", 64, 1001, 1), { residency: "gm", tile: [8, 1001] }],
    ];
    for (const [func, schedule] of cases) {
      const loops = emitWgsl(planned(func, schedule).kernel.tile, device).code.match(/for \(.*\)/g) ?? [];
      const turning = loops.filter((text) => !text.includes("again"));
      expect(turning.length).toBeGreaterThan(0);
      expect(
        turning.filter((text) => !/^for \(var \w+ = 0u; \w+ < \d+u(?: && c\d+ < \d+u)?; /.test(text)),
      ).toEqual([]);
    }
  });
});

describe("an index out of range", () => {
  it("costs no second pass over the tile, and one atomic operation at its end", () => {
    fc.assert(
      fc.property(gathers, (func) => {
        const { code } = emitWgsl(planned(func).kernel.tile, device);
        expect(code.match(/atomicMin/g)).toHaveLength(1);
        expect(code).not.toMatch(/var<private>/);
        // The last statement of a tile, also where a workgroup takes tile after tile.
        expect(code).toMatch(/if \(bad != 0xffffffffu\) \{ atomicMin[^{}]*\}[\s}]*$/);
      }),
      { ...runs, examples: [[line(1, 850421)]] },
    );
  });
});

describe("a staged slab that indices cross from row to row", () => {
  it.each([
    ["f32", 8, 36],
    ["f32", 9, 36],
    ["f16", 16, 36],
    ["i8", 32, 36],
    ["f64", 8, 72],
    ["c128", 4, 80],
  ] as const)("has rows of %s an odd number of banks apart: %i columns, %i B", (type, columns, row) => {
    const { kernel } = planned(elements(type, 32, columns, 0), { residency: "ub", tile: [32, columns] });
    const [alloc] = kernel.tile.body;
    expect(alloc).toMatchObject({ op: "alloc", buffer: { rowBytes: row } });
    expect(kernel.footprint?.parts).toMatchObject([{ part: "data", rowBytes: row, counted: 32 * row }]);
    expect(emitWgsl(kernel.tile, device).workgroupBytes).toBe(32 * row);
  });

  it("keeps its rows where indices stay within one, and off the machines without banks", () => {
    const rows = (residency: Schedule, on: typeof target, axis: 0 | 1): number[] =>
      compile(elements("f32", 32, 8, axis), { ...residency, tile: [32, 8], target: on }).tile.body.flatMap(
        (stmt) => (stmt.op === "alloc" ? [ubBytes(stmt.buffer)] : []),
      );
    expect(rows({ residency: "ub" }, target, 1)).toEqual([32 * 32]);
    expect(rows({ residency: "ub" }, targets.cpu, 0)).toEqual([32 * 32]);
    expect(rows({ residency: "ub" }, targets.ascendA2, 0)[0]).toBe(32 * 32);
  });

  it.each([
    ["f32", 256, 1024 + 64],
    ["f32", 1024, 4096 + 64],
    ["f32", 1008, 4032],
    ["i8", 1024, 1024 + 64],
    ["f64", 64, 512],
  ] as const)(
    "has rows of %s off each other's cache sets on a cpu: %i columns, %i B",
    (type, columns, row) => {
      const rowBytes = (func: SourceFunc, tile: readonly number[]) =>
        compile(func, { tile, residency: "ub", target: targets.cpu }).footprint?.parts.map(
          (part) => part.rowBytes,
        );
      expect(rowBytes(elements(type, 32, columns, 0), [32, columns])).toEqual([row]);
      expect(rowBytes(elements(type, 32, columns, 1), [32, columns])).toEqual([columns * meanBytes(type)]);
      const rows = onnx.gather({ data: [type, [32, columns]], indices: ["i32", [8]], axis: 0 });
      expect(rowBytes(rows, [8, columns])).toEqual([columns * meanBytes(type)]);
    },
  );
});
