/** The caller's buffers on the device, and what a launch or a readback needs of them. */
import "../platform.js";
import { CompileError, error, type Diagnostic } from "../../ir/diagnostic.js";
import { entryOf } from "../../ir/entry-of.js";
import { inputsOf, keyOf, outputOf, isInPlace, type Operand, type TileFunc } from "../../ir/func.js";
import { isObject, shownValue } from "../fields.js";
import { keysWith, type WgslBinding } from "../wgsl/index.js";
import { copyDstUsage, copySrcUsage, mapReadUsage, storageUsage, uniformUsage } from "./usage.js";

/**
 * Buffers for a launch on the runner's device, by the keys of `runner.wgsl(kernel).bindings`: operands,
 * `status` and `owner`. A wrong size or usage flag throws a CompileError (TC702).
 */
export interface GpuBuffers {
  /**
   * Buffer of an input, by the operand's key; `data` and `indices` if these are the only inputs. Usage:
   * `STORAGE`, and for `checkStatus` also `COPY_SRC` of the indices.
   */
  readonly [key: string]: GPUBuffer | undefined;
  /**
   * Buffer of the output alone, with usage `STORAGE`. Absent if the program writes an input in place: then
   * the input's buffer receives the output.
   */
  readonly output?: GPUBuffer;
  /**
   * `STORAGE`, and `COPY_SRC` for `checkStatus`. 4 bytes, 0xffffffff before the dispatch, for kernels with policy `error`, and for
   * scatters that reject duplicates.
   */
  readonly status?: GPUBuffer;
  /** `STORAGE`. Scratch memory of a scatter whose points are ordered; its contents do not matter. */
  readonly owner?: GPUBuffer;
}

/**
 * Returns the buffers of a program by key: one for each operand, the status word, and the buffer `owner` if
 * given. A program that writes in place has no buffer for the output.
 */
export function buffersOf(
  func: Pick<TileFunc, "operands">,
  bufferOf: (operand: Operand) => GPUBuffer,
  status: GPUBuffer,
  owner?: GPUBuffer,
): GpuBuffers {
  const keys = keysWith(func);
  const inputs = inputsOf(func).map((operand) => [keyOf(operand), bufferOf(operand)] as const);
  const others = [
    [keys.status, status] as const,
    ...(owner === undefined ? [] : [[keys.owner, owner] as const]),
  ];
  if (isInPlace(func)) return Object.fromEntries([...inputs, ...others]);
  const output = bufferOf(outputOf(func));
  return { output, ...Object.fromEntries([...inputs, [keyOf(outputOf(func)), output], ...others]) };
}

/** Buffer usage flags, by the names of the WebGPU specification. */
export const bufferUsage = {
  MAP_READ: mapReadUsage,
  MAP_WRITE: 2,
  COPY_SRC: copySrcUsage,
  COPY_DST: copyDstUsage,
  INDEX: 16,
  VERTEX: 32,
  UNIFORM: uniformUsage,
  STORAGE: storageUsage,
  INDIRECT: 256,
  QUERY_RESOLVE: 512,
} as const;

/**
 * Returns the buffer of each binding, in order. Throws a CompileError (TC702) with a diagnostic for each
 * buffer that is missing, too small, without `usage`, or shared with a written `STORAGE` binding.
 */
export function requireBuffers(
  buffers: GpuBuffers,
  bindings: readonly WgslBinding[],
  usage: "STORAGE" | "COPY_SRC",
): readonly GPUBuffer[] {
  if (!isObject(buffers)) {
    const hint = "pass { data, indices, output } of the runner's device";
    throw new CompileError([error("TC702", `the buffers are ${shownValue(buffers)}`, { hint })]);
  }
  const shared = usage === "STORAGE" ? sharedBuffers(buffers, bindings) : [];
  const limits = [
    ...bindings.flatMap((binding) => misfit(entryOf(buffers, binding.key), binding, usage)),
    ...shared,
  ];
  if (limits.length > 0) throw new CompileError(limits);
  return bindings.flatMap(({ key }) => entryOf(buffers, key) ?? []);
}

/**
 * Returns a list with one diagnostic (TC702) if a buffer is missing, too small, or created without `usage`;
 * else an empty list.
 */
function misfit(
  buffer: GPUBuffer | undefined,
  binding: WgslBinding,
  usage: "STORAGE" | "COPY_SRC",
): Diagnostic[] {
  const { role, key, bytes } = binding;
  const needs = `${bytes} B and usage ${usage}`;
  const hint =
    role === "status"
      ? "kernels with policy error record the first bad index there; pass 4 bytes of 0xff with usage STORAGE, COPY_SRC and COPY_DST"
      : role === "owner"
        ? `the kernel keeps there which point writes each element; create it with ${bytes} B or more and GPUBufferUsage.STORAGE`
        : `create it with a size of ${bytes} B or more and GPUBufferUsage.${usage} among its usages`;
  if (typeof buffer?.size !== "number" || typeof buffer.usage !== "number") {
    const given = buffer === undefined ? "is missing" : "is no GPUBuffer";
    const message = `buffers.${key} ${given}: it needs ${needs}`;
    return [error("TC702", message, { hint, data: { role: key, bytes } })];
  }
  if (buffer.size >= bytes && (buffer.usage & bufferUsage[usage]) !== 0) return [];
  return [
    error(
      "TC702",
      `buffers.${key} needs ${needs}; it has ${buffer.size} B and usage ${usageNames(buffer.usage)}`,
      { hint, data: { role: key, bytes, size: buffer.size, usage: buffer.usage } },
    ),
  ];
}

/**
 * Returns a diagnostic (TC702) for each written binding whose buffer is bound a second time, which WebGPU
 * forbids. The list is empty if there are none.
 */
function sharedBuffers(buffers: GpuBuffers, bindings: readonly WgslBinding[]): Diagnostic[] {
  return bindings.flatMap(({ key, access }, k) => {
    const buffer = entryOf(buffers, key);
    if (access === "read" || buffer === undefined) return [];
    const other = bindings.find(
      (one, j) => (j < k || one.access === "read") && one.key !== key && entryOf(buffers, one.key) === buffer,
    );
    if (other === undefined) return [];
    return [
      error(
        "TC702",
        `buffers.${key} and buffers.${other.key} are one buffer, and the kernel writes the ${key}`,
        { hint: `give the ${key} a buffer of its own`, data: { roles: [key, other.key] } },
      ),
    ];
  });
}

const usageNames = (usage: number): string =>
  Object.entries(bufferUsage)
    .flatMap(([name, flag]) => ((usage & flag) === 0 ? [] : [name]))
    .join(" | ") || "none";
