import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("diff");
const program = (name: string, index: string, tile = 4) =>
  `func @${name}(%x: tensor<8x2xf32>, %i: tensor<4xi32>) -> tensor<4x2xf32> schedule {tile = [${tile}, 2]} {
  %y = access.gather %x, %i (d0, d1) -> (${index}, d1) {oob = error}
  return %y
}
`;
const write = (name: string, ...programs: readonly string[]): string => {
  writeFileSync(join(folder, name), programs.join("\n"));
  return name;
};
const a = write("a.tir", program("f", "%i[d0]"));
const tilec = (...args: readonly string[]) => runHere(["diff", ...args], folder);
/** The difference below the costs of both sides. */
const below = (text: string): readonly string[] => text.slice(text.indexOf("\n--- ") + 1).split("\n");
/** Cycles and bytes that `explain` states of a program. */
const explained = async (...args: readonly string[]) => {
  const { stdout } = await runHere(["explain", ...args, "--json"], folder);
  const { cycles, traffic } = JSON.parse(stdout) as { cycles: number; traffic: { bytes: number } };
  return { cycles, bytes: traffic.bytes };
};
const changed = (text: string): readonly string[] =>
  text.split("\n").filter((line) => /^[-+](?![-+])/.test(line));

describe("two programs", () => {
  it("that are the same, whatever their blanks, are nothing and exit code 0", async () => {
    const spaced = write("spaced.tir", program("f", "%i[ d0 ]").replaceAll("  ", "     "));
    expect(await tilec(a, spaced)).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  it("differ by lines of their text and entries of their schedule, and exit code 1", async () => {
    const b = write("b.tir", program("f", "from_end(%i[d0])", 2));
    const { status, stdout } = await tilec(a, b);
    expect(status).toBe(1);
    expect(below(stdout).slice(0, 2)).toEqual(["--- a.tir", "+++ b.tir"]);
    expect(changed(stdout)).toEqual([
      "-// tile = [4, 2]",
      "+// tile = [2, 2]",
      "-  %y = access.gather %x, %i (d0, d1) -> (%i[d0], d1) {oob = error}",
      "+  %y = access.gather %x, %i (d0, d1) -> (from_end(%i[d0]), d1) {oob = error}",
    ]);
  });

  it("begin with cycles and bytes of both, as explain states them, and say which takes fewer", async () => {
    const scale = (tile: string): string =>
      `func @t(%x: tensor<512x256xf32>, %i: tensor<512x256xi32>) -> tensor<512x256xf32> target("ascend-a2") schedule {tile = [512, ${tile}]} {
  %y = onnx.gather_elements %x, %i {axis = 0}
  return %y
}
`;
    const [one, other] = [write("wide.tir", scale("16")), write("narrow.tir", scale("8"))];
    const [a, b] = [await explained(one), await explained(other)];
    const { stdout } = await tilec(one, other);
    const [verdict = "", , lineA = "", lineB = ""] = stdout.split("\n");
    const [name, least] = a.cycles < b.cycles ? ["A", b.cycles - a.cycles] : ["B", a.cycles - b.cycles];
    expect(verdict).toContain(`@t: ${name} takes ${least.toLocaleString("en")} cycles less`);
    const row = ({ cycles, bytes }: typeof a) => [
      cycles.toLocaleString("en"),
      bytes.toLocaleString("en"),
      "ascend-a2",
    ];
    expect(lineA.split(/\s+/)).toEqual(["A", ...row(a), "wide.tir"]);
    expect(lineB.split(/\s+/)).toEqual(["B", ...row(b), "narrow.tir"]);
    const json = JSON.parse((await tilec(one, other, "--json")).stdout) as { programs: unknown[] };
    expect(json.programs[0]).toMatchObject({ a, b });
  });

  it("of different targets have figures and no verdict; one that is refused says by which code", async () => {
    const on = (target: string, tile: number) =>
      program("f", "%i[d0]", tile).replace("schedule", `target("${target}") schedule`);
    const [npu, gpu] = [write("npu.tir", on("ascend-a2", 4)), write("gpu.tir", on("webgpu", 4))];
    const [head, , ...lines] = (await tilec(npu, gpu)).stdout.split("\n");
    expect(head).toBe("@f");
    expect(lines.slice(0, 2).map((line) => line.split(/\s+/)[3])).toEqual(["ascend-a2", "webgpu"]);
    const wrong = write("wrong.tir", on("ascend-a2", 4).replace("tile = [4, 2]", "tile = [4]"));
    expect((await tilec(npu, wrong)).stdout).toMatch(/^B {2}refused \(TC302\)/m);
  });

  it("of several functions go by their names; one that only one side has differs as a whole", async () => {
    const [f, g, h] = [program("f", "%i[d0]"), program("g", "%i[d0]"), program("h", "%i[d0]")];
    const [one, two] = [write("one.tir", f, g), write("two.tir", h, f)];
    const { status, stdout } = await tilec(one, two, "--json");
    const { programs, same } = JSON.parse(stdout) as {
      same: boolean;
      programs: readonly { name: string; same: boolean; diff: string }[];
    };
    expect([status, same]).toEqual([1, false]);
    expect(programs.map(({ name, same: equal }) => [name, equal])).toEqual([
      ["f", true],
      ["g", false],
      ["h", false],
    ]);
    expect(changed(programs[1]?.diff ?? "").every((line) => line.startsWith("-"))).toBe(true);
    expect(changed(programs[2]?.diff ?? "").every((line) => line.startsWith("+"))).toBe(true);
  });
});

describe("two pipelines of one program", () => {
  const rows = [
    "--op",
    "gather",
    "--data",
    "f32[256,4096]",
    "--indices",
    "i32[512]",
    "--target",
    "ascend-a2",
  ];
  const stated = [...rows, "--tile", "64,64", "--order", "1,0", "--buffers", "1"];

  it("differ by what a pass does: without hoisting, the data is loaded inside the serial loop", async () => {
    const html = ["--html", "d.html"];
    const { status, stdout } = await tilec(
      ...[...stated, "--pipeline", "default", "--pipeline", "default, no hoist-loads", ...html],
    );
    expect(status).toBe(1);
    expect(changed(stdout)).toContain("-    load %data[0, %t1][256, 64] to %data_ub");
    expect(changed(stdout)).toContain("+      load %data[0, %t1][256, 64] to %data_ub");
    const page = readFileSync(join(folder, "d.html"), "utf8");
    expect(page).toContain("<title>A pipeline default, B pipeline default, no hoist-loads</title>");
    const { cycles, bytes } = await explained(...stated);
    const head = stdout.split("\n");
    expect(head[0]).toMatch(
      /^@gather: A takes [\d,]+ cycles less: [\d.]+ times as fast; A moves [\d,]+ B less$/,
    );
    expect(head[2]).toBe(
      `A  ${cycles.toLocaleString("en")}   ${bytes.toLocaleString("en")}  ascend-a2  pipeline default`,
    );
    expect(page.indexOf(cycles.toLocaleString("en"))).toBeLessThan(page.indexOf("<ins>"));
    expect(page).toContain("A takes ");
    expect(page).toContain("<summary>schedule, unchanged</summary>");
    expect(page.match(/<ins>/g)).toHaveLength(changed(stdout).filter((line) => line.startsWith("+")).length);
    expect(page.match(/<del>/g)).toHaveLength(changed(stdout).filter((line) => line.startsWith("-")).length);
  });

  it("that are one pipeline are the same", async () => {
    const passes = "canonicalize-access, select-tile, enforce-full-load, fit-ub, lower-to-tile, hoist-loads";
    const spelt = `${passes}, allocate-ub, insert-sync`;
    expect((await tilec(...stated, "--pipeline", "default", "--pipeline", spelt)).status).toBe(0);
  });

  it("one pipeline compiles two programs", async () => {
    const b = write("c.tir", program("f", "from_end(%i[d0])"));
    const { status, stdout } = await tilec(a, b, "--pipeline", "default");
    expect(status).toBe(1);
    expect(stdout).toContain("load %x[0, 0][8, 2] to %x_ub");
  });
});

it.each([
  [[a], "there are one program and 0 pipelines"],
  [[a, "--pipeline", "default"], "there are one program and 1 pipeline"],
  [[a, a, "--pipeline", "default", "--pipeline", "default"], "there are two programs and 2 pipelines"],
  [[a, a, "--target", "cpu"], "--target cpu needs --pipeline: without a pipeline, diff compiles nothing"],
  [[a, a, "--pipeline", "mine"], "there is no pass mine"],
])("%j is exit code 2", async (args, said) => {
  const { status, stderr } = await tilec(...args);
  expect([status, stderr.includes(said)]).toEqual([2, true]);
});
