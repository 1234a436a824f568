import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { scratchFolder } from "../support/scratch-folder.js";

const main = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));
const folder = scratchFolder("streams");

/** A shell line in which `tilec` is the command. */
function shell(line: string) {
  const script = `tilec() { "${process.execPath}" "${main}" "$@"; }\n${line}`;
  return spawnSync("bash", ["-c", script], { cwd: folder, encoding: "utf8" });
}

const gather = "--op gather --data f32[8,8] --indices i32[4]";

describe.runIf(existsSync("/dev/full"))("a standard output whose device is full", () => {
  it.each([
    ["text", "tilec targets > /dev/full"],
    ["a document", `tilec run ${gather} --seed 1 --json > /dev/full`],
    ["help", "tilec --help > /dev/full"],
  ])("ends %s in one line and exit code 1", (_what, line) => {
    const { status, stderr } = shell(line);
    expect(stderr).toBe("error[TC010]: cannot write the standard output: no space left on the device\n");
    expect(status).toBe(1);
  });

  it("keeps the exit code when it is the standard error's", () => {
    expect(shell("tilec run 2> /dev/full").status).toBe(2);
  });

  it("is a file that cannot be written, for --out", () => {
    const { status, stderr } = shell(`tilec run ${gather} --seed 1 --out output=/dev/full`);
    expect(stderr).toContain("error[TC010]: cannot write /dev/full: no space left on the device");
    expect(status).toBe(1);
  });
});

describe("a reader that stops early", () => {
  it("is no error", () => {
    const { status, stderr } = shell(
      "tilec legal --op gather --data f32[512,512] --indices i32[512] --all --json | head -c 10; exit ${PIPESTATUS[0]}",
    );
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });
});

describe("what the user wrote wrong", () => {
  it("writes no reproducer: it is no bug", () => {
    const program = `func @g(%x: gm<3x32xf32>, %i: gm<3x32xi32>, %y: gm<3x32xf32>) target("ascend-a2") {
  %a = alloc : ub<3x8xf32, row 32>
  %b = alloc : ub<3x8xi32, row 32>
  %c = alloc : ub<3x8xf32, row 32, buffers 2>
  for %k = 0 to 32 step 8 parallel {
    store %c to %y[0, %k][3, 8]
    load %x[0, %k][3, 8] to %a
    load %i[0, %k][3, 8] to %b
    gather %a[0, 0][3, 8], %b[0, 0][3, 8] to %c[0, 0][3, 8] (d0, d1) -> (%b[d0, d1], d1) {oob = error, origin = [0, %k]}
  }
}
`;
    writeFileSync(join(folder, "early.tir"), program);
    const { status, stderr } = shell("tilec compile early.tir");
    expect(stderr).toContain("T13: %c is stored once, in the gather's body and behind it");
    expect(stderr).toContain("early.tir:9:5");
    expect(status).toBe(1);
    expect(readdirSync(folder)).toEqual(["early.tir"]);
  });

  it.each([
    [
      "data that no array holds",
      "tilec run --op gather --data f32[2147483647] --indices i32[2] --residency gm --seed 1",
      "TC502",
    ],
    [
      "strings that no array holds",
      "tilec run --op gather --data string[2147483647] --indices i32[2] --residency gm --seed 1",
      "TC502",
    ],
    [
      "indices that no array holds",
      "tilec run --op gather --data f32[8] --indices i64[2147483647] --seed 1",
      "TC502",
    ],
    [
      "an output that no array holds",
      "tilec run --op gather --data f32[2,1000000] --indices i32[2000] --seed 1",
      "TC502",
    ],
    [
      "a shape whose product overflows",
      "tilec run --op gather --data f32[4294967296,4294967296] --indices i32[2] --seed 1",
      "TC106",
    ],
    [
      "an empty shape with an output that overflows",
      "tilec run --op gather --data f32[0,4294967296,4294967296] --indices i32[2] --seed 1",
      "TC106",
    ],
  ])("%s", (_what, line, code) => {
    const { status, stderr } = shell(line);
    expect(stderr).toContain(`error[${code}]`);
    expect(status).toBe(1);
  });

  it("runs under a budget of 100 GB", () => {
    expect(shell(`tilec run ${gather} --seed 1 --ub-bytes 100000000000`).status).toBe(0);
  });
});
