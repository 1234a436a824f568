/** load and store: a box from one place to another, in the longest runs that both hold together. */
import type { Region } from "../../ir/tile.js";
import { at, dtypeBytes } from "../../ir/types.js";
import { copyBytes, type Amount, type Code, type LocalId } from "./code.js";
import type { Context, Placed } from "./context.js";

export function emitBox(context: Context, to: Placed, from: Placed, region: Region): void {
  const { code, func } = context;
  const param = [func.data, func.indices, func.output].find((value) => value.name === region.buffer);
  const size = dtypeBytes[(param ?? func.output).type.dtype];
  const sizes = region.sizes.map((expr) => context.amount(expr));
  const run = commonRun(code, sizes, [to.strides, from.strides], size, 0);
  const pointers = [to, from].map((place, k) => {
    const local = code.local(k === 0 ? "to" : "from");
    place.push();
    code.set(local);
    return { local, strides: place.strides };
  });
  nest(code, sizes, range(0, run.outer), pointers, (locals) => {
    copyBytes(code, at(locals, 0), at(locals, 1), run.bytes);
  });
}

/** Bytes that lie together from an output dim inwards, in every place: from dim `outer` on, no dim before `first`. */
export function commonRun(
  code: Code,
  sizes: readonly Amount[],
  places: readonly (readonly number[])[],
  elementBytes: number,
  first: number,
): { readonly outer: number; readonly bytes: Amount } {
  let bytes: Amount = { kind: "const", value: elementBytes };
  let outer = sizes.length;
  while (outer > first && bytes.kind === "const") {
    const d = outer - 1;
    const run: number = bytes.value;
    const extent = at(sizes, d);
    const alone = extent.kind === "const" && extent.value === 1;
    if (!alone && !places.every((strides) => strides[d] === run)) break;
    outer = d;
    if (extent.kind === "const") bytes = { kind: "const", value: run * extent.value };
    else {
      const local = code.local("run");
      code.get(extent.local).times(run).set(local);
      bytes = { kind: "local", local };
    }
  }
  return { outer, bytes };
}

export const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, k) => from + k);

/** A pointer that loops advance: bytes between neighbours along each dim. */
export interface Pointer {
  readonly local: LocalId;
  readonly strides: readonly number[];
}

/** Loops over some dims, outermost first; the body gets the pointers of its iteration. */
export function nest(
  code: Code,
  sizes: readonly Amount[],
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
  // Two names for one pointer stay one.
  const own = new Map<Pointer, Pointer>();
  for (const pointer of pointers) {
    if ((pointer.strides[dim] ?? 0) === 0) own.set(pointer, pointer);
    if (own.has(pointer)) continue;
    const local = code.local(`${at(code.locals, pointer.local).name}${dim}`);
    code.get(pointer.local).set(local);
    own.set(pointer, { ...pointer, local });
  }
  code.repeat(size, `i${dim}`, () => {
    nest(
      code,
      sizes,
      rest,
      pointers.map((pointer) => own.get(pointer) ?? pointer),
      body,
    );
    for (const { local, strides } of own.values()) code.advance(local, strides[dim] ?? 0);
  });
}
