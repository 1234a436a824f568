/** What becomes of a path's links, modes and owners, of pipes and devices, and of what a write leaves behind. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import { runHere } from "../support/run-here.js";

const main = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));
const gather = ["--op", "gather", "--data", "f32[8,8]", "--indices", "i32[4]"];
const source = `func @f(%x: tensor<8x8xf32>, %i: tensor<4xi32>) -> tensor<4x8xf32> {
  %y = onnx.gather %x, %i
  return %y
}
`;
const isRoot = process.getuid?.() === 0;

let folder = "";
const at = (name: string): string => join(folder, name);
const tilec = (...args: readonly string[]) => runHere(args, folder);
const writes = (file: string): readonly string[] => ["compile", ...gather, "--emit", "source", "--out", file];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tilec-write-"));
  writeFileSync(at("p.tir"), source);
});

const modeOf = (file: string): number => statSync(at(file)).mode & 0o7777;

describe("a whole file", () => {
  it("takes the place of the old one: who has that open still reads it", async () => {
    await tilec(...writes("o.tir"));
    const before = statSync(at("o.tir")).ino;
    expect((await tilec(...writes("o.tir"))).status).toBe(0);
    expect(statSync(at("o.tir")).ino).not.toBe(before);
    expect(readdirSync(folder).sort()).toEqual(["o.tir", "p.tir"]);
  });

  it("has the mode of a new file, or of the old one", async () => {
    const before = process.umask(0o027);
    try {
      await tilec(...writes("o.tir"));
      expect(modeOf("o.tir")).toBe(0o640);
    } finally {
      process.umask(before);
    }
    for (const mode of [0o600, 0o755, 0o2664]) {
      chmodSync(at("o.tir"), mode);
      expect((await tilec(...writes("o.tir"))).status).toBe(0);
      expect(modeOf("o.tir")).toBe(mode);
    }
  });

  it.runIf(isRoot)("keeps its owner", async () => {
    await tilec(...writes("o.tir"));
    execFileSync("chown", ["1234:5678", at("o.tir")]);
    expect((await tilec(...writes("o.tir"))).status).toBe(0);
    const { uid, gid } = statSync(at("o.tir"));
    expect([uid, gid]).toEqual([1234, 5678]);
  });

  it("is written behind links, which stay", async () => {
    mkdirSync(at("deep"));
    symlinkSync("deep/target.tir", at("link.tir"));
    symlinkSync("link.tir", at("far.tir"));
    symlinkSync("deep", at("folder"));
    symlinkSync("../p2.tir", at("deep/up.tir"));
    for (const [file, target] of [
      ["far.tir", "deep/target.tir"],
      ["link.tir", "deep/target.tir"],
      ["folder/up.tir", "p2.tir"],
    ] as const) {
      const { status, stderr } = await tilec(...writes(file));
      expect(status, stderr).toBe(0);
      expect(lstatSync(at(file)).isSymbolicLink()).toBe(true);
      expect(lstatSync(at(target)).isFile()).toBe(true);
      expect(readFileSync(at(target), "utf8")).toMatch(/^\/\/ tilec compile\n/);
    }
    expect(readlinkSync(at("far.tir"))).toBe("link.tir");
    symlinkSync("round.tir", at("round.tir"));
    expect((await tilec(...writes("round.tir"))).stderr).toContain("its symbolic links go round in circles");
  });

  it.each([
    ["p.tir/x.tir", "a part of its path is a file"],
    [".", "it is a folder"],
    ["new/", "it is a folder"],
    ["none/x.tir", "there is no folder none"],
    [`${"x".repeat(300)}.tir`, "its name is too long"],
  ])("that cannot be: %s", async (file, why) => {
    const { status, stdout, stderr } = await tilec(...writes(file));
    expect(stderr).toContain("error[TC010]: cannot write ");
    expect(stderr).toContain(why);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect([status, stdout.includes("onnx.gather")]).toEqual([1, true]);
    expect(readdirSync(folder)).toEqual(["p.tir"]);
  });
});

describe("an output that is an input", () => {
  it.each([
    ["by its name", "p.tir"],
    ["by another path", "./sub/../p.tir"],
    ["by a hard link", "hard.tir"],
    ["by a link", "soft.tir"],
    ["by a link in a linked folder", "here/soft.tir"],
  ])("is refused %s, with --force too", async (_what, file) => {
    mkdirSync(at("sub"));
    linkSync(at("p.tir"), at("hard.tir"));
    symlinkSync("p.tir", at("soft.tir"));
    symlinkSync(".", at("here"));
    for (const flags of [[], ["--force"]]) {
      const { status, stderr } = await tilec("compile", "p.tir", "--out", file, ...flags);
      expect(stderr).toContain(`error[TC010]: cannot write ${file}: this command reads it`);
      expect(status).toBe(1);
      expect(readFileSync(at("p.tir"), "utf8")).toBe(source);
    }
  });

  it("is refused whatever reads it", async () => {
    const target = (await tilec("targets", "ascend-a2", "--json")).stdout;
    writeFileSync(at("t.json"), target.replaceAll('"ascend-a2"', '"mine"'));
    writeFileSync(at("tilec.config.json"), '{"targets": ["t.json"]}');
    writeFileSync(
      at("pass.mjs"),
      "// tilec\nexport const mine = { name: 'mine', summary: 's', requires: ['tile'], ensures: [], run: (f) => ({ func: f, diagnostics: [] }) };\n",
    );
    expect(
      (await tilec("run", ...gather, "--seed", "1", "--out", "output=d.npy", "--oob", "clamp")).status,
    ).toBe(0);
    expect((await tilec("tune", ...gather, "--budget", "1", "--records", "r.jsonl")).status).toBe(0);
    const npy = [
      "--op",
      "gather",
      "--data",
      "f32[4,8]",
      "--indices",
      "i32[4]",
      "--seed",
      "1",
      "--input",
      "data=d.npy",
    ];
    for (const [file, ...args] of [
      ["d.npy", "run", ...npy, "--out", "output=d.npy"],
      ["t.json", "run", ...gather, "--seed", "1", "--target", "t.json", "--trace", "t.json"],
      ["tilec.config.json", "run", ...gather, "--seed", "1", "--trace", "tilec.config.json"],
      ["p.tir", "run", ...gather, "--seed", "1", "--against", "p.tir", "--out", "output=p.tir"],
      ["p.tir", "tune", "p.tir", "--html", "p.tir"],
      ["p.tir", "tune", "p.tir", "--svg", "p.tir"],
      ["p.tir", "tune", "p.tir", "--csv", "p.tir"],
      ["p.tir", "diff", "p.tir", "p.tir", "--html", "p.tir"],
      ["p.tir", "compile", "p.tir", "--diff-page", "p.tir"],
      ["r.jsonl", "records", "pin", "r.jsonl", "--out", "r.jsonl"],
      ["r.jsonl", "records", "merge", "r.jsonl", "r.jsonl", "--out", "r.jsonl"],
      ["r.jsonl", "compile", ...gather, "--records", "r.jsonl", "--out", "r.jsonl"],
    ] as const) {
      const before = readFileSync(at(file));
      const { status, stderr } = await tilec(...args, "--force");
      expect(stderr, args.join(" ")).toContain(`cannot write ${file}: this command reads it`);
      expect([status, readFileSync(at(file)).equals(before)]).toEqual([1, true]);
    }
  });

  it("is the one of its folder that is left out", async () => {
    writeFileSync(at("f.03-tile.tir"), source);
    const { status, stdout, stderr } = await tilec(
      "compile",
      "f.03-tile.tir",
      "--emit",
      "all",
      "--dump-dir",
      ".",
    );
    expect(stderr.match(/error\[TC010\]/g)).toHaveLength(1);
    expect([status, stdout.includes("f.01-source.tir"), stdout.includes("03-tile")]).toEqual([
      1,
      true,
      false,
    ]);
    expect(readFileSync(at("f.03-tile.tir"), "utf8")).toBe(source);
  });

  it("is refused as well where two outputs are one file", async () => {
    symlinkSync("a.html", at("b.html"));
    const { status, stdout, stderr } = await tilec(
      "tune",
      ...gather,
      "--budget",
      "1",
      "--html",
      "a.html",
      "--svg",
      "b.html",
    );
    expect(stderr).toContain("cannot write b.html: this command has written it");
    expect([status, stdout.includes("best")]).toEqual([1, true]);
    expect(readFileSync(at("a.html"), "utf8")).toContain("<!doctype html>");
  });

  it.each([[[]], [["--force"]]])("is refused where records are another output, with %j", async (flags) => {
    const files = ["--records", "r.jsonl", "--csv", "r.jsonl"];
    const { status, stderr } = await tilec("tune", ...gather, "--budget", "1", ...files, ...flags);
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining("cannot write r.jsonl: this command has written it"),
    ]);
    expect(readFileSync(at("r.jsonl"), "utf8")).toMatch(/^\{"record":"task"/);
  });
});

describe("files that a command is there to rewrite", () => {
  const crooked = source.replaceAll("  ", "      ");

  it("keep their modes and links", async () => {
    writeFileSync(at("a.tir"), crooked);
    chmodSync(at("a.tir"), 0o604);
    symlinkSync("a.tir", at("l.tir"));
    expect((await tilec("fmt", "--write", "l.tir")).status).toBe(0);
    expect([modeOf("a.tir"), lstatSync(at("l.tir")).isSymbolicLink()]).toEqual([0o604, true]);
    expect(readFileSync(at("a.tir"), "utf8")).toBe(source);
    const test = "// RUN: tilec compile --emit source %s\n// CHECK: %y = onnx.gathers %x, %i\n";
    writeFileSync(at("t.tir"), test + source);
    chmodSync(at("t.tir"), 0o604);
    const { CI } = process.env;
    delete process.env["CI"];
    await tilec("check", "--update", "t.tir");
    if (CI !== undefined) process.env["CI"] = CI;
    expect([modeOf("t.tir"), readFileSync(at("t.tir"), "utf8")]).toEqual([
      0o604,
      expect.not.stringContaining("gathers"),
    ]);
    expect(readdirSync(folder).sort()).toEqual(["a.tir", "l.tir", "p.tir", "t.tir"]);
  });

  it("are left alone where their bytes are no text", async () => {
    const bytes = Buffer.concat([Buffer.from("// caf\xe9\n", "latin1"), Buffer.from(crooked)]);
    writeFileSync(at("a.tir"), bytes);
    const { status, stderr } = await tilec("fmt", "--write", "a.tir");
    expect([status, stderr.includes("a.tir:1:7")], stderr).toEqual([1, true]);
    expect(readFileSync(at("a.tir"))).toEqual(bytes);
  });
});

describe.runIf(process.platform === "linux")("pipes and devices", () => {
  /** A shell line in which `tilec` is the command. */
  const shell = (line: string) =>
    spawnSync("bash", ["-c", `tilec() { "${process.execPath}" "${main}" "$@"; }\n${line}`], {
      cwd: folder,
      encoding: "utf8",
    });

  it("are written through", async () => {
    expect((await tilec(...writes("/dev/null"))).status).toBe(0);
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
    const { status, stderr } = await tilec(...writes("/dev/full"));
    expect([status, stderr.includes("no space left on the device")]).toEqual([1, true]);
    expect(statSync("/dev/full").isCharacterDevice()).toBe(true);
  });

  it("a named pipe stays one, and its reader gets all of it", () => {
    const line = `mkfifo pipe; cat pipe > got & tilec ${writes("pipe").join(" ")}; wait; tilec ${writes("o.tir").join(" ")}; cmp got o.tir`;
    const { status, stderr } = shell(line);
    expect(status, stderr).toBe(0);
    expect(statSync(at("pipe")).isFIFO()).toBe(true);
  });

  it("a standard output that is a file holds what is printed and what is written, in order", () => {
    const both = `compile ${gather.join(" ")} --print-after all --emit source --out /dev/stdout`;
    for (const line of [`tilec ${both} > all.txt`, `tilec ${both} | cat > all.txt`]) {
      const { status, stderr } = shell(line);
      expect(status, stderr).toBe(0);
      const text = readFileSync(at("all.txt"), "utf8");
      expect(text).toMatch(/^\/\/ after [^]*\n\/\/ tilec compile\nfunc @gather[^]*return %output\n\}\n$/);
    }
  });

  it("records go through them too", () => {
    const tune = `tune ${gather.join(" ")} --budget 2 --records`;
    const { status, stderr } = shell(
      `mkfifo pipe; cat pipe > got.jsonl & tilec ${tune} pipe; wait; tilec ${tune} /dev/stdout > out.jsonl`,
    );
    expect(status, stderr).toBe(0);
    const lines = readFileSync(at("got.jsonl"), "utf8").trimEnd().split("\n");
    expect(lines.every((text) => "record" in (JSON.parse(text) as object))).toBe(true);
    expect(readFileSync(at("out.jsonl"), "utf8")).toContain(lines[0]);
  });

  it("a signal in the middle of a write leaves no temporary file", async () => {
    const preload = `import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module";
      const write = fs.writeFileSync;
      fs.writeFileSync = (file, ...rest) => {
        if (typeof file === "number") process.kill(process.pid, process.env.SENT);
        return write(file, ...rest);
      };
      syncBuiltinESMExports();`;
    for (const sent of ["SIGINT", "SIGTERM"] as const) {
      const child = spawn(
        process.execPath,
        ["--import", `data:text/javascript,${encodeURIComponent(preload)}`, main, ...writes("o.tir")],
        { cwd: folder, env: { ...process.env, SENT: sent }, stdio: "ignore" },
      );
      const [, signal] = (await once(child, "exit")) as [number | null, string | null];
      expect(signal).toBe(sent);
      expect(readdirSync(folder).sort()).toEqual(["o.tir", "p.tir"]);
    }
  });
});

it("a binary program is one error without its bytes", async () => {
  const bytes = Buffer.from(Array.from({ length: 4000 }, (_, k) => (k * 7919 + (k >> 3)) % 256));
  for (const [name, contents] of [
    ["zeros.tir", Buffer.concat([Buffer.from("func @f"), bytes])],
    ["bytes.tir", Buffer.concat([Buffer.from("func\n@f"), Buffer.from(bytes.filter((byte) => byte !== 0))])],
    ["wide.tir", Buffer.from(`\ufeff${source}`, "utf16le")],
  ] as const) {
    writeFileSync(at(name), contents);
    for (const command of ["explain", "compile", "fmt"]) {
      const { status, stdout, stderr } = await tilec(command, name);
      expect([status, stdout, stderr.match(/error\[/g)?.length], stderr).toEqual([1, "", 1]);
      expect(stderr).toMatch(/^error\[TC001\]: the file is not UTF-8 text\n/);
      expect(stderr.trimEnd().split("\n").length).toBeLessThan(4);
    }
  }
});
