import { describe, expect, it } from "vitest";
import { supportMatrix } from "./support-matrix.js";

const matrix = supportMatrix();

describe("docs/support.md", () => {
  it("is what the code supports (npm run docs:support writes it)", async () => {
    await expect(matrix).toMatchFileSnapshot("../../docs/support.md");
  });

  it("has every kind of access map on every backend that runs", () => {
    const [, section = ""] = matrix.split("## Access maps, by what runs them");
    expect(section.match(/\| yes \| yes \| yes \| /g)).toHaveLength(7);
  });

  it("has every element type on every backend under ONNX", () => {
    const onnx = matrix.split("## ").filter((section) => section.startsWith("onnx."));
    const runs = onnx.map((section) => section.match(/\| reference, sim, webgpu \|/g)?.length);
    // GatherBlockQuantized takes bytes and elements of 4 bits.
    expect(runs).toEqual([16, 16, 16, 3]);
  });
});
