/**
 * Output of the WGSL backend for a device: text, bindings and the size of the dispatch. All of it is plain
 * data.
 */
import { keyOf, type Operand, type Role, type TileFunc } from "../../ir/func.js";
import { UniqueNames } from "../../ir/unique-names.js";

/**
 * Buffer that a kernel binds in group 0: a storage buffer, or the uniform buffer (`sizes`) of runtime
 * parameters.
 */
export interface WgslBinding {
  readonly binding: number;
  /** Identifier of the binding in the WGSL text. */
  readonly name: string;
  /**
   * Contents of the buffer: a tensor, the lowest output element or point with an index out of range
   * (`status`), the points that own the elements of a scatter (`owner`), or runtime parameters (`sizes`).
   */
  readonly role: Role | "status" | "owner" | "sizes";
  /**
   * Key of the buffer in a caller's `GpuBuffers`: an operand's key (`keyOf`), or else the role, with a number
   * if an operand has that key. Keys are unique.
   */
  readonly key: string;
  readonly access: "read" | "read_write" | "uniform";
  /** Size in bytes: the tensor's, rounded up to a whole 32-bit word. */
  readonly bytes: number;
  /** Contents of the buffer `sizes`, as u32 values. */
  readonly values?: readonly number[];
}

/**
 * Returns the keys of the bindings `status`, `owner` and `sizes`, different from the keys of all operands.
 */
export function keysWith({
  operands,
}: Pick<TileFunc, "operands">): Readonly<Record<"status" | "owner" | "sizes", string>> {
  const keys = new UniqueNames(operands.map(keyOf));
  return { status: keys.next("status"), owner: keys.next("owner"), sizes: keys.next("sizes") };
}

/** Dispatch of a kernel: the entry point, and the numbers of workgroups along x, y and z. */
export interface KernelStep {
  readonly entryPoint: string;
  readonly dispatch: readonly [number, number, number];
}

/**
 * WGSL kernel of a tile program: entry point, bindings and dispatch. The kernel of a scatter has additional
 * steps that are dispatched first.
 */
export interface WgslKernel extends KernelStep {
  readonly code: string;
  /** Numbers of lanes along x and y. */
  readonly workgroupSize: readonly [x: number, y: number];
  /**
   * Dispatches to launch before the kernel's own, in order, on the same bindings and possibly in one compute
   * pass. Absent if there are none.
   */
  readonly before?: readonly KernelStep[];
  /**
   * Numbers of lanes at which the work of a scatter's dispatch changes, ascending, for each dispatch, those
   * of `before` first. The last number counts the lanes that have something to do.
   */
  readonly laneBounds?: readonly (readonly number[])[];
  /** Workgroups along x, y, z; all zero when there is nothing to write. */
  readonly dispatch: readonly [number, number, number];
  readonly bindings: readonly WgslBinding[];
  /** Bytes of workgroup memory. */
  readonly workgroupBytes: number;
  /** The inputs by their numbers, then the output: what the bindings hold. */
  readonly operands: readonly Operand[];
}
