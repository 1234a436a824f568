/**
 * Access maps by their definition: a tree, its text, and what it gives at each output point. Numbers are exact. Knows nothing of
 * tilec.
 */

export const policies = ["error", "clamp", "fill", "wrap", "unchecked"] as const;
export type Policy = (typeof policies)[number];

export type Node =
  | { readonly kind: "whole"; readonly value: number }
  | { readonly kind: "dim"; readonly dim: number }
  | { readonly kind: "size"; readonly name: string }
  | { readonly kind: "plus" | "minus"; readonly left: Node; readonly right: Node }
  | { readonly kind: "times"; readonly by: number; readonly of: Node }
  | { readonly kind: "div" | "mod"; readonly of: Node; readonly by: number }
  | { readonly kind: "let"; readonly name: string }
  | { readonly kind: "read"; readonly table: number; readonly at: readonly Node[] }
  /** Counts from the end: of its policy's bound, or of its own number. */
  | { readonly kind: "fromEnd"; readonly of: Node; readonly extent?: number }
  /** Without `below`: open, as a bare read is. */
  | { readonly kind: "policy"; readonly keep: Policy; readonly of: Node; readonly below?: Node };

export interface Table {
  readonly name: string;
  readonly dtype: string;
  /** Its outermost extent may be a symbol's. */
  readonly shape: readonly (number | string)[];
  /** Whole numbers, row-major; of data that no index is read from, nothing. */
  readonly values: readonly bigint[];
}

export interface OracleMap {
  readonly tables: readonly Table[];
  /** Extents of the output; the first may be a symbol's. */
  readonly output: readonly (number | string)[];
  readonly lets: readonly { readonly name: string; readonly value: Node }[];
  readonly results: readonly Node[];
  readonly oob: Policy;
  /** Bits of the element that fill gives. */
  readonly fill: bigint;
  readonly sizes: Readonly<Record<string, number>>;
  readonly most: Readonly<Record<string, number>>;
}

/** A coordinate beyond its extent: no map that holds has one. */
export class Outside extends Error {}
/** What `unchecked` promises does not hold. */
export class BrokenPromise extends Error {}

/** The first output element whose index is out of range under `error`. */
export interface Bad {
  readonly point: readonly number[];
  readonly value: bigint;
  /** Of a read: its table and its row-major place there. */
  readonly read?: { readonly table: string; readonly position: number };
}

/**
 * For each output element the number of the data element that it is, or null where it is fill; or the first
 * bad one. An output without elements has index values where no index follows the dims that are empty: those
 * count as one, and no data element is looked for. Throws a BrokenPromise for any element whose promise does
 * not hold, behind a bad one too: a backend may do anything there.
 */
export function elementsOf(map: OracleMap): readonly (number | null)[] | Bad {
  const found: (number | null)[] = [];
  let bad: Bad | undefined;
  const shape = shapeOf(map.output, map);
  const isEmpty = shape.includes(0);
  const followed = dimsOfIndices(map);
  for (const point of points(isEmpty ? shape.map((extent, d) => (followed.has(d) ? extent : 1)) : shape)) {
    const at = new Evaluation(map, point);
    const element = at.element(isEmpty);
    if (typeof element === "object" && element !== null) bad ??= element;
    else if (!isEmpty) found.push(element);
  }
  return bad ?? found;
}

/**
 * The output dims that some index value follows: those of its sums and of the coordinates that it is read at.
 */
function dimsOfIndices({ lets, results }: OracleMap): ReadonlySet<number> {
  const held = [...lets.map(({ value }) => value), ...results].flatMap(indexValuesIn);
  return new Set(held.flatMap(dimsIn));
}

const partsOf = (node: Node): readonly Node[] => {
  switch (node.kind) {
    case "whole":
    case "dim":
    case "size":
    case "let":
      return [];
    case "plus":
    case "minus":
      return [node.left, node.right];
    case "times":
    case "div":
    case "mod":
    case "fromEnd":
      return [node.of];
    case "policy":
      return [node.of];
    case "read":
      return node.at;
  }
};

const isIndexValue = ({ kind }: Node): boolean => kind === "policy" || kind === "read" || kind === "fromEnd";

/** Index values of a coordinate, without those inside them. */
const indexValuesIn = (node: Node): readonly Node[] =>
  isIndexValue(node) ? [node] : partsOf(node).flatMap(indexValuesIn);

/** Dims that a value changes with: what cancels, or counts 0 times, does not. An index value is looked up all the same. */
function dimsIn(node: Node): readonly number[] {
  const atoms = new Map<string, { by: number; readonly of: Node }>();
  const collect = (part: Node, by: number): void => {
    if (part.kind === "whole" || part.kind === "size" || isIndexValue(part)) return;
    if (part.kind === "plus" || part.kind === "minus") {
      collect(part.left, by);
      collect(part.right, part.kind === "plus" ? by : -by);
      return;
    }
    if (part.kind === "times") {
      collect(part.of, by * part.by);
      return;
    }
    // By one, nothing is left, or all of it.
    if (part.kind === "mod" && part.by === 1) return;
    if (part.kind === "div" && part.by === 1) {
      collect(part.of, by);
      return;
    }
    const key = JSON.stringify(part);
    const known = atoms.get(key);
    if (known === undefined) atoms.set(key, { by, of: part });
    else known.by += by;
  };
  collect(node, 1);
  const changing = [...atoms.values()].flatMap(({ by, of }) =>
    by === 0 ? [] : of.kind === "dim" ? [of.dim] : partsOf(of).flatMap(dimsIn),
  );
  return [...changing, ...indexValuesIn(node).flatMap(partsOf).flatMap(dimsIn)];
}

export const shapeOf = (shape: readonly (number | string)[], { sizes }: Pick<OracleMap, "sizes">): number[] =>
  shape.map((extent) => (typeof extent === "number" ? extent : sizes[extent]!));

export function* points(
  shape: readonly number[],
  before: readonly number[] = [],
): Generator<readonly number[]> {
  const extent = shape[before.length];
  if (extent === undefined) yield before;
  else for (let k = 0; k < extent; k++) yield* points(shape, [...before, k]);
}

class None extends Error {}
class BadIndex extends Error {
  constructor(
    readonly value: bigint,
    readonly read: Bad["read"],
  ) {
    super();
  }
}

const mod = (value: bigint, by: bigint): bigint => ((value % by) + by) % by;

class Evaluation {
  private readonly lets = new Map<string, bigint>();

  constructor(
    private readonly map: OracleMap,
    private readonly point: readonly number[],
  ) {}

  /** `isEmpty`: the output has no elements, and the index values are evaluated alone. */
  element(isEmpty: boolean): number | null | Bad {
    const { map } = this;
    try {
      // In the order in which they are written, whoever needs them.
      for (const { name, value } of map.lets) this.lets.set(name, this.value(value));
      const data = map.tables[0]!;
      const shape = shapeOf(data.shape, map);
      if (!isEmpty) return this.place(map.results, shape);
      map.results.forEach((coord, k) => this.coordinate(coord, shape[k]!));
      return null;
    } catch (thrown) {
      if (thrown instanceof None) return null;
      if (!(thrown instanceof BadIndex)) throw thrown;
      const { value, read } = thrown;
      return { point: this.point, value, ...(read === undefined ? {} : { read }) };
    }
  }

  /** The row-major place of coordinates; all of them are evaluated before any is looked at. */
  private place(coords: readonly Node[], shape: readonly number[]): number {
    const values = coords.map((coord, k) => this.coordinate(coord, shape[k]!));
    return values.reduce((place, value, k) => {
      if (value < 0n || value >= BigInt(shape[k]!))
        throw new Outside(`${value} of ${shape[k]} at dim ${k}, point ${this.point.join()}`);
      return place * shape[k]! + Number(value);
    }, 0);
  }

  /** A coordinate may hold one open read: its bound is the largest that keeps the coordinate inside at every point. */
  private coordinate(coord: Node, extent: number): bigint {
    return this.value(coord, () => openBound(coord, extent, this.map));
  }

  /** `bound`: of an open read. */
  private value(node: Node, bound?: () => number): bigint {
    switch (node.kind) {
      case "whole":
        return BigInt(node.value);
      case "dim":
        return BigInt(this.point[node.dim]!);
      case "size":
        return BigInt(this.map.sizes[node.name]!);
      case "plus":
      case "minus": {
        const left = this.value(node.left, bound);
        const right = this.value(node.right, bound);
        return node.kind === "plus" ? left + right : left - right;
      }
      case "times":
        return BigInt(node.by) * this.value(node.of, bound);
      case "div": {
        const value = this.value(node.of, bound);
        return (value - mod(value, BigInt(node.by))) / BigInt(node.by);
      }
      case "mod":
        return mod(this.value(node.of, bound), BigInt(node.by));
      case "let":
        return this.lets.get(node.name)!;
      case "read":
      case "fromEnd":
        return this.held(node, this.map.oob, bound!());
      case "policy": {
        const below = node.below === undefined ? bound!() : Number(this.value(node.below));
        return this.held(node.of, node.keep, Math.max(0, below));
      }
    }
  }

  /** A value under its policy: what is read inside it is taken as it stands. */
  private held(node: Node, keep: Policy, below: number): bigint {
    const counted = node.kind === "fromEnd";
    const inner = counted ? node.of : node;
    const value = this.raw(inner);
    const n = BigInt(below);
    if (value >= 0n && value < n) return value;
    const shift = counted && value < 0n ? BigInt(node.extent ?? below) : 0n;
    const moved = value + shift;
    if (moved >= 0n && moved < n) return moved;
    switch (keep) {
      case "error":
        throw new BadIndex(value, inner.kind === "read" ? this.readAt(inner) : undefined);
      case "unchecked":
        throw new BrokenPromise();
      case "fill":
        throw new None();
      case "clamp":
        if (below === 0) throw new None();
        return moved < 0n ? 0n : n - 1n;
      case "wrap":
        if (below === 0) throw new None();
        return mod(moved, n);
    }
  }

  private raw(node: Node): bigint {
    if (node.kind === "read") return this.map.tables[node.table]!.values[this.readAt(node).position]!;
    if (node.kind === "times") return BigInt(node.by) * this.raw(node.of);
    if (node.kind !== "plus" && node.kind !== "minus") return this.value(node);
    const left = this.raw(node.left);
    const right = this.raw(node.right);
    return node.kind === "plus" ? left + right : left - right;
  }

  private readAt({ table, at }: Extract<Node, { kind: "read" }>): NonNullable<Bad["read"]> {
    const { name, shape } = this.map.tables[table]!;
    return { table: name, position: this.place(at, shapeOf(shape, this.map)) };
  }
}

/**
 * By trial over every point, an empty dim counting as one: how far the rest of the coordinate reaches, and
 * what one step of the open value adds.
 */
function openBound(coord: Node, extent: number, map: OracleMap): number {
  const step = linear(coord, 1, []) - linear(coord, 0, []);
  let most = 0;
  const shape = shapeOf(map.output, map).map((size) => Math.max(1, size));
  for (const point of points(shape)) most = Math.max(most, linear(coord, 0, point));
  return Math.floor((extent - 1 - most) / step) + 1;
}

/** A coordinate of dims, numbers and one open value, which counts as `open`. */
function linear(node: Node, open: number, point: readonly number[]): number {
  if (node.kind === "whole") return node.value;
  if (node.kind === "dim") return point[node.dim] ?? 0;
  if (node.kind === "plus") return linear(node.left, open, point) + linear(node.right, open, point);
  if (node.kind === "times") return node.by * linear(node.of, open, point);
  if (node.kind === "read" || node.kind === "fromEnd" || node.kind === "policy") return open;
  throw new Error(`an open read stands beside dims and numbers alone, not ${node.kind}`);
}

export function textOf(map: OracleMap): string {
  const type = (table: Pick<Table, "dtype" | "shape">): string =>
    `tensor<${[...table.shape, table.dtype].join("x")}>`;
  const names = map.tables.map(({ name }) => `%${name}`);
  const params = map.tables.map((table, k) => `${names[k]!}: ${type(table)}`);
  const dims = map.output.map((_, d) => `d${d}`).join(", ");
  const output = type({ dtype: map.tables[0]!.dtype, shape: map.output });
  const node = (of: Node): string => nodeText(of, names);
  const lets = map.lets.map(({ name, value }) => ` let ${name} = ${node(value)}`).join("");
  const fill = map.fill === 0n ? "" : `, fill = ${map.fill}`;
  const symbols = Object.entries(map.most).map(([name, most]) => `dim ${name} <= ${most}\n`);
  return (
    `${symbols.join("")}func @f(${params.join(", ")}) -> ${output} {\n` +
    `  %out = access.gather ${names.join(", ")} (${dims})${lets} -> (${map.results.map(node).join(", ")}) {oob = ${map.oob}${fill}}\n` +
    "  return %out\n}\n"
  );
}

function nodeText(node: Node, names: readonly string[]): string {
  const text = (of: Node): string => nodeText(of, names);
  switch (node.kind) {
    case "whole":
      return String(node.value);
    case "dim":
      return `d${node.dim}`;
    case "size":
    case "let":
      return node.name;
    case "plus":
      return `(${text(node.left)} + ${text(node.right)})`;
    case "minus":
      return `(${text(node.left)} - ${text(node.right)})`;
    case "times":
      return `${node.by} * ${text(node.of)}`;
    case "div":
    case "mod":
      return `(${text(node.of)} ${node.kind} ${node.by})`;
    case "read":
      return `${names[node.table]!}[${node.at.map(text).join(", ")}]`;
    case "fromEnd":
      return `from_end(${text(node.of)}${node.extent === undefined ? "" : ` of ${node.extent}`})`;
    case "policy":
      return `${node.keep}(${text(node.of)}${node.below === undefined ? "" : ` in ${text(node.below)}`})`;
  }
}

/** The program with every symbol's size in its place. */
export const substituted = (map: OracleMap): OracleMap => {
  const put = (node: Node): Node => {
    switch (node.kind) {
      case "size":
        return { kind: "whole", value: map.sizes[node.name]! };
      case "whole":
      case "dim":
      case "let":
        return node;
      case "plus":
      case "minus":
        return { ...node, left: put(node.left), right: put(node.right) };
      case "times":
      case "div":
      case "mod":
      case "fromEnd":
        return { ...node, of: put(node.of) };
      case "read":
        return { ...node, at: node.at.map(put) };
      case "policy":
        return {
          ...node,
          of: put(node.of),
          ...(node.below === undefined ? {} : { below: put(node.below) }),
        };
    }
  };
  return {
    ...map,
    tables: map.tables.map((table) => ({ ...table, shape: shapeOf(table.shape, map) })),
    output: shapeOf(map.output, map),
    lets: map.lets.map(({ name, value }) => ({ name, value: put(value) })),
    results: map.results.map(put),
    sizes: {},
    most: {},
  };
};
