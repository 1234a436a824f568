import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AccessFunc, type Func } from "../../ir/index.js";
import {
  compile,
  explain,
  legalTiles,
  pypto,
  targets,
  tryCompile,
  type CompileOptions,
} from "../../src/index.js";
import { profiles } from "../../ir/schedule.js";
import { codesOf, refusal } from "../support/refusal.js";

const extent = fc.integer({ min: 1, max: 7 });
const index = fc.constantFrom("i32" as const, "i64" as const);
const longer = fc.integer({ min: 0, max: 2 });
const of2 = [extent, extent] as const;

/** Random calls of the operators of PyPTO that write, most with an index that is shorter than the input. */
const program: fc.Arbitrary<Func> = fc.oneof(
  fc
    .record({
      extents: fc.tuple(...of2),
      more: fc.tuple(longer, longer, longer),
      dim: fc.nat({ max: 1 }),
      index,
    })
    .chain(({ extents: [m, n], more: [a, b, c], dim, index }) =>
      fc
        .record({ reduce: fc.constantFrom("none", "add"), inPlace: fc.boolean() })
        .map(({ reduce, inPlace }) =>
          pypto[inPlace ? "scatterInPlace" : "scatter"]({
            input: ["f32", dim === 0 ? [m + a, n] : [m, n + a]],
            index: [index, [m, n]],
            src: ["f32", [m + b, n + c]],
            dim,
            reduce,
          }),
        ),
    ),
  fc
    .record({
      input: fc.tuple(...of2),
      slots: fc.tuple(longer, extent),
      index,
      dtype: fc.constantFrom("i8", "f16"),
    })
    .map(({ input: [rows, row], slots: [sequences, each], index, dtype }) =>
      pypto.scatterUpdate({
        input: [dtype, [rows, row]],
        index: [index, [sequences + 1, each]],
        src: [dtype, [(sequences + 1) * each, row]],
      }),
    ),
  fc.record({ input: fc.tuple(...of2), points: extent, index }).map(({ input: [m, n], points, index }) =>
    pypto.indexAddUb({
      input: ["f32", [m, n]],
      index: [index, [points]],
      source: ["f32", [points, n]],
      dim: 0,
      alpha: 1,
    }),
  ),
  fc
    .record({ input: fc.tuple(...of2), points: extent, accumulate: fc.nat({ max: 1 }), index })
    .map(({ input: [m, n], points, accumulate, index }) =>
      pypto.indexPutInPlace({
        input: ["f32", [m, n]],
        indices0: [index, [points]],
        values: ["f32", [points, n]],
        accumulate,
      }),
    ),
);

type TargetName = "ascendA2" | "ascend950" | "cpu" | "webgpu";

const options = fc.record(
  {
    target: fc.constantFrom<TargetName>("ascendA2", "ascend950", "cpu", "webgpu"),
    residency: fc.constantFrom("ub" as const, "gm" as const, "auto" as const),
    profile: fc.constantFrom(...profiles),
    ubBytes: fc.integer({ min: 1, max: 40 }).map((blocks) => 32 * blocks),
    view: fc.tuple(extent, extent),
    buffers: fc.constantFrom(1 as const, 2 as const),
  },
  { requiredKeys: ["target"] },
);

const scattered = (input: number[], index: number[], src: number[]): Func =>
  pypto.scatter({ input: ["f32", input], index: ["i64", index], src: ["f32", src], dim: 0, reduce: "none" });

/** No tile in UB; a stored dim longer than the index, with its tile open and pinned; a view longer than the row. */
const examples: [Func, typeof options extends fc.Arbitrary<infer T> ? T : never][] = [
  [scattered([5, 5], [5, 5], [5, 6]), { target: "ascendA2", residency: "auto", ubBytes: 512 }],
  [scattered([8, 5], [6, 5], [7, 6]), { target: "ascend950", ubBytes: 640 }],
  [scattered([6, 1], [4, 1], [4, 1]), { target: "webgpu" }],
  [scattered([6, 1], [4, 1], [4, 1]), { target: "cpu" }],
  [scattered([7, 6], [6, 6], [7, 7]), { target: "ascendA2", residency: "ub", profile: "head" }],
  [scattered([7, 6], [6, 6], [7, 7]), { target: "cpu", residency: "auto", profile: "head" }],
  [
    pypto.scatterUpdate({ input: ["i8", [6, 1]], index: ["i32", [2, 3]], src: ["i8", [6, 1]] }),
    { target: "ascendA2", view: [2, 2] },
  ],
];

/** Largest entry that says more than a smaller one, by dim: rows and stored dims are whole in any view. */
function mostEntries(
  { map, operands, sharedDims, frameworkOp }: AccessFunc,
  view?: readonly number[],
): number[] {
  const input = operands[0]!.type.shape;
  const whole = frameworkOp?.name === "scatter_update" ? [map.domain.length - 1] : sharedDims;
  return map.domain.map((points, d) =>
    whole.includes(d)
      ? Math.max(points, sharedDims.includes(d) ? input[d]! : 1)
      : Math.min(points, view?.[d] ?? points),
  );
}

describe("legality of PyPTO's scatters", () => {
  it("is one function of program and schedule for legal, explain and compile", () => {
    const seen = { open: 0, refused: 0, legal: 0 };
    fc.assert(
      fc.property(program, options, (func, { target: name, view, ...others }) => {
        const target = targets[name];
        const stated: CompileOptions = { target, ...others, ...(view === undefined ? {} : { view }) };
        const codes = codesOf(() => legalTiles(func, stated));
        const open = tryCompile(func, stated);
        if (codes.length > 0) {
          expect(open.ok).toBe(false);
          return;
        }
        const { tiles, count } = legalTiles(func, stated);
        const byDefault = tiles.filter((tile) => tile.default);
        expect(tiles.length > 0).toBe(open.ok);
        expect(byDefault.map(({ tile, residency }) => ({ tile, residency }))).toEqual(
          open.ok
            ? [
                {
                  tile: open.kernel.tile.schedule.tile,
                  residency: open.kernel.tile.schedule.residency,
                },
              ]
            : [],
        );
        expect(explain(func, stated).legal).toBe(open.ok);
        for (const { tile, residency, view, order, buffers } of tiles) {
          const listed = { ...stated, tile, residency, view, order, buffers };
          expect([tryCompile(func, listed).ok, explain(func, listed).legal]).toEqual([true, true]);
        }
        const access = compile(func, { target: targets.cpu, residency: "gm" }).access!;
        const most = mostEntries(access, view);
        let accepted = 0;
        const distinct = new Set<string>();
        for (let first = 1; first <= most[0]!; first++)
          for (let last = 1; last <= most[1]!; last++) {
            const typed = { ...stated, tile: [first, last] };
            const { ok } = tryCompile(func, typed);
            const refused = codesOf(() => {
              expect(explain(func, typed).legal).toBe(ok);
            });
            if (refused.length > 0) expect([ok, refused]).toEqual([false, ["TC302"]]);
            if (!ok) continue;
            accepted++;
            distinct.add(
              [first, last]
                .map((entry, d) => Math.min(entry, access.map.domain[d]!, view?.[d] ?? entry))
                .join(),
            );
          }
        expect(count).toBe(distinct.size);
        seen.open += open.ok ? 1 : 0;
        seen.refused += open.ok ? 0 : 1;
        seen.legal += accepted;
      }),
      { numRuns: 80, examples },
    );
    expect(seen.open).toBeGreaterThan(10);
    expect(seen.refused).toBeGreaterThan(0);
    expect(seen.legal).toBeGreaterThan(100);
  });

  it("takes global memory, and says so, where no tile fits UB and auto is stated", () => {
    const stated = { target: targets.ascendA2, ubBytes: 512, residency: "auto" } as const;
    const func = scattered([5, 5], [5, 5], [5, 6]);
    for (const typed of [stated, { ...stated, tile: [5, 1] }]) {
      const result = compile(func, typed);
      expect(result.tile.schedule.residency).toBe("gm");
      expect(result.diagnostics).toContainEqual(expect.objectContaining({ code: "TC907" }));
    }
    expect(explain(func, { ...stated, residency: "ub" }).legal).toBe(false);
  });

  /** The operators whose input PyPTO has in UB; the sums are of integers, whose order cannot be seen. */
  const heldInUb: readonly [string, Func][] = [
    ["scatter", scattered([8, 5], [6, 5], [7, 6])],
    [
      "scatter_",
      pypto.scatterInPlace({
        input: ["i32", [8, 5]],
        index: ["i64", [6, 5]],
        dim: 0,
        value: 1,
        reduce: "add",
      }),
    ],
    [
      "index_add_ub",
      pypto.indexAddUb({ input: ["i32", [8, 5]], index: ["i64", [9]], source: ["i32", [9, 5]], dim: 0 }),
    ],
  ];

  it.each(heldInUb)(
    "refuses %s where no tile fits UB on an Ascend core, with a way out that is no circle",
    (name, func) => {
      for (const target of [targets.ascendA2, targets.ascendA3, targets.ascend950])
        for (const typed of [{}, { tile: [9, 1] }, { view: [9, 3] }, { profile: "head" } as const]) {
          const stated = { target, ubBytes: 576, ...typed };
          const refused = tryCompile(func, stated);
          expect(explain(func, stated).legal).toBe(false);
          expect(legalTiles(func, { target, ubBytes: 576 }).count).toBe(0);
          expect(refused.ok ? [] : refused.diagnostics).toContainEqual(
            expect.objectContaining({
              code: "TC402",
              hint: expect.stringMatching(/(^| )--residency gm/) as string,
            }),
          );
          const followed = compile(func, { target, ubBytes: 576, residency: "gm" });
          const text = refusal(() => followed.pypto());
          expect(text?.message).toContain(`pypto.${name.replace("add_ub", "add")}`.replace(/_$/, ""));
          expect(text?.hint).not.toContain("--residency");
          expect(text?.hint).toContain("--emit pto");
        }
    },
  );

  it.each(heldInUb)("keeps %s in UB on an Ascend core, where PyPTO's text finds it", (_, func) => {
    for (const target of [targets.ascendA2, targets.ascend950])
      for (const typed of [{}, { tile: [9, 2] }]) {
        const kernel = compile(func, { target, ...typed });
        expect(kernel.tile.schedule.residency).toBe("ub");
        expect(kernel.diagnostics.map(({ code }) => code)).not.toContain("TC907");
        expect(refusal(() => kernel.pypto())).toBeUndefined();
      }
  });
});
