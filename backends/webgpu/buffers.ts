/** The caller's buffers on the device, and what a launch or a readback needs of them. */
import "../platform.js";
import { CompileError, error, type Diagnostic } from "../../ir/diagnostic.js";
import { isObject, shownValue } from "../fields.js";
import type { WgslBinding } from "../wgsl/index.js";

/**
 * Buffers of the runner's device. Each is as large as its tensor, in whole words of 4 bytes (4 bytes for an empty one),
 * and has the usages named here; `runner.wgsl(kernel).bindings` has the bytes. A launch on others is refused with TC702.
 */
export interface GpuBuffers {
  /** Inputs by key, `data` and `indices` where there are no others: `STORAGE`, and `COPY_SRC` of indices for `checkStatus`. */
  readonly [key: string]: GPUBuffer | undefined;
  /** `STORAGE`. No other role's buffer. */
  readonly output: GPUBuffer;
  /** `STORAGE`, and `COPY_SRC` for `checkStatus`. 4 bytes, 0xffffffff before the dispatch, for kernels with policy `error`. */
  readonly status?: GPUBuffer;
}

/** The flag values of the specification; the global `GPUBufferUsage` exists in browsers alone. */
export const bufferUsage = {
  MAP_READ: 1,
  MAP_WRITE: 2,
  COPY_SRC: 4,
  COPY_DST: 8,
  INDEX: 16,
  VERTEX: 32,
  UNIFORM: 64,
  STORAGE: 128,
  INDIRECT: 256,
  QUERY_RESOLVE: 512,
} as const;

type Role = WgslBinding["role"];

/**
 * The buffers of some bindings, in their order. Throws a CompileError (TC702) with a diagnostic for each that is
 * missing, too small or without the usage, and for one that is written and bound twice.
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
  const found = [...bindings.flatMap((binding) => misfit(buffers[binding.role], binding, usage)), ...shared];
  if (found.length > 0) throw new CompileError(found);
  return bindings.flatMap(({ role }) => buffers[role] ?? []);
}

function misfit(
  buffer: GPUBuffer | undefined,
  binding: WgslBinding,
  usage: "STORAGE" | "COPY_SRC",
): Diagnostic[] {
  const { role, bytes } = binding;
  const needs = `${bytes} B and usage ${usage}`;
  const hint =
    role === "status"
      ? "kernels with policy error record the first bad index there; pass 4 bytes of 0xff with usage STORAGE, COPY_SRC and COPY_DST"
      : `create it with a size of ${bytes} B or more and GPUBufferUsage.${usage} among its usages`;
  if (typeof buffer?.size !== "number" || typeof buffer.usage !== "number") {
    const given = buffer === undefined ? "is missing" : "is no GPUBuffer";
    return [error("TC702", `buffers.${role} ${given}: it needs ${needs}`, { hint, data: { role, bytes } })];
  }
  if (buffer.size >= bytes && (buffer.usage & bufferUsage[usage]) !== 0) return [];
  return [
    error(
      "TC702",
      `buffers.${role} needs ${needs}; it has ${buffer.size} B and usage ${usageNames(buffer.usage)}`,
      { hint, data: { role, bytes, size: buffer.size, usage: buffer.usage } },
    ),
  ];
}

/** WebGPU takes no buffer that one binding writes and another one reads or writes. */
function sharedBuffers(buffers: GpuBuffers, bindings: readonly WgslBinding[]): Diagnostic[] {
  return bindings.flatMap(({ role, access }, k) => {
    if (access === "read" || buffers[role] === undefined) return [];
    const other = bindings.find(
      (one, j) =>
        (j < k || one.access === "read") && one.role !== role && buffers[one.role] === buffers[role],
    );
    if (other === undefined) return [];
    return [
      error(
        "TC702",
        `buffers.${role} and buffers.${other.role} are one buffer, and the kernel writes the ${role}`,
        {
          hint: `give the ${role} a buffer of its own`,
          data: { roles: [role, other.role] satisfies Role[] },
        },
      ),
    ];
  });
}

const usageNames = (usage: number): string =>
  Object.entries(bufferUsage)
    .flatMap(([name, flag]) => ((usage & flag) === 0 ? [] : [name]))
    .join(" | ") || "none";
