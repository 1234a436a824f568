import { readFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { defined, clockVersion, codes, printSchedule, targets } from "../../ir/index.js";
import { compile, onnx, tune } from "../../src/index.js";
import {
  bestOf,
  candidateRecord,
  givenRecords,
  cachedCandidates,
  mergeRecords,
  parseRecords,
  pinnedTest,
  prunedRecord,
  recordLine,
  refusedRecord,
  replayed,
  taskRecord,
  type CandidateRecord,
  type TaskRecord,
  type TuneRecord,
} from "../../src/tune/index.js";
import { csvOf } from "../../src/tune/records/export-csv.js";
import { runHere } from "../support/run-here.js";
import { parsed } from "../support/parsed.js";

const program = onnx.gather({ data: ["f32", [14, 40]], indices: ["i32", [24]], axis: 0 });
const target = targets.ascendA2;

/** The records of a small search, as its writer keeps them. */
async function searched(objective: "cycles" | "bytes"): Promise<TuneRecord[]> {
  const lines: TuneRecord[] = [];
  let own = "";
  await tune(program, {
    target,
    objective,
    budget: 20,
    onSpace(task, space, pruned, defaultId) {
      own = defaultId;
      const head = taskRecord(task, 1, "0.0.0");
      lines.push(head, ...pruned.map((part) => prunedRecord(head.task, part)));
      lines.push(...space.refused.map((refused) => refusedRecord(head.task, refused)));
    },
    onCandidate(candidate) {
      const [head] = lines;
      lines.push(candidateRecord(head?.task ?? "", candidate, own));
    },
  });
  return lines;
}

let records: readonly TuneRecord[] = [];
let byBytes: readonly TuneRecord[] = [];
beforeAll(async () => {
  records = await searched("cycles");
  byBytes = await searched("bytes");
});

const candidatesOf = (list: readonly TuneRecord[]): CandidateRecord[] =>
  list.filter((r): r is CandidateRecord => r.record === "candidate");
const taskOf = (list: readonly TuneRecord[]): TaskRecord => {
  const task = list.find((r): r is TaskRecord => r.record === "task");
  if (task === undefined) throw new Error("a task record");
  return task;
};
const textOf = (list: readonly TuneRecord[]): string => list.map(recordLine).join("");
const merged = (...lists: (readonly TuneRecord[])[]): string => textOf(mergeRecords(lists.flat()));

describe("records as text", () => {
  it("parse back to what was written", () => {
    expect(parseRecords(textOf(records), "r.jsonl")).toEqual({ records, torn: 0 });
  });

  it("lose a torn line and nothing else, wherever a writer was stopped", () => {
    const text = textOf(records);
    const last = recordLine(records.at(-1) ?? taskOf(records));
    for (const cut of [1, 10, last.length - 2]) {
      const found = parseRecords(text.slice(0, text.length - cut - 1), "r.jsonl");
      expect(found.torn).toBe(1);
      expect(found.records).toEqual(records.slice(0, -1));
    }
    // A line that another writer ended went on in the next one.
    const middle = parseRecords(`${text}{"record":"cand\n${last}`, "r.jsonl");
    expect(middle).toEqual({ records: [...records, records.at(-1)], torn: 1 });
  });

  it("refuse JSON that is no record, with its line", () => {
    const [first] = candidatesOf(records);
    const bad: readonly [string, string][] = [
      ['{"record":"other"}', '"record" must be one of'],
      ["[1]", '"record" must be one of'],
      [JSON.stringify({ ...first, cycles: "many" }), "cycles"],
      [JSON.stringify({ ...first, schedule: { tile: "wide" } }), "tile"],
      [JSON.stringify({ ...first, runs: [{ device: "d", nanoseconds: [] }] }), "runs"],
    ];
    for (const [line, what] of bad) {
      expect(() => parseRecords(`\n${line}\n`, "r.jsonl")).toThrow(
        expect.objectContaining({
          diagnostics: [
            expect.objectContaining({ code: "TC016", message: expect.stringContaining(what) as string }),
          ],
        }),
      );
      expect(() => parseRecords(`\n${line}\n`, "r.jsonl")).toThrow(/r\.jsonl:2/);
    }
  });
});

const run = (
  device: string,
  phase: "search" | "run-off" | "given",
  nanoseconds: number[],
  race?: string,
) => ({
  device,
  phase,
  nanoseconds,
  ...defined({ race }),
});

/** Candidates as several machines may have recorded them. */
const anyRecords = fc.constant(undefined).chain(() => {
  const all = candidatesOf(records);
  const one = fc.record({
    which: fc.integer({ min: 0, max: 3 }),
    status: fc.constantFrom("estimated", "measured", "wrong", "timeout", "error" as const),
    clock: fc.integer({ min: 1, max: 2 }),
    cycles: fc.integer({ min: 1, max: 3 }),
    own: fc.boolean(),
    runs: fc.array(
      fc.record({
        device: fc.constantFrom("a", "b"),
        phase: fc.constant("search" as const),
        nanoseconds: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 2 }),
      }),
      { maxLength: 2 },
    ),
  });
  return fc.array(one, { maxLength: 8 }).map((list) =>
    list.flatMap(({ which, own, ...rest }): TuneRecord[] => {
      const base = all[which];
      if (base === undefined) return [];
      const why =
        rest.status === "measured" || rest.status === "estimated"
          ? {}
          : { code: "TC610" as const, reason: `r${rest.cycles}` };
      return [
        { ...base, ...rest, default: own, ...why },
        { record: "pruned", task: base.task, why: "budget", count: rest.cycles },
      ];
    }),
  );
});

describe("merged records", () => {
  it("depend neither on order nor on repetition nor on what was merged first", () => {
    fc.assert(
      fc.property(anyRecords, anyRecords, anyRecords, (a, b, c) => {
        const all = merged(a, b, c);
        expect(merged(c, b, a)).toBe(all);
        expect(merged(a, a, b, c, b)).toBe(all);
        expect(merged(mergeRecords([...a, ...b]), c)).toBe(all);
        expect(merged(a, mergeRecords([...b, ...c]))).toBe(all);
        expect(merged(mergeRecords([...a, ...b, ...c]))).toBe(all);
      }),
      { numRuns: 300 },
    );
  });

  it("keep every run, and never forget a wrong output", () => {
    const [first] = candidatesOf(records);
    if (first === undefined) throw new Error("a candidate");
    const a: TuneRecord = { ...first, status: "measured", runs: [run("a", "search", [5])] };
    const b: TuneRecord = { ...first, status: "wrong", code: "TC610", reason: "differs", runs: [] };
    const c: TuneRecord = { ...first, status: "measured", runs: [run("b", "search", [7])] };
    const [found] = candidatesOf(mergeRecords([a, b, c]));
    expect(found).toMatchObject({ status: "wrong", reason: "differs" });
    expect(found?.runs.map(({ device }) => device)).toEqual(["a", "b"]);
  });
});

describe("the best of records", () => {
  it("is the search's", async () => {
    const found = await tune(program, { target, budget: 20 });
    const [best] = bestOf(records);
    expect(best?.best.candidate).toBe(found.best.id);
    expect(best?.default?.candidate).toBe(found.default.id);
    expect(best?.beatsDefault).toBe(found.beatsDefault);
    const two = bestOf(mergeRecords([...records, ...byBytes]));
    expect(two.map(({ task }) => task.objective).sort()).toEqual(["bytes", "cycles"]);
  });

  it("leaves out cycles of an older clock", () => {
    const old = candidatesOf(records).map((c) => ({
      ...c,
      candidate: `old${c.candidate}`,
      clock: clockVersion - 1,
      cycles: 1,
    }));
    const [best] = bestOf([...records, ...old]);
    expect(best?.best.clock).toBe(clockVersion);
    expect(best?.best.cycles).toBeGreaterThan(1);
    expect(cachedCandidates(old, taskOf(records).task).size).toBe(0);
    expect(cachedCandidates(records, taskOf(records).task).size).toBe(candidatesOf(records).length);
  });

  it("compares times over one device, by the default's", () => {
    const [own, x, y] = candidatesOf(records);
    if (own === undefined || x === undefined || y === undefined) throw new Error("three candidates");
    const task: TaskRecord = { ...taskOf(records), objective: "ms", backend: "command" };
    const timed = (c: CandidateRecord, isDefault: boolean, runs: CandidateRecord["runs"]): TuneRecord => ({
      ...c,
      status: "measured",
      default: isDefault,
      runs,
    });
    // On the slow device x halves the default's time; on the fast one y is quicker than both in nanoseconds alone.
    const [best] = bestOf([
      task,
      timed(own, true, [run("slow", "given", [1000]), run("fast", "given", [100])]),
      timed(x, false, [run("slow", "given", [500])]),
      timed(y, false, [run("fast", "given", [90])]),
    ]);
    expect(best).toMatchObject({ beatsDefault: true, devices: ["slow"] });
    expect(best?.best.candidate).toBe(x.candidate);
    expect(best?.ratio).toBeCloseTo(0.5, 12);
    // Without the default's time nothing is known.
    expect(bestOf([task, timed(x, false, [run("slow", "given", [500])])])).toEqual([]);
  });

  it("takes a run-off's word only where chance does not explain it", () => {
    const [own, x] = candidatesOf(records);
    if (own === undefined || x === undefined) throw new Error("two candidates");
    const task: TaskRecord = { ...taskOf(records), objective: "ms", backend: "sim" };
    const raced = (wins: number): TuneRecord[] => [
      task,
      {
        ...own,
        status: "measured",
        default: true,
        runs: [run("d", "run-off", Array<number>(21).fill(100), "r")],
      },
      {
        ...x,
        status: "measured",
        default: false,
        runs: [
          run(
            "d",
            "run-off",
            Array.from({ length: 21 }, (_, k) => (k < wins ? 80 : 101)),
            "r",
          ),
        ],
      },
    ];
    expect(bestOf(raced(21))[0]).toMatchObject({ beatsDefault: true });
    expect(bestOf(raced(14))[0]).toMatchObject({ beatsDefault: false });
    expect(bestOf(raced(14))[0]?.best.candidate).toBe(own.candidate);
  });

  it("goes on with times that were measured elsewhere, in a task of their own", () => {
    const [own, x] = candidatesOf(records).sort((a, b) => Number(b.default) - Number(a.default));
    if (own === undefined || x === undefined) throw new Error("two candidates");
    const added = [
      ...givenRecords(records, { candidate: own.candidate, device: "board", nanoseconds: [10, 11, 12] }),
      ...givenRecords(records, {
        candidate: x.candidate.slice(0, 12),
        device: "board",
        nanoseconds: [5, 5, 6],
      }),
    ];
    const found = bestOf(mergeRecords([...records, ...added]));
    const ms = found.find(({ task }) => task.objective === "ms");
    expect(ms).toMatchObject({ beatsDefault: true, devices: ["board"] });
    expect(ms?.best.candidate).toBe(x.candidate);
    expect(replayed([...records, ...added], taskOf(records).gather)?.task.objective).toBe("ms");
    for (const candidate of ["zzz", ""]) {
      expect(() => givenRecords(records, { candidate, device: "board", nanoseconds: [1] })).toThrow(
        expect.objectContaining({ diagnostics: [expect.objectContaining({ code: "TC016" })] }),
      );
    }
  });
});

describe("exports", () => {
  const failing = (): TuneRecord[] => {
    const [a, b, c, d] = candidatesOf(records);
    if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error("four");
    return [
      taskOf(records),
      { ...a, status: "wrong", code: "TC610", reason: "byte 3, not 4" },
      { ...b, status: "timeout", code: "TC506", reason: "late" },
      { ...c, status: "error", code: "TC502", reason: 'no "room"' },
      { ...d, status: "measured", runs: [run("x", "search", [1_500_000, 2_500_000])] },
    ];
  };

  it("are tables of commas and quotes where cells ask for them", () => {
    const lines = csvOf(failing()).trimEnd().split("\n");
    expect(lines).toHaveLength(5);
    expect(lines[0]).toMatch(/^task,candidate,status,code,reason,/);
    expect(lines[1]).toContain('TC610,"byte 3, not 4",');
    expect(lines[3]).toContain('"no ""room"""');
    expect(lines[4]).toMatch(/,2,x$/);
    const [task, first] = failing();
    if (task === undefined || first === undefined) throw new Error("two");
    const formula = csvOf([task, { ...first, reason: '=HYPERLINK("x")' } as TuneRecord]);
    expect(formula).toContain(`"'=HYPERLINK(""x"")"`);
  });
});

describe("records export", () => {
  it.each(["t4", "kernel-tuner"])("says how records become %s", async (format) => {
    const { status, stderr } = await runHere(["records", "export", "--to", format, "none.jsonl"]);
    expect(status).toBe(2);
    expect(stderr).toContain(`error[TC701]: records export does not write the format ${format}`);
    const [, page = "", heading] = /(\S+\.md) \((.*?)\)/.exec(stderr) ?? [];
    expect(readFileSync(page, "utf8")).toContain(`\n## ${heading ?? ""}\n`);
  });

  it("lists its formats for any other word", async () => {
    const { status, stderr } = await runHere(["records", "export", "--to", "xml", "none.jsonl"]);
    expect(status).toBe(2);
    expect(stderr).toContain("Allowed choices are csv, json, c-header.");
  });
});

describe("a pinned best", () => {
  it("is a program that compiles to the figures it checks, and says no milliseconds", () => {
    const [best] = bestOf(records);
    if (best === undefined) throw new Error("a best");
    const text = pinnedTest(best);
    expect(text).toContain("// RUN: tilec explain %s");
    expect(text).toContain(`// CHECK: schedule  ${printSchedule(best.best.schedule)}`);
    expect(text).toContain(`// CHECK: total ${best.best.bytes.toLocaleString("en")} B,`);
    expect(text.indexOf(`// CHECK-DAG: (cost model ${clockVersion})`)).toBeLessThan(
      text.indexOf(`estimated    ${best.best.cycles.toLocaleString("en")} cycles`),
    );
    expect(text).not.toMatch(/\bms\b|milli|nanosec/);
    const func = parsed(text);
    expect(compile(func).tile.schedule).toEqual(best.best.schedule);
  });
});

it("names its refusals among the codes", () => {
  for (const code of ["TC016", "TC017", "TC506"] as const) expect(codes[code].title).not.toBe("");
});
