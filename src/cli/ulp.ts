/** Units in the last place by which results of native arithmetic may be off. */
import type { Arithmetic } from "../../backends/webgpu/index.js";
import type { BackendChoice } from "../api/backends.js";
import { parseCountFrom } from "./flag-values.js";
import { UsageError } from "./usage-error.js";

/**
 * Values of the flags `--arithmetic`, the arithmetic of WebGPU, and `--ulp`, the allowed difference from the
 * reference in units in the last place.
 */
export interface UlpFlags {
  readonly arithmetic?: Arithmetic;
  readonly ulp?: string;
}

/**
 * Returns the allowed difference of WebGPU results in units in the last place (ULP); undefined without
 * `--arithmetic native`. Throws a UsageError for flags that cannot be combined.
 */
export function ulpOf({ arithmetic, ulp }: UlpFlags, backends: readonly BackendChoice[]): number | undefined {
  if (arithmetic !== "native") {
    if (ulp !== undefined)
      throw new UsageError(
        "--ulp needs --arithmetic native",
        "leave --ulp out: proved arithmetic gives the stated bits",
      );
    return undefined;
  }
  if (!backends.includes("webgpu"))
    throw new UsageError("--arithmetic needs backend webgpu", "--backend reference,webgpu");
  return ulp === undefined ? 0 : parseCountFrom(ulp, "ulp", 0, 1);
}
