/** onnxruntime for tests, and a loud absence. */
import { findOnnxRuntime, type OnnxRuntime } from "../../bench/onnxruntime.js";

/** Undefined, with the reason printed, where it is not installed; an error where CI=true, since CI must not skip. */
export async function requireOnnxRuntime(): Promise<OnnxRuntime | undefined> {
  const found = await findOnnxRuntime();
  if (found.ok) return found.ort;
  if (process.env["CI"] === "true") throw new Error(`no onnxruntime-node in CI: ${found.reason}`);
  console.warn(`SKIPPED, no onnxruntime-node: ${found.reason}`);
  return undefined;
}
