/** load and store: a box from one place to another, in the longest runs that both hold together. */
import { at } from "../../ir/types.js";
import { emitCopyBytes, type WasmAmount, type CodeBuilder, type LocalId } from "./code.js";
import type { WasmContext } from "./context.js";
import type { CopyPlan } from "./plan.js";
import { range, type Run } from "../plan/runs.js";
import { startOf } from "../../ir/addressing.js";

/**
 * Emits a load or store statement: a copy of a region in the longest byte ranges that are contiguous at
 * source and destination.
 */
export function emitCopy(context: WasmContext, { to, from, sizes, elementBytes, run }: CopyPlan): void {
  const { code } = context;
  const amounts = sizes.map((size) => context.amount(size));
  const bytes = runBytes(code, run, amounts);
  const pointers = [to, from].map((place, k): Pointer => {
    const local = code.local(k === 0 ? "to" : "from");
    context.address(place.memory, startOf(place), elementBytes);
    code.set(local);
    return { local, by: place.strides.map((stride) => stride * elementBytes) };
  });
  nest(code, amounts, range(0, run.outer), pointers, (locals) => {
    emitCopyBytes(code, at(locals, 0), at(locals, 1), bytes);
  });
}

/**
 * Returns the bytes of a contiguous range that is copied at once. Emits code that computes the number into a
 * new WebAssembly local if the number is dynamic.
 */
export function runBytes(code: CodeBuilder, { bytes, times }: Run, sizes: readonly WasmAmount[]): WasmAmount {
  const extent = times === undefined ? undefined : at(sizes, times);
  if (extent?.kind !== "local") return { kind: "const", value: bytes };
  const local = code.local("run");
  code.get(extent.local).times(bytes).set(local);
  return { kind: "local", local };
}

/**
 * WebAssembly local that holds an address, which loops advance. `by`: bytes between neighbouring elements
 * along each dim.
 */
export interface Pointer {
  readonly local: LocalId;
  readonly by: readonly number[];
}

/**
 * Emits nested loops over the dims in `dims`, outermost first, that advance the pointers. `sizes`: extents by
 * dim. `body`: emits the innermost code; gets the WebAssembly locals of the pointers, in order.
 */
export function nest(
  code: CodeBuilder,
  sizes: readonly WasmAmount[],
  dims: readonly number[],
  pointers: readonly Pointer[],
  body: (locals: readonly LocalId[]) => void,
): void {
  const [dim, ...rest] = dims;
  if (dim === undefined) {
    body(pointers.map((pointer) => pointer.local));
    return;
  }
  const size = at(sizes, dim);
  if (size.kind === "const" && size.value === 1) {
    nest(code, sizes, rest, pointers, body);
    return;
  }
  const moving = movingAlong(code, dim, pointers);
  code.repeat(size, `i${dim}`, () => {
    nest(code, sizes, rest, moving, body);
    for (const { local, by } of moving) code.advance(local, by[dim] ?? 0);
  });
}

/**
 * Returns `pointers`, with a new WebAssembly local for each pointer that a loop over `dim` advances. Emits
 * code that copies the address to the new local. The other pointers are unchanged.
 */
export function movingAlong(
  code: CodeBuilder,
  dim: number,
  pointers: readonly Pointer[],
): readonly Pointer[] {
  return pointers.map((pointer): Pointer => {
    if ((pointer.by[dim] ?? 0) === 0) return pointer;
    const local = code.local(`${at(code.locals, pointer.local).name}${dim}`);
    code.get(pointer.local).set(local);
    return { ...pointer, local };
  });
}
