/** Files of Spatter's, in the forms of its standard suite, beside its README and the loop of its kernel. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readSpatter } from "../../src/formats/spatter.js";
import { readNpy, writeNpy } from "../../src/formats/npy.js";
import { gathered, patternOf, scattered, sparseSize, type SpatterConfig } from "../oracle/spatter.js";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("spatter");
const at = (name: string): string => join(folder, name);
const write = (name: string, configs: readonly unknown[]): void => {
  writeFileSync(at(name), JSON.stringify(configs));
};
const tilec = (...args: readonly string[]) => runHere(args, folder);

/** As the standard suite writes them: app-traces, basic-tests, pattern sizes; fewer gathers each. */
const gathers: readonly SpatterConfig[] = [
  {
    delta: 1,
    kernel: "Gather",
    pattern: [37, 0, 1, 2, 6, 7, 8, 12, 13, 14, 30, 31, 32, 36, 38, 40],
    count: 50,
  },
  { pattern: [4, 8, 12, 0, 20, 24, 28, 16], delta: 2, count: 33, kernel: "Gather" },
  { pattern: [0, 0, 0, 0, 1, 1, 1, 1], delta: 388, count: 6, kernel: "Gather" },
  { pattern: "UNIFORM:8:1:NR", kernel: "Gather", count: 40 },
  { pattern: "UNIFORM:8:4:NR", kernel: "gather", count: 10, wrap: 4 },
  { pattern: "UNIFORM:4:2", kernel: "GATHER", count: 10, wrap: 3 },
  { pattern: "UNIFORM:4:2:5", delta: 3, count: 7, wrap: 7 },
  { pattern: "MS1:8:4:32", count: 5, wrap: 9 },
  { pattern: "MS1:8:2,3:20,22", delta: 0, count: 5, wrap: 2 },
  { pattern: "LAPLACIAN:2:2:20", delta: 7, count: 12, wrap: 5 },
  { pattern: "LAPLACIAN:3:1:6", count: 4 },
  { pattern: [0, 1, 2, 3, 4, 5, 6, 7], kernel: "Gather", "pattern-size": 4, count: 16 },
  { pattern: "1,9,4", boundary: 5, count: 3, wrap: 3 },
  { pattern: [3, 1] },
];

/** Patterns of Spatter's README. */
const readme: readonly (readonly [pattern: string, indices: readonly number[]])[] = [
  ["UNIFORM:8:4", [0, 4, 8, 12, 16, 20, 24, 28]],
  ["MS1:8:4:32", [0, 1, 2, 3, 35, 36, 37, 38]],
  ["MS1:8:2,3:20", [0, 1, 21, 41, 42, 43, 44, 45]],
  ["MS1:8:2,3:20,22", [0, 1, 21, 43, 44, 45, 46, 47]],
  ["LAPLACIAN:1:1:100", [0, 1, 2]],
  ["LAPLACIAN:2:1:100", [0, 99, 100, 101, 200]],
  ["LAPLACIAN:2:2:100", [0, 100, 198, 199, 200, 201, 202, 300, 400]],
  ["LAPLACIAN:3:1:100", [0, 9900, 9999, 10000, 10001, 10100, 20000]],
  ["1,2,4,8,16,32", [1, 2, 4, 8, 16, 32]],
];

const only = (config: unknown) => readSpatter(JSON.stringify([config]), "s.json")[0];

describe("a configuration", () => {
  it.each(readme)("has the pattern %s as the README spells it out", (pattern, indices) => {
    expect(only({ pattern })).toMatchObject({ kernel: { pattern: indices } });
    expect(patternOf({ pattern }).list).toEqual(indices);
  });

  it("has Spatter's defaults, and the delta that its pattern says", () => {
    expect(only({ pattern: [1] })).toMatchObject({
      kernel: { kernel: "gather", delta: 8, count: 1024, wrap: 1 },
    });
    expect(only({ pattern: [1], delta: [3, 3] })).toMatchObject({ kernel: { delta: 3 } });
    // Of 65 GB of doubles, half.
    expect(only({ pattern: [4_062_499_999] })).toMatchObject({ kernel: { pattern: [0] } });
  });

  it.each(gathers.map((config, k) => [k, config] as const))(
    "leaves the array that Spatter's loop leaves: %i",
    async (k, config) => {
      write("suite.json", gathers);
      const size = sparseSize(config);
      const sparse = Float64Array.from({ length: size }, (_, i) => i + 0.25 * Math.sin(i));
      const type = { dtype: "f64", shape: [size] } as const;
      writeFileSync(at("sparse.npy"), writeNpy({ type, bytes: new Uint8Array(sparse.buffer) }));
      const args = ["--spatter", "suite.json", "--case", String(k), "--input", "sparse=sparse.npy"];
      const out = ["--out", `dense=dense-${k}.npy`, "--backend", "reference,sim"];
      const { status, stderr } = await tilec("run", ...args, ...out, "--target", "cpu");
      expect(status, stderr).toBe(0);
      const dense = readNpy(new Uint8Array(readFileSync(at(`dense-${k}.npy`))), "dense.npy");
      const expected = gathered(config, sparse);
      expect(dense.type.shape).toEqual([
        Math.min(config.wrap ?? 1, config.count ?? 1024),
        patternOf(config).list.length,
      ]);
      expect([...new Float64Array(dense.bytes.slice().buffer)]).toEqual([...expected]);
    },
  );
});

/** Elements that several points write, of one row and of several; deltas that keep them apart; rows that are taken again. */
const scatters: readonly SpatterConfig[] = [
  { kernel: "Scatter", pattern: [0, 24, 48], delta: 8, count: 40, wrap: 3 },
  { kernel: "scatter", pattern: [2, 2, 0, 2], delta: 1, count: 17, wrap: 4 },
  { kernel: "SCATTER", pattern: "UNIFORM:8:1", delta: 0, count: 5, wrap: 5 },
  { kernel: "Scatter", pattern: "MS1:8:2,3:20,22", delta: 3, count: 9, wrap: 30 },
  { kernel: "Scatter", pattern: "LAPLACIAN:2:2:20", count: 12 },
  { kernel: "Scatter", pattern: "1,9,4", boundary: 5, count: 3, wrap: 2, "pattern-size": 2 },
];

describe("a scatter", () => {
  it.each(scatters.map((config, k) => [k, config] as const))(
    "leaves the array that Spatter's loop leaves, and its input file as it was: %i",
    async (k, config) => {
      write("scatters.json", scatters);
      const { list } = patternOf(config);
      const rows = Math.min(config.wrap ?? 1, config.count ?? 1024);
      const sparse = Float64Array.from({ length: sparseSize(config) }, (_, i) => -1 - i);
      const dense = Array.from({ length: rows }, (_, i) =>
        Float64Array.from(list, (__, j) => 100 * i + j + 0.5),
      );
      const npy = (name: string, shape: readonly number[], values: readonly number[]): void => {
        const type = { dtype: "f64", shape } as const;
        writeFileSync(at(name), writeNpy({ type, bytes: new Uint8Array(Float64Array.from(values).buffer) }));
      };
      npy("base.npy", [sparse.length], [...sparse]);
      npy(
        "rows.npy",
        [rows, list.length],
        dense.flatMap((row) => [...row]),
      );
      const before = readFileSync(at("base.npy"));
      const inputs = ["--input", "sparse=base.npy", "--input", "dense=rows.npy", "--out", "written=left.npy"];
      const backends = ["--backend", "reference,sim", "--executor", "checked", "--force"];
      const { status, stderr } = await tilec(
        ...["run", "--spatter", "scatters.json", "--case", String(k)],
        ...inputs,
        ...backends,
      );
      expect(status, stderr).toBe(0);
      const left = readNpy(new Uint8Array(readFileSync(at("left.npy"))), "left.npy");
      expect([...new Float64Array(left.bytes.slice().buffer)]).toEqual([...scattered(config, sparse, dense)]);
      expect(readFileSync(at("base.npy"))).toEqual(before);
    },
  );

  it("is explained by what its pattern moves, which run counts the same", async () => {
    write("scatters.json", scatters);
    const rowsOf = async (...args: readonly string[]) =>
      (await tilec(...args, "--spatter", "scatters.json", "--json")).stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Readonly<Record<string, number | string>>);
    const explained = await rowsOf("explain");
    const ran = await rowsOf("run", "--seed", "1", "--backend", "sim", "--executor", "checked");
    for (const [k, config] of scatters.entries()) {
      const { list, delta } = patternOf(config);
      const [count, size] = [delta === 0 ? 1 : (config.count ?? 1024), sparseSize(config)];
      const elements = new Set(
        Array.from({ length: count }, (_, i) => list.map((j) => j + delta * i)).flat(),
      );
      expect(explained[k]).toMatchObject({
        ...{ verdict: "legal", picks: count * list.length, distinct_rows: elements.size },
        ...{ moved_bytes: ran[k]?.["moved_bytes"], moved_bursts: ran[k]?.["moved_bursts"] },
      });
      expect(Math.max(...elements)).toBeLessThan(size);
    }
  });

  it("has a row of run, under tiles of its own, beside gathers", async () => {
    write("both.json", [...scatters, { pattern: [1, 2], count: 4 }]);
    const { stdout, status } = await tilec(
      ...["run", "--spatter", "both.json", "--seed", "1", "--json", "--executor", "checked"],
    );
    const verdicts = stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { verdict: string }).verdict);
    expect(verdicts).toEqual([...scatters, 0].map(() => "same"));
    expect(status).toBe(0);
  });
});

const cases: readonly (readonly [config: unknown, kind: "refused" | "malformed", message: RegExp])[] = [
  [
    { kernel: "GS", "pattern-gather": [0], "pattern-scatter": [0] },
    "refused",
    /GS reads through one pattern/,
  ],
  [{ kernel: "MultiGather", pattern: [0], "pattern-gather": [0] }, "refused", /MultiGather/],
  [{ kernel: "MultiScatter", pattern: [0], "pattern-scatter": [0] }, "refused", /MultiScatter/],
  [{ pattern: [0], delta: [8, 16] }, "refused", /delta \[8,16\] varies/],
  [{ pattern: [0], delta: -1 }, "malformed", /delta is -1; it must be/],
  [{ pattern: [0], delta: "8" }, "malformed", /delta is "8"; it must be/],
  [{ pattern: [0], delta: [] }, "malformed", /delta/],
  [{ pattern: [0], count: 0 }, "malformed", /count is 0; it must be/],
  [{ pattern: [0], wrap: 0 }, "malformed", /wrap is 0; it must be/],
  [{ pattern: [0], "pattern-size": 2 }, "malformed", /pattern-size 2 is longer than the pattern of 1/],
  [{ pattern: [] }, "malformed", /no index/],
  [{ pattern: [-1] }, "malformed", /index -1/],
  [{ pattern: "UNIFORM:8" }, "malformed", /UNIFORM:8 is not UNIFORM:length/],
  [{ pattern: "UNIFORM:0:1" }, "malformed", /UNIFORM:0:1/],
  [{ pattern: "UNIFORM:99999999999:1" }, "malformed", /more than/],
  [{ pattern: "MS1:8:2,3,4:1,2" }, "malformed", /2 gaps for 3 locations/],
  [{ pattern: "MS1:8:0:0" }, "malformed", /has an index below 0/],
  [{ pattern: "LAPLACIAN:2:1" }, "malformed", /LAPLACIAN/],
  [{ pattern: "LAPLACIAN:40:1:100" }, "malformed", /over the limit of/],
  [{ pattern: "RANDOM:8" }, "malformed", /RANDOM:8 is not a pattern of Spatter/],
  [{ kernel: "Gathr", pattern: [0] }, "malformed", /"Gathr" is not a kernel of Spatter/],
  [{ pattern: [0], length: 8 }, "malformed", /length is not a key/],
  [{ kernel: "Gather" }, "malformed", /pattern is missing/],
  [{ pattern: [0], name: 3 }, "malformed", /name must be a string/],
  [[1], "malformed", /it must be an object/],
];

describe("a configuration that is no program", () => {
  it.each(cases)("%j is %s by name", async (config, kind, message) => {
    expect(only(config)).toMatchObject({ kind, diagnostic: { code: "TC021" } });
    write("one.json", [{ pattern: [1, 2], count: 4 }, config]);
    const { stdout, status } = await tilec("explain", "--spatter", "one.json", "--json");
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows.map(({ verdict }) => verdict)).toEqual(["legal", kind]);
    expect(rows[1]?.["reason"]).toMatch(message);
    expect(status).toBe(kind === "malformed" ? 1 : 0);
    expect((await tilec("explain", "--spatter", "one.json", "--case", "1")).status).toBe(1);
  });
});

describe("a diagnostic", () => {
  const text = `[
  {"pattern": [0, 1], "count": 4},
  {"name": "b", "kernel": "GS", "pattern": [0]}, {"pattern": "UNIFORM:8:1",
   "delta": 9007199254740991},
  {"pattern": [3], "name": {"pattern": "x"}}, {"pattern": [[0]]}, 7, {"ptattern": 1}
]`;
  it("names the place in the file: of the value that it is about", async () => {
    writeFileSync(at("places.json"), text);
    const { stderr } = await tilec("explain", "--spatter", "places.json");
    const places = [...stderr.matchAll(/--> (.*)/g)].map(([, place]) => place);
    expect(places).toEqual([
      "places.json:3:62",
      "places.json:5:28",
      "places.json:5:59",
      "places.json:5:67",
      "places.json:5:83",
    ]);
    const refused = await tilec("explain", "--spatter", "places.json", "--case", "1");
    expect(refused.stderr).toContain("--> places.json:3:27");
    const hinted = await tilec("run", "--spatter", "places.json", "--case", "0", "--tile", "4,1,1");
    expect(hinted.stderr).toContain("--> places.json:2:15");
  });

  it("takes no notice of options of Spatter's command line, as Spatter does", () => {
    const run = { aggregate: true, backend: "cuda", "omp-threads": 4, seed: 1, "local-work-size": 64 };
    expect(only({ pattern: [1, 2], ...run })).toMatchObject({ kind: "program" });
  });
});

describe("the commands", () => {
  it("explain counts what the pattern moves, and run counts the same", async () => {
    write("suite.json", gathers);
    const rowsOf = async (...args: readonly string[]) =>
      (await tilec(...args, "--spatter", "suite.json", "--json")).stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Readonly<Record<string, number | string>>);
    const explained = await rowsOf("explain");
    const ran = await rowsOf("run", "--seed", "1");
    expect(ran.map(({ verdict }) => verdict)).toEqual(gathers.map(() => "same"));
    for (const [k, config] of gathers.entries()) {
      const { list, delta } = patternOf(config);
      // Without a delta, every gather picks the same.
      const picks = (delta === 0 ? 1 : (config.count ?? 1024)) * list.length;
      expect(explained[k]).toMatchObject({ id: String(k), picks });
      expect(explained[k]?.["moved_bytes"]).toBe(ran[k]?.["moved_bytes"]);
      expect(explained[k]?.["moved_bursts"]).toBe(ran[k]?.["moved_bursts"]);
    }
  });

  it("print the program, whose index is the pattern's and delta times the gather's", async () => {
    write("suite.json", gathers);
    const { stdout } = await tilec("compile", "--spatter", "suite.json", "--case", "4", "--emit", "access");
    expect(stdout).toMatch(/error\((?:%p\[d1\] \+ 32 \* d0|32 \* d0 \+ %p\[d1\]) in 317\)/);
    expect(stdout).toContain("tensor<10x8xf64>");
    const explained = await tilec("explain", "--spatter", "suite.json", "--case", "4");
    expect(explained.stdout).toMatch(/with indices like the pattern\n {2}80 picks/);
  });

  it("say what does not go with a file of Spatter's", async () => {
    write("suite.json", gathers);
    for (const args of [
      ["explain", "a.tir", "--spatter", "suite.json"],
      ["explain", "--spatter", "suite.json", "--op", "gather"],
      ["explain", "--spatter", "suite.json", "--list", "a.jsonl"],
      ["explain", "--spatter", "suite.json", "--case", "99"],
      ["compile", "--spatter", "suite.json", "--func", "f"],
    ])
      expect([(await tilec(...args)).status, args]).toEqual([2, args]);
    writeFileSync(at("bad.json"), "{}");
    expect((await tilec("run", "--spatter", "bad.json")).stderr).toContain("TC021");
  });
});
