/**
 * tilec/formats: `.npy` arrays and target files, from and to bytes and text. Case files are tilec/testing's,
 * models tilec/onnx's.
 */
export { readNpy, writeNpy } from "./npy.js";
export { parseTargetFile, targetFile, type TargetFile } from "./target-file.js";
export { asHost, fromOutput, type TensorValue } from "./tensor.js";
