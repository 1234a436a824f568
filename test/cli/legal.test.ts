/** `tilec legal` and other reports say of a schedule what holds of it, and count what they say they count. */
import { describe, expect, it } from "vitest";
import type { LegalTiles } from "../../src/index.js";
import { runHere } from "../support/run-here.js";

const tilec = (...args: readonly string[]) => runHere(args);
const legal = async (...args: readonly string[]) =>
  JSON.parse((await tilec("legal", ...args, "--json")).stdout) as LegalTiles;

const columns = [
  "--op",
  "gather_elements",
  "--data",
  "f32[64,512]",
  "--indices",
  "i32[64,512]",
  "--axis",
  "0",
];

describe("the schedule above the tiles", () => {
  it("has the buffers that every row has, and none where rows differ", async () => {
    for (const given of [[], ["--buffers", "2"], ["--buffers", "1"]]) {
      const { schedule, tiles } = await legal(...columns, ...given);
      const rows = new Set(tiles.map(({ buffers }) => JSON.stringify(buffers)));
      expect([...rows]).toEqual(
        schedule.buffers === undefined ? expect.arrayContaining(["1"]) : [JSON.stringify(schedule.buffers)],
      );
      if (schedule.buffers === undefined) expect(rows.size).toBeGreaterThan(1);
    }
    expect((await legal(...columns)).tiles.some(({ buffers }) => buffers !== 1)).toBe(true);
    const [head = ""] = (await tilec("legal", ...columns)).stdout.split("\n");
    expect(head).toContain("tile shapes are legal (");
    expect(head).not.toContain("buffers = 1");
  });
});

describe("more tiles than are counted", () => {
  const wide = [
    "--op",
    "gather",
    "--data",
    "f32[64,300,300,300]",
    "--indices",
    "i32[64]",
    "--residency",
    "gm",
  ];

  it("are said to be, and have no count in JSON", async () => {
    expect(await legal(...wide)).not.toHaveProperty("count");
    expect((await tilec("legal", ...wide)).stdout).toMatch(
      /: at least [\d,]+ of [\d,]+ tile shapes are legal, which are too many to be counted further \(/,
    );
    expect((await tilec("legal", ...columns)).stdout).not.toContain("counted further");
  });
});

describe("one of something", () => {
  const small = [
    "--op",
    "gather",
    "--data",
    "f32[4,8]",
    "--indices",
    "i32[2]",
    "--seed",
    "1",
    "--tile",
    "2,8",
  ];

  it("is no plural", async () => {
    const { stdout } = await tilec("run", ...small);
    expect(stdout).toMatch(/cycles on 1 core \(cost model /);
    expect(stdout).toMatch(/; 1 task$/m);
    expect(stdout).not.toMatch(/\b1 (?:cores|tasks)\b/);
    const explained = await tilec(
      "explain",
      ...small.filter((word, k) => word !== "--seed" && small[k - 1] !== "--seed"),
    );
    expect(explained.stdout).not.toMatch(/\b1 (?:cores|tasks|tiles)\b/);
  });
});
