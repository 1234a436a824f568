/** Maps over symbols by their definition: a tree, its text, and what it is at one point. Knows nothing of tilec. */

/** What a coordinate or a bound is made of. `site`: the value of a read under `fill`, in [0, bound). */
export type Node =
  | { readonly kind: "whole"; readonly value: number }
  | { readonly kind: "dim"; readonly dim: number }
  | { readonly kind: "size"; readonly name: string }
  | { readonly kind: "site"; readonly bound: Node }
  | { readonly kind: "times"; readonly by: number; readonly of: Node }
  | { readonly kind: "plus" | "minus"; readonly left: Node; readonly right: Node }
  | { readonly kind: "div" | "mod"; readonly of: Node; readonly by: number };

export interface Point {
  readonly dims: readonly number[];
  readonly sizes: Readonly<Record<string, number>>;
  /** What a read gives: it follows d0. */
  readonly read: number;
}

/** Thrown where div or mod is of a negative number. */
export class Negative extends Error {}
/** Thrown where an index operand has no value: the element is fill. */
export class None extends Error {}

export function valueOf(node: Node, point: Point): number {
  switch (node.kind) {
    case "whole":
      return node.value;
    case "dim":
      return point.dims[node.dim]!;
    case "size":
      return point.sizes[node.name]!;
    case "site": {
      if (point.read < 0 || point.read >= valueOf(node.bound, point)) throw new None();
      return point.read;
    }
    case "times":
      return node.by * valueOf(node.of, point);
    case "plus":
      return valueOf(node.left, point) + valueOf(node.right, point);
    case "minus":
      return valueOf(node.left, point) - valueOf(node.right, point);
    case "div":
    case "mod": {
      const value = valueOf(node.of, point);
      if (value < 0) throw new Negative();
      return node.kind === "div" ? Math.floor(value / node.by) : value % node.by;
    }
  }
}

export function textOf(node: Node): string {
  switch (node.kind) {
    case "whole":
      return String(node.value);
    case "dim":
      return `d${node.dim}`;
    case "size":
      return node.name;
    case "site":
      return `fill(%i[d0] in ${textOf(node.bound)})`;
    case "times":
      return `${node.by} * (${textOf(node.of)})`;
    case "plus":
      return `(${textOf(node.left)} + ${textOf(node.right)})`;
    case "minus":
      return `(${textOf(node.left)} - (${textOf(node.right)}))`;
    case "div":
    case "mod":
      return `((${textOf(node.of)}) ${node.kind} ${node.by})`;
  }
}
