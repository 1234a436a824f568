/** A full disk, a limit of file sizes and a read-only file system cost the file that meets them: the answer is printed all the same. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const main = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));
const folder = scratchFolder("disk");
const disk = join(folder, "disk");
const at = (name: string): string => join(folder, name);
const gather = ["--op", "gather", "--data", "f32[64,80]", "--indices", "i32[32]"];
const tilec = (...args: readonly string[]) => runHere(args, folder);
const mount = (...args: readonly string[]): boolean => spawnSync("mount", [...args, disk]).status === 0;

mkdirSync(disk);
// Root alone may mount, and not in every container.
const mounts = process.getuid?.() === 0 && mount("-t", "tmpfs", "-o", "size=16k", "tmpfs");
afterAll(() => {
  if (mounts) spawnSync("umount", ["-l", disk]);
});

/** Lines of a file of records, and how many of them are torn. */
function linesOf(file: string): { readonly records: number; readonly torn: number } {
  const lines = readFileSync(at(file), "utf8")
    .split("\n")
    .filter((line) => line !== "");
  const isWhole = (line: string): boolean => {
    try {
      return typeof (JSON.parse(line) as { record?: unknown }).record === "string";
    } catch {
      return false;
    }
  };
  const records = lines.filter(isWhole).length;
  return { records, torn: lines.length - records };
}

describe.skipIf(!mounts)("a full disk (needs root, which mounts one)", () => {
  const full = /error\[TC010\]: cannot write \S+: no space left on the device\n {3}= hint: free space/;

  beforeAll(() => {
    writeFileSync(join(disk, "page.html"), "<!-- tilec tune -->\nbefore\n");
  });

  it("costs the records, and the search goes on; what was torn is said and ended", async () => {
    const search = ["tune", ...gather, "--budget", "60", "--records", "disk/r.jsonl"];
    const { status, stdout, stderr } = await tilec(...search);
    expect(stderr).toMatch(full);
    expect(stderr.match(/error\[TC010\]/g)).toHaveLength(1);
    expect([status, stdout.includes("best"), stdout.includes("60 estimated")], stdout).toEqual([
      1,
      true,
      true,
    ]);
    const { records, torn } = linesOf("disk/r.jsonl");
    expect(records).toBeGreaterThan(2);
    expect(torn).toBe(1);
    expect(mount("-o", "remount,size=1m")).toBe(true);
    const again = await tilec(...search, "--resume", "--json");
    expect([again.status, again.stderr], again.stderr).toEqual([
      0,
      expect.stringContaining("1 line that was torn is skipped"),
    ]);
    const after = linesOf("disk/r.jsonl");
    expect(after.torn).toBe(1);
    const whole = JSON.parse((await tilec("tune", ...gather, "--budget", "60", "--json")).stdout) as {
      best: unknown;
    };
    expect((JSON.parse(again.stdout) as typeof whole).best).toEqual(whole.best);
    expect((await tilec("records", "best", "disk/r.jsonl")).status).toBe(0);
  });

  describe("with nothing left", () => {
    beforeAll(() => {
      const left = Array.from({ length: 64 }, (_, k) => join(disk, `fill-${k}`));
      mount("-o", "remount,size=1m");
      for (const file of left) {
        try {
          writeFileSync(file, Buffer.alloc(65_536));
        } catch {
          break;
        }
      }
    });

    it.each([
      [
        "tune",
        ["tune", ...gather, "--budget", "2", "--html", "disk/page.html", "--svg", "disk/x.svg"],
        "best",
      ],
      [
        "a sweep",
        ["tune", ...gather, "--budget", "2", "--sweep", "cores=1,2", "--csv", "disk/x.csv"],
        "cores",
      ],
      ["run", ["run", ...gather, "--seed", "1", "--out", "output=disk/o.npy"], "schedule"],
      ["compile", ["compile", ...gather, "--emit", "wgsl", "--out", "disk/x.wgsl"], "@compute"],
      ["a module", ["compile", ...gather, "--emit", "module-cpu", "--out", "disk/x.js"], "export"],
    ])("%s prints its result, and leaves no part of a file", async (_what, args, result) => {
      const before = readdirSync(disk).sort();
      const { status, stdout, stderr } = await tilec(...args);
      expect(stderr).toMatch(full);
      expect([status, stdout.includes(result)], stdout).toEqual([1, true]);
      expect(readdirSync(disk).sort()).toEqual(before);
      expect(readFileSync(join(disk, "page.html"), "utf8")).toBe("<!-- tilec tune -->\nbefore\n");
    });

    it("is in the diagnostics of a JSON document", async () => {
      const { stdout } = await tilec("run", ...gather, "--seed", "1", "--out", "output=disk/o.npy", "--json");
      const document = JSON.parse(stdout) as { ok: boolean; diagnostics: readonly { code: string }[] };
      expect([document.ok, document.diagnostics.map(({ code }) => code)]).toEqual([
        true,
        expect.arrayContaining(["TC010"]),
      ]);
    });

    it("is told once of a folder", async () => {
      const { status, stderr } = await tilec("compile", ...gather, "--emit", "all", "--dump-dir", "disk");
      expect([status, stderr.match(/error\[TC010\]/g)?.length]).toEqual([1, 1]);
    });

    it("costs one of the files that fmt rewrites", async () => {
      const text = (await tilec("compile", ...gather, "--emit", "source")).stdout;
      const crooked = `${text.replaceAll("  ", "        ")}${"// a comment\n".repeat(8)}`;
      mount("-o", "remount,size=2m");
      writeFileSync(join(disk, "a.tir"), crooked);
      writeFileSync(at("b.tir"), crooked);
      mount(
        "-o",
        `remount,size=${Number(spawnSync("du", ["-sk", disk], { encoding: "utf8" }).stdout.split("\t")[0])}k`,
      );
      const { status, stderr } = await tilec("fmt", "--write", "disk/a.tir", "b.tir");
      expect([status, stderr], stderr).toEqual([1, expect.stringMatching(full)]);
      expect(readFileSync(join(disk, "a.tir"), "utf8")).toBe(crooked);
      expect(readFileSync(at("b.tir"), "utf8")).not.toBe(crooked);
    });
  });

  it("that is read-only has its own hint", async () => {
    mount("-o", "remount,ro");
    for (const args of [
      ["tune", ...gather, "--budget", "2", "--html", "disk/page.html", "--records", "disk/r.jsonl"],
      ["compile", ...gather, "--out", "disk/new.tir"],
      ["compile", ...gather, "--emit", "all", "--dump-dir", "disk/new"],
    ]) {
      const { status, stderr } = await tilec(...args);
      expect([status, stderr.includes("its file system is read-only")], stderr).toEqual([1, true]);
      expect(stderr).not.toContain("free space");
    }
  });
});

describe.runIf(existsSync("/dev/full"))("a limit of file sizes", () => {
  const limited = (...args: readonly string[]) => {
    const line = `ulimit -f 4; "${process.execPath}" "${main}" "$@"`;
    return spawnSync("bash", ["-c", line, "bash", ...args], { cwd: folder, encoding: "utf8" });
  };

  it("costs the file, and the hint raises it", () => {
    const { status, stdout, stderr } = limited(
      ...["tune", ...gather, "--budget", "20", "--records", "l.jsonl", "--html", "l.html"],
    );
    const found = [...stderr.matchAll(/error\[TC010\]: cannot write (\S+): (.*)\n {3}= hint: (.*)/g)];
    const why = ["it would be longer than a file may be", "raise the limit: ulimit -f unlimited"];
    expect(found.map((match) => match.slice(1))).toEqual([
      ["l.jsonl", ...why],
      ["l.html", ...why],
    ]);
    expect([status, stdout.includes("best")]).toEqual([1, true]);
    expect(linesOf("l.jsonl").torn).toBe(1);
    expect(existsSync(at("l.html"))).toBe(false);
    expect(readdirSync(folder).filter((name) => name.startsWith(".tilec"))).toEqual([]);
  });

  it("leaves a line that the next record does not continue", async () => {
    const before = statSync(at("l.jsonl")).size;
    const { status, stderr } = await tilec("tune", ...gather, "--budget", "20", "--records", "l.jsonl");
    expect([status, stderr], stderr).toEqual([0, expect.stringContaining("1 line that was torn is skipped")]);
    expect(statSync(at("l.jsonl")).size).toBeGreaterThan(before);
    expect(linesOf("l.jsonl").torn).toBe(1);
  });
});
