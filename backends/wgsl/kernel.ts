/** What a WGSL backend hands to a device: text, bindings and the size of the dispatch. Plain data. */
import { keyOf, type Operand, type Role, type TileFunc } from "../../ir/func.js";
import { UniqueNames } from "../../ir/unique-names.js";

/** A buffer that a kernel binds, in group 0: of storage, and a uniform one for the numbers that sizes tell. */
export interface WgslBinding {
  readonly binding: number;
  /** Its identifier in the text. */
  readonly name: string;
  /** What it holds: a tensor, the lowest output element with an index out of range, or numbers that sizes tell. */
  readonly role: Role | "status" | "sizes";
  /** What the buffers of a caller (`GpuBuffers`) call it: an operand's key (`keyOf`), else the role. No two are alike. */
  readonly key: string;
  readonly access: "read" | "read_write" | "uniform";
  /** Size in bytes: the tensor's, rounded up to a whole 32-bit word. */
  readonly bytes: number;
  /** What `sizes` holds, as u32. */
  readonly values?: readonly number[];
}

/** Returns the keys of what a kernel binds beside its operands, which are no operand's. */
export function keysWith({
  operands,
}: Pick<TileFunc, "operands">): Readonly<Record<"status" | "sizes", string>> {
  const keys = new UniqueNames(operands.map(keyOf));
  return { status: keys.next("status"), sizes: keys.next("sizes") };
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
