/** explain --compare and --sensitivity: what they print, against the explanations of both schedules by themselves. */
import { expect, it } from "vitest";
import { otherKernel } from "../../src/explain/other-schedule.js";
import { compile, onnx } from "../../src/index.js";
import { runHere } from "../support/run-here.js";

const tilec = (...args: readonly string[]) => runHere(args);
const rows = ["--op", "gather", "--data", "f32[1000,768]", "--indices", "i32[4096]", "--axis", "0"];
const gm = [...rows, "--residency", "gm"];
const json = async (...args: readonly string[]) =>
  JSON.parse((await tilec("explain", ...args, "--json")).stdout) as Record<string, unknown>;

it("puts another schedule beside this one, in braces or without, with the figures of each alone", async () => {
  const written = "tile = [9, 768], residency = gm, buffers = 1";
  const { compare } = await json(...gm, "--compare", written);
  expect(await json(...gm, "--compare", `{${written}}`)).toMatchObject({ compare });
  const alone = [
    await json(...gm),
    await json(...rows, "--tile", "9,768", "--residency", "gm", "--buffers", "1"),
  ];
  for (const [k, side] of (compare as readonly Record<string, unknown>[]).entries()) {
    const { schedule, cycles, floor, microseconds, gigabytesPerSecond, bottleneck, traffic } = alone[k]!;
    const { bytes, tasks } = traffic as Record<string, number>;
    expect(side).toMatchObject({
      ...{ schedule, cycles, floor, microseconds, gigabytesPerSecond, bottleneck, bytes, tasks },
      lowering: "row-fetch",
    });
    const shares = Object.values(side["shares"] as Record<string, number>);
    expect(side["waits"]).toBeCloseTo((cycles as number) * (1 - Math.max(...shares)), 6);
  }
  // 9 rows of 3072 B a tile: 456 tiles; a burst for the indices and the output of each, and one for each row that is no neighbour's.
  const [, other] = compare as readonly Readonly<Record<string, unknown>>[];
  expect(other).toMatchObject({ tile: [9, 768], tasks: 456 });
  expect(other!["bursts"]).toBeLessThanOrEqual(4096 + 2 * 456);
  expect(other!["bursts"]).toBeGreaterThan(0.99 * (4096 + 2 * 456));
});

it("fits 80 columns but for the schedules, and says which is faster", async () => {
  const slower = "tile = [9, 768], residency = gm, buffers = 1";
  const { stdout } = await tilec("explain", ...gm, "--compare", slower, "--sensitivity");
  const lines = stdout.split("\n").filter((line) => !/^[AB] {2}/.test(line));
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(stdout).toMatch(/^[AB] takes [\d,]+ cycles less: \d+\.\d\d times as fast$/m);
  expect(stdout).toMatch(/ % rests on \w+, [\w ]+; \d+ % on assumptions$/m);
});

it("refuses what is no schedule, an illegal one, and tile programs", async () => {
  const refused = async (written: string) => (await tilec("explain", ...gm, "--compare", written)).stderr;
  expect(await refused("tile = 9")).toContain("error[TC0");
  expect(await refused("x")).toContain(
    'hint: --compare "tile = [8, 64], residency = gm", or --compare default',
  );
  expect(await refused("tile = [4096, 768], residency = ub")).toContain("error[TC401]");
  const { tile, target } = compile(onnx.gather({ data: ["f32", [5, 8]], indices: ["i32", [2]], axis: 0 }));
  expect(() => otherKernel(tile, "default", { target })).toThrow("is a tile program");
});
