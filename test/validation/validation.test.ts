/** The clock beside published measurements of boards, and figures fitted to them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { cyclesOf, kernelPrice, noWork, targets, type Target } from "../../ir/index.js";
import { compile, onnx } from "../../src/index.js";
import { fitOf, type Fit } from "../../src/validation/fit.js";
import {
  parseMeasurements,
  workOfMeasurement,
  type BoardMeasurement,
} from "../../src/validation/measurement.js";
import {
  boundOf,
  outsideBecause,
  predictionOf,
  summaryOf,
  verdictOf,
  verdictsOf,
} from "../../src/validation/validate.js";
import { runHere } from "../support/run-here.js";

const text = readFileSync("validation/measurements.json", "utf8");
const rows = parseMeasurements(text, "measurements.json");
const machines: Readonly<Record<string, Target>> = {
  "ascend-a2": targets.ascendA2,
  "ascend-950": targets.ascend950,
};
const targetOf = ({ machine }: BoardMeasurement): Target => machines[machine]!;
const verdicts = rows.map((row) => verdictOf(row, targetOf(row)));
const inside = verdicts.filter(({ role }) => role !== "outside");

/** Bytes that the steps of all cores move over one pipe. */
const stepBytes = ({ cores, repeat, steps }: BoardMeasurement, pipe: "MTE2" | "MTE3"): number =>
  steps.reduce(
    (sum, step) =>
      "pipe" in step && step.pipe === pipe
        ? sum + cores * repeat * step.count * step.bursts * step.bytesPerBurst
        : sum,
    0,
  );

describe("the measurements", () => {
  it("move as many bytes by their steps as by their memory", () => {
    const both = rows.filter((row) => row.memory !== undefined && stepBytes(row, "MTE2") > 0);
    expect(both.length).toBeGreaterThan(25);
    for (const row of both) {
      const { operands, written } = row.memory!;
      const read = operands.reduce((sum, { bytes, times }) => sum + bytes * times, 0);
      expect(stepBytes(row, "MTE2") / read, row.id).toBeCloseTo(1, 2);
      if (written > 0) expect(stepBytes(row, "MTE3") / written, row.id).toBeCloseTo(1, 2);
    }
  });

  it("are of repositories at a commit, each with an id of its own", () => {
    expect(rows).toHaveLength(81);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(81);
    for (const { id, source } of rows) expect(source, id).toMatch(/^[\w-]+\/[\w-]+(@[0-9a-f]{7,}:|: )/);
  });

  it("are refused with the row and the field that is wrong", () => {
    const parse = (value: unknown) => () => parseMeasurements(JSON.stringify(value), "m.json");
    const [first] = JSON.parse(text) as [BoardMeasurement];
    expect(parse([{ ...first, measured: 0 }])).toThrow(
      /TC019.*rows\[0\]\.measured is 0; it takes a number above 0/,
    );
    expect(parse([{ ...first, steps: [{ pipe: "MTE4" }] }])).toThrow(/rows\[0\]\.steps\[0\]\.pipe/);
    expect(parse([{ ...first, quantity: "ms" }])).toThrow(/quantity/);
    const withStep = (step: object) => parse([{ ...first, steps: [step] }]);
    expect(withStep({ pipe: "S", count: 1e300 })).toThrow(
      /steps\[0\]\.count is 1e\+300; it takes a number from 0 to 2\^53/,
    );
    expect(withStep({ wait: true, pipe: "S", count: 1 })).toThrow(/steps\[0\].*pipe/);
    expect(withStep({ wait: true, note: "a flag" })).not.toThrow();
    expect(parse([first, first])).toThrow(/two rows have the id a2-dc-1/);
    expect(() => parseMeasurements("[", "m.json")).toThrow(/TC019.*not JSON/s);
  });
});

describe("the clock beside boards", () => {
  it("has a mean factor of 1.05 on A2 and 1.07 on the 950 at most", () => {
    const means = Object.fromEntries(summaryOf(verdicts).map(({ machine, mean }) => [machine, mean]));
    expect(means["ascend-a2"]).toBeLessThanOrEqual(1.05);
    expect(means["ascend-950"]).toBeLessThanOrEqual(1.07);
    expect(inside).toHaveLength(76);
  });

  it("has every row inside the model within 0.75 to 1.35", () => {
    for (const { id, ratio } of inside) {
      expect(ratio, id).toBeGreaterThanOrEqual(0.75);
      expect(ratio, id).toBeLessThanOrEqual(1.35);
    }
  });

  it("has no lower bound above a measured row", () => {
    for (const row of rows) expect(boundOf(row, targetOf(row)), row.id).toBeLessThanOrEqual(row.measured);
  });

  it("is not claimed for predicates over fields, whatever a row is called", () => {
    const outside = rows.filter((row) => outsideBecause(row) !== undefined).map(({ id }) => id);
    expect(outside).toEqual(["a2-dc-7", "a2-dc-8", "a2-l1-1", "950-dc-7", "950-dc-8"]);
    const [row] = rows.filter(({ id }) => id === "a2-dc-8");
    expect(outsideBecause({ ...row!, id: "x" })).toBeDefined();
    expect(outsideBecause({ ...row!, memory: { ...row!.memory!, readsBypassL2: false } })).toBeUndefined();
  });

  it("names what decides", () => {
    const limits = Object.fromEntries(verdicts.map(({ id, limit }) => [id, limit]));
    expect(limits).toMatchObject({
      "a2-dc-1": "issue",
      "a2-dc-3": "memory",
      "a2-add-0:S": "scalar",
      "a2-add-0:mte2": "core rate",
      "a2-bank-2": "vector",
      "950-sg-large-64": "simt",
      "950-empty-simt-1024": "launch",
    });
    const whole = verdictOf(
      rows.find(({ id }) => id === "a2-dc-6")!,
      { ...targets.ascendA2, l2BytesPerCycle: 500 },
    );
    expect(whole.limit).toBe("L2");
  });
});

describe("the price of a table of work", () => {
  const a2 = targets.ascendA2;
  const load = (count: number, waits: boolean) =>
    kernelPrice(
      {
        cores: 1,
        repeat: 1,
        cold: false,
        stretches: [
          {
            waits,
            runs: [
              { pipe: "MTE2", work: { ...noWork, instructions: count, bursts: count, padded: 128 * count } },
            ],
          },
        ],
      },
      a2,
    );

  it("takes the larger of issue and bytes, and the latency where somebody waits", () => {
    expect(load(100, false).cycles).toBeCloseTo(100 * a2.loadIssueCycles, 6);
    expect(load(100, true).cycles).toBeCloseTo(100 * a2.loadIssueCycles + a2.loadLatencyCycles, 6);
    expect(load(100, false).limit).toBe("issue");
    expect(load(1, true).limit).toBe("latency");
  });

  const memory = (bytes: number, times: number, written: number, readsBypassL2 = false) =>
    kernelPrice(
      {
        cores: 48,
        repeat: 1,
        cold: false,
        stretches: [],
        memory: { operands: [{ bytes, times }], written, readsBypassL2 },
      },
      a2,
    );

  it("reads the distinct bytes of what fits L2 once, and all of what does not", () => {
    const fits = memory(a2.l2Bytes, 3, 0);
    expect(fits.cycles).toBeCloseTo(
      a2.l2Bytes / a2.gmReadBytesPerCycle + (2 * a2.l2Bytes) / a2.l2BytesPerCycle,
      3,
    );
    const over = memory(a2.l2Bytes + 1024, 3, 0);
    expect(over.cycles).toBeCloseTo((3 * (a2.l2Bytes + 1024)) / a2.gmReadBytesPerCycle, 3);
  });

  it("takes no less time for more bytes, read or written", () => {
    const sizes = [0, 1, 2, 16, 64, 128, 150, 155, 191, 193, 200, 512].map((mebi) => mebi * 2 ** 20);
    for (const bypass of [false, true])
      for (const one of sizes) {
        const reads = sizes.map((bytes) => memory(bytes, 1, one, bypass).cycles);
        expect(reads, `${one} B written`).toEqual([...reads].sort((a, b) => a - b));
        const writes = sizes.map((written) => memory(one, 1, written, bypass).cycles);
        expect(writes, `${one} B read`).toEqual([...writes].sort((a, b) => a - b));
      }
  });

  it("keeps dirty lines where reads hit L2", () => {
    const [read, written] = [2 ** 24, 2 ** 27];
    const hits = (15 * read) / a2.l2BytesPerCycle;
    expect(memory(read, 16, written).cycles).toBeCloseTo(read / a2.gmReadBytesPerCycle + hits, 3);
  });

  it("leaves dirty lines in L2, and takes the mixed rate for what is written back", () => {
    expect(memory(2 ** 20, 1, 2 ** 20).cycles).toBeCloseTo(2 ** 20 / a2.gmReadBytesPerCycle, 6);
    const [read, written] = [2 ** 28, 2 ** 27];
    const dirty = (a2.l2Bytes * written) / (read + written);
    expect(memory(read, 1, written).cycles).toBeCloseTo(
      (read + written - dirty) / a2.gmMixedBytesPerCycle,
      3,
    );
    expect(memory(read, 1, written, true).cycles).toBeCloseTo(read / a2.gmReadBytesPerCycle, 3);
  });
});

describe("tilec validate --fit", () => {
  const fits: Fit[] = [];
  beforeAll(() => {
    for (const [machine, target] of Object.entries(machines)) fits.push(fitOf(target, machine, rows));
  });

  it("gives the figures of the targets, with their ranges and rows", () => {
    for (const { machine, figures } of fits) {
      const target = machines[machine]!;
      expect(figures.length, machine).toBeGreaterThan(7);
      for (const { figure, value, range, rows: ids } of figures) {
        expect(value, figure).toBe(target[figure]);
        expect(range, figure).toEqual(target.sources[figure].range);
        expect([...ids].sort(), figure).toEqual([...(target.sources[figure].rows ?? [])].sort());
      }
    }
  });

  it("carries to random thirds that it has not seen: 1.06 on A2, 1.10 on the 950", () => {
    const medians = Object.fromEntries(fits.map(({ machine, splits }) => [machine, splits.median]));
    expect(medians["ascend-a2"]).toBeLessThanOrEqual(1.06);
    expect(medians["ascend-950"]).toBeLessThanOrEqual(1.1);
    expect(fits.map(({ splits }) => splits.draws)).toEqual([60, 60]);
  });

  it("does not depend on where it starts", () => {
    const a2 = targets.ascendA2;
    const away = { ...a2, gmReadBytesPerCycle: 900, stepCycles: 20, loadIssueCycles: 25 };
    const { figures } = fitOf(away, "ascend-a2", rows);
    for (const { figure, value } of figures) expect(value / a2[figure], figure).toBeCloseTo(1, 2);
  });
});

describe("tilec validate", () => {
  it("prints one JSON document with these keys", async () => {
    const { stdout, status } = await runHere(["validate", "--target", "ascend-a2", "--json"], process.cwd());
    expect(status).toBe(0);
    const { rows: printed, summary } = JSON.parse(stdout) as {
      readonly rows: readonly Readonly<Record<string, unknown>>[];
      readonly summary: readonly Readonly<Record<string, unknown>>[];
    };
    expect(printed).toHaveLength(30);
    for (const row of printed)
      expect(Object.keys(row)).toEqual([
        "id",
        "machine",
        "quantity",
        "measured",
        "predicted",
        "ratio",
        "limit",
        "role",
      ]);
    expect(summary.map(({ machine, rows: count, outside }) => [machine, count, outside])).toEqual([
      ["ascend-a2", 27, 3],
    ]);
    expect(Object.keys(summary[0]!)).toEqual(["machine", "rows", "mean", "worst", "outside"]);
  });

  it("writes docs/validation.md and its picture (npm run docs:validation)", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "validation-")), "validation.md");
    expect((await runHere(["validate", "--page", file])).status).toBe(0);
    for (const end of [".md", ".svg"])
      expect(readFileSync(file.replace(/\.md$/, end), "utf8")).toBe(
        readFileSync(`docs/validation${end}`, "utf8"),
      );
  });

  it("shows ids and words of rows as text, each in its cell and in its point of the picture", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tilec-page-"));
    const [file, page] = [join(folder, "rows.json"), join(folder, "page.md")];
    const own: BoardMeasurement = {
      ...rows.find(({ id }) => id === "a2-dc-1")!,
      id: "a|b<c>\n`d` & \u0001e",
      what: "p|q <script>\n*r* &lt; [s](t) _u_ v_w \\|",
      source: "# x <y>\nz",
    };
    writeFileSync(file, JSON.stringify([own]));
    expect((await runHere(["validate", "--measurements", file, "--page", page])).status).toBe(0);
    const lines = readFileSync(page, "utf8").split("\n");
    const row = lines.find((line) => line.includes("script"))!;
    // GFM splits a row at the pipes without a backslash before them.
    const cells = row.split(/(?<!\\)\|/).map((cell) => cell.trim());
    expect(cells).toHaveLength(10);
    expect(cells[1]).toBe("``a\\|b<c> `d` & e``");
    expect(cells[2]).toBe("p\\|q \\<script> \\*r\\* \\&lt; [s]\\(t) \\_u\\_ v_w \\\\\\|");
    expect(lines).toContain("- \\# x \\<y> z");
    const picture = readFileSync(join(folder, "page.svg"), "utf8");
    expect(picture).toContain("<title>a|b&lt;c&gt; `d` &amp; e: ");
    rmSync(folder, { recursive: true });
  });

  it("says which machines a file has where a target is like none of them", async () => {
    const { status, stderr } = await runHere(["validate", "--target", "cpu"]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/TC019.*no row is of cpu.*ascend-a2, ascend-950/);
  });

  it("says that no row of a file fixes a figure", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tilec-own-"));
    const file = join(folder, "rows.json");
    writeFileSync(file, JSON.stringify([{ ...rows[0]!, id: "own" }]));
    const { status, stdout } = await runHere(["validate", "--measurements", file, "--fit"]);
    expect(status).toBe(0);
    expect(stdout).toContain("ascend-a2: 1 row inside the model, ");
    expect(stdout).toMatch(/\n\nno row fixes a figure of ascend-a2\n$/);
    rmSync(folder, { recursive: true });
  });

  it("says that a file has no rows, and which of them no target is like", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tilec-rows-"));
    const judged = async (own: readonly object[]): Promise<string> => {
      const file = join(folder, "rows.json");
      writeFileSync(file, JSON.stringify(own));
      const { status, stderr } = await runHere(["validate", "--measurements", file]);
      expect(status).toBe(1);
      return stderr;
    };
    expect(await judged([])).toMatch(/TC019.*rows.json: it has no rows/);
    expect(await judged([rows[0]!, { ...rows[1]!, machine: "other" }])).toMatch(
      /TC019.*no target has the machine other\n/,
    );
    rmSync(folder, { recursive: true });
  });

  it.each([
    ["no step", { steps: [] }],
    ["a count of 0", { steps: [{ pipe: "MTE2", count: 0, bursts: 4, bytesPerBurst: 512 }] }],
    ["no bytes", { steps: [], memory: { operands: [{ bytes: 0, times: 4 }], written: 0 } }],
    ["bytes that are not read", { steps: [], memory: { operands: [{ bytes: 512, times: 0 }], written: 0 } }],
    ["waits alone", { steps: [{ wait: true }] }],
  ] as const)("refuses a row of %s by its id", (_, changes) => {
    const {
      memory: _memory,
      launch: _launch,
      cold: _cold,
      ...row
    } = rows.find(({ id }) => id === "a2-dc-1")!;
    const idle: BoardMeasurement = { ...row, id: "idle", quantity: "us", ...changes };
    expect(() => verdictsOf([row, idle], targets.ascendA2, "m.json")).toThrow(
      "m.json: row idle: the cost model of ascend-a2 predicts 0 us",
    );
    expect(() => verdictsOf([idle], targets.ascendA2, "m.json")).toThrow("TC019");
    expect(verdictsOf([row], targets.ascendA2, "m.json")).toHaveLength(1);
  });

  it("refuses rows without work by the command", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "tilec-idle-")), "rows.json");
    const { memory: _, ...row } = rows.find(({ id }) => id === "a2-dc-1")!;
    const idle = ["first", "second"].map((id) => ({ ...row, id, steps: [] }));
    writeFileSync(file, JSON.stringify([row, ...idle]));
    const { status, stdout, stderr } = await runHere(["validate", "--measurements", file, "--fit"]);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/TC019.*row first.*TC019.*row second/s);
  });

  it("changes with a figure of a target", () => {
    const row = rows.find(({ id }) => id === "a2-dc-1")!;
    const slower = { ...targets.ascendA2, loadIssueCycles: 2 * targets.ascendA2.loadIssueCycles };
    expect(predictionOf(row, slower).predicted / predictionOf(row, targets.ascendA2).predicted).toBeCloseTo(
      2,
      6,
    );
    expect(workOfMeasurement(row).stretches).toHaveLength(1);
    // The clock of kernels prices the same instructions by the same function.
    const rowsOf128 = onnx.gather({ data: ["f32", [5000, 32]], indices: ["i32", [4096]], axis: 0 });
    const schedule = { residency: "gm", tile: [64, 32] } as const;
    const cycles = (target: Target): number =>
      cyclesOf(compile(rowsOf128, { ...schedule, target: targets.ascendA2 }).tile, target).cycles;
    expect(cycles(slower) - cycles(targets.ascendA2)).toBeGreaterThan(64 * targets.ascendA2.loadIssueCycles);
  });
});
