/** bench:wgpu: what to install where a part is missing. Its results need npm's deno. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

const run = (...args: string[]) =>
  spawnSync(process.execPath, ["dist/bench/wgpu.js", ...args], { encoding: "utf8" });

it("says what to install without the driver", () => {
  const { status, stderr } = run("--tools", "no-such-folder");
  expect(status).toBe(2);
  expect(stderr).toContain("lvp_icd.x86_64.json is not there");
  expect(stderr).toContain("apt-get install mesa-vulkan-drivers");
});

it("says what to install without deno, and fails where it ends early", () => {
  const tools = mkdtempSync(join(tmpdir(), "tilec-wgpu-"));
  try {
    mkdirSync(join(tools, "usr/share/vulkan/icd.d"), { recursive: true });
    writeFileSync(join(tools, "usr/share/vulkan/icd.d/lvp_icd.x86_64.json"), "{}");
    const absent = run("--tools", tools, "--deno", join(tools, "deno"));
    expect([absent.status, absent.stderr]).toEqual([
      2,
      expect.stringContaining("npm install --prefix FOLDER deno"),
    ]);
    const broken = run("--tools", tools, "--deno", "false");
    expect([broken.status, broken.stderr]).toEqual([2, expect.stringContaining("false ended with 1")]);
  } finally {
    rmSync(tools, { recursive: true, force: true });
  }
});
