/** Scatters of the frameworks, one program of each operator: what the pages on dialects and on support are asked with. */
import type { Same } from "./same-operators.js";

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
      { op: "onnx.scatter", written: "Scatter(data, indices, updates, axis=1), opset 9", attrs: { axis: 1 } },
      { op: "pypto.scatter", written: "pypto.scatter(input, 1, index, src)", attrs: { dim: 1 } },
      {
        op: "directml.scatter",
        written: "DML_SCATTER_OPERATOR_DESC, Axis 1",
        attrs: { axis: 1 },
        indices: [
          ["i64", [3, 4]],
          ["f32", [3, 4]],
        ],
      },
      { op: "torch.scatter", written: "torch.scatter(input, 1, index, src)", attrs: { dim: 1 } },
      {
        op: "numpy.put_along_axis",
        written: "numpy.put_along_axis(arr, indices, values, 1), as a new array",
        attrs: { axis: 1 },
      },
      { op: "torch.scatter_add", written: "torch.scatter_add(input, 1, index, src)", attrs: { dim: 1 } },
      { op: "pypto.scatter_", written: "pypto.scatter_(input, 1, index, src), in place", attrs: { dim: 1 } },
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
    ways: [
      { op: "onnx.scatter_nd", written: "ScatterND(data, indices, updates)" },
      {
        op: "directml.scatter_nd",
        written: "DML_SCATTER_ND_OPERATOR_DESC, IndicesDimensionCount 2",
        attrs: { indices_dimension_count: 2 },
        indices: [
          ["i64", [1, 3, 2]],
          ["f32", [1, 3, 4]],
        ],
      },
      { op: "tf.tensor_scatter_nd_update", written: "tf.tensor_scatter_nd_update(tensor, indices, updates)" },
      { op: "tf.tensor_scatter_nd_add", written: "tf.tensor_scatter_nd_add(tensor, indices, updates)" },
      {
        op: "tf.scatter_nd",
        written: "tf.scatter_nd(indices, updates, [5, 6, 4])",
        attrs: { shape: [5, 6, 4] },
        data: ["i64", [3, 2]],
        indices: [["f32", [3, 4]]],
      },
      {
        op: "torch.index_put",
        written: "torch.index_put(input, (i, j), values)",
        indices: [
          ["i64", [3]],
          ["i64", [3]],
          ["f32", [3, 4]],
        ],
      },
      {
        op: "pypto.index_put_",
        written: "pypto.index_put_(input, (i, j), values), in place",
        indices: [
          ["i64", [3]],
          ["i64", [3]],
          ["f32", [3, 4]],
        ],
      },
      {
        op: "jax.at_set",
        written: "x.at[i0, i1].set(y)",
        attrs: { subscript: "i0, i1" },
        indices: [
          ["i64", [3]],
          ["i64", [3]],
          ["f32", [3, 4]],
        ],
      },
      { op: "tf.tensor_scatter_nd_min", written: "tf.tensor_scatter_nd_min(tensor, indices, updates)" },
      { op: "tf.tensor_scatter_nd_max", written: "tf.tensor_scatter_nd_max(tensor, indices, updates)" },
    ],
  },
  {
    title: "Rows written, or added, where one index says",
    level: "###",
    data: ["f16", [5, 4]],
    indices: [
      ["i64", [3]],
      ["f16", [3, 4]],
    ],
    ways: [
      { op: "torch.index_copy", written: "torch.index_copy(input, 0, index, source)" },
      { op: "torch.index_add", written: "torch.index_add(input, 0, index, source)" },
      {
        op: "torch.index_add",
        written: "torch.index_add(input, 0, index, source, alpha=0.5)",
        attrs: { alpha: 0.5 },
      },
      { op: "pypto.index_add", written: "pypto.index_add(input, 0, index, source)" },
      { op: "pypto.index_add_ub", written: "pypto.index_add_ub(input, 0, index, source)" },
      { op: "pypto.index_add_", written: "pypto.index_add_(input, 0, index, source), in place" },
      { op: "jax.at_add", written: "x.at[i0].add(y)" },
      { op: "jax.at_mul", written: "x.at[i0].mul(y)" },
      { op: "jax.at_min", written: "x.at[i0].min(y)" },
      { op: "jax.at_max", written: "x.at[i0].max(y)" },
      { op: "numpy.add_at", written: "numpy.add.at(a, i0, b), as a new array" },
      {
        op: "stablehlo.scatter",
        written: "stablehlo.scatter, update_computation add",
        attrs: {
          ...{ update_window_dims: [1], inserted_window_dims: [0], scatter_dims_to_operand_dims: [0] },
          ...{ index_vector_dim: 1, update_computation: "add" },
        },
      },
    ],
  },
  {
    title: "Rows written into a cache of keys or values",
    level: "###",
    data: ["f16", [8, 4]],
    indices: [
      ["i64", [2, 1]],
      ["f16", [2, 4]],
    ],
    ways: [
      { op: "pypto.scatter_update", written: "pypto.scatter_update(input, -2, index, src), in place" },
      {
        op: "pypto.scatter_update",
        written: "the same with pages of 2 tokens, in place",
        data: ["f16", [4, 2, 1, 4]],
        indices: [
          ["i64", [2, 1]],
          ["f16", [2, 1, 1, 4]],
        ],
      },
      {
        op: "onnx.tensor_scatter",
        written: "TensorScatter(past_cache, update, write_indices)",
        data: ["f16", [2, 8, 4]],
        indices: [
          ["f16", [2, 1, 4]],
          ["i64", [2]],
        ],
      },
    ],
  },
];
