/** What a WGSL backend hands to a device: text, bindings and the size of the dispatch. Plain data. */
import type { Operand } from "../../ir/func.js";

/** A buffer that a kernel binds, in group 0: of storage, and a uniform one for the numbers that sizes tell. */
export interface WgslBinding {
  readonly binding: number;
  readonly name: string;
  /** What it holds: an operand's key (`keyOf`), `status` or `sizes`. */
  readonly role: string;
  readonly access: "read" | "read_write" | "uniform";
  /** Size in bytes: the tensor's, rounded up to a whole 32-bit word. */
  readonly bytes: number;
  /** What `sizes` holds, as u32. */
  readonly values?: readonly number[];
}

/** A tile program as WGSL: one entry point, its bindings and its dispatch. */
export interface WgslKernel {
  readonly code: string;
  readonly entryPoint: string;
  /** Lanes along x and y. */
  readonly workgroupSize: readonly [x: number, y: number];
  /** Workgroups along x, y, z; all zero when there is nothing to write. */
  readonly dispatch: readonly [number, number, number];
  readonly bindings: readonly WgslBinding[];
  /** Bytes of workgroup memory. */
  readonly workgroupBytes: number;
  /** The inputs by their numbers, then the output: what the bindings hold. */
  readonly operands: readonly Operand[];
}
