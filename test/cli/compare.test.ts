/** What explain compares, followed: flags that are promised give the cycles that are promised. */
import { describe, expect, it } from "vitest";
import { cyclesOf } from "../../ir/index.js";
import type { Explanation } from "../../src/api/explain.js";
import { compile, onnx, targets } from "../../src/index.js";
import { runHere } from "../support/run-here.js";

const tilec = (...args: readonly string[]) => runHere(args);
const explained = async (...args: readonly string[]) =>
  JSON.parse((await tilec("explain", ...args, "--json")).stdout) as Explanation;
const words = (flags: string) => flags.split(" ").filter((word) => word !== "");

/** Flags over those that were given before. */
function replaced(given: readonly string[], flags: string): string[] {
  const added = words(flags);
  const names = added.filter((word) => word.startsWith("--"));
  return [
    ...given.filter((word, k) => !names.includes(word) && !names.includes(given[k - 1] ?? "")),
    ...added,
  ];
}

const pages = ["--op", "gather", "--data", "bf16[2048,16,8,128]", "--indices", "i32[64,32]", "--axis", "0"];
const rows = ["--op", "gather", "--data", "f32[1000,768]", "--indices", "i32[4096]", "--axis", "0"];
const columns = ["--op", "gather_elements", "--data", "f32[64,16384]", "--indices", "i32[64,16384]"];

describe("explain compares", () => {
  it.each([
    ["pages of a cache, all left to the compiler", pages],
    ["a tile that is stated", [...rows, "--residency", "gm", "--tile", "4,64"]],
    ["a tile and an order that are stated", [...columns, "--axis", "0", "--tile", "64,8", "--order", "0,1"]],
    ["residency auto", [...rows, "--residency", "auto", "--buffers", "1"]],
  ])("with flags that keep their promise: %s", async (_, args) => {
    const { comparison, cycles } = await explained(...args);
    const [runs, ...others] = comparison!.alternatives;
    expect(runs).toMatchObject({ cycles, flags: "" });
    expect(others.length).toBeGreaterThan(2);
    for (const other of others) {
      const followed = await explained(...replaced(args, other.flags));
      expect([other.name, other.flags, followed.cycles]).toEqual([other.name, other.flags, other.cycles]);
      expect(followed.schedule).toEqual(other.schedule);
    }
  });

  it("and prints the flag of what is a tenth faster: rows of pages straight from global memory", async () => {
    const { comparison, cycles } = await explained(...pages, "--residency", "ub");
    const func = onnx.gather({ data: ["bf16", [2048, 16, 8, 128]], indices: ["i32", [64, 32]], axis: 0 });
    const other = compile(func, { target: targets.ascendA2, residency: "gm" });
    const promised = cyclesOf(other.tile, other.target).cycles;
    const { tile, view } = other.tile.schedule;
    expect(comparison?.better).toEqual({ flags: "--residency gm", cycles: promised, tile, view });
    expect(promised).toBeLessThan(0.9 * cycles);
    const { stdout } = await tilec("explain", ...pages, "--residency", "ub");
    expect(stdout).toContain("other schedules, estimated cycles");
    expect(stdout).toContain(`--residency gm: about ${promised.toLocaleString("en")} cycles`);
  });

  it("and says nothing where the schedule is as good as the others", async () => {
    const { comparison } = await explained(...pages, "--residency", "gm");
    expect(comparison?.better).toBeUndefined();
    expect(comparison?.alternatives.map(({ name }) => name)).toEqual([
      "buffers 2, residency gm",
      "buffers 1",
      "residency ub",
      "UB of 188416 B",
      "UB of 245760 B",
      "UB of 253952 B",
    ]);
  });

  it("does not advise a unified buffer that the machine does not have", async () => {
    const given = [...columns, "--axis", "0", "--tile", "64,8"];
    const { schedule } = await explained(
      ...replaced(given, (await explained(...given)).comparison!.better!.flags),
    );
    expect(schedule.ubBytes).toBe(targets.ascendA2.ubBytes);
  });
});

describe("--buffers", () => {
  it("takes a number, or copies by operand", async () => {
    const schedule = async (...flags: string[]) =>
      (await explained(...columns, "--axis", "0", "--tile", "64,64", ...flags)).schedule;
    expect((await schedule("--buffers", "2")).buffers).toBe(2);
    expect(await schedule("--double-buffer")).toEqual(await schedule("--buffers", "2"));
    expect((await schedule("--buffers", "indices=2, output=2")).buffers).toEqual({ indices: 2, output: 2 });
  });

  it.each([
    ["3", "the number of copies must be 1 or 2"],
    ["indices", "the number of copies must be 1 or 2"],
    ["indices=2,2", "the number of copies must be 1 or 2"],
    ["indices=2,indices=1", "the number of copies must be 1 or 2"],
    ["index=2", "buffers names index, which is no operand"],
  ])("%s is refused", async (buffers, message) => {
    const { status, stderr } = await tilec("explain", ...columns, "--axis", "0", "--buffers", buffers);
    expect(stderr).toContain(message);
    expect(status).toBe(message.startsWith("the number of copies") ? 2 : 1);
  });

  it("and --double-buffer beside it are refused", async () => {
    const { status, stderr } = await tilec("explain", ...rows, "--buffers", "1", "--double-buffer");
    expect(stderr).toContain("--double-buffer cannot be used with --buffers");
    expect(status).toBe(2);
  });
});

describe("tilec legal", () => {
  const line = ["--op", "gather", "--data", "f32[16384]", "--indices", "i32[1000000]", "--axis", "0"];

  it("lists the fastest twenty, the default among them, and says how many more there are", async () => {
    const { stdout } = await tilec("legal", ...rows, "--residency", "gm");
    const [, , ...listed] = stdout.trimEnd().split("\n");
    const [more] = listed.splice(-1);
    expect(listed.length).toBeGreaterThanOrEqual(20);
    expect(listed.length).toBeLessThanOrEqual(21);
    expect(listed.filter((row) => row.trimEnd().endsWith("default"))).toHaveLength(1);
    const hidden = Number(/^([\d,]+) more candidates are slower; --all lists them$/.exec(more!)?.[1]);
    const all = (await tilec("legal", ...rows, "--residency", "gm", "--all")).stdout.trimEnd().split("\n");
    expect(all.length - 2).toBe(listed.length + hidden);
  });

  it("speaks of no largest gather dim where the data stays in global memory", async () => {
    expect((await tilec("legal", ...rows, "--residency", "gm")).stdout).not.toContain("gather dim");
    expect((await tilec("legal", ...rows, "--residency", "ub")).stdout).toContain("gather dim 0: at most");
    const none = ["--residency", "gm", "--ub-bytes", "32", "--tile", "1,1"];
    const { stderr, status } = await tilec("compile", ...rows, ...none);
    expect(stderr).toContain("TC402");
    expect(stderr).not.toContain("gather dim");
    expect(status).toBe(1);
  });

  it("gives values separated by commas, under the keys of the table of figures", async () => {
    const [head, first, ...rest] = (await tilec("legal", ...line, "--csv")).stdout.trimEnd().split("\n");
    expect(head).toBe(
      "residency,tile,view,order,buffers,cycles,floor,floor_limit,over_floor,us,gb_per_s,busiest,busy_share,bytes,ub_bytes,tasks,default",
    );
    expect(first).toMatch(/^ub,\d+,\d+,0,[^,]+(,\d+){2},global memory(,[\d.]+){3},\w+,[\d.]+(,\d+){3},$/);
    // The default leaves the libraries' part of UB free.
    expect(rest.filter((row) => row.endsWith(",default"))).toHaveLength(1);
    const cycles = [first!, ...rest].map((row) => Number(row.split(",")[5]));
    expect(cycles).toEqual([...cycles].sort((a, b) => a - b));
    const wide = (await tilec("legal", ...rows, "--residency", "gm", "--csv")).stdout.split("\n");
    expect(wide[1]).toMatch(/^gm,\d+x\d+,/);
  });
});
