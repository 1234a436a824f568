/** A model that adds two embeddings of the same tokens: rows of floats, and rows of 4-bit elements in blocks of 32 under scales. */
import { input, intAttribute, model, named, node, onnxTypes, output, text } from "./onnx-bytes.js";

/** Extents of both tables, and elements under one scale. */
export const tokenTables = { rows: 2000, columns: 128, block: 32 } as const;

/** Returns the bytes of the model: nodes `tok`, `pos` and `sum`. */
export function tokenModel(tokens: number): Uint8Array {
  const { rows, columns, block } = tokenTables;
  return model([
    ...node("Gather", ["wte", "ids"], ["tok"], named("tok")),
    ...node(
      "GatherBlockQuantized",
      ["wq", "ids", "ws"],
      ["pos"],
      [
        ...named("pos"),
        ...intAttribute("bits", 4),
        ...intAttribute("block_size", block),
        ...intAttribute("quantize_axis", 1),
        ...text(7, "com.microsoft"),
      ],
    ),
    ...node("Add", ["tok", "pos"], ["sum"], named("sum")),
    ...text(2, "g"),
    ...input("wte", onnxTypes.f32, [rows, columns]),
    ...input("ids", onnxTypes.i32, [1, tokens]),
    ...input("wq", onnxTypes.u8, [rows, columns / 2]),
    ...input("ws", onnxTypes.f32, [rows, columns / block]),
    ...output("sum", onnxTypes.f32),
  ]);
}
