/** bench:isa: counts of a compiler for GPUs where its packages are, and what to install where they are not. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { gpuKernels } from "../../bench/gpu-kernels.js";
import { countsIn, spirvIn } from "../../bench/isa-figures.js";

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

const missing = parts.filter((part) => !existsSync(part));

it("counts the kernels for each family: columns keep 16 of 32 waves, or are read in place", (context) => {
  if (missing.length > 0) {
    const reason = `${missing.join(", ")} is not there: the compiler for GPUs counts nothing`;
    // .ci/run installs the packages, or says that it cannot.
    if (process.env["CI"] === "true" && process.env["TILEC_CI_WITHOUT_ISA"] === undefined)
      throw new Error(reason);
    console.warn(`SKIPPED, ${reason}`);
    context.skip();
    return;
  }
  const { status, stdout, stderr } = run("--json");
  expect(status, stderr).toBe(0);
  const { families } = JSON.parse(stdout) as Document;
  expect(Object.keys(families)).toEqual(["navi21", "polaris10"]);
  const counted = families["navi21"] ?? {};
  expect(Object.keys(counted)).toEqual(gpuKernels.map(({ name }) => name));
  expect(counted["columns"]?.waves ?? 0).toBeGreaterThanOrEqual(16);
});

const inputOf = (name: string): string => readFileSync(new URL(`inputs/${name}`, import.meta.url), "utf8");

it("reads the figures that the driver prints of each kernel", () => {
  const counts = countsIn(inputOf("radv-navi21.txt"), ["rows-of-5", "columns", "absent"]);
  expect(counts.get("rows-of-5")).toEqual({
    code: 992,
    instructions: 172,
    VGPRs: 16,
    LDS: 0,
    waves: 32,
    throughput: 175,
  });
  expect(counts.get("columns")).toMatchObject({ code: 828, VGPRs: 32, throughput: 200 });
  expect(counts.get("absent")?.code).toBeNaN();
});

it("reads the SPIR-V of a kernel from Dawn's dump, without the text before and after it", () => {
  const [kernel, ...others] = spirvIn(inputOf("dawn-dump.txt"));
  expect(others).toEqual([]);
  expect(kernel?.name).toBe("rows-of-5");
  expect(kernel?.spirv).toMatch(
    /^; SPIR-V\n[^]*OpEntryPoint GLCompute %\d+ "dawn_entry_point"[^]*OpFunctionEnd\s*$/,
  );
});
