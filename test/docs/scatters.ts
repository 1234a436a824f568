/** Scatters of the frameworks, one program of each operator: what the pages on dialects and on support are asked with. */
import type { Same } from "./dialects-page.js";

export const scatters: readonly Same[] = [
  {
    title: "Elements written along the last axis",
    level: "###",
    data: ["f32", [3, 4]],
    indices: [
      ["i64", [3, 2]],
      ["f32", [3, 2]],
    ],
    ways: [
      {
        op: "onnx.scatter_elements",
        written: "ScatterElements(data, indices, updates, axis=1)",
        attrs: { axis: 1 },
      },
    ],
  },
  {
    title: "Rows written where two indices say",
    level: "###",
    data: ["f32", [5, 6, 4]],
    indices: [
      ["i64", [3, 2]],
      ["f32", [3, 4]],
    ],
    ways: [{ op: "onnx.scatter_nd", written: "ScatterND(data, indices, updates)" }],
  },
];
