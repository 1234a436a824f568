import { describe, expect, it } from "vitest";
import { supportMatrix } from "./support-matrix.js";

describe("docs/support.md", () => {
  it("is what the code supports (npm run docs:support writes it)", async () => {
    await expect(supportMatrix()).toMatchFileSnapshot("../../docs/support.md");
  });

  it("has every element type on every backend under ONNX", () => {
    const onnx = supportMatrix()
      .split("## ")
      .filter((section) => section.startsWith("onnx."));
    expect(onnx).toHaveLength(3);
    for (const section of onnx) {
      expect(section.match(/\| reference, sim, webgpu \|/g)).toHaveLength(16);
    }
  });
});
