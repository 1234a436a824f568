/** `--limits`: what a WebGPU device binds, for texts, modules and verdicts; each hint of a refusal is followed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defaultLimits } from "../../ir/index.js";
import { packageFile } from "../../src/device/package-files.js";
import { runHere } from "../support/run-here.js";
import { scratchFolder } from "../support/scratch-folder.js";

const folder = scratchFolder("limits");

const sum = packageFile("test/cli/inputs/sum-of-tables.tir");
const embedding = [
  "--op",
  "gather",
  "--data",
  "f32[50257,768]",
  "--indices",
  "i32[4096]",
  "--target",
  "webgpu",
];

/** The flag of a hint. */
const flagIn = (stderr: string): string[] => {
  const [, limits = ""] = /hint: .*--limits (\S+)/.exec(stderr) ?? [];
  return ["--limits", limits];
};

describe("a program that binds more than a stage may have", () => {
  it.for([
    ["compile", "--emit", "wgsl"],
    ["compile", "--emit", "module"],
    ["compile", "--emit", "tile"],
    ["explain"],
    ["legal"],
    ["run", "--seed", "1", "--backend", "reference,sim"],
    ["tune", "--budget", "5"],
  ])("is refused by the numbers, and the hint is followed: %s", async ([command = "", ...flags]) => {
    const words = [command, sum, "--target", "webgpu", ...flags];
    const refused = await runHere(words);
    expect(refused.status).toBe(1);
    const said = `${refused.stdout}${refused.stderr}`;
    expect(said).toMatch(/13 (storage buffers|> 8)/);
    expect(said).toContain("maxStorageBuffersPerShaderStage");
    const raised = ["--limits", "maxStorageBuffersPerShaderStage=13"];
    if (said.includes("hint: split")) expect(flagIn(refused.stderr)).toEqual(raised);
    const followed = await runHere([...words, ...raised]);
    expect(followed.status, followed.stderr).toBe(0);
  });

  it("is refused on the device that runs it", async () => {
    const { status, stderr } = await runHere(["run", sum, "--seed", "1", "--backend", "sim,webgpu"]);
    // A device may bind as many, and there may be none.
    if (status === 0) return;
    expect(status).toBe(1);
    expect(stderr).toMatch(/error\[TC502\]: the kernel binds 13 storage buffers|error\[TC503\]/);
  });
});

describe("a table larger than every device binds", () => {
  it("is printed, with what its device is requested with, as a module asks for it", async () => {
    const wgsl = await runHere(["compile", ...embedding, "--emit", "wgsl"]);
    expect(wgsl.status, wgsl.stderr).toBe(0);
    expect(wgsl.stdout.split("\n", 1)).toEqual([
      "// request a device with more than every device has: maxStorageBufferBindingSize=154389504",
    ]);
    const made = await runHere(["compile", ...embedding, "--emit", "module"]);
    expect(made.stdout).toContain("maxStorageBufferBindingSize:154389504");
  });

  it.for(["wgsl", "module"])(
    "is refused under the limits of every device, and the hint is followed: %s",
    async (emit) => {
      const words = ["compile", ...embedding, "--emit", emit];
      const refused = await runHere([...words, "--limits", "default"]);
      expect(refused.status).toBe(1);
      expect(refused.stderr).toContain(
        "%data takes 154389504 B, over the device's maxStorageBufferBindingSize of 134217728 B",
      );
      const followed = await runHere([...words, ...flagIn(refused.stderr)]);
      expect(followed.status, followed.stderr).toBe(0);
    },
  );

  it("is judged by the limits of a file: of a device, or a list", async () => {
    const small = join(folder, "small.json");
    writeFileSync(small, JSON.stringify({ ...defaultLimits, maxTextureDimension2D: 8192 }));
    const words = ["explain", ...embedding, "--limits"];
    const refused = await runHere([...words, small]);
    expect(refused.status).toBe(1);
    expect(refused.stdout).toContain("FAIL  buffer-bytes    data 154389504 B > 134217728 B");
    const device = join(folder, "device.json");
    const limits = { ...defaultLimits, maxStorageBufferBindingSize: 2 ** 30, maxBufferSize: 2 ** 30 };
    writeFileSync(device, JSON.stringify({ command: "devices", devices: [{ limits }] }));
    expect((await runHere([...words, device])).status).toBe(0);
  });

  it("for another machine's program is compiled again for the device of the flag", async () => {
    const words = ["compile", ...embedding.slice(0, -2), "--residency", "gm", "--emit", "wgsl"];
    expect((await runHere(words)).stdout).toContain("compiled again for webgpu");
    expect((await runHere([...words, "--limits", "default"])).status).toBe(1);
  });
});

it.for([
  [["--limits", "maxBufferSiz=1", "--target", "webgpu"], "did you mean maxBufferSize?"],
  [
    ["--limits", "maxBufferSize=0", "--target", "webgpu"],
    "maxBufferSize is 0; it must be a whole number, 1 or more",
  ],
  [["--limits", "maxBufferSize=", "--target", "webgpu"], "it must be a whole number, 1 or more"],
  [["--limits", "maxBufferSize=1=2", "--target", "webgpu"], "is not a limit that kernels depend on"],
  [["--limits", "default"], "hint: --target webgpu"],
  [["--limits", "default", "--target", "cpu"], "hint: --target webgpu"],
  [["--limits", packageFile("package.json"), "--target", "webgpu"], "has no limit that kernels depend on"],
  [["--limits", sum, "--target", "webgpu"], "not JSON"],
] as const)("refuses %j", async ([flags, message]) => {
  const { status, stderr } = await runHere(["explain", ...embedding.slice(0, -2), ...flags]);
  expect(status).toBe(2);
  expect(stderr).toContain(message);
});
