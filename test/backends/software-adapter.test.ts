/** One rule tells adapters in software from GPUs, for the runner, for Node and for benchmarks. */
import { describe, expect, it } from "vitest";
import { isSoftwareAdapter } from "../../backends/webgpu/software.js";
import { hardwareRunnerOr, runnerOr } from "../support/gpu.js";

describe("an adapter in software", () => {
  // As Dawn, wgpu and Chrome describe them.
  it.each([
    { description: "SwiftShader Device (Subzero)", architecture: "swiftshader", device: "0xc0de" },
    { description: "llvmpipe (LLVM 15.0.6, 256 bits)", architecture: "", device: "0" },
    { description: "Microsoft Basic Render Driver", architecture: "", device: "0x8c" },
    { description: "", architecture: "", device: "", isFallbackAdapter: true },
  ])("is told by its name, or says so: %o", (info) => {
    expect(isSoftwareAdapter(info)).toBe(true);
  });

  it.each([
    { description: "NVIDIA H100", architecture: "hopper", device: "0x2330", isFallbackAdapter: false },
    { description: "AMD Radeon RX 6800 (RADV NAVI21)", architecture: "rdna-2", device: "" },
    { description: "Apple M1", architecture: "metal-3", device: "" },
    {},
    undefined,
  ])("is none of a GPU, and none that says nothing: %o", (info) => {
    expect(isSoftwareAdapter(info)).toBe(false);
  });

  it("decides for which class of devices a runner generates kernels", async (context) => {
    const runner = await runnerOr(context);
    const { adapterInfo } = runner.device;
    expect(runner.target.title.endsWith(", in software")).toBe(isSoftwareAdapter(adapterInfo));
    expect((await hardwareRunnerOr(context)).target.title).not.toContain("in software");
  });
});
