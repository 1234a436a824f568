import { describe, expect, it } from "vitest";
import { supportMatrix } from "./support-matrix.js";

const matrix = supportMatrix();

describe("docs/support.md", () => {
  it("is what the code supports (npm run docs:support writes it)", async () => {
    await expect(matrix).toMatchFileSnapshot("../../docs/support.md");
  });

  it("has every kind of access map on every backend that runs", () => {
    const [, section = ""] = matrix.split("## Access maps");
    expect(section.match(/\| yes \| yes \| yes \| /g)).toHaveLength(9);
  });

  it("has every element type of ONNX's gathers on every backend", () => {
    const [, section = ""] = matrix.split("## Operators");
    const [gathers = ""] = section.split("\n## ");
    const types = gathers
      .split("\n")
      .filter((line) => line.startsWith("| onnx."))
      .map((line) => line.split(" | ")[2]);
    // GatherBlockQuantized takes bytes and elements of 4 bits.
    const whole = "bool, i8, u8, i16, u16, f16, bf16, i32, u32, f32, string, i64, u64, f64, c64, c128";
    expect(types).toEqual([whole, whole, whole, "u8, u4, i4"]);
  });
});
