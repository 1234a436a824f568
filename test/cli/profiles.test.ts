/** Profiles: where they are chosen, what the commands say of them, and the targets on which they bind. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../support/run-here.js";

/** A folder with a config of a profile. */
function projectOf(profile: string): string {
  const folder = mkdtempSync(join(tmpdir(), "tilec-profile-"));
  writeFileSync(
    join(folder, "tilec.config.mjs"),
    `export default { profile: ${JSON.stringify(profile)} };\n`,
  );
  return folder;
}

const columns = ["--op", "pypto.gather", "--data", "f32[16,80]", "--indices", "i32[16,64]", "--axis", "0"];
const cut = [...columns, "--tile", "4,16"];
const program = (schedule: string): string =>
  `func @g(%x: tensor<16x80xf32>, %i: tensor<16x64xi32>) -> tensor<16x64xf32> target("ascend-a2") schedule {${schedule}} {\n` +
  "  %y = pypto.gather %x, %i {dim = 0}\n  return %y\n}\n";

describe("the profile of a config", () => {
  it("is that of programs that state none, in every command", async () => {
    const folder = projectOf("pages");
    writeFileSync(join(folder, "open.tir"), program("tile = [4, 16]"));
    writeFileSync(join(folder, "stated.tir"), program("tile = [4, 16], profile = strict"));
    for (const command of [["explain"], ["compile"], ["run", "--backend", "sim", "--seed", "1"]]) {
      for (const open of [cut, ["open.tir"]])
        expect((await runHere([...command, ...open], folder)).status, command[0]).toBe(0);
      // What the program or the command line says comes first.
      for (const strict of [
        ["stated.tir"],
        [...cut, "--profile", "strict"],
        ["open.tir", "--profile", "strict"],
      ]) {
        const { status, stderr, stdout } = await runHere([...command, ...strict], folder);
        expect([status, /TC301|full-load-tile/.test(stderr + stdout)], command[0]).toEqual([1, true]);
      }
    }
    const { stdout } = await runHere(["explain", ...cut], folder);
    expect(stdout).toContain("rules (profile pages: PyPTO's documentation since 2026-04-02)");
    for (const command of [["legal"], ["tune", "--budget", "2"]]) {
      const found = await runHere([...command, ...columns], folder);
      expect(found.stdout, command[0]).toContain("profile = pages");
      // The counts stand beside each other under strict alone.
      expect(found.stdout).not.toContain("under profile");
    }
  });

  it("takes no other profile's word for a typed view that it refuses", async () => {
    for (const target of ["ascend-a2", "webgpu"]) {
      const viewed = [...columns, "--target", target, "--view", "4,16"];
      const { stdout, status } = await runHere(["explain", ...viewed]);
      expect([status, stdout]).toEqual([
        1,
        expect.not.stringMatching(
          /: refused under .* \(profile strict\); legal under .* \(--profile pages\)/,
        ),
      ]);
      expect((await runHere(["explain", ...viewed, "--profile", "pages"])).status).toBe(1);
      const whole = [...columns, "--target", target, "--view", "16,16", "--tile", "4,16"];
      expect((await runHere(["explain", ...whole])).stdout).toMatch(
        /: refused under .* \(profile strict\); legal under .* \(--profile pages\)/,
      );
      expect((await runHere(["explain", ...whole, "--profile", "pages"])).status).toBe(0);
    }
  });

  it("changes the types and ranks that PyPTO's operators take", async () => {
    const wide = ["--op", "pypto.gather", "--data", "u16[8,8]", "--indices", "i32[8,8]", "--axis", "0"];
    expect((await runHere(["explain", ...wide], projectOf("pages"))).status).toBe(0);
    expect((await runHere(["explain", ...wide], projectOf("strict"))).status).toBe(1);
    const bytes = ["--op", "pypto.gather", "--data", "i8[8,8]", "--indices", "i32[8,8]", "--axis", "0"];
    expect((await runHere(["explain", ...bytes], projectOf("pages"))).status).toBe(1);
    expect((await runHere(["explain", ...bytes], projectOf("head"))).status).toBe(0);
  });

  it("is one of the three (TC018)", async () => {
    const { status, stderr } = await runHere(["explain", ...columns], projectOf("page"));
    expect(status).toBe(2);
    expect(stderr).toContain(
      'error[TC018]: tilec.config.mjs: profile is "page"; it takes strict or pages or head',
    );
    expect(stderr).toContain("did you mean pages?");
  });
});

/** Legal tiles of f32[R,C] by i32[N,C], axis 0: rows of the output that a tile may cut, times its columns, by the rule of each profile. */
const counts = (rows: number, width: number) => ({
  strict: width,
  pages: rows * width,
  possible: rows * width,
});

describe("counts under both profiles", () => {
  it("are printed by legal and by tune on Ascend", async () => {
    const { strict, pages, possible } = counts(16, 64);
    const underPages = `under profile pages (PyPTO's documentation since 2026-04-02): ${pages.toLocaleString("en")} of ${possible.toLocaleString("en")} tile shapes are legal`;
    const legal = await runHere(["legal", ...columns]);
    // Under strict the tile along dim is the view: one free dim is left.
    expect(legal.stdout).toContain(`@gather on ascend-a2: ${strict} of ${strict} tile shapes are legal`);
    expect(legal.stdout).toContain(underPages);
    const tuned = await runHere(["tune", ...columns, "--budget", "2"]);
    expect(tuned.stdout).toContain(
      `under profile strict (PyPTO's specification): ${strict} of ${strict} tile shapes are legal`,
    );
    expect(tuned.stdout).toContain(underPages);
    const json = JSON.parse(
      (await runHere(["tune", ...columns, "--budget", "2", "--json"])).stdout,
    ) as object;
    expect(json).toMatchObject({
      legal: [
        { profile: "strict", count: strict, possible: strict },
        { profile: "pages", count: pages, possible },
      ],
    });
  });

  it("come with the reason where the pages refuse the operator, and so does the verdict of explain", async () => {
    const paged = ["--op", "pypto.gather_in_ub", "--data", "bf16[256,64]", "--indices", "i32[1,8]"];
    const flags = [...paged, "--indices", "i32[1,2]", "--block-size", "128"];
    const why = "because pypto.gather_in_ub at level documented (PU1) does not take param of type bf16";
    const legal = await runHere(["legal", ...flags]);
    expect(legal.stdout).toContain(`0 of ${8 * 64} tile shapes are legal, ${why}\n`);
    const explained = await runHere(["explain", ...flags, "--tile", "8,64"]);
    expect(explained.stdout).toContain(
      `: legal under PyPTO's specification (profile strict); refused under PyPTO's documentation since 2026-04-02 (--profile pages), ${why}\n`,
    );
    // A rule that refuses is named with its numbers: the pages want the result below the buffer.
    const rows = [
      "--op",
      "pypto.index_select",
      "--data",
      "f32[64,64]",
      "--indices",
      "i32[8]",
      "--tile",
      "8,64",
    ];
    const { stdout } = await runHere(["explain", ...rows, "--ub-bytes", String(8 * 64 * 4)]);
    expect(stdout).toContain(
      "; refused under PyPTO's documentation since 2026-04-02 (--profile pages), because 2048 (output) = 2048 B >= 2048 B\n",
    );
  });

  it("are not printed where no profile binds, elsewhere and under another profile", async () => {
    const rows = ["--op", "onnx.gather", "--data", "f32[16,64]", "--indices", "i32[8]"];
    for (const flags of [rows, [...columns, "--target", "webgpu"], [...columns, "--profile", "head"]])
      for (const command of [["legal"], ["tune", "--budget", "2"]])
        expect((await runHere([...command, ...flags])).stdout).not.toContain("under profile");
  });
});

describe("--budget-rule spec", () => {
  // Three tiles of 16 rows: the data, the indices and the result, of 4 bytes each.
  const sum = (columns: number): number => 3 * 16 * columns * 4;

  it.each(["ascend-a2", "webgpu", "cpu"])(
    "counts the written sum of inputs and output on %s",
    async (target) => {
      const flags = [...columns, "--target", target, "--budget-rule", "spec", "--profile", "strict"];
      for (const width of [8, 16]) {
        const at = async (bytes: number) =>
          runHere(["explain", ...flags, "--tile", `16,${width}`, "--ub-bytes", String(bytes)]);
        // On Ascend the plan with its scratch has to fit, too: two rows of the index tile.
        const scratch = target === "ascend-a2" ? 2 * width * 4 : 0;
        expect((await at(sum(width) + scratch)).status).toBe(0);
        const over = await at(sum(width) - 1);
        expect(over.status).toBe(1);
        expect(over.stdout).toMatch(
          new RegExp(`FAIL {2}ub-budget .*= ${sum(width)} B > ${sum(width) - 1} B`),
        );
      }
    },
  );

  it.each(["ascend-a2", "webgpu", "cpu"])("binds rows that stay in global memory on %s", async (target) => {
    // 64 rows of 16 f32 by 40 indices: the result alone for PyPTO, which wants less than the buffer, and result and indices for others.
    const result = 40 * 16 * 4;
    const rows = ["--data", "f32[64,16]", "--indices", "i32[40]", "--axis", "0"];
    for (const [op, residency, sum, most] of [
      ["pypto.index_select", "data=gm,indices=gm", result, result],
      ["onnx.gather", "gm", result + 40 * 4, result + 40 * 4 - 1],
    ] as const) {
      const flags = ["explain", "--op", op, ...rows, "--target", target, "--budget-rule", "spec"];
      const at = async (bytes: number, residency: string, tile = "40,16") =>
        runHere([
          ...flags,
          ...["--profile", "pages", "--tile", tile, "--ub-bytes", String(bytes), "--residency", residency],
        ]);
      expect((await at(most + 1, residency)).status, op).toBe(0);
      const over = await at(most, residency);
      expect(over.status).toBe(1);
      expect(over.stdout).toMatch(new RegExp(`FAIL {2}ub-budget .*= ${sum} B >=? ${most} B`));
      // Without a residency, too: what is said is of one that has a legal tile, and works when it is typed.
      const open = await at(most, "auto");
      expect(open.status).toBe(1);
      const [, tile] = /^ {2}--tile ([\d,]+)/m.exec(open.stdout) ?? [];
      expect((await at(most, "auto", tile)).status).toBe(0);
    }
  });

  it("counts what is staged alone under the rule full, on webgpu", async () => {
    // 16 rows of 16 words, each padded by a word, so that they begin in banks of their own.
    const staged = String(16 * (16 + 1) * 4);
    const flags = [...columns, "--target", "webgpu", "--tile", "16,16", "--ub-bytes", staged];
    expect((await runHere(["explain", ...flags])).status).toBe(0);
    expect((await runHere(["explain", ...flags, "--budget-rule", "spec"])).status).toBe(1);
  });
});

describe("TC907", () => {
  const other = ["--op", "onnx.gather_elements", "--data", "f32[16,80]", "--indices", "i32[16,64]"];

  it("names the rule that refuses a full load, where the data fits", async () => {
    const { status, stderr } = await runHere(["compile", ...other, "--target", "webgpu", "--tile", "4,16"]);
    expect(status).toBe(0);
    expect(stderr).toContain(
      "residency auto: gm, because the full load of this schedule is refused: tile[0] = 4 must equal view[0] = 16",
    );
    expect(stderr).not.toContain("fits the unified buffer");
  });

  it("names the buffer where the data does not fit", async () => {
    const long = ["--op", "onnx.gather_elements", "--data", "f32[9000,80]", "--indices", "i32[9000,64]"];
    const { stderr } = await runHere(["compile", ...long, "--target", "webgpu"]);
    expect(stderr).toContain("because no full load of the data fits the unified buffer");
  });
});

describe("a cut pipeline", () => {
  const passes = [
    "canonicalize-access",
    "select-tile",
    "enforce-full-load",
    "fit-ub",
    "lower-to-tile",
    "hoist-loads",
  ];
  const without = (...left: readonly string[]): string =>
    [...passes, "allocate-ub", "insert-sync"].filter((pass) => !left.includes(pass)).join(",");
  const compiled = async (list: string, ...flags: readonly string[]) =>
    (await runHere(["compile", ...columns, ...flags, "--pipeline", list])).stdout;

  it("prints no profile without enforce-full-load or fit-ub: nothing has held the program to it", async () => {
    expect(await compiled(without(), "--tile", "16,16")).toContain("profile = strict");
    for (const left of [["fit-ub"], ["enforce-full-load", "fit-ub"]]) {
      const text = await compiled(without(...left), "--tile", "16,16");
      expect(text, left.join()).toContain("func @gather");
      expect(text, left.join()).not.toContain("profile");
    }
  });

  it("does not run fit-ub without what it rests on", async () => {
    const { stderr } = await runHere(["compile", ...columns, "--pipeline", without("enforce-full-load")]);
    expect(stderr).toContain("fit-ub cannot run");
  });

  it("is not called strict by explain, which judges the tile all the same", async () => {
    const left = without("enforce-full-load", "fit-ub");
    const { stdout, status } = await runHere(["explain", ...cut, "--pipeline", left]);
    expect(status).toBe(1);
    expect(stdout).toContain("FAIL  full-load-tile");
    expect(stdout).not.toContain("profile = strict");
    expect((await runHere(["explain", ...columns, "--tile", "16,16", "--pipeline", left])).status).toBe(0);
  });
});
