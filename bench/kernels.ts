/** The workloads as tilec's kernels. */
import type { Kernel, Target } from "../src/index.js";
import type { Compiler } from "./library.js";
import type { Workload } from "./workloads.js";

/** Compiles a benchmark workload with tilec for a target. */
export function kernelOf({ compile, onnx, program }: Compiler, workload: Workload, target: Target): Kernel {
  const { op, dtype, indexType, axis } = workload;
  const types = {
    data: [dtype, workload.data] as const,
    indices: [indexType, workload.indices] as const,
  };
  switch (op) {
    case "gather":
      return compile(onnx.gather({ ...types, axis }), { target });
    case "gather_elements":
      return compile(onnx.gatherElements({ ...types, axis }), { target });
    case "gather_nd":
      // ONNX takes 64-bit tuples alone; DirectML takes 32-bit ones, here under ONNX's policy.
      return compile(
        program({
          op: "directml.gather_nd",
          attrs: { oob: "error", input_dimension_count: 3, indices_dimension_count: 2 },
          data: { dtype, shape: workload.data },
          indices: { dtype: indexType, shape: [1, ...workload.indices] },
        }),
        { target },
      );
  }
}
