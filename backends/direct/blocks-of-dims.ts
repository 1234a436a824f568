/**
 * A walk whose forms divide its dims, as walks over blocks and the places in them, whose forms do not: `d div
 * 32` is the number of a block of d, and moves by steps as any dim does.
 */
import {
  add,
  atomsOf,
  constant,
  dim,
  dimsOf,
  scale,
  soleAtom,
  substitute,
  type Linear,
} from "../../ir/linear.js";
import { at, type Shape } from "../../ir/types.js";

/**
 * Linear expressions (`forms`) that are evaluated at all coordinates of a shape (`sizes`). The variables of
 * the expressions are the dims of the shape.
 */
export interface FormWalk {
  readonly sizes: Shape;
  readonly forms: readonly Linear[];
}

/**
 * Splits a shape into parts on which no linear expression contains a quotient or remainder of a single dim.
 * Returns the shape and the rewritten expressions of each part; a shape that cannot be split stays unchanged.
 */
export function walksByBlocks(walk: FormWalk): readonly FormWalk[] {
  for (const d of walk.sizes.keys()) {
    const block = blockOf(walk.forms, d);
    if (block !== undefined) return inBlocks(walk, d, block).flatMap(walksByBlocks);
  }
  return [walk];
}

/**
 * Returns the number by which all quotients and remainders of dim `d` in `forms` divide. Undefined if there
 * are several such numbers or none. Also undefined if the dividend of such a quotient or remainder is not the
 * dim alone.
 */
function blockOf(forms: readonly Linear[], d: number): number | undefined {
  const by = new Set<number>();
  for (const of of forms.flatMap(atomsOf)) {
    if ((of.kind !== "div" && of.kind !== "mod") || !dimsOf(of.of).includes(d)) continue;
    const only = soleAtom(of.of);
    if (only?.kind !== "dim") return undefined;
    by.add(of.by);
  }
  const [block] = by;
  return by.size === 1 ? block : undefined;
}

/**
 * Splits dim `d` into blocks of `block` elements and a shorter last block, and returns the expressions over
 * each part. Two dims replace `d`: the index of the block, and the position in the block.
 */
function inBlocks({ forms, sizes }: FormWalk, d: number, block: number): readonly FormWalk[] {
  const size = at(sizes, d);
  const [blocks, left] = [Math.floor(size / block), size % block];
  const walkOf = (first: number, blocks: number, count: number): FormWalk => {
    const [number, place] = [add(dim(d), constant(first)), dim(d + 1)];
    return {
      sizes: [...sizes.slice(0, d), blocks, count, ...sizes.slice(d + 1)],
      forms: forms.map((form) =>
        substitute(form, (of) => {
          if (of.kind === "dim") {
            if (of.dim === d) return add(scale(number, block), place);
            return of.dim > d ? dim(of.dim + 1) : undefined;
          }
          if ((of.kind !== "div" && of.kind !== "mod") || !dimsOf(of.of).includes(d)) return undefined;
          return of.kind === "div" ? number : place;
        }),
      ),
    };
  };
  return [
    ...(blocks > 0 || left === 0 ? [walkOf(0, blocks, block)] : []),
    ...(left > 0 ? [walkOf(blocks, 1, left)] : []),
  ];
}
