/** What `explain` tells a user of PyPTO to write, typed back: the line with its view, the lines instead of it, and every flag. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defined, scheduleEntries, type Schedule, type Shape } from "../../ir/index.js";
import { parseEntry } from "../../src/cli/flag-values.js";
import { explain, pypto, targets } from "../../src/index.js";
import { renderExplanation } from "../../src/report/explanation.js";

const extent = fc.integer({ min: 1, max: 24 });
const trial = fc.integer({ min: 2, max: 3 }).chain((rank) =>
  fc.record({
    dtype: fc.constantFrom("f32", "f16", "i16" as const),
    index: fc.constantFrom("i32", "i64" as const),
    shape: fc.array(extent, { minLength: rank, maxLength: rank }),
    shorter: fc.array(extent, { minLength: rank, maxLength: rank }),
    dim: fc.integer({ min: 0, max: rank - 1 }),
    tile: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: rank, maxLength: rank }),
    view: fc.option(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: rank, maxLength: rank }), {
      nil: undefined,
    }),
    profile: fc.constantFrom("strict", "strict", "pages", "head" as const),
    ubBytes: fc.constantFrom(196_608, 4096, 1024),
    target: fc.constantFrom("ascendA2", "ascend950", "webgpu" as const),
  }),
);

const numbers = (text: string): Shape => text.split(/, */).map(Number);

/** Flags of schedule entries, as a person copies them. */
function typed(flags: string): Schedule {
  const entries = [...flags.matchAll(/--([a-z-]+) (\S+)/g)].map(([, flag, value = ""]) => {
    const entry = Object.values(scheduleEntries).find((own) => own.flag === flag);
    if (entry === undefined) throw new Error(`no flag of a schedule: --${flag}`);
    return [entry.key, parseEntry(entry.key, value)];
  });
  return Object.fromEntries(entries) as Schedule;
}

/** Each way that a text names, as schedule entries. */
function ways(text: string): (readonly [string, Schedule])[] {
  const lines = text.split("\n").map((line) => line.trim());
  const flags = lines.filter((line) => line.startsWith("--"));
  const view = lines.flatMap((line) => /^view {5}(\S+) of the loop/.exec(line)?.[1] ?? []);
  const calls = lines.flatMap(
    (line) => /^(?:line|instead) +pypto\.set_vec_tile_shapes\((.*)\)$/.exec(line)?.[1] ?? [],
  );
  return [
    ...flags.map((line) => [line, typed(line.replace(/: .*/, ""))] as const),
    ...calls.map(
      (call) =>
        [
          call,
          { tile: numbers(call), ...(view[0] === undefined ? {} : { view: numbers(view[0]) }) },
        ] as const,
    ),
    // The views of a call on a line with flags are those of its flag.
    ...flags.flatMap((line) => {
      const [, tile, views] = /set_vec_tile_shapes\((.*?)\)(?:, in views of (\S+))?/.exec(line) ?? [];
      const { profile } = typed(line.replace(/: .*/, ""));
      return tile === undefined
        ? []
        : [
            [
              line,
              {
                ...defined({ profile }),
                tile: numbers(tile),
                ...(views === undefined ? {} : { view: numbers(views) }),
              },
            ] as const,
          ];
    }),
  ];
}

describe("the lines that explain prints", () => {
  it("are legal when they are typed back", () => {
    const seen = { legal: 0, refused: 0, views: 0, followed: 0 };
    fc.assert(
      fc.property(trial, ({ dtype, index, shape, shorter, dim, target, view, ...entries }) => {
        const indices = shape.map((most, d) => (d === dim ? shorter[d]! : Math.min(most, shorter[d]!)));
        const func = pypto.gather({ input: [dtype, shape], index: [index, indices], dim });
        const options = { ...entries, ...defined({ view }), target: targets[target] };
        const explained = explain(func, options);
        seen[explained.legal ? "legal" : "refused"]++;
        const text = renderExplanation(explained);
        if (text.includes("of the loop around it")) seen.views++;
        // A way out is the compiler's own choice where no tile is stated.
        const { tile: _, ...open } = options;
        for (const [line, way] of ways(text)) {
          seen.followed++;
          const given = way.tile === undefined && explained.infeasible !== undefined ? open : options;
          const verdict = explain(func, { ...given, ...way });
          expect(verdict.legal, `${text}\n${line}`).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
    for (const [what, count] of Object.entries(seen)) expect([what, count > 5]).toEqual([what, true]);
  });
});
