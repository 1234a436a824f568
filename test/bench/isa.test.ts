/** bench:isa: counts of a compiler for GPUs where its packages are, and what to install where they are not. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, it } from "vitest";

interface Document {
  readonly families: Readonly<
    Record<string, Readonly<Record<string, { readonly waves: number; readonly LDS: number }>>>
  >;
}

const run = (...args: string[]) =>
  spawnSync(process.execPath, ["dist/bench/isa.js", ...args], { encoding: "utf8" });

it("says what to install where a part is missing", () => {
  const { status, stderr } = run("--tools", "no-such-folder");
  expect(status).toBe(2);
  expect(stderr).toContain("radeon_icd.x86_64.json is not there");
  expect(stderr).toContain("apt-get install mesa-vulkan-drivers libvulkan-dev spirv-tools gcc");
});

const parts = [
  "/usr/bin/spirv-as",
  "/usr/include/vulkan/vulkan.h",
  "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json",
];

it.skipIf(!parts.every((part) => existsSync(part)))(
  "counts the kernels for each family: columns keep 16 of 32 waves, or are read in place",
  () => {
    const { status, stdout, stderr } = run("--json");
    expect(status, stderr).toBe(0);
    const { families } = JSON.parse(stdout) as Document;
    expect(Object.keys(families)).toEqual(["navi21", "polaris10"]);
    const columns = families["navi21"]?.["columns"];
    expect(columns?.waves ?? 0).toBeGreaterThanOrEqual(16);
  },
);
