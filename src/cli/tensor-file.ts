/** The file of a tensor. */
import { writeNpy } from "../formats/npy.js";
import { tensorJson } from "../formats/tensor-json.js";
import type { TensorValue } from "../formats/tensor.js";
import { jsonSchema, outputFormats, type OutputFormat } from "../output/mark.js";

/**
 * Returns the contents of an output file for a tensor, and the file format: JSON for a tensor of strings,
 * `.npy` for other tensors.
 */
export const tensorFile = (value: TensorValue): [contents: Uint8Array | string, format: OutputFormat] =>
  value.strings === undefined
    ? [writeNpy(value), outputFormats.npy]
    : [`${JSON.stringify({ schema: jsonSchema, ...tensorJson(value, "values") })}\n`, outputFormats.json];
